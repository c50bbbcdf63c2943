"""At which prevalence a measure is taken: that of the sample, the declared one, or one that its entry names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalpipe.plan.outcome import levels

if TYPE_CHECKING:
    from evalpipe.metrics import Metric
    from evalpipe.spec.choices import MetricChoice
    from evalpipe.spec.models import Spec


@dataclass(frozen=True, slots=True)
class PriorPlan:
    """The prevalence of a measure.

    ``asked`` are the shares of the levels, of a binary outcome event first; None for those of the sample. ``shares``
    are those to which classes are weighed: none where the measure is the same at any. ``shown`` is how the prevalence
    is printed, a number or a text; None where it goes without saying. ``uncertain`` says that every replicate draws its
    own, of which ``shares`` are the mean.
    """

    asked: tuple[float, ...] | None = None
    shares: tuple[float, ...] | None = None
    shown: float | str | None = None
    uncertain: bool = False


SAMPLE = PriorPlan()


@dataclass(frozen=True, slots=True)
class PrevalencePlan:
    """The declared prevalence.

    ``shares`` are those of the levels, or their means, of a binary outcome the event first. Where they are uncertain,
    ``parameters`` [levels] are those of their Beta or Dirichlet distribution.
    """

    shares: tuple[float, ...]
    source: str | None
    parameters: tuple[float, ...] | None

    @property
    def event(self) -> float:
        """The share of the event of a binary outcome, or its mean."""
        return self.shares[0]


def prevalence_plan(spec: Spec) -> PrevalencePlan | None:
    """Return the declared prevalence; None where none is declared."""
    declared = spec.prevalence
    if declared is None:
        return None
    parameters = declared.beta
    if declared.dirichlet is not None:
        parameters = tuple(declared.dirichlet[level] for level in levels(spec))
    return PrevalencePlan(_shares(spec, declared.mean), declared.source, parameters)


def prior(spec: Spec, metric: Metric, choice: MetricChoice, asked: Any) -> PriorPlan:
    """Return what ``asked`` comes to: "sample", "declared", a number, or a mapping of level to number."""
    declared = prevalence_plan(spec)
    uncertain = declared is not None and declared.parameters is not None
    if asked == "sample":
        own = {option for option, key in metric.from_spec.items() if key == "prevalence"} - set(choice.options)
        return PriorPlan(uncertain=bool(own) and uncertain)
    shares = declared.shares if asked == "declared" and declared is not None else _shares(spec, asked)
    if spec.task != "binary":
        shown = ", ".join(f"{level} {share:g}" for level, share in zip(levels(spec), shares, strict=True))
        return PriorPlan(shares, shares, shown, uncertain and asked == "declared")
    if metric.within:
        return PriorPlan(shares, shown=shares[0])
    return PriorPlan(shares, shares, shares[0], uncertain and asked == "declared")


def _shares(spec: Spec, prevalence: float | Mapping[str, float]) -> tuple[float, ...]:
    """Return the share of each level, of a binary outcome the event first, at a prevalence of the event or of each."""
    if isinstance(prevalence, Mapping):
        return tuple(float(prevalence[level]) for level in levels(spec))
    return float(prevalence), 1 - float(prevalence)
