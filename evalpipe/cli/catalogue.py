"""`evalpipe metrics`."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import click

from evalpipe.errors import UsageError
from evalpipe.intervals.declare import registry

if TYPE_CHECKING:
    from evalpipe.metrics import Metric
    from evalpipe.spec.messages import Schema


def print_metrics(name: str | None, task: str | None, form: str) -> None:
    """Print the metric of a name or an alias; without ``name`` all metrics, or those of a ``task``."""
    from evalpipe.metrics import registry

    if name is None:
        metrics = [metric for metric in registry if task is None or task in metric.tasks]
        if form == "json":
            click.echo(json.dumps([describe(metric) for metric in metrics], indent=1, ensure_ascii=False))
            return
        width = max(len(metric.name) for metric in metrics)
        lines: list[str] = []
        for need, family in FAMILIES.items():
            rows = [f"  {metric.name:<{width}}  {metric.definition.split('. ')[0].rstrip('.')}"
                    for metric in metrics if metric.needs == need]
            lines += ["", family, *rows] if rows else []
        click.echo("\n".join(lines[1:]))
        return
    if name not in registry:
        advice = registry.advice(name, task or "")
        raise UsageError.of("unknown-metric", f"unknown metric '{name}'",
                            hint=advice.hint or "`evalpipe metrics` lists them all", notes=advice.notes)
    metric = registry[name]
    click.echo(json.dumps(describe(metric), indent=1, ensure_ascii=False) if form == "json" else _metric_page(metric))


def describe(metric: Metric) -> dict[str, object]:
    """Return the declaration of a metric as `evalpipe metrics --format json` prints it."""
    return {
        "name": metric.name, "title": metric.title, "family": FAMILIES[metric.needs], "aliases": list(metric.aliases),
        "definition": metric.definition, "formula": metric.formula, "needs": metric.needs,
        "tasks": list(metric.tasks), "averaged": metric.sees == "event",
        "range": [bound if math.isfinite(bound) else None for bound in metric.range],
        "direction": metric.direction, "undefined": metric.undefined, "options": _options(metric),
        "interval": INTERVALS[metric.interval], "standard": list(metric.standard), "reference": metric.ref,
    }


def _options(metric: Metric) -> dict[str, Schema]:
    """Return the JSON Schema of each option of a metric; defaults from the spec are named as such."""
    properties: dict[str, Schema] = metric.options.model_json_schema().get("properties", {})
    defaults = {option: {"default": f"the spec's {key}"} for option, key in metric.from_spec.items()}
    return {option: {**about, **defaults.get(option, {})} for option, about in properties.items()
            if option not in metric.alone}


BINOMIAL = [method.short for method in registry.values() if "proportion" in method.for_]
"""The methods for proportions, by name."""

INTERVALS = {
    "proportion": f"{', '.join(BINOMIAL[:-1])} or {BINOMIAL[-1]}; percentile bootstrap under importance weights",
    "auc": "DeLong on the logit scale; percentile bootstrap under importance weights",
    "predictive": "delta method on the logit scale; percentile bootstrap under importance weights",
    "coefficient": "Wald, with robust errors; percentile bootstrap under importance weights",
    "net_benefit": "Newcombe; percentile bootstrap under importance weights",
    "score": "Korn and Graubard's, with the bootstrap's standard error",
    "gaps": "inversion of the noise in its bins; for clusters and averages, of the noise in the replicates",
    "squared_gaps": "inversion of the noise in its bins; for clusters and averages, of the noise in the replicates",
    "scatter": "corrected for the noise in its bins; for clusters and averages, for the noise in the replicates",
    "distance": "inversion of the noise in the replicates",
    "squared_distance": "inversion of the noise in the replicates",
    "searched": "inversion of the noise in the replicates",
    "searched_square": "inversion of the noise in the replicates",
    "extreme": "none",
    "skewed": "bootstrap error on the logit scale",
    "test": "none",
    None: "percentile bootstrap",
}
"""The interval of each kind of measure under `auto`."""

FAMILIES = {
    "labels": "of predicted classes",
    "probabilities": "of probabilities",
    "scores": "of the ranking",
    "values": "of predicted numbers",
    "loo_values": "of leave-one-out predictions",
    "truth": "of the outcome alone",
    "item_scores": "of the scores of items",
    "successes": "of successes in epochs of items",
    "wins": "of scores beside those of other models",
    "usage": "of what epochs of items used",
    "usage_of_successes": "of what epochs used, by success",
    "ranked_lists": "of ranked lists of documents",
}
"""The families of measures, by what they need."""


def _metric_page(metric: Metric) -> str:
    """Return the description of a metric as text, with a line for each fact and each option."""
    low, high = (f"{bound:g}" if math.isfinite(bound) else "unbounded" for bound in metric.range)
    better = {"maximize": "higher is better", "minimize": "lower is better", "none": "neither is better"}
    rows = [
        ("aliases", ", ".join(metric.aliases) or "none"), ("formula", metric.formula),
        ("tasks", ", ".join(metric.tasks)), ("needs", metric.needs),
        ("range", f"{low} to {high}; {better[metric.direction]}"),
        ("undefined", ("when there are " if metric.undefined.startswith("no ") else "when ") + metric.undefined),
        ("interval", INTERVALS[metric.interval]), ("reference", metric.ref),
    ]
    words = {"exclusiveMinimum": "above", "exclusiveMaximum": "below", "minimum": "from", "maximum": "to"}
    for name, option in _options(metric).items():
        kind = " or ".join(map(str, option["enum"])) if "enum" in option else option.get("type", "")
        bounds = [f"{word} {option[key]:g}" for key, word in words.items() if key in option]
        default = [f"default {option['default']}"] if "default" in option else []
        rows.append((f"option {name}", ", ".join([kind, *bounds, *default])))
    width = max(len(label) for label, _ in rows)
    lines = [f"{metric.name} ({metric.title})", metric.definition, ""]
    return "\n".join(lines + [f"{label:<{width}}  {text}" for label, text in rows])
