"""The rules of labels, the columns that they need, and what the plan says of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evalpipe.spec.core_keys import gives
from evalpipe.words.spelling import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.origin import Loc, Origin
    from evalpipe.chapters.labels.spec import Judge, LabelMethod, Labels
    from evalpipe.errors import Problem
    from evalpipe.plan.plan import Plan
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.spec import Spec

HERE: Loc = ("labels",)


@dataclass(frozen=True, slots=True)
class JudgePlan:
    """A judge: its ``name``, which is its column or its model, what that is, and its place in the spec."""

    name: str
    kind: Literal["column", "probability", "model"]
    loc: Loc


@dataclass(frozen=True, slots=True)
class ArrivalPlan:
    """When outcomes become known: the ``column`` of that day, and the column ``since`` with the row's day.

    A row is settled ``within`` so many days; outcomes count that were known by the day ``known_by``.
    """

    column: str
    since: str
    within: int
    known_by: str


@dataclass(frozen=True, slots=True)
class LabelsPlan:
    """What is known of the outcome: the method, the judges, and how rows were chosen for their outcome.

    ``chance`` is the column of the probability of being chosen, ``strata`` those of strata; neither, of a random part.
    ``arrive`` says when outcomes become known, None where all that are in the data count.
    """

    method: LabelMethod
    judges: tuple[JudgePlan, ...]
    chance: str | None
    strata: tuple[str, ...]
    arrive: ArrivalPlan | None = None

    @property
    def selected(self) -> Literal["random", "probability", "strata"]:
        """How rows were chosen for their outcome."""
        return "strata" if self.strata else "random" if self.chance is None else "probability"


def labels_plan(spec: Spec) -> LabelsPlan | None:
    """Return what is known of the outcome; None where every row has one."""
    labels = spec.labels
    if labels is None:
        return None
    kinds: tuple[Literal["column", "probability", "model"], ...] = ("column", "probability", "model")
    judges = tuple(JudgePlan(getattr(judge, kind), kind, (*judge_loc(spec.origin, index), kind))
                   for index, judge in enumerate(labels.judge or ()) for kind in kinds
                   if getattr(judge, kind) is not None)
    arrive = None if labels.arrive is None else ArrivalPlan(
        labels.arrive.column, labels.arrive.since, int(labels.arrive.within.rstrip("d")),
        labels.arrive.known_by or spec.as_of or "")
    return LabelsPlan(labels.used_method, judges, labels.chance, labels.strata, arrive)


PARTS = (labels_plan,)


def is_prediction_powered(plan: Plan) -> bool:
    """Tell whether labels of judges stand beside outcomes."""
    labels = plan.part(labels_plan)
    return labels is not None and labels.method == "prediction_powered"


def counts_settled_alone(plan: Plan) -> bool:
    """Tell whether gates `on: sequence` leave judges out: their level would rest on rows that are not settled."""
    labels = plan.part(labels_plan)
    return labels is not None and labels.arrive is not None and labels.method == "prediction_powered"


def columns(spec: Spec) -> Iterator[tuple[Loc, str]]:
    """Yield the columns of judges and of the selection, after their places in the spec."""
    labels = labels_plan(spec)
    if labels is None:
        return
    yield from ((judge.loc, judge.name) for judge in labels.judges if judge.kind != "model")
    if labels.chance is not None:
        yield (*HERE, "selected", "probability"), labels.chance
    for column in labels.strata:
        yield (*HERE, "selected", "strata"), column
    if labels.arrive is not None:
        yield (*HERE, "arrive", "column"), labels.arrive.column
        yield (*HERE, "arrive", "since"), labels.arrive.since


def judge_loc(origin: Origin, index: int) -> Loc:
    """Return the place of a judge, by its number: a single one may stand without a list."""
    loc: Loc = (*HERE, "judge", index)
    return loc if loc in origin.values else loc[:-1]


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of labels: of judges, of the method, and of keys that need an outcome in every row."""
    labels = draft.spec.labels
    if labels is None or not draft.readable(*HERE):
        return
    for index, judge in enumerate(labels.judge or ()):
        yield from _judge(draft, judge_loc(draft.tree.origin, index), judge)
    yield from _selection(draft, labels)
    yield from _method(draft, labels)
    if labels.arrive is not None and draft.readable(*HERE, "arrive"):
        yield from _arrival(draft, labels)
    if labels.used_method == "prediction_powered":
        yield from _refused(draft)


def _judge(draft: Draft, loc: Loc, judge: Judge) -> Iterator[Problem]:
    """Report a judge without labels, and a model that cannot judge."""
    if not draft.readable(*loc):
        return
    name = judge.column or judge.probability or judge.model
    if not name:
        if draft.tree.get(*loc):  # whose keys are unknown
            return
        yield draft.tree.problem("missing-key", "this judge has no labels", *loc,
                                 hint="name a column of classes under 'column', one of probabilities under "
                                      "'probability', or a model of the spec under 'model'")
    elif draft.spec.outcome.column in {judge.column, judge.probability}:
        message = f"the judge's column '{name}' is the outcome's column"
        yield draft.tree.problem("same-column", message, *loc, hint="name the column with the judge's labels")
    elif judge.model in draft.models:
        if "probabilities" not in gives(draft.models[judge.model]):
            message = f"the model '{judge.model}' gives no probabilities, by which it could judge"
            yield draft.tree.problem("no-probabilities", message, *loc, "model",
                                     hint="name a model with 'probability', or a column")
        if any(dataset.role == "evaluate" and dataset.trained_on for dataset in draft.spec.datasets.values()):
            message = f"the model '{judge.model}' cannot judge rows that it was fitted to"
            yield draft.tree.problem("judge-trained", message, *loc, "model",
                                     hint="its labels of these are too good; name a judge that has not seen outcomes")


def _selection(draft: Draft, labels: Labels) -> Iterator[Problem]:
    """Report a selection that says nothing."""
    if labels.reweights and draft.readable(*HERE, "selected") and not (labels.chance or labels.strata):
        yield draft.tree.problem("missing-key", "'selected' does not say how rows were chosen for their outcome",
                                 *HERE, "selected", hint="write random, {probability: COLUMN} or {strata: [COLUMN]}")


def _arrival(draft: Draft, labels: Labels) -> Iterator[Problem]:
    """Report late outcomes without a day of the card, with a day before it, and columns that cannot be the days."""
    loc: Loc = (*HERE, "arrive")
    arrive, day = labels.arrive, draft.spec.as_of
    assert arrive is not None  # noqa: S101 - known to the caller
    if day is None and draft.readable("as_of"):
        message = "'arrive' needs the day that the card is about, and none is given"
        yield draft.tree.problem("no-day", message, *loc, key=True,
                                 hint="write 'as_of: 2026-11-21', or give --as-of 2026-11-21")
    elif day is not None and arrive.known_by is not None and arrive.known_by < day:
        message = f"outcomes are to be known by {arrive.known_by}, before the day of the card, {day}"
        yield draft.tree.problem("wrong-period", message, *loc, "known_by", hint="write a later day, or remove it")
    for key, other, called in (("column", draft.spec.outcome.column, "the outcome"),
                               ("since", draft.spec.outcome.column, "the outcome"),
                               ("since", arrive.column, "the day on which it became known")):
        if getattr(arrive, key) == other:
            message = f"'{key}' is the column '{other}', which is that of {called}"
            yield draft.tree.problem("same-column", message, *loc, key, hint="name the column with the days")
    for gate_loc, gate in draft.entries(draft.spec.gates, "gates"):
        if labels.used_method == "prediction_powered" and gate.on == "sequence" and gate.against == "baseline":
            message = "with late outcomes and judges, gates 'on: sequence' are on values, not on changes"
            yield draft.tree.problem(
                "not-with-judges", message, *gate_loc, "on", key=True,
                hint="write 'on: interval', a limit on the value, or 'labels: {…, method: known_only}' without a judge")


def _method(draft: Draft, labels: Labels) -> Iterator[Problem]:
    """Report a method that lacks what it needs, and keys that it makes no use of."""
    if not (draft.readable(*HERE, "method") and draft.readable(*HERE, "judge")):
        return
    loc: Loc = (*HERE, "method") if labels.method is not None else HERE
    if labels.used_method == "prediction_powered" and not labels.judge:
        yield draft.tree.problem("missing-key", "'prediction_powered' needs a judge", *loc,
                                 hint="add 'judge' with a column of classes, one of probabilities, or a model")
    if labels.used_method != "prediction_powered" and labels.judge:
        message = f"'judge' has no effect: the method is {labels.used_method}"
        yield draft.tree.idle("unused-key", message, *HERE, "judge", key=True,
                              hint="remove it, or write 'method: prediction_powered'")
    if labels.used_method == "weighted" and labels.selected == "random":
        message = "'weighted' has no weights: rows with an outcome are a random part, 'selected: random'"
        yield draft.tree.problem("no-weights", message, *loc, hint="write 'method: known_only', or name the "
                                 "probability or the strata under 'selected'")
    if labels.used_method == "known_only" and labels.selected != "random":
        message = "'known_only' takes rows with an outcome as a random part, and 'selected' says that they are none"
        yield draft.tree.problem("selection-ignored", message, *loc, hint="write 'method: weighted'")


REFUSED: tuple[tuple[str, str], ...] = (
    ("recalibrate", "recalibration"), ("folds", "the spread over folds"), ("worst_slices", "the worst slices"),
    ("prevalence", "a declared prevalence"), ("equivocal", "an equivocal zone"), ("weight", "case weights"),
    ("steps", "training steps"),
)
"""Keys of the spec that labels of judges do not go with, and what messages call them."""


def _refused(draft: Draft) -> Iterator[Problem]:
    """Report keys that labels of judges do not go with."""
    spec = draft.spec
    for key, called in REFUSED:
        if getattr(spec, key, None) is not None:
            message = f"labels of judges do not go with {called}"
            yield draft.tree.problem("not-with-judges", message, key, key=True,
                                     hint="remove it, or write 'labels: {selected: …, method: known_only}'")
    if spec.intervals.method == "none":
        yield draft.tree.problem(
            "not-with-judges", "the shares of judges are chosen by replicates, and 'method: none' draws none",
            "intervals", "method", hint="remove it")
    if spec.intervals.stratify:
        yield draft.tree.problem(
            "not-with-judges", "labels of judges do not go with 'stratify': rows with an outcome are drawn apart",
            "intervals", "stratify", key=True, hint="remove it")
    for loc, model in draft.entries(spec.models, "models"):
        for key in ("equivocal", "optimism", "step", "fitted"):
            if getattr(model, key, None) is not None:
                message = f"labels of judges do not go with '{key}' of a model"
                yield draft.tree.problem("not-with-judges", message, *loc, key, key=True, hint="remove it")


def lines(plan: Plan) -> Iterator[str]:
    """Yield what `evalpipe plan` says of labels."""
    labels = plan.part(labels_plan)
    if labels is not None:
        yield f"labels: {words_of_method(labels)}"


def words_of_method(labels: LabelsPlan) -> str:
    """Return in words what is made of rows with an outcome and of judges."""
    chosen = {
        "random": "a random part of all rows",
        "strata": f"a random part of each stratum by {listed(labels.strata, 'and')}",
        "probability": f"chosen with the probability in column {labels.chance}"}[labels.selected]
    judges = listed([judge.name for judge in labels.judges], "and")
    method = {
        "known_only": "rows with an outcome alone",
        "weighted": "rows with an outcome, weighted by 1 / the probability of being chosen",
        "prediction_powered": f"rows with an outcome, and the labels of {judges} for all rows, corrected by them",
    }[labels.method]
    arrive = labels.arrive
    late = "" if arrive is None else (
        f"; outcomes known by {arrive.known_by} count, of rows that were settled by then, {arrive.within} days after "
        f"{arrive.since}; other rows "
        f"{'count by judges alone' if labels.method == 'prediction_powered' else 'are left out'}")
    return f"{method}; rows with an outcome are {chosen}{late}"
