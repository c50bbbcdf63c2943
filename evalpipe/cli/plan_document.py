"""A plan as plain JSON values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalpipe.chapters import functions
from evalpipe.plan.plan import drawing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.plan.plan import ModelPlan, Plan

Document = dict[str, Any]


def plan_document(plan: Plan) -> Document:
    """Return a plan as plain JSON values."""
    return {
        "name": plan.name, "as_of": plan.as_of, "task": plan.task, "spec_sha256": plan.spec_sha256, "seed": plan.seed,
        "datasets": [_dataset(plan, dataset) for dataset in plan.datasets],
        "estimates": list(_estimates(plan)),
        "not_served": list(_not_served(plan)),
        "prevalence": _prevalence(plan), "permutations": plan.permutations,
        "replicates": plan.replicates, "level": plan.level, "cost": plan.cost, "drawing": _drawing(plan),
        "rows": _rows(plan), "exposure": _exposure(plan),
        "thresholds": [_threshold(model) for model in plan.models.values()],
        "zones": [zone for model in plan.models.values() for zone in _zones(model)],
        "marks": list(plan.marks), "gain_groups": plan.gain_groups if plan.task == "binary" else None,
        "residuals": _residuals(plan), "relations": _relations(plan),
        "calibration": _calibration(plan),
        "slices": [slicing.title for slicing in plan.slices.slicings],
        "worst_slices": _worst(plan), "folds": None if plan.slices.folds is None else plan.slices.folds.column,
        "recalibration": _recalibration(plan), "compare": _compare(plan),
        "goals": [goal.document for goal in plan.goals],
        **{key: value for document in functions("plan", "document") for key, value in document(plan).items()},
    }


def _drawing(plan: Plan) -> Document:
    """Return how replicates are drawn, and why, as far as it is known before the data are read."""
    planned = drawing(plan)
    return {"mode": planned.mode, "reason": planned.reason, "refused": planned.refused}


def _rows(plan: Plan) -> Document:
    """Return whether all rows are in memory at once, else how many are read at once, and the reason."""
    return {"held": not plan.streaming.streamed, "batch": plan.streaming.batch, "reason": plan.streaming.reason}


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
    from evalpipe.words.reasons import NEEDS

    for name, model in plan.models.items():
        for entry in model.lacking(plan.metrics):
            need = entry.lacking(model.gives) or entry.metric.needs
            variants = ", which its variants have" if plan.left_to_variants(name, need) else ""
            yield {"model": name, "metric": entry.metric.name, "reason": f"the model gives {NEEDS[need]}{variants}"}


def _exposure(plan: Plan) -> Document | None:
    """Return the exposure of counts, and the models whose rates are multiplied by it; None without exposure."""
    if plan.exposure is None:
        return None
    rates = [name for name, model in plan.models.items() if model.rate is not None]
    return {"column": plan.exposure.column, "unit": plan.exposure.unit, "rates_of": rates}


def _prevalence(plan: Plan) -> Document | None:
    """Return the declared prevalence; its shares are None where they come from a dataset, which is not read yet."""
    declared = plan.prevalence
    if declared is None:
        return None
    shares = list(declared.shares) if declared.dataset is None else None
    return {"shares": shares, "parameters": declared.parameters, "dataset": declared.dataset,
            "source": declared.source}


def _threshold(model: ModelPlan) -> Document:
    """Return the threshold of a model: a number, or a rule with the dataset or the folds that it is chosen on."""
    rule, threshold = model.threshold.rule, model.threshold
    return {
        "model": model.name, "value": threshold.number, "rule": threshold.words,
        "chosen_on": None if rule is None else rule.dataset, "folds": None if rule is None else rule.folds,
    }


def _zones(model: ModelPlan) -> Iterator[Document]:
    if model.zone is not None:
        yield {"model": model.name, "below": model.zone.below, "above": model.zone.above,
               "min_probability": model.zone.min_probability}


def _calibration(plan: Plan) -> Document:
    """Return the settings of calibration figures: bins, windows, smoother, interval, rug."""
    settings, variant_window = plan.calibration.settings, plan.calibration.settings.window.of_variants
    recalibrated = None if variant_window is None else {"width": variant_window[0], "step": variant_window[1]}
    window = {"width": settings.window.width, "step": settings.window.moved_by, "recalibrated": recalibrated}
    return {"bins": settings.bins, "strategy": settings.strategy, "position": settings.position, "window": window,
            "smoother": settings.smoother, "interval": plan.calibration.interval, "rug": plan.calibration.rug}


def _relations(plan: Plan) -> Document | None:
    related = plan.relations
    return None if related is None else {
        "measures": [entry.label for entry in related.measures], "prevalences": list(related.prevalences)}


def _residuals(plan: Plan) -> Document | None:
    """Return the residuals that the spec adds to the usual ones: kinds, figures, columns; None without any."""
    residuals = plan.residuals
    return None if residuals is None else {
        "kinds": list(residuals.kinds), "figures": dict.fromkeys(residuals.figures, residuals.kind),
        "against": list(residuals.against), "order": residuals.order}


def _worst(plan: Plan) -> Document | None:
    """Return the settings of the search for the worst slices; None without it."""
    worst = plan.slices.worst
    if worst is None:
        return None
    columns = [sliced.column for sliced in worst.columns]
    return {**worst.entry.document, "columns": columns, "depth": worst.depth, "top": worst.top}


def _recalibration(plan: Plan) -> Document | None:
    methods = [{"variant": method.name, "method": method.method, "options": dict(method.options)}
               for method in plan.recalibrate.methods]
    fitted = {"fitted_on": plan.recalibrate.dataset, "folds": plan.recalibrate.folds}
    return {"methods": methods, **fitted} if methods else None


def _compare(plan: Plan) -> Document | None:
    compare = plan.compare
    return None if compare is None else {
        "baseline": compare.baseline, "pairs": compare.pairs, "baseline_dataset": compare.baseline_dataset,
        "margins": dict(compare.margins)}
