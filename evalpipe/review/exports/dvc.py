"""DVC: headline values as a file of metrics, and intervals and curves as data of plots."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from evalpipe.review.exports.declare import Export, Files, Predictor, judged, measure_name, options

if TYPE_CHECKING:
    from evalpipe.results import Estimate
    from evalpipe.review.exports.declare import ExportedRun

METRICS = "evalpipe-metrics.json"
ESTIMATES = "evalpipe-estimates.json"
PLOTS = {"roc": "evalpipe-roc.json", "pr": "evalpipe-pr.json", "gain": "evalpipe-gain.json",
         "calibration_uniform": "evalpipe-calibration.json"}
"""The file of each curve that is exported."""

UNDEFINED = "undefined"
"""What stands for a value that there is none of; DVC shows words beside numbers, and drops nulls."""


def write(exported: ExportedRun) -> Files:
    """Return the file of metrics, that of estimates with their intervals, and one for each kind of curve."""
    curves = {file: _points(exported, curve) for curve, file in PLOTS.items()}
    return {METRICS: json.dumps(_metrics(exported), ensure_ascii=False, indent=2) + "\n",
            ESTIMATES: _rows_json([_estimate(row) for predictor in exported.predictors
                              for row in exported.rows(predictor)]),
            **{file: _rows_json(points) for file, points in curves.items() if points}}


def _metrics(exported: ExportedRun) -> dict[str, Any]:
    """Return the headline values and their limits by dataset, model and measure, and the verdicts of gates."""
    document: dict[str, Any] = {}
    for row in exported.headline:
        limits = {"value": row.value, "lower": row.lower, "upper": row.upper}
        numbers = {key: number for key, number in limits.items() if number is not None}
        models = document.setdefault(row.dataset, {})
        measures = models.setdefault(Predictor(row.model, row.variant).name, {})
        measures[measure_name(row)] = {"value": UNDEFINED} | numbers
    document["verdict"] = exported.results.verdict
    if exported.results.judged:
        document |= {"gates": {test.title: test.kind for test in judged(exported)}}
    return document


def _estimate(row: Estimate) -> dict[str, Any]:
    """Return an estimate, also of a slice or a class, as a row of the table of plots."""
    document = row.model_dump(mode="json", by_alias=True) | {"reason": row.reason}
    fields = ("value", "lower", "upper", "level", "method", "n", "status", "reason")
    return {"dataset": row.dataset, "model": Predictor(row.model, row.variant).name, "slice": options(row.slice or {}),
            "class": row.class_ or "", "measure": measure_name(row), **{key: document[key] for key in fields}}


def _points(exported: ExportedRun, name: str) -> list[dict[str, Any]]:
    """Return the points of all curves ``name``, such as "roc", on all rows, each with its dataset and model."""
    rows = []
    for curve in exported.results.curves:
        predictor = Predictor(curve.model, curve.variant)
        if curve.curve == name and curve.slice is None and predictor in exported.predictors:
            line_name = predictor.name if curve.class_ is None else f"{predictor.name}, {curve.class_}"
            columns = curve.points.columns
            rows += [{"dataset": curve.dataset, "model": line_name, **dict(zip(columns, point, strict=True))}
                     for point in zip(*columns.values(), strict=True)]
    return rows


def _rows_json(rows: list[dict[str, Any]]) -> str:
    return "[\n" + ",\n".join(json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows) + "\n]\n"


EXPORT = Export(
    name="dvc", title="Metrics and plots of DVC", version="3", file="dvc", media_type="application/json",
    holds="Headline values for `dvc metrics`, and intervals and curves for `dvc plots`.",
    reference="https://dvc.org/doc/command-reference/metrics", validator="dvc: `metrics show` and `plots show`",
    places={
        f"`{METRICS}`": "headline estimates, on all rows and not of a class, by dataset, model and measure, with "
                        "`value`, `lower` and `upper`; the verdict, and that of each of `gates`",
        f"`{ESTIMATES}`": "every estimate, those of slices and classes too, with level, method, n, status and reason",
        **{f"`{file}`": f"the curves `{curve}` on all rows; left out where there is none"
           for curve, file in PLOTS.items()},
    },
    lacks=(
        f"an estimate that is not defined: its value is the word `{UNDEFINED}`, and null among the data of plots",
        "level and method of an interval among the metrics; they are in the data of plots",
        "comparisons, other curves, desirability, findings and what people state",
        "hashes: DVC has its own",
    ),
    write=write, folder=True,
)
