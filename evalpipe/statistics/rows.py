"""The rows of one model on one dataset, and their order by score: of one event, and of an outcome of K levels.

Rows are grouped by equal keys once, so that every batch of weights is totalled without sorting again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from evalpipe.arithmetic import log, log_of_true_class, log_sum_exp

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Self

    from evalpipe.base.arraytypes import Flags, Floats, Values, Wholes


FEW = 16
"""Runs that are summed one by one; of more, all at once."""


def starts_of_runs(*keys: Values) -> Wholes:
    """Return the indices at which runs of neighbours that are equal in all ``keys`` [n] begin, shape [m]."""
    new = np.zeros(len(keys[0]), bool)
    new[:1] = True
    for key in keys:
        new[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(new)


def runs_within(ascending: Floats, edges: Floats) -> tuple[Wholes, Wholes]:
    """Return the first index of ascending values [n] in each interval that has any, and the interval's number: [used].

    Interval k is from ``edges[k]``, ascending, up to the next edge, which is not in it; the last has no end. Values
    below all edges are in interval -1.
    """
    begins = np.concatenate([[0], np.searchsorted(ascending, edges)])
    used = begins < np.append(begins[1:], len(ascending))
    return begins[used], np.flatnonzero(used) - 1


def totals_of_runs(values: Values, starts: Wholes) -> Floats:
    """Return the totals [..., m] of ``values`` [..., n] in runs of neighbours that begin at ``starts`` [m].

    Values are floats or counts. Counts are totalled as differences of running sums, which is exact and several times
    faster than adding up each run; of floats these differences would cancel.
    """
    n, m = values.shape[-1], len(starts)
    if m == n:
        return values
    if m <= FEW:
        ends = [*starts[1:], n]
        return np.stack([values[..., a:b].sum(axis=-1) for a, b in zip(starts, ends, strict=True)], axis=-1)
    if values.dtype.kind == "f":
        return np.add.reduceat(values, starts, axis=-1)
    last = np.append(starts[1:], n) - 1
    up_to = np.take(np.cumsum(values, axis=-1), last, axis=-1)
    totals = up_to.copy()
    totals[..., 1:] -= up_to[..., :-1]
    return totals


@dataclass(frozen=True)
class Groups:
    """Rows grouped by equal keys: ``order`` [n] are their positions, sorted; ``starts`` [m] where the groups begin."""

    order: Wholes
    starts: Wholes

    @classmethod
    def by(cls, *keys: Values) -> Groups:
        """Group rows by the first key [n], within it by the next, all ascending."""
        order = np.lexsort(keys[::-1])  # which sorts by its last key first
        return cls(order, starts_of_runs(*(key[order] for key in keys)))

    def totals(self, values: Values) -> Floats:
        """Return the totals [..., m] of ``values`` [..., n] in each group."""
        return totals_of_runs(np.take(values, self.order, axis=-1), self.starts)

    @property
    def first(self) -> Wholes:
        """The position of the first row of each group, shape [m]."""
        return self.order[self.starts]


Array = TypeVar("Array", bound="Values")
AnyRows = TypeVar("AnyRows")


class RowsOfLevels(ABC):
    """What rows of two levels and rows of K levels have in common; ``truth`` and ``predicted`` [n] are as in these."""

    truth: Values
    predicted: Values | None
    reportable: Flags | None
    trained_on: bool
    source: Wholes | None

    @cached_property
    def without_source(self) -> tuple[Self, Wholes]:
        """The rows as any others, neighbours that differ in their source alone as one, and where each begins [m]."""
        keys = [values for part in fields(self) if part.name != "source"  # type: ignore[arg-type]
                and isinstance(values := getattr(self, part.name), np.ndarray) and values.ndim == 1]
        starts = starts_of_runs(*keys)
        return changed(rows_at(self, starts), source=None), starts

    @property
    @abstractmethod
    def true_probability(self) -> Floats:
        """The probability of the true class, shape [n]; raises TypeError where the model gives none."""

    @property
    def classes(self) -> Values:
        """The predicted class of each row, as ``predicted`` has it; raises TypeError where the model gives none."""
        return present(self.predicted, "predicted classes")

    @cached_property
    def codes(self) -> Wholes:
        """The index of each row's true class among the levels, the event first: shape [n]."""
        return _level_codes(self.truth)

    @cached_property
    def predicted_codes(self) -> Wholes:
        """The index of each row's predicted class among the levels, shape [n]."""
        return _level_codes(self.classes)

    @cached_property
    def cells(self) -> Groups:
        """The rows grouped by true and predicted class."""
        return Groups.by(self.codes, self.predicted_codes)

    @cached_property
    def members(self) -> Groups:
        """The rows grouped by true class."""
        return Groups.by(self.codes)

    @property
    def shortfall(self) -> Floats:
        """How far the probability of the true class is below 1, shape [n]."""
        return np.asarray(1 - self.true_probability)

    @cached_property
    def by_shortfall(self) -> Groups:
        """The rows grouped by how far the probability of the true class is below 1."""
        return Groups.by(self.shortfall)

    def paired(self, index: Wholes) -> Self:
        """Return the rows with the truth of row ``index[i]`` beside the prediction of row i, as in random pairings."""
        return changed(self, truth=self.truth[index])

    def at(self, index: Wholes) -> Self:
        """Return the rows at these positions, which no longer count as all that the model was fitted to."""
        return changed(rows_at(self, index), trained_on=False)

    @property
    def cut(self) -> int | None:
        """The index, in ascending order of score, from which on rows are predicted as events; None without any."""
        return None

    @cached_property
    def with_predicted_class(self) -> tuple[Wholes, Self]:
        """The positions of the rows that have a predicted class (outside the equivocal zone), and these rows."""
        kept = np.flatnonzero(present(self.reportable, "equivocal zone"))
        return kept, changed(self.at(kept), reportable=None)


@dataclass(frozen=True)
class Rows(RowsOfLevels):
    """Truth and predictions of n rows, all of shape [n]: whether each is an event, and whether it is predicted as one.

    ``probability`` is that of the event; ``score`` ranks the rows, None where the probability does. The probability
    never falls as the score rises, but may round to one number where the scores differ. What a model does not give is
    None. ``reportable`` is whether a row has a predicted class, None where all have one: in an equivocal zone
    ``predicted`` means nothing. ``stated`` is the probability at the score, where rows that share a score on a grid
    have probabilities of their own; None where it is ``probability``. ``group`` [n] and ``remainders`` are as
    `Predictions` has them: what the rows that a cell stands for have more of a statistic than the cell itself.
    ``ends`` [n, 2] are the least and the largest probability that they may have; None for rows that are no cells.
    ``trained_on`` is whether the model was fitted to these rows, all of them and no others. ``ranks`` [n] rank the rows
    instead of the score, where folds have scores of their own; None where the score does. ``source`` [n] says whose
    label ``truth`` is, where it is not always the outcome: see `combined_weights`.
    """

    truth: Flags
    predicted: Flags | None
    probability: Floats | None = None
    score: Floats | None = None
    reportable: Flags | None = None
    stated: Floats | None = None
    group: Wholes | None = None
    remainders: Mapping[tuple[str, tuple[tuple[str, Any], ...]], Floats] | None = None
    ends: Floats | None = None
    trained_on: bool = False
    ranks: Floats | None = None
    source: Wholes | None = None

    def always(self, level: int) -> Rows:
        """Return the rows as if all were events (``level`` 0) or all non-events (1), for means over random pairings."""
        return replace(self, truth=np.full(len(self.truth), level == 0), remainders=None)

    def exactly(self, name: str, options: Mapping[str, object], values: Values) -> Values:
        """Return a statistic's ``values`` [n] at cells plus the recorded remainders, to get the exact totals of rows.

        ``name`` and ``options`` say which statistic. A remainder is what the rows that a group of cells stands for
        have more of it than the cells; without remainders the values are unchanged.
        """
        remainder = (self.remainders or {}).get((name, tuple(options.items())))
        return values if remainder is None else values + remainder[present(self.group, "groups")]

    @classmethod
    def stacked(cls, parts: Sequence[Rows]) -> Rows:
        """Return the rows of all parts, one part after the other; the parts have the same predictions."""
        def joined(name: str) -> Values | None:
            # The parts are of one model, which gives all of them or none.
            arrays = [getattr(part, name) for part in parts]
            return None if arrays[0] is None else np.concatenate(arrays)

        truth = np.concatenate([part.truth for part in parts])
        rows = cls(truth, joined("predicted"), joined("probability"), joined("score"), joined("reportable"),
                   trained_on=parts[0].trained_on)
        if parts[0].ranks is None:
            return rows
        # Ranks count within a part. ``stated`` of `by_rank` is the probability at each, which ranks rows of all parts.
        return replace(rows, ranks=np.concatenate([part.by_rank.stated for part in parts]))

    @property
    def by_rank(self) -> Rows:
        """The rows with ``ranks`` in place of scores, where they have any: what measures of ranking use.

        The probabilities of all rows are sorted into the order of the ranks, so that as many rows lie above each.
        """
        return self if self.ranks is None else self._by_rank

    @cached_property
    def _by_rank(self) -> Rows:
        """The rows with their ranks as scores, for measures of ranking where each fold has its own scores.

        The lowest probability of all rows goes with the lowest rank, and so on, so that a higher rank never has a lower
        probability.
        """
        ranks = present(self.ranks, "ranks")
        probability_at_rank = np.empty_like(self.event_probability)
        probability_at_rank[np.argsort(ranks, kind="stable")] = np.sort(self.event_probability)
        return replace(self, score=ranks, stated=probability_at_rank, ranks=None)

    @property
    def event_probability(self) -> Floats:
        """The probability of the event; raises TypeError where the model gives none."""
        return present(self.probability, "probabilities")

    @property
    def scored(self) -> Floats:
        """The numbers [n] that order the rows: scores, else probabilities; raises TypeError where there are neither."""
        return present(self.probability if self.score is None else self.score, "scores")

    @property
    def levels(self) -> int:
        """The number of classes."""
        return 2

    @property
    def true_probability(self) -> Floats:
        """The probability of the true class, shape [n]."""
        return np.where(self.truth, self.event_probability, 1 - self.event_probability)

    @property
    def shortfall(self) -> Floats:
        """How far the probability of the true class is below 1, shape [n]: |y - p|."""
        # 1 - (1 - p) would lose the digits of a small p.
        return np.where(self.truth, 1 - self.event_probability, self.event_probability)

    @property
    def level_probabilities(self) -> Floats:
        """The probabilities of the event and of its opposite, [n, 2]."""
        return np.stack([self.event_probability, 1 - self.event_probability], axis=1)

    def negative_log(self, epsilon: float) -> Floats:
        """Negative logarithm of the true class's probability, clipped to [epsilon, 1 - epsilon], shape [n]."""
        return -log_of_true_class(np.clip(self.event_probability, epsilon, 1 - epsilon), self.truth)

    def squared_error(self) -> Floats:
        """Half the squared distance of the probabilities of all classes from the truth, shape [n]."""
        return np.asarray((self.truth - self.event_probability) ** 2)

    def expected(self, values: Floats) -> Floats:
        """Expectation under the probabilities of ``values`` [n, levels], shape [n]."""
        return values[:, 0] * self.event_probability + values[:, 1] * (1 - self.event_probability)

    @property
    def gives(self) -> frozenset[str]:
        """Which of the needs of metrics the rows meet, such as "labels" or "probabilities"."""
        optional = {"labels": self.predicted, "probabilities": self.probability}
        ranks = {"scores"} if self.ranked else set()
        return frozenset({"truth", *ranks, *(need for need, values in optional.items() if values is not None)})

    @property
    def ranked(self) -> bool:
        """Whether the model gives scores or probabilities, which order the rows."""
        return self.probability is not None or self.score is not None

    @cached_property
    def order(self) -> Wholes:
        """The positions of the rows in ascending order of score, shape [n]."""
        return np.argsort(self.scored, kind="stable")

    @cached_property
    def ordered(self) -> bool:
        """Whether the rows are in ascending order of score."""
        return bool(np.array_equal(self.order, np.arange(len(self.order))))

    @cached_property
    def ordered_truth(self) -> Flags:
        """Whether each row is an event, in ascending order of score, shape [n]."""
        return self.truth[self.order]

    @cached_property
    def cut(self) -> int | None:
        """The index in `order` from which on all rows are predicted as events, and none before.

        None where there is none, or rows share a score.
        """
        if self.predicted is None or not self.ranked or len(self.starts) < len(self.order):
            return None
        predicted = self.predicted[self.order]
        cut = len(predicted) - int(np.count_nonzero(predicted))
        return cut if predicted[cut:].all() else None

    @cached_property
    def _runs(self) -> tuple[Wholes, Floats]:
        """The first position in `order` and the value of each distinct score, both [m], from one pass."""
        ordered = self.scored[self.order]
        starts = starts_of_runs(ordered)
        return starts, _first_of_runs(ordered, starts)

    @property
    def starts(self) -> Wholes:
        """The first position of each distinct score in `order`, shape [m]."""
        return self._runs[0]

    @property
    def distinct(self) -> Floats:
        """The distinct scores in ascending order, shape [m]."""
        return self._runs[1]

    @cached_property
    def probability_of_score(self) -> Floats:
        """The probability at each distinct score, never falling, shape [m]; TypeError where the model gives none."""
        probability = self.event_probability if self.stated is None else self.stated
        if probability is self.scored:
            return self.distinct
        return np.maximum.accumulate(_first_of_runs(probability[self.order], self.starts))

    @property
    def threshold_at(self) -> Floats:
        """The threshold shown for each distinct score, [m]: its probability, or the score where there is none."""
        return self.distinct if self.probability is None else self.probability_of_score

    @cached_property
    def classes_present(self) -> Flags:
        """Whether there are events, and others, at each distinct probability [2, m], whatever the weights."""
        at_scores = np.zeros((2, len(self.distinct)), bool)
        for row, event in zip(at_scores, (True, False), strict=True):
            _, score_index = self.positions_by_class[event]
            row[score_index] = True
        return np.logical_or.reduceat(at_scores, starts_of_runs(self.probability_of_score), axis=-1)

    @cached_property
    def score_index(self) -> Wholes:
        """The index of each row's score among the distinct scores, shape [n]."""
        index = np.empty(len(self.order), np.intp)
        index[self.order] = np.repeat(np.arange(len(self.starts)), np.diff(self.starts, append=len(self.order)))
        return index

    @cached_property
    def positions_by_class(self) -> dict[bool, tuple[Wholes, Wholes]]:
        """The positions of events (True) and of non-events by ascending score, and the index of the score of each.

        The index is among the distinct scores.
        """
        indices = {event: np.flatnonzero(self.ordered_truth == event) for event in (True, False)}
        steps = np.zeros(len(self.order), np.intp)
        steps[self.starts[1:]] = 1
        score_index = np.cumsum(steps)
        return {event: (self.order[index], score_index[index]) for event, index in indices.items()}

    def by_score(self, ordered: Values) -> Floats:
        """Return the totals [..., m] at each distinct score, of values [..., n] sorted by score as in `order`."""
        return totals_of_runs(ordered, self.starts)


def _level_codes(values: Values) -> Wholes:
    """Return level indices [n]: of event flags 0 where True, as the event is level 0, and 1 where False; else as is."""
    return np.asarray(~values).view(np.int8) if values.dtype.kind == "b" else values


def _first_of_runs(ordered: Floats, starts: Wholes) -> Floats:
    """Return the first value [m] of each run of ``ordered`` values [n], which begin at ``starts`` [m]."""
    return ordered if len(starts) == len(ordered) else ordered[starts]


def changed(rows: AnyRows, **values: object) -> AnyRows:
    """Return rows of any kind with other values in some fields."""
    return replace(rows, **values)  # type: ignore[type-var]


def rows_at(rows: AnyRows, index: Wholes) -> AnyRows:
    """Return rows of any kind at the positions ``index``, which select from each of their arrays."""
    arrays = {field.name: getattr(rows, field.name) for field in fields(rows)}  # type: ignore[arg-type]
    return changed(rows, **{name: array[index] for name, array in arrays.items() if isinstance(array, np.ndarray)})


def values_at(values: Array | None, index: Wholes) -> Array | None:
    """Return the values at the positions ``index``; None where there are no values."""
    return None if values is None else values[index]  # type: ignore[return-value]


def present(values: Array | None, called: str) -> Array:
    """Return values that a statistic needs; raises TypeError, with what they are ``called``, where they are None."""
    if values is None:
        raise TypeError(f"these rows have no {called}")
    return values


@dataclass(frozen=True)
class ClassRows(RowsOfLevels):
    """Truth and predictions of n rows: ``truth`` and ``predicted`` [n] number levels in their order, from 0.

    ``probabilities`` [n, levels] are those of all levels. ``scores`` [n, levels] are what the softmax turned into the
    probabilities: ranks are taken from the scores, as the softmax rounds to ties what they tell apart. What a model
    does not give is None. ``reportable`` [n] and ``trained_on`` are as in `Rows`, and so are ``ranks`` [n, levels], by
    each level, and ``source`` [n].
    """

    truth: Wholes
    levels: int
    predicted: Wholes | None
    probabilities: Floats | None = None
    scores: Floats | None = None
    reportable: Flags | None = None
    trained_on: bool = False
    ranks: Floats | None = None
    source: Wholes | None = None

    @property
    def by_rank(self) -> ClassRows:
        """These rows unchanged: ranks replace scores only in rows of a single level against the rest."""
        return self

    @property
    def gives(self) -> frozenset[str]:
        """Which of the needs of metrics the rows meet, such as "labels" or "probabilities"."""
        labels = set() if self.predicted is None else {"labels"}
        return frozenset({"truth", *labels, *(() if self.probabilities is None else ("probabilities", "scores"))})

    @property
    def level_probabilities(self) -> Floats:
        """The probabilities of all levels [n, levels]; raises TypeError where the model gives none."""
        return present(self.probabilities, "probabilities")

    @cached_property
    def true_probability(self) -> Floats:
        """The probability of the true class, shape [n]."""
        return self.level_probabilities[np.arange(len(self.truth)), self.truth]


    @cached_property
    def true_rank(self) -> Wholes:
        """The number of levels that are more probable than the true level, [n]; of ties the first level leads."""
        # By scores where there are any: the softmax rounds to ties what these tell apart.
        values = self.level_probabilities if self.scores is None else self.scores
        true_value = values[np.arange(len(self.truth)), self.truth][:, None]
        is_earlier = np.arange(self.levels) < self.truth[:, None]
        return np.asarray(((values > true_value) | ((values == true_value) & is_earlier)).sum(axis=1))

    @property
    def ranking(self) -> Floats:
        """The numbers [n, levels] that order the rows by each level: ranks, log odds of scores, or probabilities."""
        if self.ranks is not None:
            return self.ranks
        return self.level_probabilities if self.scores is None else self._log_odds_of_each

    @cached_property
    def _log_odds_of_each(self) -> Floats:
        """The log odds of each level, [n, levels], from the scores."""
        return np.column_stack([self._log_odds([level]) for level in range(self.levels)])

    def _log_odds(self, levels: list[int]) -> Floats:
        """Return the log odds [n], from the scores, that a row belongs to any of ``levels``."""
        # The sum of their softmax over the sum of the others' is taken as a difference of logarithms: no overflow.
        scores = present(self.scores, "scores")
        chosen, others = scores[:, levels], np.delete(scores, levels, axis=1)
        return log_sum_exp(chosen, 1) - log_sum_exp(others, 1)

    @cached_property
    def rank_distance(self) -> Wholes:
        """By how many levels the predicted class misses the true one, shape [n]."""
        return np.asarray(np.abs(self.truth - self.classes))

    def negative_log(self, epsilon: float) -> Floats:
        """Negative logarithm of the true class's probability, clipped to [epsilon, 1 - epsilon], shape [n]."""
        return np.asarray(-log(np.clip(self.true_probability, epsilon, 1 - epsilon)))

    def squared_error(self) -> Floats:
        """Half the squared distance of the probabilities of all classes from the truth, shape [n]."""
        hit = np.arange(self.levels) == self.truth[:, None]
        return np.asarray(((hit - self.level_probabilities) ** 2).sum(axis=1) / 2)

    def expected(self, values: Floats) -> Floats:
        """Expectation under the probabilities of ``values`` [n, levels], shape [n]."""
        return np.asarray((values * self.level_probabilities).sum(axis=1))

    def always(self, level: int) -> ClassRows:
        """Return the rows as if the true class of all of them were one ``level``, by its index."""
        return replace(self, truth=np.full(len(self.truth), level))

    @cached_property
    def against_rest(self) -> tuple[Rows, ...]:
        """The rows of each level against the rest, which are sorted once for any weights of them."""
        return tuple(map(self._against, range(self.levels)))

    @cached_property
    def pooled(self) -> Rows:
        """The rows of all levels against the rest together, each row once for each level."""
        return Rows.stacked(self.against_rest)

    def _against(self, level: int) -> Rows:
        """Return the rows with one level as the event and all others as its opposite."""
        predicted = None if self.predicted is None else self.predicted == level
        probability = None if self.probabilities is None else np.ascontiguousarray(self.probabilities[:, level])
        score = None if self.scores is None else np.ascontiguousarray(self._log_odds_of_each[:, level])
        ranks = None if self.ranks is None else np.ascontiguousarray(self.ranks[:, level])
        return Rows(self.truth == level, predicted, probability, score, self.reportable, trained_on=self.trained_on,
                    ranks=ranks)

    @cached_property
    def top_label(self) -> Rows:
        """The rows with "the predicted class is the true one" as the event, and the probability given to that class."""
        predicted_index = np.arange(len(self.truth)), self.classes
        score = None if self.scores is None else self._log_odds_of_each[predicted_index]
        return Rows(self.truth == self.classes, None, self.level_probabilities[predicted_index], score)

    def beyond(self, level: int) -> Rows:
        """Return the rows as `Rows` with "a level above ``level``" as the event, for ordered levels."""
        predicted = None if self.predicted is None else self.predicted > level
        probability = None
        if self.probabilities is not None:
            # A sum of probabilities may exceed 1 in its last digit.
            probability = np.clip(self.probabilities[:, level + 1 :].sum(axis=1), 0.0, 1.0)
        score = None if self.scores is None else self._log_odds([*range(level + 1, self.levels)])
        return Rows(self.truth > level, predicted, probability, score, self.reportable)
