"""`evalpipe validate` and `evalpipe plan`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from evalpipe.cli.app import annotation
from evalpipe.spec.text import STDIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.plan import MetricPlan, Plan
    from evalpipe.spec.models import Spec


def validate_spec(path: str, overrides: Sequence[str], form: str) -> None:
    """Run steps 1 and 2; print that all is well, with the warnings of the spec, or raise every fault."""
    from evalpipe.run import plan

    made = plan(path, overrides)
    if form == "json":
        problems = [problem.as_dict() for problem in made.warnings]
        click.echo(json.dumps({"ok": True, "exit_code": 0, "problems": problems}, indent=1, ensure_ascii=False))
        return
    for problem in made.warnings if form == "github" else ():
        click.echo(annotation(problem))
    print_warnings(made.spec)
    evaluated = sum(dataset.role == "evaluate" for dataset in made.datasets)
    shown = STDIN if path == "-" else path
    click.echo(
        f"ok: {shown}: {count(len(made.spec.models), 'model')}, {count(len(made.metrics), 'measure')}, "
        f"{count(evaluated, 'dataset')} to evaluate"
    )


def print_warnings(spec: Spec) -> None:
    """Print the warnings of a spec on stderr."""
    for problem in spec.warnings:
        click.echo(f"{problem}\n", err=True)


def count(number: int, noun: str) -> str:
    """Write a number with its noun, in the plural where due."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def print_plan(path: str, overrides: Sequence[str], form: str) -> None:
    """Print the plan as text or JSON."""
    from evalpipe.run import plan

    made = plan(path, overrides)
    print_warnings(made.spec)
    click.echo(json.dumps(plan_document(made), indent=1, ensure_ascii=False) if form == "json" else _text(made))


def plan_document(plan: Plan) -> dict[str, Any]:
    """Return a plan as plain JSON values."""
    from evalpipe.plan import LACKING, lacking
    from evalpipe.spec.schema import spec_sha256

    spec = plan.spec
    return {
        "name": spec.name,
        "task": spec.task,
        "spec_sha256": spec_sha256(spec),
        "seed": spec.seed,
        "datasets": [
            {
                "name": dataset.name,
                "role": dataset.role,
                "files": [shown for _, shown in dataset.table.files],
                "rows": dataset.table.rows,
                "where": spec.datasets[dataset.name].where,
                "columns": list(dict.fromkeys(
                    (*dataset.columns, *dataset.table.where_columns, *dataset.compared))),
                "predictions": {
                    model: {
                        "files": [shown for _, shown in held.table.files], "columns": list(held.columns),
                        "matched": "position" if spec.id is None else "id", "compared": list(held.compared),
                    }
                    for model, held in dataset.predictions.items()
                },
            }
            for dataset in plan.datasets
        ],
        "estimates": [
            {
                "dataset": dataset.name,
                "model": model,
                "variant": variant,
                "metric": entry.metric.name,
                "params": entry.shown,
                "average": entry.average,
                "method": entry.method,
                "reason": entry.reason,
            }
            for dataset in plan.datasets
            if dataset.role == "evaluate"
            for model in spec.models
            for variant in ("original", *(choice.name for choice in plan.recalibrators))
            for entry in plan.metrics
            if entry not in lacking(spec, model, plan.metrics)
        ],
        "not_served": [
            {"model": model, "metric": entry.metric.name, "reason": f"the model gives {LACKING[entry.metric.needs]}"}
            for model in spec.models
            for entry in lacking(spec, model, plan.metrics)
        ],
        "replicates": spec.intervals.replicates,
        "level": spec.intervals.level,
        "cost": plan.cost,
    }


def _text(plan: Plan) -> str:
    document = plan_document(plan)
    lines = [f"plan of {document['name']} ({document['task']}), seed {document['seed']}", ""]
    for dataset in document["datasets"]:
        rows = "rows unknown" if dataset["rows"] is None else count(dataset["rows"], "row")
        lines.append(f"dataset {dataset['name']} ({dataset['role']}): {', '.join(dataset['files'])}, {rows}")
        lines += [f"  where {dataset['where']}"] if dataset["where"] else []
        lines.append(f"  reads {', '.join(dataset['columns'])}")
        lines += [
            f"  reads {', '.join(held['columns'])} of {model} from {', '.join(held['files'])}, rows matched "
            + _matched(plan.spec.id, held["compared"])
            for model, held in dataset["predictions"].items()
        ]
    evaluated = [dataset["name"] for dataset in document["datasets"] if dataset["role"] == "evaluate"]
    measures = count(len(plan.metrics), "measure")
    lines += ["", f"{measures} for each of {', '.join(plan.spec.models)} on {', '.join(evaluated)}:"]
    labels = [_label(entry) for entry in plan.metrics]
    width = max(map(len, labels))
    lines += [
        f"  {label:<{width}}  {entry.method:<10}  {entry.reason}"
        for label, entry in zip(labels, plan.metrics, strict=True)
    ]
    lines += _left_out(document["not_served"])
    lines += _asked(plan)
    cost = "unknown: the rows are not known" if plan.cost is None else f"{plan.cost:,} row sums"
    lines += ["", f"intervals at level {document['level']:g}; {document['replicates']:,} replicates where bootstrapped"]
    return "\n".join([*lines, f"expected cost (rows x replicates x models): {cost}"])


def _left_out(rows: Sequence[dict[str, str]]) -> list[str]:
    """Say which measures a model cannot serve, and why."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        found.setdefault((row["model"], row["reason"]), []).append(row["metric"])
    lines = [f"not for {model}, as {reason}: {', '.join(names)}" for (model, reason), names in found.items()]
    return ["", *lines] if lines else []


def _matched(identity: str | None, compared: Sequence[str]) -> str:
    """Say how the rows of a file of predictions are matched to those of the dataset."""
    if identity is not None:
        return f"by id {identity}"
    if not compared:
        return "by position; they share no column to check this by"
    columns = "1 shared column" if len(compared) == 1 else f"{len(compared)} shared columns"
    return f"by position; {columns} must agree: {', '.join(compared)}"


def _asked(plan: Plan) -> list[str]:
    """Say what is measured besides: slices, the search for the worst, recalibrated variants, comparisons, goals."""
    from evalpipe.plan import in_words

    spec, lines = plan.spec, [""]
    if spec.slices is not None:
        lines.append(f"in slices by {', '.join(slicing.title for slicing in spec.slices)}")
    if spec.worst_slices is not None:
        worst = spec.worst_slices
        lines.append(f"the {worst.top} slices of worst {worst.metric.metric}, of up to {worst.depth} columns combined")
    if plan.recalibrators:
        fitted = f"cross-fitted in {plan.folds} folds" if plan.folds is not None else (
            f"fitted on {plan.recalibrated_on}")
        names = ", ".join(choice.name for choice in plan.recalibrators)
        lines.append(f"every model recalibrated by {names}, {fitted}, less the original on the same rows")
    if spec.exposure is not None:
        lines.append(_exposed(spec))
    if spec.complete_case is not None:
        lines.append("rows without a prediction of every model are left out for all models")
    chosen = {name: in_words(spec, name) for name in spec.models}
    lines += [f"threshold of {name}: {said}" for name, said in chosen.items() if said is not None]
    if spec.compare is not None and spec.compare.baseline is not None:
        lines.append(f"every model less {spec.compare.baseline}, on the same rows")
    if spec.compare is not None and spec.compare.baseline_dataset is not None:
        lines.append(f"every dataset less {spec.compare.baseline_dataset}, as independent samples")
    if plan.aims:
        lines.append(f"desirability by {count(len(plan.aims), 'goal')}: {', '.join(aim.name for aim in plan.aims)}")
    if spec.gates is not None:
        lines.append(f"judged by {count(len(spec.gates), 'gate')}")
    return lines if len(lines) > 1 else []


def _exposed(spec: Spec) -> str:
    """Say what the counts were counted in, and of which models the expected counts are made."""
    assert spec.exposure is not None  # noqa: S101 - known to the caller
    unit = f" ({spec.exposure.unit})" if spec.exposure.unit else ""
    rates = [name for name, model in spec.models.items() if model.rate is not None]
    made = f"; the expected counts of {', '.join(rates)} are rates times it" if rates else ""
    return f"counts are of the exposure {spec.exposure.column}{unit}{made}"


def _label(entry: MetricPlan) -> str:
    said = [f"{key}={value}" for key, value in entry.shown.items()]
    said += [] if entry.average is None else [f"average={entry.average}"]
    return f"{entry.metric.name}({', '.join(said)})" if said else entry.metric.name
