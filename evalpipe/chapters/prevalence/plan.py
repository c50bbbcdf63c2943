"""At which prevalence a measure is taken: that of the sample, the declared one, or one that its entry names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalpipe.plan.outcome import levels
from evalpipe.tasks import MANY

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


def prior(spec: Spec, metric: Metric, choice: MetricChoice, asked: Any) -> PriorPlan:
    """Return what ``asked`` comes to: "sample", "declared", a number, or a mapping of level to number."""
    declared = concentration(spec) is not None
    if asked == "sample":
        own = {option for option, key in metric.from_spec.items() if key == "prevalence"} - set(choice.options)
        return PriorPlan(uncertain=bool(own) and declared)
    shares = declared_shares(spec) if asked == "declared" else _shares(spec, asked)
    shown = shares[0] if spec.task == "binary" else _text(spec, shares)
    if metric.within and spec.task == "binary":
        return PriorPlan(shares, shown=shown)
    return PriorPlan(shares, shares, shown, declared and asked == "declared")


def declared_shares(spec: Spec) -> tuple[float, ...]:
    """Return the declared share of each level, or its mean; of a binary outcome the event first."""
    assert spec.prevalence is not None  # noqa: S101 - checked with the spec
    if spec.task == "binary":
        return spec.prevalence.mean, 1 - spec.prevalence.mean
    return tuple(spec.prevalence.of_level(level) for level in levels(spec))


def concentration(spec: Spec) -> tuple[float, ...] | None:
    """Return the parameters of the Beta or Dirichlet distribution of the declared shares; None where they are known."""
    given = spec.prevalence
    if given is None:
        return None
    if given.dirichlet is not None:
        return tuple(given.dirichlet[level] for level in levels(spec))
    return given.beta


def prevalence_plan(spec: Spec) -> PrevalencePlan | None:
    """Return the declared prevalence; None where none is declared."""
    given = spec.prevalence
    if given is None:
        return None
    return PrevalencePlan(declared_shares(spec), given.source, concentration(spec))


def _shares(spec: Spec, asked: Any) -> tuple[float, ...]:
    if isinstance(asked, Mapping):
        return tuple(float(asked[level]) for level in levels(spec))
    return float(asked), 1 - float(asked)


def _text(spec: Spec, shares: tuple[float, ...]) -> str:
    """Write shares of levels as one text: ``a 0.2, b 0.8``."""
    assert spec.task in MANY  # noqa: S101 - of two levels the share of the event says all
    return ", ".join(f"{level} {share:g}" for level, share in zip(levels(spec), shares, strict=True))
