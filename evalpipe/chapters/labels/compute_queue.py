"""Which rows to label next: with what probability each is drawn, so that intervals narrow and estimates stay unbiased.

Of each row it is asked how far its unknown outcome may move the measures that are to be narrow. Rows are drawn in
proportion to that, which makes the sum of the measures' variances, each relative to its present one, the least (Neyman
1934; Zrnic & Candès 2024, arXiv 2403.03208). Weights of 1 / the probability keep estimates unbiased, whatever the
probabilities are: a poor guess of what an outcome may move costs width alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

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
    from evalpipe.chapters.labels.plan import LabelsPlan
    from evalpipe.data.sample import KnownRows, Sample
    from evalpipe.engine.subsets import Subset
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.statistics import Rows

CELLS = 64
"""Cells of similar scores in each predicted class, at most: what an outcome may move is computed once for each."""

CLAIMED = 0.01, 0.99
"""Between these a label is believed to be the probability of the event."""

PRIOR = 4.0
"""For how many rows with an outcome all labels together count, where it is asked how far to believe them."""

FOLDS = 10
"""Folds of rows: the outcomes of a fold say nothing of what its own rows are."""

UNIFORM = 0.25
"""The share of the rows to label that is spread over all rows alike, so that no probability is near 0."""


class Queue(NamedTuple):
    """All rows by the names of dataset and row, those to label next first, each with its ``probability``.

    That is the probability of having been drawn for an outcome by the end of this round, in this round or before.
    """

    rows: list[tuple[str, str]]
    probability: list[float]


def next_rows(plan: Plan, labels: LabelsPlan, samples: Sequence[Sample], count: int) -> Queue:
    """Return the rows of all samples, of which the first ``count`` are to be labelled next.

    ``samples`` are the datasets in which rows are without an outcome, with the names of rows.
    """
    states = [(sample, sample.known) for sample in samples if sample.known is not None]
    before = np.concatenate([chance_so_far(known) for _, known in states])
    is_open = np.concatenate([~known.known for _, known in states])
    rows = [(sample.dataset, str(name)) for sample, _ in states for name in (() if sample.ids is None else sample.ids)]
    folds = np.split((random_numbers(plan.seed, 0, rows) * FOLDS).astype(np.intp),
                     np.cumsum([sample.n for sample, _ in states])[:-1])
    size = np.concatenate([draw_sizes(plan, labels, sample, known, fold)
                           for (sample, known), fold in zip(states, folds, strict=True)])
    chance = chances_by_fold(before, size, is_open, np.concatenate(folds), count)
    numbers = random_numbers(plan.seed, int((~is_open).sum()), rows)
    drawn = drawn_rows(chance, numbers, np.flatnonzero(is_open), count).tolist()
    others = sorted(set(range(len(rows))).difference(drawn), key=lambda row: rows[row])
    probability = (1 - (1 - before) * (1 - chance)).tolist()
    return Queue([rows[row] for row in (*drawn, *others)], [probability[row] for row in (*drawn, *others)])


def chance_so_far(known: KnownRows) -> Floats:
    """Return with what probability each row came to have an outcome so far, [n]; of a random part that part's share."""
    if known.probability is not None:
        return known.probability
    share = np.bincount(known.stratum, known.known) / np.maximum(np.bincount(known.stratum), 1)
    return np.asarray(share[known.stratum])


def event_chances(labels: LabelsPlan, sample: Sample, known: Flags, fold: Wholes) -> Floats:
    """Return the probability of the event of each row, [n], by logistic lines fitted to the outcomes of other folds.

    So no row's outcome has a part in its probability of being drawn, which would bias estimates. A line is of the log
    odds in the mean label of the judges and the mean probability of the models. ``fold`` [n] is from 0.
    """
    judges = list(labels_of_judges(labels, sample).values())
    models = [model.probability for model in sample.models.values() if model.probability is not None]
    means = [np.clip(np.mean(part, axis=0), *CLAIMED) for part in (judges, models) if part]
    chance = np.array(means[0] if means else np.full(sample.n, 0.5))
    columns, claimed = [np.asarray(logit(mean)) for mean in means], chance.copy()
    for number in range(FOLDS):
        train, apply = np.flatnonzero(known & (fold != number)), fold == number
        event, prior = np.asarray(sample.truth[train], float), PRIOR / max(len(train), 1)
        event, other = event + prior * claimed[train], 1 - event + prior * (1 - claimed[train])
        for used in range(len(columns) if len(train) else 0, 0, -1):
            try:
                line = logistic_fit([column[train] for column in columns[:used]], event, other)
            except Unfit:  # the columns are alike, or one number
                continue
            log_odds = line[0] + sum(slope * column for slope, column in zip(line[1:], columns[:used], strict=True))
            chance[apply] = np.clip(expit(log_odds[apply]), *CLAIMED)
            break
    return chance


def draw_sizes(plan: Plan, labels: LabelsPlan, sample: Sample, known: KnownRows, fold: Wholes) -> Floats:
    """Return how far the outcome of each row may move the measures that are to be narrow, [n]: a root mean square.

    The square of each measure is relative to its variance as rows are labelled now; ``fold`` as in `event_chances`.
    """
    before, event = chance_so_far(known), event_chances(labels, sample, known.known, fold)
    is_powered = labels.method == "prediction_powered"
    label = np.mean(list(labels_of_judges(labels, sample).values()), axis=0) if is_powered else np.zeros(0)
    squares = np.zeros(sample.n)
    for rows, moves in _moves(plan, sample, event):
        square = residual_squares(moves, event[rows], label[rows] if is_powered else None)
        variance = float((square / before[rows]).sum())
        squares[rows] += square / variance if variance > 0 else 0.0
    return np.sqrt(squares)


def residual_squares(moves: Floats, event: Floats, label: Floats | None) -> Floats:
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
    parts = [part for part in subsets(plan, sample)
             if part.rest_of is None and (part.rows is None or plan.slices.enough(part.n))]
    judged = [wanted for part in parts for name in sample.models for wanted in _judged(plan, sample, part, name)]
    for part, names, entries in judged or [(part, [name], plan.metrics) for part in parts for name in sample.models]:
        rows = np.arange(sample.n) if part.rows is None else part.rows
        by_model = [
            measure_moves(rows_of(sample, sample.models[name]).at(rows), sample.weights[rows], event[rows], entries)
            for name in names]
        for model, *baseline in zip(*by_model, strict=True):
            yield rows, model - sum(baseline)


def _judged(
    plan: Plan, sample: Sample, part: Subset, name: str
) -> Iterator[tuple[Subset, list[str], tuple[MetricPlan, ...]]]:
    """Yield the measures of a model that gates judge in a part of the rows, with the model and the baseline, if any."""
    for gate in plan.part(gates_plan):
        entries = tuple(entry for entry in gate.entries if judges_number(plan, gate, Subject(
            metric=entry.metric.name, params=entry.shown, average=entry.average, dataset=sample.dataset,
            slice=None if part.slice is None else dict(part.slice), **sample.named(name))))
        if entries:
            yield part, [name, *([gate.baseline] if gate.against == "baseline" and gate.baseline else [])], entries


def measure_moves(rows: Rows, weights: Floats, event: Floats, entries: Sequence[MetricPlan]) -> list[Floats]:
    """Return by how much one more event, or non-event, like each row would move each measure, [2, n].

    Rows that a model gives similar scores and one class are a cell, which counts as the row in its middle; a row is an
    event in part, by its probability ``event`` [n]. Where a measure is undefined nothing moves it.
    """
    cell = _cells(rows)
    count, order = int(cell.max()) + 1, np.argsort(cell, kind="stable")
    first = np.searchsorted(cell[order], np.arange(count + 1))
    middle = order[(first[:-1] + first[1:] - 1) // 2]
    either = replace(rows.at(np.concatenate([middle, middle])), truth=np.arange(2 * count) < count)
    base = np.concatenate([np.bincount(cell, weights * share, count) for share in (event, 1 - event)])
    summary = Summary(either, np.concatenate([base[None], base + np.eye(2 * count)]))
    changes = [(value := values(summary, entry))[1:] - value[0] for entry in entries]
    return [np.nan_to_num(change, posinf=0.0, neginf=0.0).reshape(2, count, -1).sum(axis=-1)[:, cell]
            for change in changes]


def _cells(rows: Rows) -> Wholes:
    """Return the cell of each row, [n]: `CELLS` of neighbours by score, at most, in each predicted class."""
    scored, kind = rows.scored if rows.ranked else np.zeros(len(rows.truth)), np.zeros(len(rows.truth), np.intp)
    for flags in (rows.predicted, rows.reportable):
        kind = kind if flags is None else 2 * kind + flags
    order = np.lexsort((scored, kind))
    position = np.empty(len(order), np.intp)
    position[order] = np.arange(len(order)) - np.searchsorted(kind[order], kind[order])
    cell = kind * CELLS + position * CELLS // np.bincount(kind)[kind]
    return np.asarray(np.unique(cell, return_inverse=True)[1].ravel())


def chances_by_fold(before: Floats, size: Floats, is_open: Flags, fold: Wholes, count: int) -> Floats:
    """Return the probabilities of `chances_of_next` within each fold, which has its share of the ``count``, [n].

    Else the outcome of a row would move the share of other folds, and so its own probability.
    """
    chance = np.zeros(len(before))
    for number in np.unique(fold):
        rows = fold == number
        share = float(is_open[rows].sum()) / float(is_open.sum())
        chance[rows] = chances_of_next(before[rows], size[rows], is_open[rows], count * share)
    return chance


def chances_of_next(before: Floats, size: Floats, is_open: Flags, count: float) -> Floats:
    """Return with what probability each row is drawn in this round if it has not been before, [n].

    Those of the rows that are ``is_open``, if any, add up to ``count``. By the end of the round probabilities are in
    proportion to ``size``, where rows did not have more ``before``; a share `UNIFORM` of the count is for all alike.
    """
    def at(level: float) -> Floats:
        return np.asarray((np.clip(level * size, before, 1.0) - before) / np.where(before < 1, 1 - before, 1.0))

    low, high = 0.0, 2.0 / float(size[size > 0].min(initial=np.inf))
    for _ in range(100):  # to the last digit of a float
        middle = (low + high) / 2
        low, high = (middle, high) if float(at(middle)[is_open].sum()) < (1 - UNIFORM) * count else (low, middle)
    chance = at(low)
    room = float((1 - chance[is_open]).sum())
    share = (count - float(chance[is_open].sum())) / room if room > 0 else 0.0
    return np.minimum(chance + (1 - chance) * share, 1.0)


def random_numbers(seed: int, drawn: int, rows: Sequence[tuple[str, str]]) -> Floats:
    """Return a number between 0 and 1 for each row by its dataset and name, [n]: others in each round.

    It is a hash, so that the order of rows changes none; rounds are told apart by how many rows were ``drawn`` before.
    """
    return np.array([(int(text_sha256(f"{seed}\n{drawn}\n{dataset}\n{name}")[:13], 16) + 0.5) / 2**52
                     for dataset, name in rows])


def drawn_rows(chance: Floats, numbers: Floats, rows: Wholes, count: int) -> Wholes:
    """Return which ``count`` of the ``rows`` are drawn, by their positions in the order drawn: Rosén (1997).

    A row is drawn with its ``chance`` all but exactly, and as many as asked for. ``numbers`` [n] are random.
    """
    chance, numbers = chance[rows], numbers[rows]
    odds = numbers * (1 - chance) / ((1 - numbers) * np.maximum(chance, np.finfo(float).tiny))
    return np.asarray(rows[np.argsort(odds, kind="stable")[:count]])
