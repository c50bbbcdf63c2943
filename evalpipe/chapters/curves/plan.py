"""What curves show beside themselves, marks, groups, residuals, and the figures of calibration: rules and plan."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

from evalpipe.chapters.curves.spec import Binomial, Calibration, ResidualDiagnostics
from evalpipe.metrics import registry
from evalpipe.plan.measures import MetricPlan, entries, proportion_method
from evalpipe.spec.core_keys import gives
from evalpipe.spec.draft import with_article
from evalpipe.spec.measures import MetricChoice
from evalpipe.tasks import CLASSES, MANY, NUMBERS
from evalpipe.words.spelling import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.base.origin import Loc
    from evalpipe.chapters.curves.spec import Relations, ResidualFigure, ResidualKind, Window
    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.spec import Spec


HERE: Loc = ("curves", "marks")
RESIDUALS: Loc = ("curves", "residuals")
GROUPS_KEY: Loc = ("curves", "groups")
RELATIONS: Loc = ("curves", "relations")
EXAMPLES = dict.fromkeys(MANY, "add 'residuals: true', or remove it") | {
    "binary": "add 'marks: [0.1, 0.5, 0.9]' or 'residuals: true', or remove it"}
"""What can be asked for, by task."""


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of `curves`: settings without effect, marks on no curve, residuals of no probability."""
    yield from _calibration_rules(draft)
    curves = draft.spec.curves
    if curves is None or not draft.readable("curves") or not draft.readable("task"):
        return
    if not curves.marks and not curves.residuals and curves.groups is None and curves.relations is None:
        if all(draft.readable(*loc) for loc in (HERE, RESIDUALS, GROUPS_KEY, RELATIONS)):
            yield draft.tree.idle("nothing-asked", "'curves' asks for nothing", "curves", key=True,
                                  hint=EXAMPLES.get(draft.spec.task, "remove it"))
        return
    outputs_by_model = [gives(model, draft.spec.threshold) for model in draft.models.values()]
    if draft.spec.task == "binary" and curves.marks and draft.readable(*HERE):
        yield from _marks(draft, curves.marks, outputs_by_model)
    has_scores = not outputs_by_model or any("scores" in outputs for outputs in outputs_by_model)
    if draft.spec.task == "binary" and curves.groups is not None and not has_scores and draft.readable(*GROUPS_KEY):
        message = "'groups' has no effect: no model gives a probability or a score that ranks rows"
        yield draft.tree.idle("unused-groups", message, *GROUPS_KEY, key=True, hint="remove it")
    if draft.spec.task == "binary" and curves.relations is not None and draft.readable(*RELATIONS):
        yield from _relations(draft, curves.relations)
    if curves.residuals and draft.readable(*RESIDUALS):
        diagnostics = curves.residuals if isinstance(curves.residuals, ResidualDiagnostics) else None
        yield from _residuals(draft, diagnostics, outputs_by_model)


def _residuals(
    draft: Draft, diagnostics: ResidualDiagnostics | None, outputs_by_model: Sequence[frozenset[str]]
) -> Iterator[Problem]:
    """Check that there are residuals to show, and that their kinds and figures fit the task.

    ``outputs_by_model`` are what models give, such as "probabilities"; ``diagnostics`` is None for the usual residuals.
    """
    task = draft.spec.task
    if task in CLASSES and outputs_by_model and not any("probabilities" in outputs for outputs in outputs_by_model):
        message = "'residuals' has no effect: no model gives probabilities"
        yield draft.tree.idle("unused-residuals", message, *RESIDUALS, key=True, hint="remove it")
        return
    if task in NUMBERS and (diagnostics is None or not diagnostics.model_fields_set):
        message = f"'residuals' has no effect: {with_article(task)} outcome has its residuals without it"
        yield draft.tree.idle("unused-residuals", message, *RESIDUALS, key=True,
                              hint="name what to add, as in {figures: [scale_location, half_normal]}, or remove it")
    for key in ("kinds", "figures") if diagnostics is not None else ():
        for index, name in enumerate(getattr(diagnostics, key) or ()):
            loc: Loc = (*RESIDUALS, key, index)
            if name == "predicted_observed" and task in CLASSES:
                message = "'predicted_observed' is of a predicted number, and the model gives probabilities"
                yield draft.tree.problem("not-for-task", message, *loc,
                                         hint="remove it; the calibration curves have observed shares")
            elif task in MANY and name in ("pearson", "scale_location", "half_normal"):
                message = f"'{name}' is of a residual with a sign, and that of several levels has none"
                yield draft.tree.problem("not-for-task", message, *loc, hint="remove it")


def _marks(draft: Draft, marks: tuple[float, ...], outputs_by_model: Sequence[frozenset[str]]) -> Iterator[Problem]:
    """Report marked thresholds that are listed twice or out of range, and marks where no model has curves.

    ``outputs_by_model`` has what each model gives, such as "scores".
    """
    has_rank_scores = any("scores" in outputs and "probabilities" not in outputs for outputs in outputs_by_model)
    for index, mark in enumerate(marks):
        if math.isnan(mark):
            continue
        if mark in marks[:index]:
            yield draft.tree.problem("duplicate-mark", f"the threshold {mark:g} is marked twice", *HERE, index,
                                     hint="remove one of them")
        elif not 0 <= mark <= 1 and outputs_by_model and not has_rank_scores:
            message = f"a marked threshold is a probability, from 0 to 1, got {draft.tree.show(*HERE, index)}"
            hint = f"did you mean {mark / 100:g}?" if 1 < mark <= 100 else None
            yield draft.tree.problem("out-of-range", message, *HERE, index, hint=hint)
    if outputs_by_model and not any("scores" in outputs for outputs in outputs_by_model):
        message = "'marks' has no effect: no model gives a probability or a score, so there are no curves"
        yield draft.tree.idle("unused-marks", message, *HERE, key=True, hint="remove it")


def _relations(draft: Draft, relations: Relations) -> Iterator[Problem]:
    """Check that related measures are of predicted classes and can be reweighted, and prevalences within 0 and 1."""
    first_names: dict[str, str] = {}
    for index, name in enumerate(relations.measures):
        loc: Loc = (*RELATIONS, "measures", index)
        if name not in registry:
            continue
        metric = registry[name]
        required_options = [option for option, field in metric.options.model_fields.items() if field.is_required()]
        if "binary" not in metric.tasks or not metric.of_reportable or not metric.reweighed or required_options:
            message = f"{metric.name} is no measure of predicted classes that the prevalence changes by reweighting"
            yield draft.tree.problem("not-of-classes", message, *loc, hint="name one such as accuracy, f1 or mcc")
        elif first_names.setdefault(metric.name, name) != name or name in relations.measures[:index]:
            yield draft.tree.problem("duplicate-metric", f"{metric.name} is listed twice", *loc, hint="remove one")
    for index, prevalence in enumerate(relations.prevalences):
        if prevalence in (0, 1):
            message = f"at the prevalence {draft.tree.show(*RELATIONS, 'prevalences', index)} one level is absent"
            yield draft.tree.problem("out-of-range", message, *RELATIONS, "prevalences", index,
                                     hint="name one between 0 and 1")


MIN_ROWS = 30
"""The fewest rows of a group of residuals where the spec says nothing, as of a slice."""

GROUPS = 10
"""The groups of a gain table where the spec says nothing: tenths."""


def marks_plan(spec: Spec) -> tuple[float, ...]:
    """Return the marked thresholds, ascending; none where the spec marks none."""
    if spec.task != "binary" or spec.curves is None:
        return ()
    return tuple(sorted(map(float, spec.curves.marks or ())))


@dataclass(frozen=True, slots=True)
class ResidualsPlan:
    """What is shown of residuals beside those that numbers always have.

    They are ``of`` probabilities or of numbers. ``kinds`` have quantiles and are drawn against the prediction; ``kind``
    is the one that ``figures`` are of, where "raw" is truth - prediction. ``against`` are columns of the data, and
    ``order`` is the one in whose order residuals are shown, both in groups of at least ``min_rows`` rows.
    """

    of: Literal["probabilities", "numbers"]
    kinds: tuple[ResidualKind, ...]
    kind: ResidualKind | Literal["raw"]
    figures: tuple[ResidualFigure, ...]
    against: tuple[str, ...]
    order: str | None
    min_rows: int

    @property
    def columns(self) -> tuple[tuple[Loc, str], ...]:
        """The columns that residuals are grouped or ordered by, each once, after its place in the spec."""
        loc_of_column: dict[str, Loc] = {}
        for index, column in enumerate(self.against):
            loc_of_column.setdefault(column, (*RESIDUALS, "against", index))
        if self.order is not None:
            loc_of_column.setdefault(self.order, (*RESIDUALS, "order"))
        return tuple((loc, column) for column, loc in loc_of_column.items())


def columns(spec: Spec) -> tuple[tuple[Loc, str], ...]:
    """Return the columns of the data that residuals are grouped or ordered by, each after its place in the spec."""
    residuals = residuals_plan(spec)
    return () if residuals is None else residuals.columns


def residuals_plan(spec: Spec) -> ResidualsPlan | None:
    """Return the residual diagnostics that the spec asks for, defaults filled in; None where it asks for none."""
    diagnostics = None if spec.curves is None else spec.curves.residuals
    if diagnostics is None or diagnostics is False:
        return None
    if diagnostics is True:
        diagnostics = ResidualDiagnostics()
    kinds, figures = diagnostics.kinds or (), diagnostics.figures or ()
    of: Literal["probabilities", "numbers"] = "probabilities" if spec.task in CLASSES else "numbers"
    return ResidualsPlan(of, kinds, "raw" if spec.task == "regression" else next(iter(kinds), "deviance"), figures,
                         diagnostics.against or (), diagnostics.order, diagnostics.min_rows or MIN_ROWS)


def groups_plan(spec: Spec) -> int:
    """Return the number of groups of a gain table."""
    return GROUPS if spec.curves is None or spec.curves.groups is None else spec.curves.groups


@dataclass(frozen=True, slots=True)
class RelationsPlan:
    """Measures that are set against the prevalence and against each other, the latter at ``prevalences``."""

    measures: tuple[MetricPlan, ...]
    prevalences: tuple[float, ...]


def relations_plan(spec: Spec) -> RelationsPlan | None:
    """Return the measures related to each other and to the prevalence; None where the spec requests none."""
    relations = None if spec.curves is None else spec.curves.relations
    if spec.task != "binary" or relations is None:
        return None
    return RelationsPlan(tuple(next(entries(spec, MetricChoice(name))) for name in relations.measures),
                         tuple(map(float, relations.prevalences)))


CALIBRATION = "calibration"


def _calibration_rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of settings that cannot be kept, and of settings of figures that no model has."""
    spec = draft.spec
    if spec.calibration is None or not draft.readable(CALIBRATION) or spec.task not in CLASSES:
        return
    if draft.readable(CALIBRATION, "window"):
        yield from _windows_without_overlap(draft, spec.calibration.window)
    if spec.calibration.interval is not None and draft.readable(CALIBRATION, "interval"):
        yield from _unfit_interval(draft, spec.calibration.interval)
    has_probabilities = any("probabilities" in gives(model) for model in draft.models.values())
    # A model that cannot be read is not in the draft, and might give probabilities.
    if draft.models and len(draft.models) == len(spec.models) and not has_probabilities:
        message = "no model gives probabilities, so there are no figures of calibration"
        yield draft.tree.idle("nothing-to-draw", message, CALIBRATION, key=True,
                              hint="name the column of a model's probabilities, or remove it")


def _windows_without_overlap(draft: Draft, window: Window) -> Iterator[Problem]:
    """Report a step that is not below the width of its windows, which then do not overlap; also for variants."""
    loc: Loc = (CALIBRATION, "window")
    windows: dict[Loc, tuple[float, float]] = {loc: (window.width, window.moved_by)}
    if window.of_variants is not None:
        windows[*loc, "recalibrated"] = window.of_variants
    for window_loc, (width, step) in windows.items():
        if step >= width and all(draft.readable(*window_loc, key) for key in ("width", "step")):
            message = (f"windows of width {width:g} that move by {step:g} do not overlap, so they are bins and no "
                       "moving windows")
            yield draft.tree.problem("window-step", message, *window_loc, "step",
                                     hint=f"write a step below {width:g}, or leave it out for half the width")


def _unfit_interval(draft: Draft, interval: str) -> Iterator[Problem]:
    """Report an interval method for event rates in bins that is not valid for these rows.

    Bootstrap limits need bands; binomial limits need independent rows without importance weights.
    """
    spec, intervals = draft.spec, draft.spec.intervals
    has_bands = spec.task == "binary" and intervals.bands and intervals.method != "none"
    message, hint = "", "write 'percentile', or remove it"
    if interval == "percentile" and not has_bands:
        message = ("bootstrap limits of bins are those of bands, which are drawn for a binary outcome where "
                   "'intervals' has bands and a method")
        hint = f"write {listed((*get_args(Binomial), 'none'))}, or remove it"
    elif interval in get_args(Binomial) and (spec.cluster is not None or spec.importance):
        rows = "rows of a cluster are not independent" if spec.cluster is not None else (
            "rows with importance weights are no counts")
        message = f"binomial limits do not hold: {rows}"
        hint = hint if has_bands else "write 'none', or remove it"
    if message:
        yield draft.tree.problem("interval-of-bins", message, CALIBRATION, "interval", hint=hint)


CURVES_OF_BINS = {"equal_width": "calibration_uniform", "equal_count": "calibration_quantile"}
"""The curve of each kind of bins."""

SMOOTHERS = ("logistic", "spline", "isotonic")


@dataclass(frozen=True, slots=True)
class CalibrationPlan:
    """The ``settings``, usual ones where the spec has none, and the curves that are ``left_out`` by name.

    ``declared`` says whether the spec has the settings; ``interval`` is the method of the event rates in bins and
    windows.
    """

    declared: bool
    settings: Calibration
    interval: str
    rug: bool
    left_out: frozenset[str]

    def of_variant(self, variant: str) -> CalibrationPlan:
        """Return the plan for a variant of a model, with other windows if it is recalibrated."""
        window = self.settings.window
        if variant == "original" or window.of_variants is None:
            return self
        width, step = window.of_variants
        variant_window = window.model_copy(update={"width": width, "step": step})
        return replace(self, settings=self.settings.model_copy(update={"window": variant_window}))


def calibration_plan(spec: Spec) -> CalibrationPlan:
    """Return the settings of the calibration figures, defaults filled in, and the curves that are not drawn."""
    declared, settings = spec.calibration is not None, spec.calibration or Calibration()
    rug = declared and settings.rug and spec.task == "binary"
    bins = [curve for kind, curve in CURVES_OF_BINS.items() if settings.strategy not in {None, kind}]
    smooth = [f"calibration_{name}" for name in SMOOTHERS if settings.smoother not in {None, name}]
    left_out = frozenset([*bins, *smooth, *([] if rug else ["calibration_rug"])])
    return CalibrationPlan(declared, settings, settings.interval or proportion_method(spec), rug, left_out)


PLANNED = {
    "marks": marks_plan, "gain_groups": groups_plan, "residuals": residuals_plan, "relations": relations_plan,
    "calibration": calibration_plan,
}
