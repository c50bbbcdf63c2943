"""The threshold of each model: a number, or the rule that chooses one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evalpipe.chapters.costs.plan import costs_plan
from evalpipe.chapters.thresholds.spec import CutFolds, ThresholdRule
from evalpipe.metrics.labels import bayes_threshold
from evalpipe.plan.measures import MetricPlan, entries
from evalpipe.spec.measures import MetricChoice

if TYPE_CHECKING:
    from evalpipe.spec.spec import Spec

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
