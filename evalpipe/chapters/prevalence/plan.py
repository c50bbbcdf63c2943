"""The declared prevalence and its rules; at which prevalence a measure is taken: that, the sample's, or its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from evalpipe.plan.datasets import levels
from evalpipe.spec.draft import missing_in_part, refer
from evalpipe.spec.rules_measures import check_sum_of_levels
from evalpipe.tasks import CLASSES, MANY
from evalpipe.words.spelling import choose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.origin import Loc
    from evalpipe.errors import Problem
    from evalpipe.metrics import Metric
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.measures import MetricChoice
    from evalpipe.spec.spec import Spec


HERE: Loc = ("prevalence",)
BINARY_FORMS, FORMS_OF_MANY = ("value", "beta", "from"), ("levels", "dirichlet", "from")
"""The forms of a declared prevalence, of which one is needed."""

OF_DATASET = "give a dataset 'role: reference', such as the training data"
"""The way out where no dataset may give the prevalence."""


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of the declared prevalence: of its form, its sum and the dataset that gives it."""
    task, declared, problem = draft.spec.task, draft.spec.prevalence, draft.tree.problem
    if task not in CLASSES or declared is None or not draft.readable(*HERE):
        return
    if task in MANY and declared.value is not None and draft.tree.get(*HERE, "value") is None:  # a number alone
        message = f"expected a mapping with 'levels' or 'dirichlet', got {draft.tree.spell(*HERE)}"
        yield problem("wrong-type", message, *HERE, hint="give the prior probability of each level")
        return
    forms = FORMS_OF_MANY if task in MANY else BINARY_FORMS
    fields = {form: "from_" if form == "from" else form for form in (*BINARY_FORMS, *FORMS_OF_MANY)}
    declared_forms = [form for form in forms if getattr(declared, fields[form]) is not None]
    if all(getattr(declared, field) is None for field in fields.values()):
        yield from missing_in_part(draft, "Prevalence", "prevalence", forms[0])
    if len(declared_forms) > 1:
        message = f"the prevalence is declared twice, by '{declared_forms[0]}' and by '{declared_forms[1]}'"
        yield problem("two-priors", message, *HERE, declared_forms[1], key=True, hint="remove one of the two")
    if task == "binary" and declared.beta is not None and draft.readable(*HERE, "beta") and len(declared.beta) != 2:
        message = f"a Beta distribution has two parameters, but {len(declared.beta)} are given"
        hint = "write [a, b], as if after a events and b others"
        yield problem("wrong-type", message, *HERE, "beta", hint=hint)
    if task in MANY and declared.levels is not None and draft.readable(*HERE, "levels"):
        yield from check_sum_of_levels(draft, (*HERE, "levels"), declared.levels)
    if declared.from_ is not None and draft.readable(*HERE, "from") and draft.readable("datasets"):
        yield from _check_dataset(draft, declared.from_)


def _check_dataset(draft: Draft, name: str) -> Iterator[Problem]:
    """Check the dataset that gives the prevalence: that it exists, and is not the only one that is evaluated."""
    loc, evaluated = (*HERE, "from"), draft.role("evaluate")
    possible = [other for other in draft.spec.datasets if evaluated != [other]]
    if name not in draft.spec.datasets:
        message = f"no dataset is called {draft.tree.show(*loc)}"
        yield from refer(draft, loc, possible, "unknown-dataset", message, choose(possible, OF_DATASET))
    elif evaluated == [name]:
        message = (f"{draft.tree.show(*loc)} is the only dataset that is evaluated: at the prevalence of its own rows "
                   "measures are what they are without one")
        hint = f"{choose(possible, OF_DATASET)}, or take measures at 'prevalence: sample'"
        yield draft.tree.problem("prevalence-of-itself", message, *loc, hint=hint)


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
        """Return the text for shares that are not yet read: "that of" and the name of the dataset."""
        return f"that of {self.dataset}"

    def known(self, shares: tuple[float, ...]) -> float | tuple[float, ...] | list[float] | str:
        """Return the ``shares`` in the form that this stand-in calls for: a number, a tuple, a list or a text."""
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
    """Return the prevalence at which a measure is computed, from the one that its entry in the spec asks for.

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
    """Return the share of each level as text, such as "low 0.2, high 0.8"."""
    return ", ".join(f"{level} {share:g}" for level, share in zip(levels, shares, strict=True))


def _shares_of_levels(spec: Spec, prevalence: float | Mapping[str, float]) -> tuple[float, ...]:
    """Return the share of each level, event first if binary, from a prevalence of the event or of each level."""
    if isinstance(prevalence, Mapping):
        return tuple(float(prevalence[level]) for level in levels(spec))
    return float(prevalence), 1 - float(prevalence)


PLANNED = {"prevalence": prevalence_plan}
