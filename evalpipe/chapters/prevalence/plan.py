"""At which prevalence a measure is taken: that of the sample, the declared one, or one that its entry names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from evalpipe.plan.outcome import levels

if TYPE_CHECKING:
    from evalpipe.metrics import Metric
    from evalpipe.spec.measures import MetricChoice
    from evalpipe.spec.spec import Spec


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
class UnreadShares:
    """The shares of the ``levels`` in a dataset, where they stand in a plan that is made before it is read.

    ``form`` is what they will be: the share of the level with an index, all shares, a list or a text of them.
    """

    dataset: str
    levels: tuple[str, ...]
    form: int | Literal["all", "list", "text"]

    def __str__(self) -> str:
        """Return "that of DATASET"."""
        return f"that of {self.dataset}"

    def known(self, shares: tuple[float, ...]) -> float | tuple[float, ...] | list[float] | str:
        """Return what takes the place of this stand-in, in its form, once the ``shares`` of all levels are known."""
        if isinstance(self.form, int):
            return shares[self.form]
        if self.form == "text":
            return _shares_text(self.levels, shares)
        return list(shares) if self.form == "list" else shares


@dataclass(frozen=True, slots=True)
class PrevalencePlan:
    """The declared prevalence.

    ``shares`` are those of the levels, or their means, of a binary outcome the event first. Where they are uncertain,
    ``parameters`` [levels] are those of their Beta or Dirichlet distribution. Where they come from a ``dataset``, they
    are `UnreadShares` until it is read, and ``rows`` are those that it then has.
    """

    shares: tuple[float, ...]
    source: str | None
    parameters: tuple[float, ...] | None
    dataset: str | None = None
    rows: int | None = None

    @property
    def event(self) -> float:
        """The share of the event of a binary outcome, or its mean."""
        return self.shares[0]


def prevalence_plan(spec: Spec) -> PrevalencePlan | None:
    """Return the plan of the declared prevalence; None where the spec declares none."""
    declared = spec.prevalence
    if declared is None:
        return None
    if declared.from_ is not None:
        source = declared.source or f"the outcomes of {declared.from_}"
        return PrevalencePlan(unread_prevalence(spec, "all"), source, None, declared.from_)
    parameters = declared.beta
    if declared.dirichlet is not None:
        parameters = tuple(declared.dirichlet[level] for level in levels(spec))
    return PrevalencePlan(_shares_of_levels(spec, declared.mean), declared.source, parameters)


def unread_prevalence(spec: Spec, form: int | Literal["all", "list", "text"]) -> Any:
    """Return a stand-in for the declared prevalence until its dataset is read; None where no dataset gives it.

    ``form`` is what will take its place: the share of the level with an index, all shares, a list or a text of them.
    """
    declared = spec.prevalence
    if declared is None or declared.from_ is None:
        return None
    return UnreadShares(declared.from_, () if spec.task == "binary" else tuple(levels(spec)), form)


def prior_plan(spec: Spec, metric: Metric, choice: MetricChoice, asked: Any) -> PriorPlan:
    """Return the prevalence of a measure from the one its entry asks for.

    ``asked`` is "sample", "declared", a number, or a mapping of level to number.
    """
    declared = prevalence_plan(spec)
    uncertain = declared is not None and (declared.parameters is not None or declared.dataset is not None)
    if asked == "sample":
        # An option that the declared prevalence fills is as uncertain as that is.
        from_spec = {option for option, key in metric.from_spec.items() if key == "prevalence"} - set(choice.options)
        return PriorPlan(uncertain=bool(from_spec) and uncertain)
    shares = declared.shares if asked == "declared" and declared is not None else _shares_of_levels(spec, asked)
    unread = unread_prevalence(spec, 0 if spec.task == "binary" else "text") if asked == "declared" else None
    if spec.task != "binary":
        shown = unread or _shares_text(levels(spec), shares)
        return PriorPlan(shares, shares, shown, uncertain and asked == "declared")
    shown = unread or shares[0]
    if metric.within_classes:  # it is the same at any prevalence, so classes need no weights
        return PriorPlan(shares, shown=shown)
    return PriorPlan(shares, shares, shown, uncertain and asked == "declared")


def _shares_text(levels: Sequence[str], shares: Sequence[float]) -> str:
    return ", ".join(f"{level} {share:g}" for level, share in zip(levels, shares, strict=True))


def _shares_of_levels(spec: Spec, prevalence: float | Mapping[str, float]) -> tuple[float, ...]:
    """Return the share of each level, event first if binary, from a prevalence of the event or of each level."""
    if isinstance(prevalence, Mapping):
        return tuple(float(prevalence[level]) for level in levels(spec))
    return float(prevalence), 1 - float(prevalence)


PLANNED = {"prevalence": prevalence_plan}
