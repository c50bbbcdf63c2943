"""`evalpipe validate` and `evalpipe plan`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from evalpipe.card.wording import level
from evalpipe.chapters import functions
from evalpipe.chapters.curves.plan import GROUPS
from evalpipe.cli.exit import annotation
from evalpipe.cli.ledger import DROP, MARGIN, expected_lines
from evalpipe.cli.output import output_folder
from evalpipe.plan.memory import reading_seconds
from evalpipe.plan.plan import drawing_plan
from evalpipe.spec.tree import STDIN
from evalpipe.words.spelling import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.plan.plan import Plan


Document = dict[str, Any]


def plan_document(plan: Plan) -> Document:
    """Return a plan as plain JSON values."""
    drawn, prevalence, exposure, residuals = drawing_plan(plan), plan.prevalence, plan.exposure, plan.residuals
    worst, recalibrate, compare = plan.slices.worst, plan.recalibrate, plan.compare
    methods = [{"variant": method.name, "method": method.method, "options": dict(method.options)}
               for method in recalibrate.methods]
    settings = plan.calibration.settings
    window = settings.window
    of_variants = None if window.of_variants is None else dict(zip(("width", "step"), window.of_variants, strict=True))
    return {
        "name": plan.name, "as_of": plan.as_of, "task": plan.task, "spec_sha256": plan.spec_sha256, "seed": plan.seed,
        "datasets": [_dataset(plan, dataset) for dataset in plan.datasets],
        "estimates": list(_estimates(plan)),
        "not_served": list(_not_served(plan)),
        # Shares that come from a dataset are not read yet.
        "prevalence": prevalence and {
            "shares": list(prevalence.shares) if prevalence.dataset is None else None,
            "parameters": prevalence.parameters, "dataset": prevalence.dataset, "source": prevalence.source},
        "permutations": plan.permutations,
        "replicates": plan.replicates, "level": plan.level, "cost": plan.cost,
        "drawing": {"mode": drawn.mode, "reason": drawn.reason, "refused": drawn.refused},
        "rows": {
            "held": not plan.streaming.streamed, "batch": plan.streaming.batch, "reason": plan.streaming.reason,
            "all_scores": plan.streaming.all_scores, "seconds": _reading_seconds(plan)},
        "exposure": exposure and {
            "column": exposure.column, "unit": exposure.unit,
            "rates_of": [name for name, model in plan.models.items() if model.rate is not None]},
        "thresholds": [{
            "model": name, "value": model.threshold.number, "rule": model.threshold.words,
            "chosen_on": model.threshold.rule and model.threshold.rule.dataset,
            "folds": model.threshold.rule and model.threshold.rule.folds} for name, model in plan.models.items()],
        "zones": [{"model": name, "below": model.zone.below, "above": model.zone.above,
                   "min_probability": model.zone.min_probability}
                  for name, model in plan.models.items() if model.zone is not None],
        "marks": list(plan.marks), "gain_groups": plan.gain_groups if plan.task == "binary" else None,
        "residuals": residuals and {
            "kinds": list(residuals.kinds), "figures": dict.fromkeys(residuals.figures, residuals.kind),
            "against": list(residuals.against), "order": residuals.order},
        "relations": plan.relations and {
            "measures": [entry.label for entry in plan.relations.measures],
            "prevalences": list(plan.relations.prevalences)},
        "calibration": {
            "bins": settings.bins, "strategy": settings.strategy, "position": settings.position,
            "window": {"width": window.width, "step": window.moved_by, "recalibrated": of_variants},
            "smoother": settings.smoother, "interval": plan.calibration.interval, "rug": plan.calibration.rug},
        "slices": [slicing.title for slicing in plan.slices.slicings],
        "worst_slices": worst and {
            **worst.entry.document, "columns": [sliced.column for sliced in worst.columns], "depth": worst.depth,
            "top": worst.top},
        "folds": None if plan.slices.folds is None else plan.slices.folds.column,
        "recalibration": {
            "methods": methods, "fitted_on": recalibrate.dataset, "folds": recalibrate.folds} if methods else None,
        "compare": compare and {
            "baseline": compare.baseline, "pairs": compare.pairs, "baseline_dataset": compare.baseline_dataset,
            "margins": dict(compare.margins)},
        **{key: value for document in functions("plan", "document") for key, value in document(plan).items()},
    }


def _dataset(plan: Plan, dataset: DatasetPlan) -> Document:
    """Return the files and columns of a dataset, of its predictions and of bootstrap fits, by model."""
    columns = dict.fromkeys((*dataset.columns, *dataset.table.where_columns, *dataset.compared))
    return {
        "name": dataset.name, "role": dataset.role, "files": dataset.table.shown_files, "rows": dataset.table.rows,
        "where": dataset.where, "columns": list(columns),
        "predictions": {
            model: {
                "files": [shown for fit in (part, *dataset.refits.get(model, ())) for shown in fit.table.shown_files],
                "fits": 1 + len(dataset.refits.get(model, ())), "columns": list(part.columns),
                "step": plan.models[model].step, "at": plan.models[model].shown_step,
                "matched": "position" if plan.id is None else "id", "compared": list(part.compared),
            }
            for model, part in dataset.predictions.items()
        },
        "trained_on": dataset.trained_on,
        "bootstrap": {
            model: {"files": [shown for part in parts for shown in part.table.shown_files],
                    "drawn": plan.models[model].draw_count_column}
            for model, parts in dataset.bootstrap.items()
        },
    }


def _estimates(plan: Plan) -> Iterator[Document]:
    """Yield each estimate to be computed, by dataset, model, variant and measure, with its interval method."""
    for dataset in plan.datasets:
        for name, model in plan.models.items() if dataset.role == "evaluate" else ():
            lacking = model.lacking(plan.metrics)
            for variant in ("original", *(method.name for method in plan.recalibrate.methods)):
                for entry in plan.metrics:
                    if entry not in lacking:
                        yield {"dataset": dataset.name, "model": name, "variant": variant, **entry.document,
                               "method": entry.method, "reason": entry.reason}


def _not_served(plan: Plan) -> Iterator[Document]:
    """Yield each measure that a model cannot have, with the reason."""
    from evalpipe.words.sentences import NEEDS

    for name, model in plan.models.items():
        for entry in model.lacking(plan.metrics):
            need = entry.lacking(model.gives) or entry.metric.needs
            variants = ", which its variants have" if plan.left_to_variants(name, need) else ""
            yield {"model": name, "metric": entry.metric.name, "reason": f"the model gives {NEEDS[need]}{variants}"}


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
    (ranking,) = (document(planned) for document in functions("plan", "document", "desirability"))
    if ranking["candidates"] is not None:
        counts.append(f"candidates ranked by {counted(len(ranking['goals']), 'goal')}")
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
    parts: dict[str, list[dict[str, object]]] = {}
    if planned.streaming.kept_for_later:
        from evalpipe.streams.cache import cache_folder, states_of_parts

        parts = {name: [{"file": part.file, "first_row": part.first, "rows": part.rows, "cached": part.why is None,
                         "why": part.why} for part in states]
                 for name, states in states_of_parts(planned, cache_folder(folder)).items()}
    document = plan_document(planned)
    gates = []
    if document["gates"]:
        from evalpipe.ledger.forecasts import gate_forecasts

        gates = [gate.document() for gate in gate_forecasts(planned, folder, *expected)]
    document |= {"parts": parts, "expected": {"margin": expected[0], "drop": expected[1], "gates": gates}}
    if form == "json":
        # A share that a dataset has yet to give is a text.
        click.echo(json.dumps(document, indent=1, ensure_ascii=False, default=str))
    else:
        click.echo(_plan_text(planned, document))


def _plan_text(plan: Plan, document: dict[str, Any]) -> str:
    """Return the plan as text for a terminal; ``document`` is the same plan as JSON values."""
    day = f", as of {plan.as_of}" if plan.as_of else ""
    lines = [f"plan of {document['name']} ({document['task']}){day}, seed {document['seed']}", ""]
    lines += [line for dataset in document["datasets"] for line in _input_lines(plan, dataset)]
    if plan.datasets:
        rows = document["rows"]
        lines += _reading_lines(rows)
    evaluated_names = [dataset["name"] for dataset in document["datasets"] if dataset["role"] == "evaluate"]
    if document["parts"]:
        from evalpipe.cli.output import parts_line
        from evalpipe.streams.cache import reasons_in_words

        lines.append("")
        for name, states in document["parts"].items():
            why = [state["why"] for state in states if state["why"] is not None]
            lines.append(parts_line(name, len(states), len(states) - len(why), reasons_in_words(why)))
    of_chapters = [line for write in functions("plan", "lines") for line in write(plan)]
    if not plan.datasets:
        return "\n".join([*lines, *of_chapters, *expected_lines(document["expected"])])
    measures = counted(len(plan.metrics), "measure")
    lines += ["", f"{measures} for each of {', '.join(plan.models)} on {', '.join(evaluated_names)}:"]
    labels = [entry.label for entry in plan.metrics]
    width = max(map(len, labels))
    lines += [
        f"  {label:<{width}}  {entry.method:<10}  {entry.reason}"
        for label, entry in zip(labels, plan.metrics, strict=True)
    ]
    lines += [f"  {entry.label} is {entry.words}" for entry in plan.metrics if entry.parts]
    unserved: dict[tuple[str, str], list[str]] = {}
    for row in document["not_served"]:
        unserved.setdefault((row["model"], row["reason"]), []).append(row["metric"])
    lines += [""] if unserved else []
    lines += [f"not for {model}, as {reason}: {', '.join(names)}" for (model, reason), names in unserved.items()]
    if plan.prevalence is not None and plan.prevalence.dataset is not None:
        lines += ["", f"the prevalence is estimated from the outcomes of {plan.prevalence.dataset}, once they are read"]
    further = [*_further_results(plan), *of_chapters]
    lines += [*([""] if further else []), *further, *expected_lines(document["expected"])]
    cost = "unknown: the rows are not known" if plan.cost is None else f"{plan.cost:,} row sums"
    lines += ["", f"{level(document['level'])} intervals; {document['replicates']:,} replicates where bootstrapped",
              drawing_plan(plan).words]
    cost_unit = "rows x models" if plan.streaming.streamed else "rows x replicates x models"
    return "\n".join([*lines, f"expected cost ({cost_unit}): {cost}"])


def _reading_seconds(plan: Plan) -> dict[str, float] | None:
    """Return about how long it takes to hold rows, to read them part by part, and to keep every score as well, in s.

    None where the number of rows is not known.
    """
    rows = [dataset.table.rows for dataset in plan.datasets if dataset.role == "evaluate"]
    known = [count for count in rows if count is not None]
    if len(known) < len(rows) or not known or plan.task != "binary":
        return None
    return {name: float(f"{seconds:.1e}") for name, seconds in reading_seconds(plan, sum(known)).items()}


def _reading_lines(rows: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines on how rows are read, what values are computed from, and about how long that takes."""
    seconds = rows["seconds"]
    if rows["held"]:
        yield f"all rows are held: {rows['reason']}"
    else:
        yield f"rows are read part by part, {rows['batch']:,} at once, and never held: {rows['reason']}"
        yield ("every score is kept with its outcome, so that values are exact" if rows["all_scores"] else
               "measures that rank rows come from cells of similar scores, within their error_bound")
    if seconds is not None:
        in_memory, parts, scores = (f"{seconds[name]:,.1f} s" for name in ("held", "parts", "scores"))
        yield f"processor time by estimate: held {in_memory}, part by part {parts}, every score {scores} more"


def _input_lines(plan: Plan, dataset: dict[str, Any]) -> list[str]:
    """Return the lines on what is read of a dataset and of its files of predictions; ``dataset`` is in JSON values."""
    rows = "rows unknown" if dataset["rows"] is None else counted(dataset["rows"], "row")
    training_note = ", which the models were fitted to" if dataset["trained_on"] else ""
    lines = [f"dataset {dataset['name']} ({dataset['role']}): {', '.join(dataset['files'])}, {rows}{training_note}"]
    lines += [f"  where {dataset['where']}"] if dataset["where"] else []
    lines.append(f"  reads {', '.join(dataset['columns'])}")
    for model, source in dataset["predictions"].items():
        fits = model if source["fits"] == 1 else f"{source['fits']} fits of {model}"
        shown = "the last" if source["at"] is None else f"step {source['at']}"
        steps = "" if source["step"] is None else f" at each step of {source['step']}; shown is {shown}"
        lines.append(f"  reads {', '.join(source['columns'])} of {fits} from {', '.join(source['files'])}, rows "
                     f"matched {_matching_text(plan.id, source['compared'])}{steps}")
    return lines + [
        f"  reads {counted(len(source['files']), 'bootstrap fit')} of {model}, {source['files'][0]} to "
        f"{source['files'][-1]}, rows drawn as often as {source['drawn']} says, for its optimism"
        for model, source in dataset["bootstrap"].items()
    ]


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
    """Return the lines on further results: slices, folds, variants, thresholds, curves, comparisons."""
    lines = []
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
    if plan.exposure is not None:
        unit = f" ({plan.exposure.unit})" if plan.exposure.unit else ""
        rates = [name for name, model in plan.models.items() if model.rate is not None]
        expected = f"; the expected counts of {', '.join(rates)} are rates times it" if rates else ""
        lines.append(f"counts are of the exposure {plan.exposure.column}{unit}{expected}")
    if plan.complete_case:
        lines.append("rows without a prediction of every model are left out for all models")
    lines += [f"threshold of {name}: {model.threshold.words}"
              for name, model in plan.models.items() if model.threshold.words is not None]
    lines += [f"equivocal zone of {name}: {model.zone.words}"
              for name, model in plan.models.items() if model.zone is not None]
    return [*lines, *_curve_lines(plan), *_comparison_lines(plan)]


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
    compare = plan.compare
    if compare is None:
        return []
    lines = []
    if compare.baseline is not None:
        lines.append(f"every model minus {compare.baseline}, on the same rows")
    if compare.pairs in ("all", "auto"):
        unless = ", where replicates do not draw cells of rows" if compare.pairs == "auto" else ""
        lines.append(f"every pair of models, on the same rows{unless}")
    if compare.baseline_dataset is not None:
        lines.append(f"every dataset minus {compare.baseline_dataset}, as independent samples")
    return lines
