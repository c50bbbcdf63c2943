"""The rows of one model on one dataset whose outcome has K levels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.arithmetic.functions import log, log_sum_exp
from evalpipe.statistics.rows import OfLevels, Rows, present

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Flags, Floats, Wholes


@dataclass(frozen=True)
class ClassRows(OfLevels):
    """Truth and predictions of n rows: ``truth`` and ``predicted`` [n] number levels in their order, from 0.

    ``probabilities`` [n, levels] are those of all levels. ``scores`` [n, levels] are what the softmax turned into the
    probabilities: ranks are taken from the scores, as the softmax rounds to ties what they tell apart. What a model
    does not give is None. ``reportable`` [n] and ``trained_on`` are as in `Rows`, and so are ``ranks`` [n, levels], by
    each level.
    """

    truth: Wholes
    levels: int
    predicted: Wholes | None
    probabilities: Floats | None = None
    scores: Floats | None = None
    reportable: Flags | None = None
    trained_on: bool = False
    ranks: Floats | None = None

    @property
    def by_rank(self) -> ClassRows:
        """The rows themselves: those of each level against the rest have ranks."""
        return self

    @property
    def gives(self) -> frozenset[str]:
        """What the rows have of that which a metric may need; see `evalpipe.metrics.declare.Facts`."""
        labels = set() if self.predicted is None else {"labels"}
        return frozenset({"truth", *labels, *(() if self.probabilities is None else ("probabilities", "scores"))})

    @property
    def chances(self) -> Floats:
        """The probabilities of all levels [n, levels]; raises TypeError where the model gives none."""
        return present(self.probabilities, "probabilities")

    @cached_property
    def true_chance(self) -> Floats:
        """The probability of the true class, shape [n]."""
        return self.chances[np.arange(len(self.truth)), self.truth]

    @property
    def all_chances(self) -> Floats:
        """The probabilities of all levels, [n, levels]."""
        return self.chances

    @cached_property
    def true_rank(self) -> Wholes:
        """How many levels are ranked above the true one, shape [n]; of equals the first level leads."""
        # By scores where there are any: the softmax rounds to ties what these tell apart.
        values = self.chances if self.scores is None else self.scores
        true = values[np.arange(len(self.truth)), self.truth][:, None]
        earlier = np.arange(self.levels) < self.truth[:, None]
        return np.asarray(((values > true) | ((values == true) & earlier)).sum(axis=1))

    @property
    def ranking(self) -> Floats:
        """What ranks the rows by each level, [n, levels]: ranks, or log odds where there are scores, or probability."""
        if self.ranks is not None:
            return self.ranks
        return self.chances if self.scores is None else self._log_odds_of_each

    @cached_property
    def _log_odds_of_each(self) -> Floats:
        """The log odds of each level, [n, levels], from the scores."""
        return np.column_stack([self._log_odds([level]) for level in range(self.levels)])

    def _log_odds(self, levels: list[int]) -> Floats:
        """Return the log odds [n] that the row is of one of some levels, from the scores."""
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
        return np.asarray(-log(np.clip(self.true_chance, epsilon, 1 - epsilon)))

    def squared_error(self) -> Floats:
        """Half the squared distance of the probabilities of all classes from the truth, shape [n]."""
        hit = np.arange(self.levels) == self.truth[:, None]
        return np.asarray(((hit - self.chances) ** 2).sum(axis=1) / 2)

    def expected(self, values: Floats) -> Floats:
        """Expectation under the probabilities of ``values`` [n, levels], shape [n]."""
        return np.asarray((values * self.chances).sum(axis=1))

    def always(self, place: int) -> ClassRows:
        """Return the rows as if the truth of all of them were one level."""
        return replace(self, truth=np.full(len(self.truth), place))

    def against(self, level: int) -> Rows:
        """Return the rows with one level as the event and all others as its opposite."""
        predicted = None if self.predicted is None else self.predicted == level
        chances = None if self.probabilities is None else np.ascontiguousarray(self.probabilities[:, level])
        score = None if self.scores is None else np.ascontiguousarray(self._log_odds_of_each[:, level])
        ranks = None if self.ranks is None else np.ascontiguousarray(self.ranks[:, level])
        return Rows(
            self.truth == level, predicted, chances, score, self.reportable, trained_on=self.trained_on, ranks=ranks)

    @property
    def top_label(self) -> Rows:
        """The rows with "the predicted class is the true one" as the event, and the probability given to that class."""
        place = np.arange(len(self.truth)), self.classes
        score = None if self.scores is None else self._log_odds_of_each[place]
        return Rows(self.truth == self.classes, None, self.chances[place], score)

    def beyond(self, level: int) -> Rows:
        """Return the rows with every level above this one as the event."""
        predicted = None if self.predicted is None else self.predicted > level
        chances = None
        if self.probabilities is not None:
            # A sum of probabilities may exceed 1 in its last digit.
            chances = np.clip(self.probabilities[:, level + 1 :].sum(axis=1), 0.0, 1.0)
        score = None if self.scores is None else self._log_odds([*range(level + 1, self.levels)])
        return Rows(self.truth > level, predicted, chances, score, self.reportable)
