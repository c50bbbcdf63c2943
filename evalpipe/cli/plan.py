"""`evalpipe validate` and `evalpipe plan`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalpipe.card.wording import level
from evalpipe.chapters import functions
from evalpipe.chapters.curves.plan import GROUPS
from evalpipe.cli.exit import annotation
from evalpipe.cli.forecast import DROP, MARGIN, expected_lines
from evalpipe.cli.output import output_folder
from evalpipe.cli.plan_document import plan_document
from evalpipe.plan.drawing import drawing
from evalpipe.spec.text import STDIN
from evalpipe.words.spelling import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.plan.plan import Plan


def validate_spec(path: str, overrides: Sequence[str], as_of: str | None, form: str) -> None:
    """Read and plan a spec (steps 1 and 2); print its warnings and that it is valid, or raise all its problems."""
    from evalpipe.run import plan

    planned = plan(path, overrides, as_of=as_of)
    if form == "json":
        problems = [problem.as_dict() for problem in planned.warnings]
        click.echo(json.dumps({"ok": True, "exit_code": 0, "problems": problems}, indent=1, ensure_ascii=False))
        return
    for problem in planned.warnings if form == "github" else ():
        click.echo(annotation(problem))
    print_warnings(planned)
    dataset_count = sum(dataset.role == "evaluate" for dataset in planned.datasets)
    counts = [counted(len(planned.models), "model"), counted(len(planned.metrics), "measure"),
             f"{counted(dataset_count, 'dataset')} to evaluate"] if planned.datasets else []
    (document_of_candidates,) = functions("plan", "document", "desirability")
    if document_of_candidates(planned)["candidates"] is not None:
        counts.append(f"candidates ranked by {counted(len(planned.goals), 'goal')}")
    click.echo(f"ok: {STDIN if path == '-' else path}: {', '.join(counts)}")


def print_warnings(plan: Plan) -> None:
    """Print the warnings of the spec on stderr."""
    for problem in plan.warnings:
        click.echo(f"{problem}\n", err=True)


def print_plan(
    path: str, overrides: Sequence[str], out: str | None, form: str, as_of: str | None = None,
    expected: tuple[float, float] = (MARGIN, DROP),
) -> None:
    """Print the plan as text or JSON, with the parts of files that the cache of an output folder has.

    ``expected`` are the margin inside their limits at which true values stand, and the drop by which they fall.
    """
    from evalpipe.run import plan

    planned = plan(path, overrides, as_of=as_of)
    print_warnings(planned)
    folder = output_folder(out, planned.name, planned.as_of)
    parts = _parts(planned, folder) if planned.streaming.streamed else {}
    document = plan_document(planned)
    document |= {"parts": parts, "expected": _expected_of_gates(planned, document, folder, *expected)}
    if form == "json":
        # A share that a dataset has yet to give is a text.
        click.echo(json.dumps(document, indent=1, ensure_ascii=False, default=str))
    else:
        click.echo(_plan_text(planned, document))


def _expected_of_gates(
    plan: Plan, document: dict[str, Any], folder: Path, margin: float, drop: float,
) -> dict[str, Any]:
    """Return the forecast of false alarms and delay of each gate, with its assumptions, as JSON values."""
    if not document["gates"]:
        return {"margin": margin, "drop": drop, "gates": []}
    from evalpipe.ledger.forecasts import forecasts

    gates = forecasts(plan, folder, margin, drop)
    return {"margin": margin, "drop": drop, "gates": [gate.document() for gate in gates]}


def _parts(plan: Plan, folder: Path) -> dict[str, list[dict[str, object]]]:
    """Return the parts that each dataset is read in, by dataset; ``why`` is the reason for parts not in the cache."""
    from evalpipe.streams.cache import cache_folder, states_of_parts

    return {name: [{"file": part.file, "first_row": part.first, "rows": part.rows, "cached": part.why is None,
                    "why": part.why} for part in parts]
            for name, parts in states_of_parts(plan, cache_folder(folder)).items()}


def _part_lines(parts: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Return lines on how many parts of each dataset the cache has, and why the others would be read."""
    if not parts:
        return []
    from evalpipe.cli.cache import parts_line
    from evalpipe.streams.cache import reasons

    lines = [""]
    for name, states in parts.items():
        why = [state["why"] for state in states if state["why"] is not None]
        lines.append(parts_line(name, len(states), len(states) - len(why), reasons(why)))
    return lines


def _plan_text(plan: Plan, document: dict[str, Any]) -> str:
    """Return the plan as text for a terminal; ``document`` is the same plan as JSON values."""
    day = f", as of {plan.as_of}" if plan.as_of else ""
    lines = [f"plan of {document['name']} ({document['task']}){day}, seed {document['seed']}", ""]
    lines += [line for dataset in document["datasets"] for line in _input_lines(plan, dataset)]
    lines += [_memory_line(document["rows"])] if plan.datasets else []
    evaluated_names = [dataset["name"] for dataset in document["datasets"] if dataset["role"] == "evaluate"]
    lines += _part_lines(document["parts"])
    if not plan.datasets:
        return "\n".join([*lines, *_goal_lines(plan), *_chapter_lines(plan), *expected_lines(document["expected"])])
    measures = counted(len(plan.metrics), "measure")
    lines += ["", f"{measures} for each of {', '.join(plan.models)} on {', '.join(evaluated_names)}:"]
    labels = [entry.label for entry in plan.metrics]
    width = max(map(len, labels))
    lines += [
        f"  {label:<{width}}  {entry.method:<10}  {entry.reason}"
        for label, entry in zip(labels, plan.metrics, strict=True)
    ]
    lines += [f"  {entry.label} is {entry.words}" for entry in plan.metrics if entry.parts]
    lines += _unserved_lines(document["not_served"])
    if plan.prevalence is not None and plan.prevalence.dataset is not None:
        lines += ["", f"the prevalence is estimated from the outcomes of {plan.prevalence.dataset}, once they are read"]
    lines += [*_further_results(plan), *expected_lines(document["expected"])]
    cost = "unknown: the rows are not known" if plan.cost is None else f"{plan.cost:,} row sums"
    lines += ["", f"{level(document['level'])} intervals; {document['replicates']:,} replicates where bootstrapped",
              drawing(plan).words]
    cost_unit = "rows x models" if plan.streaming.streamed else "rows x replicates x models"
    return "\n".join([*lines, f"expected cost ({cost_unit}): {cost}"])


def _memory_line(rows: dict[str, Any]) -> str:
    """Return the line that says whether all rows are in memory at once, and why."""
    if rows["held"]:
        return f"all rows are held: {rows['reason']}"
    return f"rows are read part by part, {rows['batch']:,} at once, and never held: {rows['reason']}"


def _input_lines(plan: Plan, dataset: dict[str, Any]) -> list[str]:
    """Return the lines on what is read of a dataset and of its files of predictions; ``dataset`` is in JSON values."""
    rows = "rows unknown" if dataset["rows"] is None else counted(dataset["rows"], "row")
    training_note = ", which the models were fitted to" if dataset["trained_on"] else ""
    lines = [f"dataset {dataset['name']} ({dataset['role']}): {', '.join(dataset['files'])}, {rows}{training_note}"]
    lines += [f"  where {dataset['where']}"] if dataset["where"] else []
    lines.append(f"  reads {', '.join(dataset['columns'])}")
    return lines + [
        f"  reads {', '.join(source['columns'])} of {_fit_text(model, source)} from {', '.join(source['files'])}, rows "
        f"matched {_matching_text(plan.id, source['compared'])}{_step_text(source['step'], source['at'])}"
        for model, source in dataset["predictions"].items()
    ] + [
        f"  reads {counted(len(source['files']), 'bootstrap fit')} of {model}, {source['files'][0]} to "
        f"{source['files'][-1]}, rows drawn as often as {source['drawn']} says, for its optimism"
        for model, source in dataset["bootstrap"].items()
    ]


def _fit_text(model: str, source: dict[str, Any]) -> str:
    """Return the name of a model, with the number of its fits where there are several."""
    return model if source["fits"] == 1 else f"{source['fits']} fits of {model}"


def _step_text(column: str | None, at: int | None) -> str:
    """Return the words for a file with a row for each step in ``column``, of which step ``at`` is shown; or ""."""
    shown = "the last" if at is None else f"step {at}"
    return "" if column is None else f" at each step of {column}; shown is {shown}"


def _unserved_lines(rows: Sequence[dict[str, str]]) -> list[str]:
    """Return the lines on measures that models cannot have, grouped by model and reason; empty without any."""
    unserved: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        unserved.setdefault((row["model"], row["reason"]), []).append(row["metric"])
    lines = [f"not for {model}, as {reason}: {', '.join(names)}" for (model, reason), names in unserved.items()]
    return ["", *lines] if lines else []


def _matching_text(identity: str | None, compared: Sequence[str]) -> str:
    """Return the words for how rows of predictions are matched to a dataset: by id or by position.

    ``identity`` is the id column, ``compared`` are the columns that must agree by position.
    """
    if identity is not None:
        return f"by id {identity}"
    if not compared:
        return "by position; they share no column to check this by"
    columns = "1 shared column" if len(compared) == 1 else f"{len(compared)} shared columns"
    return f"by position; {columns} must agree: {', '.join(compared)}"


def _further_results(plan: Plan) -> list[str]:
    """Return the lines on further results: slices, folds, variants, thresholds, comparisons, goals, chapters."""
    lines = [""]
    if plan.slices.slicings:
        lines.append(f"in slices by {', '.join(slicing.title for slicing in plan.slices.slicings)}")
    if plan.slices.worst is not None:
        worst = plan.slices.worst
        lines.append(
            f"the {worst.top} slices of worst {worst.entry.metric.name}, of up to {worst.depth} columns combined")
    if plan.slices.folds is not None:
        lines.append(f"mean, standard deviation and standard error over the folds in '{plan.slices.folds.column}'")
    lines += _calibration_lines(plan)
    recalibrate = plan.recalibrate
    if recalibrate.methods:
        fitting = (f"fitted on {recalibrate.dataset}" if recalibrate.folds is None else
                   f"cross-fitted in {recalibrate.folds} folds")
        names = ", ".join(method.name for method in recalibrate.methods)
        lines.append(f"every model recalibrated by {names}, {fitting}, minus the original on the same rows")
    lines += _exposure_lines(plan)
    if plan.complete_case:
        lines.append("rows without a prediction of every model are left out for all models")
    lines += [f"threshold of {name}: {model.threshold.words}"
              for name, model in plan.models.items() if model.threshold.words is not None]
    lines += [f"equivocal zone of {name}: {model.zone.words}"
              for name, model in plan.models.items() if model.zone is not None]
    lines += [*_curve_lines(plan), *_comparison_lines(plan), *_goal_lines(plan), *_chapter_lines(plan)]
    return lines if len(lines) > 1 else []


def _exposure_lines(plan: Plan) -> list[str]:
    """Return the line on the exposure of counts, and on models whose rates are multiplied by it; or nothing."""
    if plan.exposure is None:
        return []
    unit = f" ({plan.exposure.unit})" if plan.exposure.unit else ""
    rates = [name for name, model in plan.models.items() if model.rate is not None]
    expected = f"; the expected counts of {', '.join(rates)} are rates times it" if rates else ""
    return [f"counts are of the exposure {plan.exposure.column}{unit}{expected}"]


def _curve_lines(plan: Plan) -> list[str]:
    """Return the lines on what the spec adds to curves: marked thresholds, gain groups, residuals, relations."""
    lines = []
    if plan.marks:
        lines.append(f"marked on curves: thresholds {', '.join(f'{mark:g}' for mark in plan.marks)}")
    if plan.task == "binary" and plan.gain_groups != GROUPS:
        lines.append(f"gain tables of {plan.gain_groups} groups")
    if plan.residuals is not None:
        lines.append(f"residuals of the {plan.residuals.of}")
        lines += [f"{kind} residuals" for kind in plan.residuals.kinds]
        lines += [f"residuals against {column}" for column in plan.residuals.against]
        lines += [] if plan.residuals.order is None else [f"residuals in the order of {plan.residuals.order}"]
        lines += [f"figure of {plan.residuals.kind} residuals: {name}" for name in plan.residuals.figures]
    if plan.relations is not None:
        lines.append(f"relations between {', '.join(entry.label for entry in plan.relations.measures)}")
    return lines


def _calibration_lines(plan: Plan) -> list[str]:
    """Return the line on bins, windows and curves of calibration figures; empty where the spec sets none."""
    if not plan.calibration.declared:
        return []
    settings, window = plan.calibration.settings, plan.calibration.settings.window
    kinds = {"equal_width": "equal width", "equal_count": "equal count"}
    bins = f"{settings.bins} bins of {kinds.get(settings.strategy or '', 'equal width and of equal count')}"
    smooth = "all smooth curves" if settings.smoother is None else f"the {settings.smoother} curve"
    windows = f"windows of width {window.width:g} every {window.moved_by:g}"
    if window.of_variants is not None:
        width, step = window.of_variants
        windows += f", after recalibration of width {width:g} every {step:g}"
    position = " at their midpoints" if settings.position == "midpoint" else ""
    rug = ", a rug" if plan.calibration.rug else ""
    return [f"figures of calibration: {bins} (limits: {plan.calibration.interval}){position}, {windows}, {smooth}{rug}"]


def _comparison_lines(plan: Plan) -> list[str]:
    """Return the lines on the baseline model and the baseline dataset of comparisons; empty without any."""
    lines = []
    if plan.compare is not None and plan.compare.baseline is not None:
        lines.append(f"every model minus {plan.compare.baseline}, on the same rows")
    if plan.compare is not None and plan.compare.pairs == "all":
        lines.append("every pair of models, on the same rows")
    if plan.compare is not None and plan.compare.pairs == "auto":
        lines.append("every pair of models, on the same rows, where replicates do not draw cells of rows")
    if plan.compare is not None and plan.compare.baseline_dataset is not None:
        lines.append(f"every dataset minus {plan.compare.baseline_dataset}, as independent samples")
    return lines


def _chapter_lines(plan: Plan) -> list[str]:
    """Return the lines that the chapters add to the plan."""
    return [line for lines in functions("plan", "lines") for line in lines(plan)]


def _goal_lines(plan: Plan) -> list[str]:
    """Return the line on the goals of desirability; or nothing."""
    names = ", ".join(goal.name for goal in plan.goals)
    return [f"desirability by {counted(len(plan.goals), 'goal')}: {names}"] if plan.goals else []
