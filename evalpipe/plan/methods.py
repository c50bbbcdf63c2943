"""Which of the declared interval methods each measure gets, with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalpipe.intervals.declare import EVERY, FEW_CLUSTERS, UNLIKE_ROWS, registry

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from evalpipe.chapters.prevalence.plan import PriorPlan
    from evalpipe.intervals.declare import IntervalMethod, Obstacle
    from evalpipe.metrics import Metric
    from evalpipe.spec.models import Spec

FALLBACK = "percentile"
"""The method of a measure for which none is declared, or for which its own does not hold."""

CLUSTERED = "cluster_t", f"{UNLIKE_ROWS['clusters']}; of at most {FEW_CLUSTERS} of them the limits are Student's"
"""The method of a measure of rows in clusters, where none is asked for by name, and why."""


def interval(
    spec: Spec, entry: Metric, average: str | None, params: Mapping[str, Any], prior: PriorPlan
) -> tuple[str, str]:
    """Choose the interval method of a metric under some options at a prevalence, and say why."""
    even = params.get("strategy") == "quantile" or entry.name == "ace"
    present: dict[Obstacle, bool] = {
        "uncertain": prior.uncertain, "clusters": spec.cluster is not None, "reweighted": prior.shares is not None,
        "averaged": average not in (None, "none"), "weights": spec.importance,
        "weighted_even_bins": spec.importance and even,
    }
    return choose(_kinds(entry, params), spec.intervals.method, [name for name, there in present.items() if there])


def interval_of_expression(
    spec: Spec, parts: Sequence[tuple[Metric, Mapping[str, Any]]], *, uncertain: bool
) -> tuple[str, str]:
    """Choose the interval method of an expression, and say why.

    ``parts`` are its measures with their options; ``uncertain`` says that each replicate draws a prevalence for them.
    """
    asked = spec.intervals.method
    general = registry[asked].for_.get(EVERY) if asked in registry else None
    if general is not None and asked == "none":
        return asked, general
    for metric, params in parts:
        own = [(method, method.for_[kind]) for method in registry.values()
               for kind in _kinds(metric, params) if kind in method.for_]
        if own and (own[0][0].insists or own[0][0].name == "none"):
            return "none", f"no limits of an expression of {metric.name} are known: {own[0][1]}"
    if uncertain:
        return FALLBACK, UNLIKE_ROWS["uncertain"]
    if general is not None:
        return asked, general
    if spec.cluster is not None:
        return CLUSTERED
    return FALLBACK, "computed anew in every replicate from its measures, which are drawn together"


def _kinds(entry: Metric, params: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what a metric is to intervals: the kind that it declares and, of gaps in bins, their norm."""
    if entry.interval is None:
        return ()
    return (entry.interval, entry.norm(params)) if entry.of_gaps else (entry.interval,)


def proportions(spec: Spec) -> tuple[str, str]:
    """Choose the method of a proportion of rows that is part of a curve, such as the event rate of a bin."""
    obstacles: list[Obstacle] = ["clusters"] if spec.cluster is not None else []
    chosen = choose(("proportion",), spec.intervals.method, [*obstacles, "weights"] if spec.importance else obstacles)
    return (FALLBACK, chosen[1]) if chosen == CLUSTERED else chosen


def choose(kinds: Collection[str], asked: str, obstacles: Collection[Obstacle]) -> tuple[str, str]:
    """Choose among the declared methods, and say why; see `evalpipe.intervals.declare`.

    ``kinds`` is what the measure is to intervals, ``asked`` the method that the spec names or "auto", ``obstacles``
    what may keep limits from holding.
    """
    own = [(method, method.for_[kind]) for method in registry.values() for kind in kinds if kind in method.for_]
    general = registry[asked].for_.get(EVERY) if asked in registry else None
    if own and own[0][0].name == "none":
        return "none", own[0][1]
    if general is not None and asked == "none":
        return asked, general
    drawn = [(method.name, reason) for method, reason in own if method.drawn]
    closed = [pair for pair in own if not pair[0].drawn]
    # Before what the spec asks for: noise makes such a measure larger, and other limits would exclude its value.
    if own and own[0][0].insists:
        name, reason = _insisting(closed, drawn, obstacles)
        return name, reason + ("" if general is None else f"; {asked} limits, which the spec asks for, would miss it")
    if "uncertain" in obstacles:
        return FALLBACK, UNLIKE_ROWS["uncertain"]
    if general is not None:
        return asked, general
    return drawn[0] if drawn else _closed(closed, asked, obstacles)


def _insisting(
    closed: list[tuple[IntervalMethod, str]], drawn: list[tuple[str, str]], obstacles: Collection[Obstacle]
) -> tuple[str, str]:
    """Choose for a measure that no other method than its own holds for: from replicates where none in closed form."""
    if not closed:
        return drawn[0]
    method, reason = closed[0]
    failure = _failure(method.fails, obstacles)
    return (method.name, reason) if failure is None else (drawn[0][0], f"{drawn[0][1]}; {failure}")


def _closed(closed: list[tuple[IntervalMethod, str]], asked: str, obstacles: Collection[Obstacle]) -> tuple[str, str]:
    """Choose limits in closed form where they hold, and else Student's for clusters, percentiles for rows."""
    if "clusters" in obstacles:
        return CLUSTERED
    if not closed:
        return FALLBACK, _failure(UNLIKE_ROWS, obstacles) or "not a proportion of rows, so no binomial limits exist"
    method, reason = next((pair for pair in closed if pair[0].name == asked), closed[0])
    failure = _failure(method.fails, obstacles)
    if method.effective and method.name == asked and failure == method.fails.get("weights"):
        return asked, f"{method.short} limits of effective observations, as the spec asks for under weights"
    return (method.name, reason) if failure is None else (FALLBACK, failure)


def _failure(fails: Mapping[Obstacle, str], obstacles: Collection[Obstacle]) -> str | None:
    """Return why a method does not hold, by the first of the obstacles that it names; None where it holds."""
    return next((reason for obstacle, reason in fails.items() if obstacle in obstacles), None)
