"""At which prevalence a measure is taken: that of the sample, the declared one, or one that its entry names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evalpipe.plan.columns import levels
from evalpipe.tasks import MANY

if TYPE_CHECKING:
    from evalpipe.metrics import Metric
    from evalpipe.spec.choices import MetricChoice
    from evalpipe.spec.models import Spec
    from evalpipe.spec.recalibration import MethodChoice


@dataclass(frozen=True, slots=True)
class Prior:
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


SAMPLE = Prior()


def prior(spec: Spec, metric: Metric, choice: MetricChoice, asked: Any) -> Prior:
    """Return what ``asked`` comes to: "sample", "declared", a number, or a mapping of level to number."""
    declared = concentration(spec) is not None
    if asked == "sample":
        own = {option for option, key in metric.from_spec.items() if key == "prevalence"} - set(choice.options)
        return Prior(uncertain=bool(own) and declared)
    shares = declared_shares(spec) if asked == "declared" else _shares(spec, asked)
    shown = shares[0] if spec.task == "binary" else _text(spec, shares)
    if metric.within and spec.task == "binary":
        return Prior(shares, shown=shown)
    return Prior(shares, shares, shown, declared and asked == "declared")


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


def shifted(spec: Spec, methods: tuple[MethodChoice, ...]) -> tuple[MethodChoice, ...]:
    """Give the declared prevalence, or its mean, to recalibrators that shift to one and name none."""
    def filled(choice: MethodChoice) -> MethodChoice:
        if not choice.shifts or choice.options.get("to") is not None:
            return choice
        shares = declared_shares(spec)
        return replace(choice, options={**choice.options, "to": shares[0] if spec.task == "binary" else list(shares)})

    return tuple(filled(choice) for choice in methods)


def _shares(spec: Spec, asked: Any) -> tuple[float, ...]:
    if isinstance(asked, Mapping):
        return tuple(float(asked[level]) for level in levels(spec))
    return float(asked), 1 - float(asked)


def _text(spec: Spec, shares: tuple[float, ...]) -> str:
    """Write shares of levels as one text: ``a 0.2, b 0.8``."""
    assert spec.task in MANY  # noqa: S101 - of two levels the share of the event says all
    return ", ".join(f"{level} {share:g}" for level, share in zip(levels(spec), shares, strict=True))
