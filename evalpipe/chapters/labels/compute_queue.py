"""Which rows to label next: with what probability each is drawn, so that intervals narrow and estimates stay unbiased.

Of each row it is asked how far its unknown outcome may move the measures that are to be narrow. Rows are drawn with
probabilities in proportion to that, so that the sum of the measures' variances, each relative to its present one, is
the least (Neyman 1934; Zrnic & Candès 2024). Whatever the probabilities are, weights of 1 / the probability keep an
estimate unbiased; a poor guess of what an outcome may move costs width alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.arithmetic import expit, logit
from evalpipe.base.digests import text_sha256
from evalpipe.base.records import Subject
from evalpipe.calibration.declare import Unfit
from evalpipe.calibration.scales import logistic_fit
from evalpipe.chapters.gates.plan import gates_plan, judges_number
from evalpipe.chapters.labels.compute_judges import labels_of_judges
from evalpipe.engine.averages import values
from evalpipe.engine.subsets import rows_of, subsets
from evalpipe.statistics import Summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.base.arraytypes import Flags, Floats, Wholes
    from evalpipe.chapters.labels.spec import Labels
    from evalpipe.data.sample import KnownRows, Sample
    from evalpipe.engine.subsets import Subset
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.statistics import Rows

CELLS = 64
"""Cells of similar scores in each predicted class: what an outcome may move is computed once for each."""

CLAIMED = 0.01, 0.99
"""Between these a label is taken as the probability of the event."""

PRIOR = 4.0
"""For how many rows with an outcome the labels of judges or models count, where it is asked how far to believe them."""

UNIFORM = 0.25
"""The share of the rows to label that is spread over all rows alike, so that no probability is near 0."""

HALVINGS = 100
"""Steps in which the level of the probabilities is bracketed, to the last digit of a float."""


@dataclass(frozen=True, slots=True)
class QueuedRow:
    """A row of a dataset: its name, its place among the rows to label next from 1, or 0, and its probability.

    ``probability`` is that of having been drawn for an outcome by the end of this round, in this round or before.
    ``known`` tells whether it has an outcome.
    """

    dataset: str
    name: str
    place: int
    probability: float
    known: bool


def next_rows(plan: Plan, labels: Labels, samples: Sequence[Sample], count: int) -> list[QueuedRow]:
    """Return all rows of the samples: the ``count`` to label next in their order, then the others as they are sorted.

    ``samples`` are the evaluated datasets in which rows are without an outcome, with the names of rows.
    """
    before = np.concatenate([chance_so_far(known_of(sample)) for sample in samples])
    known = np.concatenate([known_of(sample).known for sample in samples])
    weight = np.concatenate([draw_sizes(plan, labels, sample) for sample in samples])
    names = [(sample.dataset, str(name)) for sample in samples for name in (() if sample.ids is None else sample.ids)]
    chance = chances_of_next(before, weight, ~known, count)
    numbers = random_numbers(plan.seed, int(known.sum()), names)
    drawn = drawn_rows(chance, numbers, np.flatnonzero(~known), count)
    place = np.zeros(len(names), np.intp)
    place[drawn] = np.arange(1, len(drawn) + 1)
    probability = by_end_of_round(before, chance)
    others = sorted(np.flatnonzero(place == 0), key=lambda row: names[row])
    return [QueuedRow(*names[row], int(place[row]), float(probability[row]), bool(known[row]))
            for row in (*drawn, *others)]


def known_of(sample: Sample) -> KnownRows:
    """Return which rows of a sample have an outcome, of a sample in which some have none."""
    assert sample.known is not None  # noqa: S101 - known to the caller
    return sample.known


def chance_so_far(known: KnownRows) -> Floats:
    """Return with what probability each row came to have an outcome so far, [n]; of a random part that part's share."""
    if known.probability is not None:
        return known.probability
    share = np.bincount(known.stratum, known.known) / np.maximum(np.bincount(known.stratum), 1)
    return np.asarray(share[known.stratum])


def event_chances(labels: Labels, sample: Sample) -> Floats:
    """Return the probability of the event of each row, [n], by a logistic line fitted to the outcomes there are.

    It is a line of the log odds in the mean label of the judges and, unless a judge is one of them, in the mean
    probability of the models. Labels count as `PRIOR` more rows, so that few outcomes do not make probabilities of 0.
    """
    known = known_of(sample).known
    judges = list(labels_of_judges(labels, sample).values())
    models = [model.probability for model in sample.models.values() if model.probability is not None]
    ranked = [np.argsort(np.argsort(model.score, kind="stable"), kind="stable") / sample.n
              for model in sample.models.values() if model.probability is None and model.score is not None]
    has_judged = any(judge.model is not None for judge in labels.judge or ())
    means = [np.clip(np.mean(part, axis=0), *CLAIMED) for part in (judges, models, ranked) if part]
    columns = [np.asarray(logit(mean)) for mean in means[:1 if has_judged else 2]]
    rate = (float(sample.truth[known].sum()) + PRIOR / 2) / (float(known.sum()) + PRIOR)
    claimed = means[0] if judges or models else np.full(sample.n, rate)
    event = known * sample.truth + PRIOR / sample.n * claimed
    other = known * ~sample.truth + PRIOR / sample.n * (1 - claimed)
    for used in range(len(columns), 0, -1):
        try:
            line = logistic_fit(columns[:used], event, other)
        except Unfit:  # the columns are alike, or one number
            continue
        slopes = zip(line[1:], columns, strict=False)
        return np.clip(expit(line[0] + sum(slope * column for slope, column in slopes)), *CLAIMED)
    return np.full(sample.n, rate)


def draw_sizes(plan: Plan, labels: Labels, sample: Sample) -> Floats:
    """Return how far the outcome of each row may move the measures that are to be narrow, [n]: a root mean square.

    The square of each measure is relative to its variance as rows are labelled now.
    """
    before, event = chance_so_far(known_of(sample)), event_chances(labels, sample)
    judges = list(labels_of_judges(labels, sample).values()) if labels.used_method == "prediction_powered" else []
    label = np.mean(judges, axis=0) if judges else None
    squares = np.zeros(sample.n)
    for rows, by_outcome in _moves(plan, sample, event):
        square = _residual_squares(by_outcome, event[rows], None if label is None else label[rows])
        variance = float((square / before[rows]).sum())
        if variance > 0:
            squares[rows] += square / variance
    return np.sqrt(squares)


def _residual_squares(moves: Floats, event: Floats, label: Floats | None) -> Floats:
    """Return the expected square of what an outcome moves a measure beyond what the judge's label has moved it, [n].

    ``moves`` [2, n] are by an event and by a non-event; the share of the judge is the one of the least squares.
    """
    square = event * moves[0]**2 + (1 - event) * moves[1]**2
    if label is None:
        return np.asarray(square)
    judged, expected = label * moves[0] + (1 - label) * moves[1], event * moves[0] + (1 - event) * moves[1]
    total = float((judged**2).sum())
    share = min(max(float((expected * judged).sum()) / total, 0.0), 1.0) if total > 0 else 0.0
    return np.asarray(np.maximum(square - 2 * share * expected * judged + (share * judged)**2, 0.0))


def _moves(plan: Plan, sample: Sample, event: Floats) -> Iterator[tuple[Wholes, Floats]]:
    """Yield how far an event and a non-event in each row move each measure that is to be narrow, after its rows.

    These are the measures that gates judge, or the differences from the baseline; without gates all of the plan, on
    all rows and in slices. ``event`` [n] are the probabilities of the event.
    """
    judged = list(_wanted(plan, sample, gates=True))
    for subset, model, baseline, entries in judged or _wanted(plan, sample, gates=False):
        rows = np.arange(sample.n) if subset.rows is None else subset.rows
        by_model = [
            measure_moves(rows_of(sample, sample.models[name]).at(rows), sample.weights[rows], event[rows], entries)
            for name in (model, baseline) if name is not None]
        for of_measure in zip(*by_model, strict=True):
            yield rows, of_measure[0] if baseline is None else of_measure[0] - of_measure[1]


def _wanted(
    plan: Plan, sample: Sample, *, gates: bool
) -> Iterator[tuple[Subset, str, str | None, list[MetricPlan]]]:
    """Yield subsets and models with the measures in them that are to be narrow, less the baseline's where there is one.

    With ``gates`` those that gates judge, else all measures of the plan.
    """
    for subset in subsets(plan, sample):
        if subset.rest_of is not None or not (subset.rows is None or plan.slices.enough(subset.n)):
            continue
        for name in sample.models:
            if not gates:
                yield subset, name, None, list(plan.metrics)
                continue
            by_baseline: dict[str | None, list[MetricPlan]] = {}
            for gate in plan.part(gates_plan):
                baseline = gate.baseline if gate.against == "baseline" else None
                wanted = by_baseline.setdefault(baseline, [])
                wanted += [entry for entry in gate.entries if entry not in wanted and judges_number(
                    plan, gate, _subject(sample, name, subset, entry))]
            yield from ((subset, name, baseline, entries) for baseline, entries in by_baseline.items() if entries)


def _subject(sample: Sample, name: str, subset: Subset, entry: MetricPlan) -> Subject:
    """Return what a measure of a model in a subset is called in results, by which gates know it."""
    return Subject(metric=entry.metric.name, params=entry.shown, average=entry.average, dataset=sample.dataset,
                   slice=None if subset.slice is None else dict(subset.slice), **sample.named(name))


def measure_moves(rows: Rows, weights: Floats, event: Floats, entries: Sequence[MetricPlan]) -> list[Floats]:
    """Return by how much one more event, or non-event, like each row would move each measure, [2, n].

    Rows that a model gives similar scores and one class are a cell, which counts as the row in its middle; a row is an
    event in part, by its probability ``event`` [n]. Where a measure is undefined nothing moves it.
    """
    cell = _cells(rows)
    cells = int(cell.max()) + 1
    order = np.argsort(cell, kind="stable")
    first = np.searchsorted(cell[order], np.arange(cells + 1))
    middle = order[(first[:-1] + first[1:] - 1) // 2]
    either = replace(rows.at(np.concatenate([middle, middle])), truth=np.arange(2 * cells) < cells)
    base = np.concatenate([np.bincount(cell, weights * share, cells) for share in (event, 1 - event)])
    summary = Summary(either, np.concatenate([base[None], base + np.eye(2 * cells)]))
    moves = []
    for entry in entries:
        value = values(summary, entry)
        change = np.nan_to_num(value[1:] - value[0], nan=0.0, posinf=0.0, neginf=0.0).reshape(2, cells, -1)
        moves.append(np.asarray(change.sum(axis=-1)[:, cell]))
    return moves


def _cells(rows: Rows) -> Wholes:
    """Return the cell of each row, [n]: `CELLS` of neighbours by score, at most, in each predicted class."""
    scored = rows.scored if rows.ranked else np.zeros(len(rows.truth))
    kind = np.zeros(len(scored), np.intp)
    for flags in (rows.predicted, rows.reportable):
        kind = 2 * kind + (0 if flags is None else np.asarray(flags, np.intp))
    order = np.lexsort((scored, kind))
    begins, size = np.searchsorted(kind[order], kind), np.bincount(kind)[kind]
    position = np.empty(len(order), np.intp)
    position[order] = np.arange(len(order))
    key = kind * CELLS + (position - begins) * CELLS // size
    return np.asarray(np.unique(key, return_inverse=True)[1].ravel())


def chances_of_next(before: Floats, size: Floats, is_open: Flags, count: int) -> Floats:
    """Return with what probability each row is drawn in this round if it has not been before, [n].

    Those of the rows that are ``is_open`` add up to ``count``. By the end of the round probabilities are in proportion
    to ``size``, where rows did not have more ``before``; a share `UNIFORM` of the count is spread over all alike.
    """
    room = 1 - before

    def at(level: float) -> Floats:
        total = np.minimum(np.maximum(before, level * size), 1.0)
        return np.where(room > 0, (total - before) / np.where(room > 0, room, 1.0), 0.0)

    low, high, wanted = 0.0, 1.0, (1 - UNIFORM) * count
    largest = float(size.max(initial=0.0))
    high = 2.0 / float(size[size > 0].min()) if largest > 0 else 0.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if float(at(middle)[is_open].sum()) < wanted else (low, middle)
    chance = at(low)
    rest = 1 - chance
    spread = float(rest[is_open].sum())
    share = (count - float(chance[is_open].sum())) / spread if spread > 0 else 0.0
    return np.minimum(chance + rest * min(max(share, 0.0), 1.0), 1.0)


def by_end_of_round(before: Floats, chance: Floats) -> Floats:
    """Return the probability of being drawn in this round or ``before``, [n]."""
    return np.asarray(1 - (1 - before) * (1 - chance))


def random_numbers(seed: int, drawn: int, names: Sequence[tuple[str, str]]) -> Floats:
    """Return a number between 0 and 1 for each row by its dataset and name, [n]: others in each round.

    It is a hash, so that the order of rows changes none; rounds are told apart by how many rows were ``drawn`` before.
    """
    return np.array([(int(text_sha256(f"{seed}\n{drawn}\n{dataset}\n{name}")[:13], 16) + 0.5) / 2**52
                     for dataset, name in names])


def drawn_rows(chance: Floats, numbers: Floats, rows: Wholes, count: int) -> Wholes:
    """Return the positions of the ``count`` of the ``rows`` that are drawn, in the order of being drawn: Rosén (1997).

    A row is drawn with its ``chance`` all but exactly, and as many as asked for. ``numbers`` are random, of each row.
    """
    chance, numbers = np.minimum(chance[rows], 1.0), numbers[rows]
    key = numbers * (1 - chance) / ((1 - numbers) * np.maximum(chance, np.finfo(float).tiny))
    return np.asarray(rows[np.argsort(key, kind="stable")[:count]])
