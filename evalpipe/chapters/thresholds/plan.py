"""The threshold of each model: a number, or the rule that chooses one; and the checks of rules."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evalpipe.base.levels import level_text
from evalpipe.chapters.costs.plan import costs_plan
from evalpipe.chapters.thresholds.spec import CutFolds, ThresholdRule
from evalpipe.metrics.labels import bayes_threshold
from evalpipe.plan.measures import MetricPlan, entries
from evalpipe.spec.core_keys import gives
from evalpipe.spec.draft import refer
from evalpipe.spec.field_types import is_number
from evalpipe.spec.measures import MetricChoice
from evalpipe.spec.rules_measures import check_measure, single_prevalence
from evalpipe.words.spelling import choose, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.origin import Loc
    from evalpipe.chapters.thresholds.spec import MeasureBounds
    from evalpipe.errors import Problem
    from evalpipe.metrics import Metric
    from evalpipe.spec.core_keys import Model
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.spec import Spec


GOALS = ("maximize", "minimize")
WAYS = (*GOALS, "bayes")
EXAMPLES = "name one such as j_index, f1, mcc or, with costs, cost"
BINARY = 2
"""The levels of a binary outcome."""


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of rules that choose thresholds, of the spec and of its models."""
    if draft.spec.task != "binary":
        return
    places: list[tuple[Loc, object]] = [(("threshold",), draft.spec.threshold)]
    places += [(("models", name, "threshold"), model.threshold) for name, model in draft.models.items()]
    for loc, threshold in places:
        if isinstance(threshold, ThresholdRule) and draft.readable(*loc):
            yield from _check_rule(draft, loc, threshold)
    yield from _unused_threshold(draft)


def _check_rule(draft: Draft, loc: Loc, rule: ThresholdRule) -> Iterator[Problem]:
    """Check a rule that chooses a threshold: it has one aim, with sound measures, bounds and rows, or costs."""
    ways = [way for way in WAYS if getattr(rule, way) is not None]
    if len(ways) > 1:
        message = f"a rule chooses by one thing, but this names {listed(ways, 'and')}"
        yield draft.tree.problem("two-rules", message, *loc, ways[1], key=True, hint="keep one of them")
    elif ways == ["bayes"]:
        yield from _check_bayes(draft, loc, rule)
    elif ways:
        yield from _check_goal(draft, (*loc, ways[0]), getattr(rule, ways[0]))
        yield from _check_constraints(draft, (*loc, "subject_to"), rule.subject_to or {})
        yield from _check_choosing_rows(draft, loc, rule)
    elif not draft.misspelt(loc, WAYS):
        hint = "add 'maximize: …', 'minimize: …' or 'bayes: costs', or write a number"
        yield draft.tree.problem("no-rule", "this rule does not say what is to be best", *loc, key=True, hint=hint)


def _check_goal(draft: Draft, loc: Loc, choice: MetricChoice) -> Iterator[Problem]:
    """Check the goal of a rule: a measure of predicted classes, optimized toward its better side."""
    entry, faults = check_measure(draft, loc, choice, of_models=False)
    yield from faults
    if entry is None:
        return
    metric, metric_loc = entry.metric, entry.named
    if not metric.of_reportable:
        message = f"{metric.name} is no measure of predicted classes, so no threshold changes it"
        yield draft.tree.problem("not-of-classes", message, *metric_loc, hint=EXAMPLES)
        return
    yield from single_prevalence(draft, entry, "a rule aims at one value")
    if metric.direction in GOALS and metric.direction != loc[-1]:
        side = "low" if metric.direction == "minimize" else "high"
        message = f"{draft.tree.show(*metric_loc)} is better when it is {side}, so this chooses the worst"
        hint = f"write '{metric.direction}' for '{loc[-1]}'"
        yield draft.tree.problem("wrong-direction", message, *metric_loc, hint=hint)


def _check_constraints(draft: Draft, constraints_loc: Loc, bounded: dict[str, MeasureBounds]) -> Iterator[Problem]:
    """Check the measures that must keep to bounds, and their bounds."""
    first: dict[str, str] = {}
    for name, bounds in bounded.items():
        loc = (*constraints_loc, name)
        if name not in draft.measures:
            continue
        metric = draft.measures[name]
        yield from _check_bounded_measure(draft, loc, metric)
        if first.setdefault(metric.name, name) != name:
            message = f"{metric.name} is bounded twice, as '{first[metric.name]}' and as '{name}'"
            yield draft.tree.problem("duplicate-metric", message, *loc, key=True, hint="remove one of them")
        yield from _check_bounds(draft, loc, metric, bounds)


def _check_bounded_measure(draft: Draft, loc: Loc, metric: Metric) -> Iterator[Problem]:
    """Check that a bounded measure is of predicted classes, and needs no option that a bound cannot name."""
    if "binary" not in metric.tasks or not metric.of_reportable:
        message = f"{metric.name} is no measure of predicted classes of a binary outcome, so no threshold changes it"
        yield draft.tree.problem("not-of-classes", message, *loc, key=True, hint=EXAMPLES)
        return
    for option in (name for name, field in metric.options.model_fields.items() if field.is_required()):
        key = metric.from_spec.get(option)
        if key is None or getattr(draft.spec, key) is None:
            message = f"{metric.name} needs {'the option' if key is None else 'a'} '{option}'"
            hint = "bound another measure" if key is None else f"add '{key}: …' to the spec"
            yield draft.tree.problem("missing-option", message, *loc, key=True, hint=hint)


def _check_bounds(draft: Draft, loc: Loc, metric: Metric, bounds: MeasureBounds) -> Iterator[Problem]:
    """Check that a measure of `subject_to` has a bound in its range, and that a value can lie between two."""
    declared = {side: bound for side, bound in bounds if bound is not None}
    if not declared:
        if draft.readable(*loc) and set(draft.tree.get(*loc)) <= {"min", "max"}:
            yield draft.tree.problem("no-bound", "this bounds nothing", *loc, key=True, hint="add 'min: …' or 'max: …'")
        return
    if len(declared) > 1 and declared["min"] > declared["max"]:
        message = f"no value is at least {bounds.min:g} and at most {bounds.max:g}"
        yield draft.tree.problem("empty-bounds", message, *loc, key=True, hint="exchange the two")
    least, most = metric.range
    for side, bound in declared.items():
        if bound < least or bound > most:
            message = f"{metric.name} lies between {least:g} and {most:g}, got {draft.tree.show(*loc, side)}"
            hint = f"did you mean {bound / 100:g}?" if most == 1 and 2 <= bound <= 100 else None
            yield draft.tree.problem("out-of-range", message, *loc, side, hint=hint)


def _check_choosing_rows(draft: Draft, loc: Loc, rule: ThresholdRule) -> Iterator[Problem]:
    """Check the rows that choose: a dataset of role `calibrate`, or the other folds.

    Recalibrators that are cross-fitted in other folds are refused: their threshold would see the rows that it is for.
    """
    on_loc: Loc = (*loc, "on")
    match rule.on, draft.spec.recalibrate and draft.spec.recalibrate.folds:
        case None, _:
            message = "this rule does not say which rows choose the threshold"
            hint = "add 'on: DATASET' or 'on: {folds: 10}'"
            yield draft.tree.problem("missing-key", message, *loc, key=True, hint=hint)
        # The comparison is false where one of the two cannot be read and is NaN.
        case CutFolds(folds=folds), (int() | float()) as other if abs(other - folds) > 0:
            message = (f"recalibrators are cross-fitted in {other:,} folds and this threshold in {folds:,}, so rows "
                       "would help choose the threshold that classifies them")
            yield draft.tree.problem("two-foldings", message, *on_loc, "folds", hint=f"write {other}")
        case str(name), _ if draft.readable(*on_loc) and draft.readable("datasets"):
            yield from _check_dataset(draft, on_loc, name)


def _check_dataset(draft: Draft, loc: Loc, name: str) -> Iterator[Problem]:
    """Check that the dataset whose rows choose a threshold is declared, with role `calibrate`."""
    calibration_datasets, shown = draft.role("calibrate"), draft.tree.show(*loc)
    advice = choose(calibration_datasets, "give a dataset 'role: calibrate'")
    way_out = f"{advice}, or cross-fit: {{folds: 10}}"
    if name not in draft.spec.datasets:
        yield from refer(draft, loc, calibration_datasets, "unknown-dataset", f"no dataset is called {shown}", way_out)
    elif name not in calibration_datasets and draft.readable("datasets", name, "role"):
        role = draft.spec.datasets[name].role
        message = f"{shown} has the role '{role}'" + (
            ", so its predictions are not read" if role == "reference"
            else ": a threshold chosen and judged on the same rows looks better than it is")
        yield draft.tree.problem("wrong-role", message, *loc, hint=way_out)


def _check_bayes(draft: Draft, loc: Loc, rule: ThresholdRule) -> Iterator[Problem]:
    """Check that the costs of the spec decide on a threshold, and that the model gives probabilities for it."""
    problem, bayes_loc = draft.tree.problem, (*loc, "bayes")
    for key in ("subject_to", "on"):
        if getattr(rule, key) is not None:
            message = f"'{key}' has no effect: costs alone decide this threshold"
            yield problem("two-rules", message, *loc, key, key=True, hint="remove it, or write 'minimize: cost'")
    if draft.spec.costs is None:
        yield problem("missing-key", "costs decide the threshold, but no costs are declared", *bayes_loc,
                      hint="add 'costs: […]' to the spec")
        return
    costs = _cost_matrix(draft) if draft.readable(*bayes_loc) else None
    if costs is not None and bayes_threshold(costs) is None:
        message = ("these costs decide no threshold: a wrong prediction must not cost less than the right prediction "
                   "of the same level, and at least one must cost more")
        yield problem("no-rule", message, *bayes_loc, hint="look at 'costs' again, or write a number")
    if len(loc) > 1 and _has_rank_score(draft.models[str(loc[1])]):
        message = f"costs decide on a probability, but the score of the model '{loc[1]}' is a rank alone"
        hint = "add a 'scale' to the score, or write {minimize: cost, on: …}"
        yield problem("not-a-probability", message, *bayes_loc, hint=hint)


def _cost_matrix(draft: Draft) -> list[list[float]] | None:
    """Return the costs by true and predicted level, the event first; None where they cannot be read."""
    event = level_text(draft.spec.outcome.event)
    order = [event, *(level for level in draft.levels if level != event)]
    costs = {(level_text(cost.truth), level_text(cost.predicted)): cost.cost for cost in draft.spec.costs or ()}
    pairs = [(truth, predicted) for truth in order for predicted in order]
    if len(order) != BINARY or not costs.keys() <= set(pairs) or any(map(math.isnan, costs.values())):
        return None
    return [[costs.get((truth, predicted), 0.0) for predicted in order] for truth in order]


def _has_rank_score(model: Model) -> bool:
    """Tell whether a model has a score that ranks rows, but gives no probability."""
    return model.score is not None and "probabilities" not in gives(model)


def _unused_threshold(draft: Draft) -> Iterator[Problem]:
    """Report a threshold of the spec that no model would use: a rule without scores, or a probability for ranks."""
    threshold = draft.spec.threshold
    without_threshold = {
        name: model for name, model in draft.models.items() if model.threshold is None and model.prediction is None}
    ranks = [name for name, model in without_threshold.items()
             if _has_rank_score(model) and "probabilities" not in draft.spec.gives_with_variants(model)]
    if isinstance(threshold, ThresholdRule):
        has_no_use = len(ranks) == len(without_threshold) if threshold.bayes is not None else not without_threshold
        if draft.models and has_no_use:
            reason = ", or its score is a rank alone" if threshold.bayes is not None else ""
            message = ("this rule would choose nothing: every model gives predicted classes or has a threshold of its "
                       f"own{reason}")
            yield draft.tree.idle("unused-threshold", message, "threshold", key=True, hint="remove it")
    elif is_number(draft.tree.get("threshold")) and ranks and not any(
            "probabilities" in gives(model) for model in draft.models.values()):
        message = f"this threshold is a probability, but the score of the model '{ranks[0]}' is a rank alone"
        hint = f"write it as models.{ranks[0]}.threshold, in the units of the score, or add a 'scale' to the score"
        yield draft.tree.problem("unused-threshold", message, "threshold", hint=hint)


NO_BOUND = (float("-inf"), float("inf"))


@dataclass(frozen=True, slots=True)
class RulePlan:
    """A rule with its measures: ``goal`` is to be best, each of ``bounds`` to lie between two numbers.

    ``dataset`` names the rows that choose, or ``folds`` says in how many the evaluated rows are shared; ``place`` is
    where the rule stands in the spec.
    """

    goal: MetricPlan
    aim: Literal["maximize", "minimize"]
    bounds: tuple[tuple[MetricPlan, float, float], ...]
    dataset: str | None
    folds: int | None
    place: tuple[str, ...]

    @property
    def measures(self) -> tuple[MetricPlan, ...]:
        """The goal and the bounded measures."""
        return self.goal, *(entry for entry, _, _ in self.bounds)

    @property
    def text(self) -> str:
        """The rule in words: "maximize sensitivity subject to specificity >= 0.9"."""
        aim = f"{self.aim} {self.goal.short_label()}"
        return f"{aim} subject to {self.conditions}" if self.bounds else aim

    @property
    def words(self) -> str:
        """The rule and the rows that choose: "maximize f1, on calibration"."""
        rows = f"on {self.dataset}" if self.folds is None else f"cross-fitted in {self.folds} folds"
        return f"{self.text}, {rows}"

    @property
    def conditions(self) -> str:
        """The bounds in words: "specificity >= 0.9 and precision >= 0.5"."""
        return " and ".join(
            f"{entry.short_label()} {sign} {bound:g}" for entry, low, high in self.bounds
            for sign, bound in ((">=", low), ("<=", high)) if bound not in NO_BOUND)


@dataclass(frozen=True, slots=True)
class ThresholdPlan:
    """What makes classes of a binary outcome of a model's probabilities or scores, and of those of its variants.

    A ``number`` that is known before any row is seen, or a ``rule`` by which rows choose one; neither where the data
    give the model's classes, or nothing makes any. Those of variants differ where the data give classes: classes of a
    variant are made of its own probabilities. ``by_costs`` tells that costs alone decide on the number. ``words`` say
    how the model's own threshold is chosen; None where a number was written or classes are given.
    """

    number: float | None
    rule: RulePlan | None
    variant_number: float | None
    variant_rule: RulePlan | None
    by_costs: bool
    words: str | None


def threshold_plan(spec: Spec, name: str) -> ThresholdPlan:
    """Return the thresholds, or the rules that choose them, of a model and of its variants."""
    model = spec.models[name]
    declared = spec.threshold if model.threshold is None else model.threshold
    has_classes = model.prediction is not None
    by_costs = isinstance(declared, ThresholdRule) and declared.bayes is not None
    is_rank = model.score is not None and model.scale is None
    # Variants have probabilities: a number that is a score is no threshold of theirs.
    of_variant = spec.threshold if is_rank and not isinstance(declared, ThresholdRule) else declared
    variant_rule = _rule_plan(spec, name, of_variant)
    variant_number = _known_number(spec, of_variant) if spec.task == "binary" else None
    no_number = has_classes or (is_rank and model.threshold is None) or spec.task != "binary"
    number = None if no_number else _known_number(spec, declared)
    rule = None if has_classes else _rule_plan(spec, name, declared)
    words = rule.words if rule is not None else "bayes, from the costs" if by_costs and number is not None else None
    return ThresholdPlan(number, rule, variant_number, variant_rule, by_costs, words)


def _known_number(spec: Spec, declared: float | ThresholdRule) -> float | None:
    """Return the threshold that is known before any row is seen; None where rows choose it."""
    if not isinstance(declared, ThresholdRule):
        return float(declared)
    costs = None if declared.bayes is None else costs_plan(spec)
    return None if costs is None else bayes_threshold(costs.matrix)


def _rule_plan(spec: Spec, name: str, declared: float | ThresholdRule) -> RulePlan | None:
    """Return the rule by which rows choose the threshold of a model that gives scores; None without one."""
    from evalpipe.spec.core_keys import gives

    has_scores = "scores" in gives(spec.models[name])
    if spec.task != "binary" or not has_scores or not isinstance(declared, ThresholdRule) or declared.bayes is not None:
        return None
    goal = declared.maximize or declared.minimize
    assert goal is not None  # noqa: S101 - checked with the spec
    bounds: list[tuple[MetricPlan, float, float]] = []
    for measure, bound in (declared.subject_to or {}).items():
        low = NO_BOUND[0] if bound.min is None else float(bound.min)
        high = NO_BOUND[1] if bound.max is None else float(bound.max)
        bounds.append((next(entries(spec, MetricChoice(measure))), low, high))
    return RulePlan(
        goal=next(entries(spec, goal)), aim="minimize" if declared.maximize is None else "maximize",
        bounds=tuple(bounds),
        dataset=declared.on if isinstance(declared.on, str) else None,
        folds=declared.on.folds if isinstance(declared.on, CutFolds) else None,
        place=("threshold",) if declared is spec.threshold else ("models", name, "threshold"))
