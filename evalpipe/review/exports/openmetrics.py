"""OpenMetrics: verdicts and headline values for Prometheus, by the text files that its node exporter collects."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from evalpipe.review.exports.declare import Export, Files, judged, options

if TYPE_CHECKING:
    from evalpipe.results import Estimate, Gate
    from evalpipe.review.exports.declare import ExportedRun

Labels = dict[str, str]
Samples = Iterable[tuple[Labels, float | None]]

OUTCOMES = ("pass", "inconclusive", "warn", "fail")
KINDS = (*OUTCOMES, "skipped")


def write(exported: ExportedRun) -> Files:
    """Return the OpenMetrics text file with gauges for verdicts and headline values.

    There are gauges alone and no times, for Prometheus' node exporter reads neither other types nor times. It ends
    with "# EOF", as OpenMetrics requires.
    """
    results = exported.results
    estimates: list[tuple[Labels, Estimate]] = [({
        "run": results.name, "dataset": row.dataset, "model": row.model, "variant": row.variant, "metric": row.metric,
        "options": options(row.params), "average": row.average or "",
        "level": "" if row.level is None else json.dumps(row.level), "method": row.method}, row)
        for row in exported.headline]
    gates: list[tuple[Labels, Gate]] = [({
        "run": results.name, "gate": str(gate.gate), "name": test.title, "dataset": gate.dataset, "model": gate.model,
        "variant": gate.variant, "slice": options(gate.slice or {}),
        "metric": gate.metric or gate.check or "desirability", "severity": gate.severity}, gate)
        for test in judged(exported, exported.chosen) if (gate := test.gate) is not None]
    run = {"run": results.name, "version": results.evalpipe_version, "as_of": results.as_of or "",
           "results_sha256": results.evidence_sha256, "spec_sha256": results.spec_sha256}
    families = [
        _gauge_lines("evalpipe_run", "Always 1: the run, its version and its hashes.", [(run, 1)]),
        *([_gauge_lines("evalpipe_as_of_timestamp_seconds", "The day that the card is about, at midnight UTC.",
                   [({"run": results.name}, exported.day.timestamp())])] if results.as_of else []),
        _gauge_lines("evalpipe_verdict", "1 for the verdict of all gates and standards, 0 for the others.",
                [({"run": results.name, "verdict": verdict}, float(results.verdict == verdict))
                 for verdict in ("none", *OUTCOMES)]),
        _gauge_lines("evalpipe_gate", "1 for the verdict of the gate, 0 for the others.", [
            ({**labels, "verdict": kind}, float(gate.kind == kind)) for labels, gate in gates for kind in KINDS]),
        _gauge_lines("evalpipe_gate_observed", "What the gate is on; NaN where it has no value.",
                [(labels, gate.observed) for labels, gate in gates]),
        *(_gauge_lines(f"evalpipe_estimate{suffix}", text, [(labels, getattr(row, key)) for labels, row in estimates])
          for suffix, key, text in (
              ("", "value", "A measure on all rows of a dataset; NaN where it is not defined."),
              ("_lower", "lower", "The lower limit of its interval; NaN where it has none."),
              ("_upper", "upper", "The upper limit of its interval; NaN where it has none."))),
    ]
    return {EXPORT.file: "".join(line for family in families for line in family) + "# EOF\n"}


def _gauge_lines(name: str, text: str, samples: Samples) -> list[str]:
    """Return the lines of a gauge: help, type, and a line for each sample (labels, value); none without samples."""
    escapes = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})
    lines = []
    for labels, value in samples:
        label_text = ",".join(f'{key}="{label.translate(escapes)}"' for key, label in labels.items())
        lines.append(f"{name}{{{label_text}}} {'NaN' if value is None else json.dumps(value)}\n")
    return [f"# HELP {name} {text}\n", f"# TYPE {name} gauge\n", *lines] if lines else []


EXPORT = Export(
    name="openmetrics", title="OpenMetrics text file", version="1.0", file="evalpipe.prom",
    media_type="application/openmetrics-text; version=1.0.0; charset=utf-8",
    holds="Verdicts and headline values of the last run, for the textfile collector of Prometheus' node exporter.",
    reference="https://prometheus.io/docs/specs/om/open_metrics_spec/",
    validator="prometheus_client: its parser of OpenMetrics, and that of the older format, which the node exporter "
              "reads",
    places={
        "`evalpipe_run`": "1, with `name`, `as_of`, the version, and the sha256 of the results and of the spec",
        "`evalpipe_as_of_timestamp_seconds`": "`as_of`; there is none where no day is stated",
        "`evalpipe_verdict`": "the verdict: 1 for none, pass, inconclusive, warn or fail, and 0 for the others",
        "`evalpipe_gate`": "each of `gates`: 1 for its verdict or skipped, and 0 for the others",
        "`evalpipe_gate_observed`": "`observed` of the gate; NaN where there is none",
        "`evalpipe_estimate`": "`value` of headline estimates: on all rows of a dataset and not of a class; NaN where "
                               "it is not defined",
        "`evalpipe_estimate_lower`, `evalpipe_estimate_upper`": "`lower` and `upper`; NaN where there is no interval",
        "labels `level`, `method`": "how the interval was made",
    },
    lacks=(
        "slices and single classes, but for gates on them: each combination of labels is a time series",
        "why an estimate is not defined, and the reasons of gates",
        "comparisons, curves, desirability, findings and what people state",
        "the time of the run: the collector gives a file the time at which it is read",
    ),
    write=write,
)
