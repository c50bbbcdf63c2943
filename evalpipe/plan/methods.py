"""How the interval of each measure is made, with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.metrics import Metric
    from evalpipe.plan.priors import Prior
    from evalpipe.spec.models import Spec

Method = Literal[
    "exact", "wilson", "jeffreys", "delong", "logit", "percentile", "basic", "bca", "studentised",
    "bootstrap_logit", "folded", "noncentral", "binomial_bins", "corrected", "bootstrap_noncentral",
    "bootstrap_corrected", "none",
]
"""How an interval is made."""

BOOTSTRAP: tuple[Method, ...] = (
    "percentile", "basic", "bca", "studentised", "bootstrap_logit", "bootstrap_noncentral", "bootstrap_corrected",
)
"""The methods that need replicates."""

BINOMIAL: dict[Method, str] = {"exact": "Clopper-Pearson", "wilson": "Wilson", "jeffreys": "Jeffreys"}
"""The methods for proportions of rows, by whose they are."""

DEPENDENT = "rows of a cluster are not independent, so whole clusters are resampled"

SPREAD = "each replicate draws its own prevalence from the declared distribution, whose spread no other limits hold"

REWEIGHED = "the classes are reweighted to a prevalence, so no limits in closed form hold"

CLOSED: dict[str, tuple[Method, str]] = {
    "auc": ("delong", "an area under the ROC curve, whose variance DeLong gives"),
    "predictive": ("logit", "from two independent proportions and a fixed prior: the delta method gives its error"),
}
"""The methods in closed form, and why they hold, by the kind of interval that a metric declares."""

GAPS = ("gaps", "squared_gaps", "scatter")
"""The kinds of interval of measures that are made of gaps in bins."""

NOISY = (*GAPS, "distance", "squared_distance", "searched", "searched_square")
"""The kinds of interval of measures that noise moves to one side, and resampling further, so that quantiles miss."""

LARGER = "noise makes it larger and resampling more so: inverted from its noise"

NORMS: dict[str, tuple[Method, str]] = {
    "l1": ("folded", f"a sum of distances; {LARGER}"),
    "l2": ("noncentral", f"a mean of squared distances; {LARGER}"),
    "debiased": ("noncentral", f"a mean of squared distances; {LARGER}"),
    "square": ("noncentral", f"a mean of squared distances; {LARGER}"),
    "max": ("binomial_bins", "the largest distance of any bin, so the exact limits of every bin bound it"),
    "within": ("corrected", "noise makes what is left within bins smaller, so what it takes is given back"),
}
"""The methods in closed form of measures of gaps, and why they hold, by their norm."""

SMALLER: tuple[Method, str] = (
    "bootstrap_corrected",
    "noise makes it smaller and resampling more so: what replicates lose is added",
)
"""The method from replicates of a measure that noise makes smaller, and why."""

WITHOUT: dict[str, str] = {
    "test": "a test of a hypothesis, of which replicates are no draws: it has no limits",
    "extreme": "an extreme of these rows, which no replicate exceeds and other rows may: it has no limits",
}
"""The kinds of measures that have no interval, and why."""


def interval(
    spec: Spec, entry: Metric, average: str | None, params: Mapping[str, Any], prior: Prior
) -> tuple[Method, str]:
    """Choose the interval method of a metric under some options at a prevalence, and say why."""
    if entry.interval in WITHOUT:
        return "none", WITHOUT[entry.interval]
    general = _for_all(spec)
    if entry.interval in NOISY and spec.intervals.method != "none":
        return _noisy(spec, entry, average, params, prior)
    if prior.uncertain and spec.intervals.method != "none":
        return "percentile", SPREAD
    if entry.interval == "skewed" and (general is None or general[1] == DEPENDENT):
        return "bootstrap_logit", "skewed: the bootstrap's error holds better, on the logit scale, than its quantiles"
    if general is None and prior.shares is not None:
        return "percentile", REWEIGHED
    return general or _of_kind(spec, entry, average)


def _of_kind(spec: Spec, entry: Metric, average: str | None) -> tuple[Method, str]:
    """Choose the method of a metric by the kind of interval that it declares."""
    if entry.interval is None or average not in (None, "none"):
        kind = "an average over classes" if entry.interval is not None else "not a proportion of rows"
        return "percentile", f"{kind}, so no {'limits in closed form' if entry.interval else 'binomial limits'} exist"
    if entry.interval == "proportion":
        return proportions(spec)
    weighted: tuple[Method, str] = ("percentile", "limits in closed form do not hold under importance weights")
    return weighted if spec.importance else CLOSED[entry.interval]


def _noisy(
    spec: Spec, entry: Metric, average: str | None, params: Mapping[str, Any], prior: Prior
) -> tuple[Method, str]:
    """Choose the method of a measure that noise moves to one side; no quantiles of replicates hold for it."""
    spread = {
        SPREAD: prior.uncertain, DEPENDENT: spec.cluster is not None, REWEIGHED: prior.shares is not None,
        "an average over classes, so no limits in closed form exist": average not in (None, "none"),
        "under importance weights bins of equal weight have no error in closed form":
            spec.importance and (params.get("strategy") == "quantile" or entry.name == "ace"),
    }
    why = next((reason for reason, holds in spread.items() if holds), None)
    if entry.interval in GAPS and why is None:
        method, reason = NORMS[entry.norm(params)]
    else:
        method, reason = SMALLER if entry.interval == "scatter" else ("bootstrap_noncentral", LARGER)
        reason += f"; {why}" if why and entry.interval in GAPS else ""
    asked = spec.intervals.method
    return method, reason + (f"; {asked} limits, which the spec asks for, would miss it" if asked in BOOTSTRAP else "")


def _for_all(spec: Spec) -> tuple[Method, str] | None:
    """Return the method that holds for every measure, where one does."""
    asked = spec.intervals.method
    if asked == "none":
        return "none", "the spec asks for none"
    if asked in BOOTSTRAP:
        return next(method for method in BOOTSTRAP if method == asked), "the spec asks for the bootstrap"
    return ("percentile", DEPENDENT) if spec.cluster is not None else None


def proportions(spec: Spec) -> tuple[Method, str]:
    """Choose the method of a proportion of rows."""
    general, asked = _for_all(spec), spec.intervals.method
    if general is not None:
        return general
    if spec.importance and asked not in BINOMIAL:
        return "percentile", "binomial limits do not hold under importance weights"
    method: Method = next((known for known in BINOMIAL if known == asked), "exact")
    if spec.importance:
        return method, f"{BINOMIAL[method]} limits of effective observations, as the spec asks for under weights"
    if asked in ("wilson", "jeffreys"):
        return method, f"a proportion of rows, and the spec asks for {BINOMIAL[method]} limits"
    return method, f"a proportion of rows, so {BINOMIAL[method]} limits hold"
