"""Measures of predicted classes that see one class, the event, against the rest: of `tp`, `fp`, `fn` and `tn`.

Operating points stand at the end: the threshold that costs decide on, the best under a condition on the other rate, and
what acting at a threshold brings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from pydantic import Field

from evalpipe.arithmetic import log, log1p
from evalpipe.metrics.declare import FromSpec, metric
from evalpipe.metrics.values import Proportion, ratio
from evalpipe.tasks import MANY

if TYPE_CHECKING:

    from evalpipe.base.arraytypes import Floats


UNIT = (0.0, 1.0)
CORRELATION = (-1.0, 1.0)
Prevalence = Annotated[float, Field(ge=0, le=1), FromSpec("prevalence")]

proportion = partial(metric, needs="labels", linear=True, range=UNIT, interval="proportion")
"""Declare a share of rows by their predicted class."""
of_cells = partial(metric, needs="labels", direction="maximize")
"""Declare another function of the four cells, of which more is better."""


@proportion(direction="maximize", within_classes=True, standard=True,
            aliases=("recall", "tpr", "hit_rate", "sens", "recall_score", "true_positive_rate",
                     "probability_of_detection"), undefined="no events", swapped="specificity", ref="Yerushalmy (1947)")
def sensitivity(tp: Floats, fn: Floats) -> Proportion:
    r"""Share of the events that were predicted as events, $\frac{TP}{TP+FN}$."""
    return Proportion(tp, tp + fn)


@proportion(direction="maximize", within_classes=True, standard=("binary",), undefined="no non-events",
            aliases=("tnr", "spec", "true_negative_rate"), swapped="sensitivity", ref="Yerushalmy (1947)")
def specificity(fp: Floats, tn: Floats) -> Proportion:
    r"""Share of the non-events that were predicted as non-events, $\frac{TN}{TN+FP}$."""
    return Proportion(tn, tn + fp)


@proportion(direction="minimize", within_classes=True,
            aliases=("fpr", "fall_out", "type_1_error_rate", "type_i_error_rate", "type_1_error", "type_i_error",
                     "probability_of_false_detection"),
            undefined="no non-events", swapped="false_negative_rate", ref="Fawcett (2006)")
def false_positive_rate(fp: Floats, tn: Floats) -> Proportion:
    r"""Share of the non-events that were predicted as events, $\frac{FP}{FP+TN}$."""
    return Proportion(fp, fp + tn)


@proportion(direction="minimize", within_classes=True,
            aliases=("fnr", "miss_rate", "type_2_error_rate", "type_ii_error_rate", "type_2_error", "type_ii_error"),
            undefined="no events", swapped="false_positive_rate", ref="Fawcett (2006)")
def false_negative_rate(tp: Floats, fn: Floats) -> Proportion:
    r"""Share of the events that were predicted as non-events, $\frac{FN}{FN+TP}$."""
    return Proportion(fn, fn + tp)


@proportion(direction="maximize", standard=True, aliases=("precision_score",), undefined="no predicted events",
            swapped="npv_sample", ref="van Rijsbergen (1979)")
def precision(tp: Floats, fp: Floats) -> Proportion:
    r"""Share of the predicted events that were events, $\frac{TP}{TP+FP}$."""
    return Proportion(tp, tp + fp)


@proportion(direction="maximize", standard=("binary",), title="NPV (sample)", undefined="no predicted non-events",
            swapped="precision", ref="Vecchio (1966)")
def npv_sample(fn: Floats, tn: Floats) -> Proportion:
    r"""Share of the predicted non-events that were non-events, $\frac{TN}{TN+FN}$."""
    return Proportion(tn, tn + fn)


@of_cells(range=UNIT, title="PPV", standard=("binary",), interval="predictive", aliases=("positive_predictive_value",),
          undefined="no events, no non-events, or no predicted event at this prevalence", swapped="npv",
          ref="Vecchio (1966)")
def ppv(tp: Floats, fp: Floats, fn: Floats, tn: Floats, *, prevalence: Prevalence) -> Floats:
    r"""Probability that a predicted event is an event, where the prevalence of events is the one given (pi),
    $\frac{Se\,\pi}{Se\,\pi+(1-Sp)(1-\pi)}$."""
    hits, false_alarms = ratio(tp, tp + fn) * prevalence, ratio(fp, fp + tn) * (1 - prevalence)
    return ratio(hits, hits + false_alarms)


@of_cells(range=UNIT, title="NPV", standard=("binary",), interval="predictive", aliases=("negative_predictive_value",),
          undefined="no events, no non-events, or no predicted non-event at this prevalence", swapped="ppv",
          ref="Vecchio (1966)")
def npv(tp: Floats, fp: Floats, fn: Floats, tn: Floats, *, prevalence: Prevalence) -> Floats:
    r"""Probability that a predicted non-event is a non-event, where the prevalence of events is the one given (pi),
    $\frac{Sp(1-\pi)}{Sp(1-\pi)+(1-Se)\pi}$."""
    cleared, missed = ratio(tn, fp + tn) * (1 - prevalence), ratio(fn, tp + fn) * prevalence
    return ratio(cleared, cleared + missed)


@of_cells(linear=True, range=UNIT, standard=True, title="F1", aliases=("f1_score",),
          undefined="no events and none predicted", swapped=None, ref="van Rijsbergen (1979)")
def f1(tp: Floats, fp: Floats, fn: Floats) -> Floats:
    r"""Harmonic mean of precision and sensitivity, $\frac{2TP}{2TP+FN+FP}$."""
    return ratio(2 * tp, 2 * tp + fn + fp)


@of_cells(range=UNIT, title="F-beta", aliases=("f_meas", "fbeta_score"), linear=True,
          undefined="no events and none predicted", swapped=None, ref="van Rijsbergen (1979)")
def f_beta(tp: Floats, fp: Floats, fn: Floats, *, beta: Annotated[float, Field(gt=0, lt=1e6)] = 1.0) -> Floats:
    r"""Weighted harmonic mean of precision and sensitivity, in which sensitivity counts beta times as much,
    $\frac{(1+\beta^2)TP}{(1+\beta^2)TP+\beta^2FN+FP}$."""
    hits = (1 + beta**2) * tp
    return ratio(hits, hits + beta**2 * fn + fp)


@of_cells(linear=True, within_classes=True, range=CORRELATION, title="J-index",
          aliases=("youden", "informedness", "true_skill_statistic", "peirce_skill_score", "youden_index"),
          undefined="no events or no non-events", ref="Youden (1950)")
def j_index(tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
    r"""Sensitivity plus specificity minus one, $\frac{TP}{TP+FN}+\frac{TN}{TN+FP}-1$."""
    return ratio(tp, tp + fn) + ratio(tn, tn + fp) - 1


@proportion(direction="none", aliases=("selection_rate", "rate_of_positive_predictions"), undefined="no rows",
            swapped=None, ref="Kuhn (2008)")
def detection_prevalence(tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Proportion:
    r"""Share of the rows that were predicted as events, $\frac{TP+FP}{n}$."""
    return Proportion(tp + fp, tp + fp + fn + tn)


@of_cells(linear=True, range=CORRELATION, aliases=("delta_p",),
          undefined="no predicted events or no predicted non-events", ref="Powers (2011)")
def markedness(tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
    r"""Precision plus sample NPV minus one, $\frac{TP}{TP+FP}+\frac{TN}{TN+FN}-1$."""
    return ratio(tp, tp + fp) + ratio(tn, tn + fn) - 1


@metric(needs="labels", direction="minimize", within_classes=True, range=(0.0, np.sqrt(2)), title="ROC corner distance",
        aliases=("roc_dist",), undefined="no events or no non-events", ref="Perkins & Schisterman (2006)")
def roc_distance(tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
    r"""Distance in the ROC plane from the corner of perfect classification,
    $\sqrt{\left(\frac{FN}{TP+FN}\right)^2+\left(\frac{FP}{TN+FP}\right)^2}$."""
    return np.sqrt(ratio(fn, tp + fn) ** 2 + ratio(fp, fp + tn) ** 2)


@of_cells(range=UNIT, interval="proportion", aliases=("threat_score", "jaccard_score", "csi", "jaccard_index"),
          undefined="no events and none predicted", swapped=None, ref="Gilbert (1884)")
def critical_success_index(tp: Floats, fp: Floats, fn: Floats) -> Proportion:
    r"""Correctly predicted events as a share of all rows that are events or predicted as events,
    $\frac{TP}{TP+FN+FP}$."""
    return Proportion(tp, tp + fn + fp)


@of_cells(within_classes=True, range=(0.0, np.inf), title="Positive likelihood ratio", aliases=("lr_plus",),
          undefined="no events, no non-events, or no false positives", swapped=None, ref="Altman & Bland (1994)")
def positive_likelihood_ratio(tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
    r"""Rate at which events are predicted as events over the rate at which non-events are,
    $\frac{TP/(TP+FN)}{FP/(FP+TN)}$."""
    return ratio(ratio(tp, tp + fn), ratio(fp, fp + tn))


@metric(needs="labels", direction="minimize", within_classes=True, range=(0.0, np.inf), aliases=("lr_minus",),
        title="Negative likelihood ratio", undefined="no events, no non-events, or no true negatives",
        swapped=None, ref="Altman & Bland (1994)")
def negative_likelihood_ratio(tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
    r"""Rate at which events are predicted as non-events over the rate at which non-events are,
    $\frac{FN/(TP+FN)}{TN/(FP+TN)}$."""
    return ratio(ratio(fn, tp + fn), ratio(tn, fp + tn))


@of_cells(within_classes=True, range=(0.0, np.inf), title="Odds ratio", aliases=("diagnostic_odds_ratio",),
          undefined="no false positives or no false negatives", ref="Glas et al. (2003)")
def odds_ratio(tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
    r"""Odds of being predicted as an event among the events over those among the non-events,
    $\frac{TP\cdot TN}{FP\cdot FN}$."""
    return ratio(tp * tn, fp * fn)


@of_cells(within_classes=True, range=CORRELATION, title="SEDI", aliases=("symmetric_extremal_dependence_index",),
          undefined="no events or no non-events", ref="Ferro & Stephenson (2011)")
def sedi(tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
    r"""Association of truth and prediction that stays informative for rare events, from sensitivity H and false
    positive rate F clipped to [1e-9, 1 - 1e-9],
    $\frac{\ln F-\ln H-\ln(1-F)+\ln(1-H)}{\ln F+\ln H+\ln(1-F)+\ln(1-H)}$."""
    # The logarithms of rates of 0 and 1 are infinite, and their ratio has no value.
    h, f = (np.clip(ratio(called, rows), 1e-9, 1 - 1e-9) for called, rows in ((tp, tp + fn), (fp, fp + tn)))
    ups, downs = log(f) + log1p(-h), log(h) + log1p(-f)
    return ratio(ups - downs, ups + downs)


@metric(needs="labels", linear=True, direction="none", range=(0.0, np.inf), undefined="no events",
        swapped=None, ref="Donaldson et al. (1975)")
def frequency_bias(tp: Floats, fp: Floats, fn: Floats) -> Floats:
    r"""Predicted events per event; 1 where as many events are predicted as occur, $\frac{TP+FP}{TP+FN}$."""
    return ratio(tp + fp, tp + fn)


@of_cells(range=(-1 / 3, 1.0), title="Equitable threat score", aliases=("gilbert_skill_score", "ets"),
          undefined="truth and predictions are all of one class", ref="Gandin & Murphy (1992)")
def equitable_threat_score(tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
    r"""Critical success index corrected for the events that a random prediction of the same frequency would find,
    $\frac{TP-R}{TP+FP+FN-R},\ R=\frac{(TP+FP)(TP+FN)}{n}$."""
    beyond = tp * tn - fp * fn  # n times the hits beyond chance; no difference of near equals in the denominator
    return ratio(beyond, (fp + fn) * (tp + fp + fn + tn) + beyond)


@of_cells(within_classes=True, range=CORRELATION, title="Yule's Q", aliases=("odds_ratio_skill_score",),
          undefined="truth or predictions are all of one class", ref="Yule (1900)")
def yule_q(tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
    r"""Odds ratio rescaled to the range from -1 to 1, $\frac{TP\cdot TN-FP\cdot FN}{TP\cdot TN+FP\cdot FN}$."""
    return ratio(tp * tn - fp * fn, tp * tn + fp * fn)


@proportion(direction="maximize", title="Accuracy against the rest", tasks=MANY, aliases=("accuracy_ovr_macro",),
            undefined="no rows", ref="Biecek & Burzykowski (2021)")
def accuracy_ovr(tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Proportion:
    r"""Share of the rows correctly predicted as the class or as not the class. Its macro average is not the
    accuracy: a wrong row counts as wrong for two classes only, $\frac{TP+TN}{n}$."""
    return Proportion(tp + tn, tp + fp + fn + tn)


@of_cells(range=UNIT, title="Balanced accuracy against the rest", tasks=MANY, linear=True,
          undefined="no events or no non-events", ref="Brodersen et al. (2010)")
def bal_accuracy_ovr(tp: Floats, fp: Floats, fn: Floats, tn: Floats) -> Floats:
    r"""Mean of sensitivity and specificity of a class against the rest,
    $\frac{1}{2}\left(\frac{TP}{TP+FN}+\frac{TN}{TN+FP}\right)$."""
    return (ratio(tp, tp + fn) + ratio(tn, tn + fp)) / 2


@metric(needs="truth", linear=True, direction="none", range=(0.0, np.inf), undefined="no events",
        title="Self-information", swapped=None, ref="Shannon (1948)")
def self_information(total: Floats, events: Floats, *, base: Literal["e", 2, 10] = 2) -> Floats:
    r"""How surprising an event is, given how often it occurs; a fact of the data, not of the model, $-\log\pi$."""
    return -log(np.where(events > 0, ratio(events, total), np.nan)) / (1.0 if base == "e" else math.log(base))


def bayes_threshold(costs: Sequence[Sequence[float]]) -> float | None:
    """Return the probability from which calling a row an event costs no more, in expectation, than not to.

    ``costs`` [2, 2] are by true and predicted level, the event first. With c_FP, c_TN, c_FN and c_TP of them,
    t* = (c_FP - c_TN) / ((c_FP - c_TN) + (c_FN - c_TP)): Elkan (2001), section 1. None where a wrong prediction costs
    less than the right one of the same level, or neither costs more.
    """
    (right_event, missed), (alarm, right_other) = costs
    extra_alarm, extra_miss = alarm - right_other, missed - right_event
    if extra_alarm < 0 or extra_miss < 0 or extra_alarm + extra_miss <= 0:
        return None
    return extra_alarm / (extra_alarm + extra_miss)


ONE_CLASS = "no events or no non-events"
ROUNDING = 1e-12
"""A rate that misses what is asked by less than this misses it by rounding alone."""

Rate = Annotated[float, Field(ge=0, le=1)]
Chance = Annotated[float, Field(gt=0, lt=1)]

best_rate = partial(metric, needs="scores", direction="maximize", within_classes=True, range=UNIT, undefined=ONE_CLASS)
"""Declare the best rate under a condition on the other one."""


@best_rate(title="Sensitivity at specificity", aliases=("tpr_at_fpr", "recall_at_specificity"),
           swapped="specificity_at_sensitivity", ref="Pepe (2003)")
def sensitivity_at_specificity(events_from: Floats, others_from: Floats, *, at: Rate = 0.9) -> Floats:
    r"""Largest sensitivity among the thresholds with a specificity of at least the requested value (a),
    $\max_{t:\,Sp(t)\geq a}Se(t)$."""
    sensitivity, specificity = _sensitivity_and_specificity(events_from, others_from)
    return _best(sensitivity, specificity, at, above_all=0.0)


@best_rate(title="Specificity at sensitivity", aliases=("specificity_at_recall",),
           swapped="sensitivity_at_specificity", ref="Pepe (2003)")
def specificity_at_sensitivity(events_from: Floats, others_from: Floats, *, at: Rate = 0.9) -> Floats:
    r"""Largest specificity among the thresholds with a sensitivity of at least the requested value (a),
    $\max_{t:\,Se(t)\geq a}Sp(t)$."""
    sensitivity, specificity = _sensitivity_and_specificity(events_from, others_from)
    return _best(specificity, sensitivity, at, above_all=0.0 if at > 0 else 1.0)


# The net benefit is least where all rows are acted on and none is an event.
@metric(needs="probabilities", direction="maximize", range=(-np.inf, 1.0), linear=True, interval="net_benefit",
        range_of=lambda options: (-options["threshold"] / (1 - options["threshold"]), 1.0), undefined="no rows",
        swapped=None, ref="Vickers & Elkin (2006)")
def net_benefit(total: Floats, events_reached: Floats, others_reached: Floats, *, threshold: Chance = 0.5) -> Floats:
    r"""Net benefit per case: true positives minus false positives, the latter weighted by the threshold's odds. Rows
    with a probability of at least the threshold (t) are acted on; t is the probability of an event at which acting
    is just worth it. Acting on no row gives 0, and no model exceeds the prevalence,
    $\frac{TP_t}{n}-\frac{FP_t}{n}\cdot\frac{t}{1-t}$."""
    return ratio(events_reached - others_reached * threshold / (1 - threshold), total)


def _sensitivity_and_specificity(events_from: Floats, others_from: Floats) -> tuple[Floats, Floats]:
    """Return sensitivity and specificity [..., m] at each cut; NaN in both where a class is missing."""
    events, others = events_from[..., :1], others_from[..., :1]
    missing = (events <= 0) | (others <= 0)
    events, others = (np.where(missing, np.nan, total) for total in (events, others))
    return events_from / events, (others - others_from) / others


def _best(rate: Floats, bound: Floats, at_least: float, above_all: float) -> Floats:
    """Return the largest ``rate`` [...] among the cuts [..., m] at which the other rate, ``bound``, is high enough.

    That is ``at_least``, but for rounding. ``above_all`` is the rate at the cut above all scores, which the tables do
    not hold.
    """
    best = np.maximum(np.where(bound >= at_least - ROUNDING, rate, 0.0).max(axis=-1), above_all)
    return np.where(np.isnan(rate[..., 0]), np.nan, best)
