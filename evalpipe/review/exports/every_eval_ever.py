"""Every Eval Ever: the estimates of one model as a record of its shared store of evaluations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from evalpipe.errors import Problem, SpecError
from evalpipe.review.exports.declare import Export, Files, interval_text, json_text, options
from evalpipe.words.spelling import joined

if TYPE_CHECKING:
    from evalpipe.results import Estimate, MetricSummary
    from evalpipe.review.exports.declare import ExportedRun

Document = dict[str, Any]

RELATIONSHIPS = ("first_party", "third_party", "collaborative", "other")
"""What the evaluator may be to the model."""


def write(exported: ExportedRun) -> Files:
    """Return the JSON record of a model's estimates; raises SpecError with all that is required and missing."""
    results, predictor = exported.results, exported.only
    problems = list(_unstated(exported))
    if problems:
        raise SpecError(*problems)
    seconds, rows = str(int(exported.day.timestamp())), exported.rows(predictor)
    developer, version = exported.stated("developer"), exported.stated("version")
    left_out = {exported.addresses.of(row): reason for row in rows
                if (reason := _why_left_out(exported, row)) is not None}
    accepted = [row for row in rows if exported.addresses.of(row) not in left_out]
    return {EXPORT.file: json_text({
        "schema_version": EXPORT.version,
        "evaluation_id": f"{results.name}/{predictor.name}/{seconds}",
        "retrieved_timestamp": seconds, "evaluation_timestamp": results.as_of,
        "source_metadata": {
            "source_name": results.title, "source_type": "documentation",
            "source_organization_name": _organisation(exported), "evaluator_relationship": exported.evaluator,
            "additional_details": {
                "results_sha256": results.evidence_sha256, "spec_sha256": results.spec_sha256,
                "verdict": results.verdict, "estimates_left_out": json.dumps(left_out, ensure_ascii=False)}},
        "eval_library": {"name": "evalpipe", "version": results.evalpipe_version},
        "model_info": {
            "name": exported.names.model(*predictor), "id": predictor.name,
            **({"developer": developer} if developer else {}),
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown",
                                   **({"version": version} if version else {})}},
        "evaluation_results": [_result(exported, row) for row in accepted],
    })}


def _unstated(exported: ExportedRun) -> Iterator[Problem]:
    """Yield a problem for everything that the format requires and that neither results nor options have."""
    if exported.results.as_of is None:
        yield exported.missing_day_problem
    if exported.evaluator is None:
        yield Problem("not-stated", "the format requires what the evaluator is to the model, which no results tell",
                      hint=f"give --evaluator: {joined(RELATIONSHIPS, 'or')}")
    if _organisation(exported) is None:
        yield exported.problem("the format requires source_organization_name, and nobody states who evaluated",
                               "state 'card.validator' or 'card.owner' in the spec, and run again")


def _organisation(exported: ExportedRun) -> str | None:
    """Return who evaluated: `card.validator`, else `card.owner`; None where neither is stated."""
    return exported.stated("validator") or exported.stated("owner")


def _metric(exported: ExportedRun, row: Estimate) -> MetricSummary:
    return next(metric for metric in exported.results.metrics if metric.name == row.metric)


def _why_left_out(exported: ExportedRun, row: Estimate) -> str | None:
    """Return the reason why the format cannot hold an estimate; None where it can."""
    if row.value is None:
        return f"{row.status}: {row.reason or 'no value'}"
    if _metric(exported, row).direction == "none":
        return "neither higher nor lower is better"
    return None


def _result(exported: ExportedRun, row: Estimate) -> Document:
    """Return the entry of an estimate: its data, measure, score and uncertainty."""
    hashes = [file.sha256 for file in exported.results.inputs if file.dataset == row.dataset and file.sha256]
    data_facts = {"sha256": ",".join(hashes)} if hashes else {}
    slice_facts = {} if row.slice is None else {"slice": options(row.slice)}
    class_facts = {} if row.class_ is None else {"class": row.class_}
    uncertainty: Document = {"num_samples": row.n}
    if row.lower is not None and row.upper is not None:
        interval = {"lower": row.lower, "upper": row.upper, "confidence_level": row.level, "method": row.method}
        uncertainty = {"confidence_interval": interval, **uncertainty}
        if row.monte_carlo_error is not None:
            uncertainty["num_bootstrap_samples"] = exported.results.intervals.replicates
    return {
        "evaluation_result_id": exported.addresses.of(row), "evaluation_name": row.dataset,
        "source_data": {"dataset_name": row.dataset, "source_type": "other",
                        "additional_details": {**data_facts, **slice_facts, **class_facts}},
        "metric_config": _config(exported, row),
        "score_details": {"score": row.value, "details": interval_text(row),
                          "uncertainty": uncertainty},
    }


def _config(exported: ExportedRun, row: Estimate) -> Document:
    """Return the measure of an estimate: definition, options, direction and range."""
    metric, bounds = _metric(exported, row), {}
    for name, bound, infinity in zip(("min_score", "max_score"), metric.range, ("-Infinity", "Infinity"), strict=True):
        bounds[name] = infinity if bound is None else bound
    average = {} if row.average is None else {"average": row.average}
    return {
        "evaluation_description": metric.definition, "metric_id": row.metric,
        "metric_name": exported.names.measure(row.metric, row.params, row.average, row.class_),
        "metric_parameters": {**row.params, **average}, "lower_is_better": metric.direction == "minimize",
        "score_type": "continuous", **bounds}


EXPORT = Export(
    name="every-eval-ever", title="Every Eval Ever", version="0.3.0", file="every-eval-ever.json",
    media_type="application/json",
    holds="The estimates of one model as a record of the shared store of evaluations, each with its uncertainty.",
    reference="https://github.com/evaleval/every_eval_ever",
    validator="every-eval-ever: its own validator, with the JSON Schema that it brings",
    places={
        "`evaluation_id`": "`name`, the model and the day",
        "`retrieved_timestamp`": "`as_of`, at midnight UTC, in seconds since 1970; required",
        "`source_metadata.source_organization_name`": "`card.validator`, else `card.owner`; one is required",
        "`source_metadata.evaluator_relationship`": "the option --evaluator, which is required",
        "`source_metadata.additional_details`": "the sha256 of the results and of the spec, the verdict, and "
                                                "`estimates_left_out`: the address of each estimate that is not held, "
                                                "with the reason",
        "`model_info`": "the label and the name of the model, `card.developer`, `card.version`",
        "`evaluation_results[].evaluation_result_id`": "the address of the estimate, as `evalpipe show` takes it",
        "`evaluation_results[].source_data`": "the dataset, the sha256 of its files, the slice, the class",
        "`metric_config`": "the measure: definition, options, average, direction, range",
        "`score_details.score`": "`value`",
        "`score_details.uncertainty.confidence_interval`": "`lower`, `upper`, `level` and `method`",
        "`score_details.uncertainty.num_samples`": "`n`",
        "`score_details.uncertainty.num_bootstrap_samples`": "`intervals.replicates`, of intervals from replicates",
        "`score_details.details`": "the level, method, n, events, status and reason as texts",
    },
    lacks=(
        "an estimate that is not defined: a score is a number; `estimates_left_out` names each",
        "a measure of which neither higher nor lower is better, such as a calibration slope; it is named there too",
        "comparisons, gates, curves, desirability and findings",
        "what evalpipe does not know of a model: how it is deployed and whether its weights are open are `unknown`",
    ),
    write=write, models="one", asks_evaluator=True,
)
