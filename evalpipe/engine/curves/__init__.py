"""Step 4: the curves of a model, each computed by a declared function of `CurveRows`.

All start from tables in which equal predictions are one cell, so no curve depends on the order of rows.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from evalpipe.engine.curves.declare import CurveRows, computed_curves
from evalpipe.results.curves import CURVES, Curve
from evalpipe.statistics import Summary
from evalpipe.tasks import MANY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.data.sample import Sample
    from evalpipe.engine.replicates import Replicates
    from evalpipe.plan.plan import Plan

# A curve is declared when its file is imported, so a new file needs no entry in a list.
for _file in iter_modules(__path__):
    import_module(f"{__name__}.{_file.name}")


def model_curves(
    plan: Plan, sample: Sample, model: str, summary: Summary, replicates: Replicates
) -> Iterator[Curve]:
    """Yield the record of every curve that a model's predictions allow; none that needs an absent class."""
    variant_plan = plan.of_variant(sample.models[model].variant)
    for level, rows in _curve_rows(variant_plan, sample, model, summary, replicates):
        for name, points, notes in computed_curves(rows):
            yield CURVES[name].model_validate({
                "dataset": sample.dataset, **sample.named(model), "class": level, "curve": name, "points": points,
                "notes": notes,
            })


def _curve_rows(
    plan: Plan, sample: Sample, model: str, summary: Summary, replicates: Replicates
) -> Iterator[tuple[str | None, CurveRows]]:
    """Yield a level, or None, and the rows that curves are computed from.

    For several levels these are all levels at once, then whether the predicted class is the true one, then each level
    against the rest, and for ordered levels whether the truth lies above each level.
    """
    if sample.task not in MANY:
        drawn = {name: values for (curve_model, name), values in replicates.curves.items() if curve_model == model}
        yield None, CurveRows("event" if sample.task == "binary" else "numbers", plan, sample, summary, drawn)
    elif summary.rows.probabilities is not None:
        yield None, CurveRows("levels", plan, sample, summary)
        yield None, CurveRows("top_label", plan, sample, Summary(summary.rows.top_label, summary.weights))
        for level, against_rest in zip(sample.levels, summary.classes, strict=True):
            yield level, CurveRows("class", plan, sample, against_rest)
        for level_index, level in enumerate(sample.levels[:-1] if sample.task == "ordinal" else ()):
            yield level, CurveRows("cut", plan, sample, Summary(summary.rows.beyond(level_index), summary.weights))
