"""Measures on rows that a model was fitted to, corrected for optimism by bootstrap fits. Harrell, Lee & Mark (1996)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.base.constants import TOLERATED
from evalpipe.chapters.optimism.records import Optimism
from evalpipe.engine.averages import values
from evalpipe.engine.estimates import Scope
from evalpipe.engine.subsets import all_rows_subset, rows_of
from evalpipe.intervals.fits import BEYOND, corrected_limits_of_fits
from evalpipe.statistics import Summary
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.base.arraytypes import Floats
    from evalpipe.data.sample import BootstrapFit, Sample
    from evalpipe.engine.estimates import Evaluated
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan

IN_SAMPLE, ORIGINAL, OUT_OF_BAG = range(3)
"""Where each bootstrap fit is measured: in its own sample, on the original rows, and on those that it did not draw."""

UNKNOWN = sentence("uncertainty-unknown")

NOISE = "noise-in-bootstrap-fits"


def tables(plan: Plan, evaluated: Sequence[Evaluated]) -> dict[str, object]:
    """Return each measure with its optimism, for each model that has bootstrap fits, as field of the results."""
    return {"optimism": [
        row for dataset in evaluated for model in dataset.sample.bootstrap
        for row in _optimism_records(plan, dataset.sample, model)]}


def _optimism_records(plan: Plan, sample: Sample, model: str) -> Iterator[Optimism]:
    """Yield the record of each measure of a model, or of each of its classes, with its optimism."""
    summary = Summary(rows_of(sample, sample.models[model]), sample.weights)
    scope, fits = Scope(plan, sample, model, 0, all_rows_subset(sample), summary), sample.bootstrap[model]
    entries = [entry for entry in plan.metrics if scope.serves(entry)]
    values_by_fit = [_values_of_fit(sample, fit, entries) for fit in fits]
    for index, entry in enumerate(entries):
        of_fits = np.array([[by_entry[index] for by_entry in fit] for fit in values_by_fit])  # [B, 3], or [B, 3, K]
        apparent = values(summary, entry)
        for k, level in enumerate(sample.levels if entry.average == "none" else (None,)):
            measured = (apparent, of_fits) if level is None else (apparent[k], of_fits[..., k])
            bounds = entry.metric.bounds(entry.of_class[k] if entry.of_class else entry.params)
            yield Optimism(
                dataset=sample.dataset, model=model, metric=entry.metric.name, average=entry.average,
                params=entry.shown if level is None else entry.shown_of(k), class_=level, fits=len(fits),
                n=scope.seen_by(entry).subset.n,
                **_optimism_fields(plan, entry, float(measured[0]), measured[1], bounds))


def _values_of_fit(sample: Sample, fit: BootstrapFit, entries: Sequence[MetricPlan]) -> list[list[Floats]]:
    """Return a bootstrap fit's values of each measure: in its sample, on the original rows, and on rows not drawn.

    The outer list has these three, the inner lists have a value [] or [K] for each of the ``entries``.
    """
    rows, weights = rows_of(sample, fit.predictions), sample.weights
    # A drawn count of rows of a frequency weight counts observations already.
    drawn_weights = fit.drawn if sample.weight_kind == "frequency" else fit.drawn * weights
    undrawn_rows = np.flatnonzero(fit.drawn == 0)
    summaries = Summary(rows, drawn_weights), Summary(rows, weights)
    by_rows = [[values(summary, entry) for entry in entries] for summary in summaries]
    outside = Summary(rows.at(undrawn_rows), weights[undrawn_rows])
    out_of_bag = [values(outside, entry) if len(undrawn_rows) else np.full_like(value, np.nan)
               for entry, value in zip(entries, by_rows[ORIGINAL], strict=True)]
    return [*by_rows, out_of_bag]


def _optimism_fields(
    plan: Plan, entry: MetricPlan, apparent: float, of_fits: Floats, bounds: tuple[float, float]
) -> dict[str, Any]:
    """Return the fields of the record of a measure, from its values in the bootstrap fits, ``of_fits`` [B, 3].

    The columns are its values in the fit's sample, on the original rows and out of bag. ``apparent`` is its value for
    the model itself; ``bounds`` are the least and the largest value that it can have.
    """
    out_of_bag = of_fits[:, OUT_OF_BAG]
    defined = of_fits[~np.isnan(of_fits[:, :OUT_OF_BAG]).any(axis=1)]
    fields: dict[str, Any] = {
        "apparent": None if np.isnan(apparent) else apparent, "optimism": None, "corrected": None, "lower": None,
        "upper": None, "level": None, "method": "none", "status": "undefined", "reason": entry.undefined,
        "out_of_bag": None if np.isnan(out_of_bag).all() else float(np.nanmean(out_of_bag)),
        "undefined_fits": len(of_fits) - len(defined), "undefined_out_of_bag": int(np.isnan(out_of_bag).sum())}
    if np.isnan(apparent) or not len(defined):
        return fields
    optimism = float((defined[:, IN_SAMPLE] - defined[:, ORIGINAL]).mean())
    fields |= {"optimism": optimism, "corrected": float(np.clip(apparent - optimism, *bounds)), "status": "ok"}
    least = int(np.ceil(2 * BEYOND / (1 - plan.level) - 1e-9))  # so many that BEYOND of them are beyond either limit
    reason = entry.unlimited(NOISE)
    if reason is None and len(defined) < least:
        reason = sentence("few-bootstrap-fits", fits=len(defined), level=plan.level, least=least)
    limits = None if reason is not None else corrected_limits_of_fits(
        defined[:, :OUT_OF_BAG], fields["corrected"], bounds, plan.level)
    if limits is None:
        return fields | {"reason": reason or UNKNOWN}
    has_many_undefined = len(of_fits) - len(defined) > TOLERATED * len(of_fits)
    doubt = None if not has_many_undefined else sentence(
        "undefined-bootstrap-fits", undefined=len(of_fits) - len(defined), fits=len(of_fits))
    return fields | {"lower": limits[0], "upper": limits[1], "level": plan.level, "method": "bootstrap_fits",
                     "reason": doubt, "status": "ok" if doubt is None else "degenerate"}
