"""Large data, coarsened for resampling: similar rows become one cell that stands for many observations.

Rows of a cell have the same truth, the same predicted class (or none) by each model, and neighbouring scores. Drawing
observations from cells is drawing rows; what is lost is how the scores vary within a cell. Values are never computed
from cells, only replicates are, and these are moved by what the cells change in the value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.plan.plan import ROWS, cell_obstacle, edges_of
from evalpipe.statistics.grid import EDGES, TENTHS, cells_of_similar_rows, cut, edges_at, first_rows, joint, means
from evalpipe.statistics.rows import present, values_at
from evalpipe.tasks import NUMBERS, SCORES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.base.arraytypes import Floats, Values, Wholes
    from evalpipe.data.sample import Predictions, Sample
    from evalpipe.plan.plan import Plan
    from evalpipe.words.sentences import Sentence

CELLS = 32_768
"""The most cells; of more, drawing rows costs no more."""

MERGED = 16_384
"""The most cells of several models that are drawn together."""

JOINED = 4096
"""The most of true and predicted numbers of several models in slices."""

GRIDS = {0: (1,), 1: (512, 256, 128, 64, 32), 2: (256, 128, 64), 3: (64, 32)}
"""The cells to try for each of so many numbers that are put on grids, finest first. Of a number that is spread evenly
over g cells, 1 / g^2 of the variance lies within cells: at most a thousandth."""

MOST_SCORES = GRIDS[1][0]
"""The most distinct scores of a model over the cells of several models."""

FINE, LOST = 128, 1e-4
"""Of models that are drawn together: the parts that each score is cut into, and the share of the variance of each that
may lie within cells, unless there would be more than `MERGED`."""

SLICED, SEARCHED = 128, 256
"""The parts that a score is cut into where slices are drawn: half of them hold events, half non-events. The second is
for measures that search all scores for the largest distance, which they find more often among more of them."""


@dataclass(frozen=True)
class Coarse:
    """Rows joined in cells: ``cell_of_row`` [n] numbers the cell of each row, ``sample`` has a row for each cell.

    ``lost`` is the largest share of the variance of any model's scores that lies within cells.
    """

    cell_of_row: Wholes
    sample: Sample
    lost: float


def coarsening_obstacle(sample: Sample) -> Sentence | None:
    """Return why similar rows of a sample cannot be joined in cells for resampling; None where they can."""
    models = sample.models.values()
    return cell_obstacle(
        clusters=sample.cluster is not None, importance=sample.weight_kind == "importance",
        exposure=sample.exposure is not None, left_out=any(model.left_out is not None for model in models),
        levels=any(model.probability is not None and model.probability.ndim > 1 for model in models),
        items=sample.task in SCORES)


def gridded(plan: Plan, sample: Sample, most: int = ROWS) -> bool:
    """Tell whether replicates draw cells of similar rows, not rows; in mode "auto", if there are more than ``most``."""
    prefers_cells = sample.streamed or plan.mode == "grid" or (plan.mode == "auto" and sample.n > most)
    return prefers_cells and coarsening_obstacle(sample) is None


def coarsened(plan: Plan, sample: Sample) -> Sample | None:
    """Return a sample with one row for each cell of similar rows, to resample faster; None where rows are resampled."""
    cells = cells_of(sample, cell_ends(plan), most=sample.n // 2) if gridded(plan, sample) else None
    return None if cells is None else cells.sample


FULLEST, CROWD = 1 / 512, 50
"""The most of the rows that a cell of several scores may hold, and the most rows: fuller ones tell too little."""


def fullest_cells(sample: Sample) -> dict[str, float]:
    """Return, by model, the share of the rows in the fullest cell of several scores, where these are too many.

    There is none where rows are held. Limits of measures that rank rows may be far too narrow then.
    """
    shares: dict[str, float] = {}
    for name, model in originals(sample).items():
        part = sample.of(name)
        score, ends = part.models[name].score, part.models[name].ends
        if score is None or ends is None or model.score is None:
            continue
        _, cell_of_row = np.unique(score, return_inverse=True)
        several = part.weights * (ends[:, 0] < ends[:, 1])
        rows, fullest = float(part.weights.sum()), float(np.bincount(cell_of_row, several).max(initial=0.0))
        if fullest > max(FULLEST * rows, CROWD):
            shares[name] = fullest / rows
    return shares


def cell_ends(plan: Plan) -> Floats:
    """Return the probabilities that divide cells of rows: the edges of every grid, and thresholds of measures."""
    return np.union1d(EDGES, edges_at(*edges_of(plan)))


def cells_of(
    sample: Sample, ends: Floats = EDGES, *, sliced: int | None = None, most: int | None = None
) -> Coarse | None:
    """Return the rows of a sample joined in cells for resampling; None where there are more than ``most`` cells.

    Cells end at the probabilities ``ends``; where cells are few, at only some of the edges of every grid (`EDGES`)
    and at all other ends. ``sliced`` is None for all rows. For slices it is the number of parts that scores are
    cut in, fewer than for all rows, because each slice has all the cells.
    """
    most = CELLS if most is None else min(most, CELLS)
    models, numeric = originals(sample).values(), sample.task in NUMBERS
    if numeric:
        numbers = [np.asarray(sample.truth, float), *(np.asarray(model.predicted, float) for model in models)]
    else:
        numbers = [model.score for model in models if model.score is not None]
    columns: list[Values] = []
    if sample.task not in NUMBERS:
        columns = [sample.truth]
        columns += [model.predicted for model in sample.models.values() if model.predicted is not None]
        columns += [model.reportable for model in sample.models.values() if model.reportable is not None]
    codes = [np.asarray(values).astype(np.intp) for values in columns]
    codes += [model.folds for model in sample.models.values() if model.folds is not None][:1]
    pattern = joint(*codes)[0] if codes else np.zeros(sample.n, np.intp)
    coarse_ends = np.union1d(TENTHS, np.setdiff1d(ends, EDGES))
    if not numeric and len(numbers) > 1:
        return _median_cut(sample, pattern, numbers, min(most, 8 * sliced if sliced else MERGED), coarse_ends)
    grids: tuple[int, ...] = GRIDS.get(len(numbers), ())
    if sliced and len(numbers) in (1, 2):
        grids = (sliced if len(numbers) == 1 else FINE,)
    for parts in grids:
        grid = [_cut(sample, values, parts, ends if parts > SEARCHED else coarse_ends) for values in numbers]
        cell_of_row, count = joint(pattern, *grid)
        if count <= most:
            return Coarse(cell_of_row, _sample_of_cells(sample, cell_of_row, grid), 1 / parts**2)
    if not numeric:
        return None
    return _median_cut(sample, pattern, numbers, min(most, JOINED if sliced else most), coarse_ends)


def originals(sample: Sample) -> dict[str, Predictions]:
    """Return the models without recalibrated variants, whose predictions follow from these and the fold of the row."""
    return {name: model for name, model in sample.models.items() if model.source is None}


def _median_cut(
    sample: Sample, pattern: Wholes, numbers: Sequence[Floats], most: int, ends: Floats
) -> Coarse | None:
    """Return at most ``most`` cells of like rows, so that replicates draw cells instead of rows (median cut).

    ``pattern`` [n] numbers the combinations of truth, predicted classes and fold; a cell has rows of one. From these it
    starts, and halves the cell whose ``numbers``, the scores or predicted numbers of each model [n], vary most, until
    a share of at most `LOST` of their variance lies within cells. Where there is room, cells end at the probabilities
    ``ends``. None where there are more than ``most`` patterns.
    """
    if int(pattern.max()) >= most:
        return None
    # How far predicted numbers are off is what measures are made of.
    varying = [numbers[0], *(values - numbers[0] for values in numbers[1:])] if sample.task in NUMBERS else numbers
    codes = [_cut(sample, values, FINE, ends) for values in varying]
    intervals = _probability_intervals(sample, pattern, most, ends)
    cell_of_row, lost_share = cells_of_similar_rows(joint(pattern, *intervals)[0], codes, most, LOST)
    scores = [means(values, cell_of_row, sample.weights) for values in numbers]
    # Cells with neighbouring scores of a model share its score, so that curves have few points, but not across an end.
    grid = [cut(score, MOST_SCORES)[cell_of_row] for score in scores]
    grid = [joint(part, cell)[0] for part, cell in zip(intervals, grid, strict=True)] if intervals else grid
    return Coarse(cell_of_row, _sample_of_cells(sample, cell_of_row, grid), lost_share)


def _probability_intervals(sample: Sample, pattern: Wholes, most: int, ends: Floats) -> list[Wholes]:
    """Return the interval of each row's probability [n] for each model; an empty list where there are too many.

    The intervals lie between ``ends`` or, if these are too many, between tenths, and finer in the tails, where one
    sure and wrong probability has a loss like that of many others.
    """
    probabilities = [model.probability for model in originals(sample).values() if model.probability is not None]
    for edges in (ends, TENTHS):
        intervals = [np.searchsorted(edges, probability, side="right") for probability in probabilities]
        if probabilities and joint(pattern, *intervals)[1] <= most // 2:
            return intervals
    return []


def _cut(sample: Sample, values: Floats, parts: int, edges: Floats) -> Wholes:
    """Cut ``values`` [n] into about ``parts`` intervals, and at probabilities ``edges``; return numbers [n]."""
    if sample.task in NUMBERS:
        return cut(values, parts)
    ends = [(present(model.probability, "probabilities"), edges) for model in originals(sample).values()
            if model.score is values and model.probability is not None]
    if sample.task != "binary" or parts > SEARCHED:
        return cut(values, parts, *ends)
    # Of rare events a few cells would hold all: half of the cells are of them.
    halves = [np.sort(values[sample.truth == event]) for event in (True, False)]
    inner = [half[(np.arange(1, parts // 2) * len(half)) // (parts // 2)] for half in halves if len(half)]
    return cut(values, 1, (values, np.concatenate(inner)), *ends)


def _sample_of_cells(sample: Sample, cell_of_row: Wholes, score_cells: list[Wholes]) -> Sample:
    """Return a sample with a row for each cell, weighted by its observations.

    ``score_cells`` has the cells [n] of each model's score alone, each of which may hold several cells.
    """
    sizes = np.bincount(cell_of_row, sample.weights).astype(float)
    first = first_rows(cell_of_row, len(sizes))
    models: dict[str, Predictions] = {}
    if sample.task in NUMBERS:
        truth: Values = means(sample.truth, cell_of_row, sample.weights)
        for name, model in sample.models.items():
            predicted = means(present(model.predicted, "predictions"), cell_of_row, sample.weights)
            ranks, standardised = (None if values is None else means(values, cell_of_row, sample.weights)
                                   for values in (model.ranks, model.standardised))
            models[name] = replace(model, predicted=predicted, folds=values_at(model.folds, first), ranks=ranks,
                                   standardised=standardised)
    else:
        truth, cells_of_model = sample.truth[first], _score_cells(sample, score_cells)
        for name, model in sample.models.items():
            models[name] = _predictions_of_cells(sample, model, cell_of_row, first, cells_of_model.get(name))
    return replace(
        sample, truth=truth, weight=sizes, weight_kind="frequency", models=MappingProxyType(models), slicings=(),
        searched=(), parts=MappingProxyType({}), folds=None,
    )


def _predictions_of_cells(
    sample: Sample, model: Predictions, cell_of_row: Wholes, first: Wholes, score_cells: Wholes | None
) -> Predictions:
    """Return a model's predictions for each cell: the class of its first row, and means of its score and probability.

    ``first`` [cells] are the positions of the first rows. Cells are joint ones of all models, so one score of this
    model may be in several, and must be the same number in each: so it is the mean over all rows of the same one of
    ``score_cells`` [n], the cells of this model alone, and so is ``stated``, the probability that goes with the score.
    ``probability`` is the mean in the joint cell, so that its total is exact. Cuts, fit groups, remainders and ends are
    of single rows, so cells have none.
    """
    score = mean_probability = probability_at_score = ranks = None
    if model.score is not None and score_cells is not None:
        score = means(model.score, score_cells, sample.weights)[score_cells[first]]
        ranks = None if model.ranks is None else means(model.ranks, score_cells, sample.weights)[score_cells[first]]
    if model.score is not None and model.probability is not None and score_cells is not None:
        mean_probability = means(model.probability, cell_of_row, sample.weights)
        probability_at_score = means(model.probability, score_cells, sample.weights)[score_cells[first]]
    return replace(
        model, score=score, probability=mean_probability, predicted=values_at(model.predicted, first),
        folds=values_at(model.folds, first), cuts=None, stated=probability_at_score,
        reportable=values_at(model.reportable, first), group=None, remainders=None, ends=None, ranks=ranks,
    )


def _score_cells(sample: Sample, grid: list[Wholes]) -> dict[str, Wholes]:
    """Return the cell of each row's score [n], by model; ``grid`` has those of the models with scores, in order.

    Recalibrated variants have the cells of their original, split by fold.
    """
    scored = (name for name, model in originals(sample).items() if model.score is not None)
    cells_by_model = dict(zip(scored, grid, strict=True))
    for name, model in sample.models.items():
        if model.source is not None and model.source in cells_by_model:
            original = cells_by_model[model.source]
            cells_by_model[name] = original if model.folds is None else joint(original, model.folds)[0]
    return cells_by_model
