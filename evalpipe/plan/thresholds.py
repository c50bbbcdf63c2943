"""The threshold of each model: a number, or the rule that chooses one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evalpipe.plan.measures import MetricPlan, cost_matrix, entries

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.spec.models import Spec
    from evalpipe.spec.parts import Model
    from evalpipe.spec.thresholds import ThresholdRule

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
    def text(self) -> str:
        """The rule in words: "maximize sensitivity subject to specificity >= 0.9"."""
        wanted = f"{self.aim} {called(self.goal)}"
        return wanted if not self.bounds else f"{wanted} subject to {self.conditions}"

    @property
    def conditions(self) -> str:
        """The bounds in words: "specificity >= 0.9 and precision >= 0.5"."""
        said = [f"{called(entry)} {sign} {bound:g}" for entry, low, high in self.bounds
                for sign, bound in ((">=", low), ("<=", high)) if bound not in NO_BOUND]
        return " and ".join(said)


def called(entry: MetricPlan, among: Sequence[MetricPlan] = ()) -> str:
    """Return the name of a measure with the options that are not its defaults: "f_beta(beta=2)".

    An option that the spec may give, such as a prevalence, is named where the measure occurs ``among`` others twice.
    """
    fields, ours = entry.metric.options.model_fields, set(entry.metric.from_spec)
    ours = ours if sum(one.metric is entry.metric for one in among) < 2 else set()
    said = [f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
            for name, value in entry.shown.items()
            if name not in fields or (name not in ours and value != fields[name].default)]
    return f"{entry.metric.name}({', '.join(said)})" if said else entry.metric.name


def written(spec: Spec, model: Model) -> float | ThresholdRule:
    """Return what stands in the spec for a model: its own threshold, or else the spec's."""
    return spec.threshold if model.threshold is None else model.threshold


def threshold(spec: Spec, model: Model) -> float | None:
    """Return the number that makes a model's classes; None where data give them, a rule chooses it, or nothing does."""
    if model.prediction is not None or spec.task != "binary":
        return None
    ranked = model.score is not None and model.scale is None
    return None if model.threshold is None and ranked else number(spec, model)


def number(spec: Spec, model: Model) -> float | None:
    """Return the threshold of a model's probabilities that is known before any row is; None where rows choose it."""
    from evalpipe.metrics.costs import bayes_threshold
    from evalpipe.spec.thresholds import ThresholdRule

    found = written(spec, model)
    if not isinstance(found, ThresholdRule):
        return float(found)
    if found.bayes is None:
        return None
    return bayes_threshold(cost_matrix(spec))


def by_bayes(spec: Spec, model: Model) -> bool:
    """Tell whether costs alone decide on a model's threshold."""
    from evalpipe.spec.thresholds import ThresholdRule

    found = written(spec, model)
    return isinstance(found, ThresholdRule) and found.bayes is not None


def rule(spec: Spec, name: str, *, variant: bool = False) -> RulePlan | None:
    """Return the rule by which rows choose the threshold of a model, or of a variant of it; None without one.

    A model whose classes are given by the data has none, but a variant of it has: its classes are those of its own
    probabilities.
    """
    from evalpipe.spec.thresholds import ThresholdRule

    model = spec.models[name]
    found = written(spec, model)
    given = model.prediction is not None and not variant
    scored = model.probability is not None or model.score is not None
    if spec.task != "binary" or given or not scored or not isinstance(found, ThresholdRule) or found.bayes is not None:
        return None
    return _planned(spec, found, ("threshold",) if model.threshold is None else ("models", name, "threshold"))


def _planned(spec: Spec, asked: ThresholdRule, place: tuple[str, ...]) -> RulePlan:
    from evalpipe.spec.choices import MetricChoice
    from evalpipe.spec.thresholds import CutFolds

    aim: Literal["maximize", "minimize"] = "minimize" if asked.maximize is None else "maximize"
    choice = asked.maximize or asked.minimize
    assert choice is not None  # noqa: S101 - checked with the spec
    bounds = tuple(
        (next(entries(spec, MetricChoice(name))), *(NO_BOUND[side] if bound is None else float(bound)
                                                    for side, bound in enumerate((one.min, one.max))))
        for name, one in (asked.subject_to or {}).items()
    )
    folds = asked.on.folds if isinstance(asked.on, CutFolds) else None
    dataset = asked.on if isinstance(asked.on, str) else None
    return RulePlan(next(entries(spec, choice)), aim, bounds, dataset, folds, place)  # type: ignore[arg-type]


def in_words(spec: Spec, name: str) -> str | None:
    """Return the rule of a model's threshold in words, None where a number was written or classes are given."""
    model = spec.models[name]
    ruled = rule(spec, name)
    if ruled is not None:
        rows = f"on {ruled.dataset}" if ruled.folds is None else f"cross-fitted in {ruled.folds} folds"
        return f"{ruled.text}, {rows}"
    return "bayes, from the costs" if by_bayes(spec, model) and threshold(spec, model) is not None else None
