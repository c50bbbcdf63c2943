"""Large data, coarsened for drawing: rows that are alike in all that is asked become one unit of many observations.

Units join rows of one truth, one predicted class (or none) of each model and the same slices, with neighbouring scores.
Drawing so many observations from the units is drawing rows; what is lost is how the scores vary within a unit. Values
are never computed from units, only the replicates are, and these are moved by what the units change in the value.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.statistics.grid import EDGES, TENTHS, cut, first_rows, joint, means
from evalpipe.statistics.rows import present, taken
from evalpipe.tasks import NUMBERS

if TYPE_CHECKING:
    from evalpipe.arraytypes import Floats, Values, Wholes
    from evalpipe.data.sample import Predictions, Sample
    from evalpipe.plan.plan import Plan

ROWS = 16_384
"""The most rows that are drawn one by one, unless the spec asks for it: of more, a draw of units costs less."""

UNITS = 32_768
"""The most units: beyond, drawing rows costs no more."""

GRIDS = {0: (1,), 1: (2048, 1024, 512, 256), 2: (256, 128, 64), 3: (64, 32)}
"""The cells to try for each of so many numbers that are put on grids, finest first. Of a number that is spread evenly
over g cells, 1 / g^2 of the variance lies within cells: at most a thousandth."""


def coarsened(plan: Plan, sample: Sample) -> Sample | None:
    """Return the units as a sample whose frequency weights are their observations; None where rows are to be drawn."""
    mode = plan.mode
    if mode == "exact" or (mode == "auto" and sample.n <= ROWS):
        return None
    # Clusters are drawn whole; importance weights and exposures make rows with one score unlike.
    if sample.cluster is not None or sample.weight_kind == "importance" or sample.exposure is not None:
        return None
    numbers = _numbers(sample)
    if numbers is None or len(numbers) not in GRIDS:
        return None
    fixed = [_codes(sample.truth)] if sample.task not in NUMBERS else []
    fixed += [slicing.codes + 1 for slicing in (*sample.slicings, *sample.searched)]
    if sample.task not in NUMBERS:
        fixed += [_codes(model.predicted) for model in sample.models.values() if model.predicted is not None]
        fixed += [_codes(model.reportable) for model in sample.models.values() if model.reportable is not None]
    fixed += [folds for folds in [_folds(sample)] if folds is not None]
    pattern, _ = joint(*fixed) if fixed else (np.zeros(sample.n, np.intp), 1)
    ends = _ends(sample, len(numbers))
    for cells in GRIDS[len(numbers)]:
        grid = [cut(values, cells, *some) for values, some in zip(numbers, ends, strict=True)]
        units, count = joint(pattern, *grid)
        # Units of fewer than two rows in the mean would save no work.
        if count <= min(UNITS, sample.n // 2):
            return _joined(sample, units, grid)
    return None


def _numbers(sample: Sample) -> list[Floats] | None:
    """Return what is put on grids; None where it is too much for any."""
    if sample.task in NUMBERS:
        if any(model.left_out is not None for model in sample.models.values()):
            return None
        return [np.asarray(sample.truth, float), *(np.asarray(m.predicted, float) for m in _originals(sample).values())]
    if any(model.probability is not None and model.probability.ndim > 1 for model in sample.models.values()):
        return None
    return [model.score for model in _originals(sample).values() if model.score is not None]


def _originals(sample: Sample) -> dict[str, Predictions]:
    """Return the models but for variants, whose predictions follow from theirs and the fold of the row."""
    return {name: model for name, model in sample.models.items() if model.source is None}


def _folds(sample: Sample) -> Wholes | None:
    return next((model.folds for model in sample.models.values() if model.folds is not None), None)


def _ends(sample: Sample, several: int) -> list[list[tuple[Floats, Floats]]]:
    """Return, for each of ``several`` numbers, where cells always end; of several models' fewer, as cells multiply."""
    if sample.task in NUMBERS or any(model.probability is None for model in sample.models.values()):
        return [[]] * several
    edges = EDGES if several == 1 else TENTHS
    scored = (model for model in _originals(sample).values() if model.score is not None)
    return [[(present(model.probability, "probabilities"), edges)] for model in scored]


def _codes(values: Values) -> Wholes:
    return np.asarray(values).astype(np.intp)


def _joined(sample: Sample, units: Wholes, grid: list[Wholes]) -> Sample:
    sizes = np.bincount(units, sample.weights).astype(float)
    first = first_rows(units, len(sizes))
    number = sample.task in NUMBERS
    truth = means(sample.truth, units, sample.weights) if number else sample.truth[first]
    cells = {} if number else _cells(sample, grid)
    models = {
        name: _joined_numbers(sample, model, units, first) if number else
        _joined_scores(sample, model, units, first, cells.get(name))
        for name, model in sample.models.items()
    }
    slicings, searched = (
        tuple(replace(slicing, codes=slicing.codes[first]) for slicing in several)
        for several in (sample.slicings, sample.searched)
    )
    return replace(
        sample, truth=truth, weight=sizes, weight_kind="frequency", models=MappingProxyType(models), slicings=slicings,
        searched=searched,
    )


def _joined_numbers(sample: Sample, model: Predictions, units: Wholes, first: Wholes) -> Predictions:
    """Return predicted numbers of each unit: the mean of its rows, weighted."""
    predicted = means(present(model.predicted, "predictions"), units, sample.weights)
    return replace(model, predicted=predicted, folds=taken(model.folds, first))


def _joined_scores(
    sample: Sample, model: Predictions, units: Wholes, first: Wholes, cells: Wholes | None
) -> Predictions:
    """Return the predictions of each unit: its classes, and of scores the mean of the cell that it shares."""
    score = chance = stated = None
    if model.score is not None and cells is not None:
        score = means(model.score, cells, sample.weights)[cells[first]]
    if model.score is not None and model.probability is not None and cells is not None:
        chance = means(model.probability, units, sample.weights)
        stated = means(model.probability, cells, sample.weights)[cells[first]]
    return replace(
        model, score=score, probability=chance, predicted=taken(model.predicted, first),
        folds=taken(model.folds, first), cuts=None, stated=stated, reportable=taken(model.reportable, first),
    )


def _cells(sample: Sample, grid: list[Wholes]) -> dict[str, Wholes]:
    """Return the cell of each row's score, by model: a variant's are those of its original, in each fold apart."""
    scored = (name for name, model in _originals(sample).items() if model.score is not None)
    cells_of = dict(zip(scored, grid, strict=True))
    for name, model in sample.models.items():
        if model.source is not None and model.source in cells_of:
            original = cells_of[model.source]
            cells_of[name] = original if model.folds is None else joint(original, model.folds)[0]
    return cells_of
