"""The profit of contacting rows from the highest score down, and the depth at which it is largest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.chapters.costs.plan import profit_plan
from evalpipe.engine.ranks import cumulative_groups
from evalpipe.metrics.values import ratio

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats, Wholes
    from evalpipe.chapters.costs.spec import ProfitRule
    from evalpipe.data.sample import Sample
    from evalpipe.plan.plan import Plan
    from evalpipe.statistics import Summary

EVEN = 1e-12
"""Profits that differ by less than this share of the largest sum that goes into them are equal but for rounding."""


@dataclass(frozen=True)
class Campaign:
    """The profit of contacting rows of total weight ``total``, by the ``terms`` of the spec.

    ``whole`` says that weights count rows, so that groups have integer sizes.
    """

    terms: ProfitRule
    whole: bool
    total: float

    @classmethod
    def of(cls, plan: Plan, sample: Sample) -> Campaign | None:
        """Return the campaign of the spec's ``profit`` on the rows of a sample; None where the spec declares none."""
        terms = plan.part(profit_plan)
        if terms is None:
            return None
        return cls(terms, whole=sample.weight_kind != "importance", total=float(sample.weights.sum()))

    def ranked(self, summary: Summary) -> tuple[Floats, Floats]:
        """Return the cumulative rows contacted and the events among them, each [..., groups + 1].

        The first entry is before any group, the last after all.
        """
        return cumulative_groups(summary.ranked, self.terms.groups, counted=self.whole)

    def earned(self, contacted: Floats, events: Floats) -> Floats:
        """Return the profit of contacting rows of which ``events`` are events, [...]; 0 where none is contacted."""
        spent = self.terms.cost * contacted + np.where(contacted > 0, self.terms.fixed, 0.0)
        return np.asarray(self.terms.benefit * events - spent)

    def profits(self, summary: Summary) -> Floats:
        """Return the profit after each group, [..., groups + 1], scaled to the ``total`` weight of the rows.

        Bootstrap replicates may hold more or fewer rows; scaling makes their profits comparable.
        """
        contacted, events = self.ranked(summary)
        scale = ratio(self.total, contacted[..., -1:])
        return self.earned(contacted * scale, events * scale)

    def best(self, profits: Floats) -> Wholes:
        """Return the index of the depth of largest profit, [...]; the first of profits equal but for rounding."""
        rounding = EVEN * self.total * (self.terms.benefit + self.terms.cost)
        return np.asarray(np.argmax(profits >= profits.max(axis=-1, keepdims=True) - rounding, axis=-1))
