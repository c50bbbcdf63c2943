"""Measures of ranking: functions of the events and non-events at each distinct score.

Tables have a last axis of the distinct scores in ascending order. ``events_from`` and ``others_from`` hold the totals
scored at or above each of them. Rows of equal score are one cell, so the order of rows cannot matter.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.arithmetic import log1p
from evalpipe.metrics.declare import metric
from evalpipe.metrics.logistic import dot
from evalpipe.metrics.values import ratio

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Flags, Floats

UNIT = (0.0, 1.0)
ONE_CLASS = "no events or no non-events"

ranked = partial(metric, needs="scores", direction="maximize", range=UNIT, undefined=ONE_CLASS)
"""Declare a measure of how events are ranked above non-events."""


def _share_ranked_correctly(events_at: Floats, others_at: Floats, others_from: Floats) -> Floats:
    """Return the share [...] of (event, non-event) pairs in which the event has the higher score; ties count one half.

    ``events_at`` and ``others_at`` [..., m] are weights at each distinct score, ascending; ``others_from`` at or above
    it.
    """
    others = others_from[..., :1]
    # In place: a table holds every distinct score of every replicate, and its copies would not fit the cache.
    below = others_at / 2
    below -= others_from
    below += others
    return ratio(dot(events_at, below), events_at.sum(-1) * others[..., 0])


@ranked(linear=True, within_classes=True, standard=True, title="ROC AUC", interval="auc",
        aliases=("auc", "roc_auc_score", "c_statistic"), ref="Hanley & McNeil (1982)")
def roc_auc(events_at: Floats, others_at: Floats, others_from: Floats) -> Floats:
    r"""Probability that a random event is scored above a random non-event; ties count one half,
    $P(s_1>s_0)+\frac{1}{2}P(s_1=s_0)$."""
    return _share_ranked_correctly(events_at, others_at, others_from)


@ranked(linear=True, within_classes=True, range=(-1.0, 1.0), title="Gini (accuracy ratio)",
        aliases=("accuracy_ratio", "somers_d"), ref="Somers (1962)")
def gini(events_at: Floats, others_at: Floats, others_from: Floats) -> Floats:
    r"""Share of the pairs of an event and a non-event ranked correctly minus the share ranked wrongly, $2\,AUC-1$."""
    return 2 * _share_ranked_correctly(events_at, others_at, others_from) - 1


def _precision_integral(events_at: Floats, above: Floats, others: Floats) -> Floats:
    """Return, for each score [..., m], the integral of precision as its events are added after the ``others`` [..., m].

    ``above`` [..., m] is the weight of events scored higher.
    """
    passed = ratio(events_at, above + others, empty=0.0)
    return np.where(above + others > 0, events_at - others * log1p(passed), events_at)


def _strictly_above(table: Floats) -> Floats:
    """Return the totals above each score, from a table [..., m] of those at or above it."""
    return np.concatenate([table[..., 1:], np.zeros_like(table[..., :1])], axis=-1)


def _average_precision_range(
    events_at: Floats, events_from: Floats, others_from: Floats, *, single: Flags
) -> tuple[Floats, Floats]:
    """Return the least and the largest average precision [...] that any order of the rows within ties could give.

    Rows of a score that is ``single`` [m] stay tied. It is least where the others of a score come first and its events
    one by one, when the sum of their precisions is at least its integral. It is largest where the events come first,
    all tied.
    """
    tied = events_at * ratio(events_from, events_from + others_from, empty=0.0)
    lowest = np.where(single, tied, _precision_integral(events_at, _strictly_above(events_from), others_from))
    others_above = _strictly_above(others_from)
    highest = np.where(single, tied, events_at * ratio(events_from, events_from + others_above, empty=1.0))
    least, most = (ratio(summed.sum(-1), events_from[..., 0]) for summed in (lowest, highest))
    return least, most


def _pr_auc_range(
    events_at: Floats, events_from: Floats, others_from: Floats, *, single: Flags
) -> tuple[Floats, Floats]:
    """Return the least and the largest trapezoidal PR AUC [...] that any order of the rows within ties could give.

    Rows of a score that is ``single`` [m] stay tied. The precision rises ever more slowly with the events. So the area
    is least where the others of a score come first and its events are tied, and at most the integral where the events
    come first.
    """
    above, others_above = _strictly_above(events_from), _strictly_above(others_from)
    precision = ratio(events_from, events_from + others_from, 1.0)
    precision_above = ratio(above, above + others_above, 1.0)
    lowest = events_at * (ratio(above, above + others_from, 1.0) + precision) / 2
    tied = events_at * (precision_above + precision) / 2
    highest = _precision_integral(events_at, above, others_above)
    least, most = (
        ratio(np.where(single, tied, summed).sum(-1), events_from[..., 0]) for summed in (lowest, highest))
    return least, most


@ranked(title="PR AUC (trapezoid)", interval="skewed", tied_range=_pr_auc_range, aliases=("pr_auc_trapezoid",),
        undefined="no events", swapped=None, ref="Davis & Goadrich (2006)")
def pr_auc(events_at: Floats, events_from: Floats, others_from: Floats) -> Floats:
    r"""Area under the precision-recall curve by trapezoids, from recall 0 at precision 1. Optimistic where scores
    are tied: a constant score gives about (1 + prevalence) / 2. Prefer average precision,
    $\sum_k(R_k-R_{k-1})\frac{P_k+P_{k-1}}{2}$."""
    # Thresholds above every row of positive weight retrieve nothing; the curve starts there at precision 1.
    precision = ratio(events_from, events_from + others_from, empty=1.0)
    heights = np.concatenate([precision[..., 1:], np.ones_like(precision[..., :1])], axis=-1) + precision
    return ratio((events_at * heights).sum(-1) / 2, events_from[..., 0])


@ranked(standard=True, aliases=("average_precision_score",), interval="skewed", undefined="no events",
        tied_range=_average_precision_range,
        swapped=None, ref="Buckley & Voorhees (2000)")
def average_precision(events_at: Floats, events_from: Floats, others_from: Floats) -> Floats:
    r"""Mean over the events of the precision among the rows scored at least as high, $\sum_k(R_k-R_{k-1})P_k$."""
    precision = ratio(events_from, events_from + others_from, empty=0.0)
    return ratio(dot(events_at, precision), events_from[..., 0])


@ranked(within_classes=True, title="K-S statistic", interval="searched", aliases=("kolmogorov_smirnov",),
        ref="Smirnov (1939)")
def ks(events_from: Floats, others_from: Floats) -> Floats:
    r"""Largest distance between the score distributions of events and non-events, $\max_t|F_1(t)-F_0(t)|$."""
    gap = ratio(events_from, events_from[..., :1]) - ratio(others_from, others_from[..., :1])
    return np.asarray(np.abs(gap).max(-1))


@ranked(linear=True, within_classes=True, range=(-1.0, 1.0), ref="Kuhn & Johnson (2013)")
def gain_capture(events_from: Floats, others_from: Floats) -> Floats:
    r"""Area between the cumulative gain curve and the random curve, as a share of that between the perfect and the
    random curve, $\frac{A-1/2}{(1-\pi/2)-1/2}$."""
    tested = ratio(events_from + others_from, (events_from + others_from)[..., :1])
    sensitivity = ratio(events_from, events_from[..., :1])
    zero = np.zeros_like(sensitivity[..., :1])
    # Scores ascend, so the share tested falls along the table, and the area comes out negative.
    area = -np.trapezoid(np.concatenate([sensitivity, zero], -1), np.concatenate([tested, zero], -1), axis=-1)
    prevalence = ratio(events_from[..., 0], (events_from + others_from)[..., 0])
    return ratio(area - 0.5, (1 - prevalence) / 2)
