"""Gates: the checks of their measures, limits and nights, and what they come to before data are seen.

A gate `on: sequence` needs nights that can be told apart and kept, and a measure that has evidence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from evalpipe.base.levels import level_text, meant_level
from evalpipe.chapters.checks.plan import NO_CHECK
from evalpipe.chapters.checks.spec import CODES, OF_GATES
from evalpipe.chapters.gates.spec import (
    AVERAGED,
    BOUNDED,
    CHANGES,
    F_MEASURES,
    KEYS,
    LARGE_NIGHTS,
    LIMITS,
    OF_CHECK,
    AgainstEarlier,
    SequenceRule,
)
from evalpipe.plan.measures import entries
from evalpipe.spec.draft import refer
from evalpipe.spec.messages import unknown_key
from evalpipe.spec.rules_measures import check_measure, in_range, misspelt_keys, single_prevalence
from evalpipe.tasks import CLASSES, MANY
from evalpipe.words.spelling import choose, closest, counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from evalpipe.base.origin import Loc
    from evalpipe.base.records import Subject
    from evalpipe.chapters.gates.spec import GateRule
    from evalpipe.errors import Problem
    from evalpipe.metrics import Metric
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.measures import Entry, MetricChoice
    from evalpipe.spec.spec import Spec


OPPOSED = (("min_increase", "min_decrease"), ("min_increase", "max_decrease"), ("min_decrease", "max_increase"))
"""Limits of a change of which one asks for a rise, and the other is about a fall, or the reverse."""


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of each gate: of what it judges, its limits, reference and scope, and of a repeated one."""
    yield from _nights(draft)
    for loc, gate in draft.entries(draft.spec.gates, "gates"):
        if gate.check is not None:
            yield from _required_check(draft, loc, gate.check)
        else:
            yield from chain(_subject(draft, loc, gate), _limits(draft, loc, gate), _against(draft, loc, gate),
                             _scope(draft, loc, gate))
        if gate.check is None and gate.on == "sequence":
            yield from chain(_check_what_is_judged(draft, loc, gate), _check_evidence(draft, loc, gate))
        gates, index = draft.tree.get("gates"), int(loc[1])
        if gates[index] in gates[:index]:
            notes = draft.tree.noted("first declared at", "gates", gates.index(gates[index]))
            yield draft.tree.problem("duplicate-gate", "this gate is declared twice", *loc, hint="remove one",
                                     notes=notes)


def _required_check(draft: Draft, loc: Loc, code: str) -> Iterator[Problem]:
    """Report a check that is not there, depends on gates or is silenced, and keys of a gate on a number beside it."""
    check_loc: Loc = (*loc, "check")
    message = f"no check is called {draft.tree.show(*check_loc)}"
    yield from refer(draft, check_loc, CODES, "unknown-check", message, NO_CHECK)
    if code in OF_GATES:
        message = f"the check '{code}' depends on the gates, so that no gate can require it"
        yield draft.tree.problem("check-of-gates", message, *check_loc, hint="remove the gate")
    if draft.spec.checks is not None and code in draft.spec.checks.silence:
        message = f"the check '{code}' is silenced, so that no gate can require it"
        notes = draft.tree.noted("silenced at", "checks", "silence", code)
        yield draft.tree.problem("silenced-check", message, *check_loc, hint="remove one of the two", notes=notes)
    for key in draft.tree.get(*loc):
        if key in KEYS.difference(OF_CHECK):
            message = f"'{key}' has no effect: the gate requires a check, and is on no number"
            hint = "remove it, or make it a gate of its own"
            yield draft.tree.problem("unused-key", message, *loc, key, key=True, hint=hint)


def _subject(draft: Draft, loc: Loc, gate: GateRule) -> Iterator[Problem]:
    """Check what is judged: one measure of one average, or desirability."""
    if gate.metric is None and gate.desirability is None:
        hint = "add 'metric: …', 'desirability: overall' or 'check: …'"
        yield draft.tree.problem("gate-subject", "this gate says nothing of what it judges", *loc, hint=hint)
    elif gate.metric is None:
        yield from _desirability_subject(draft, loc, gate)
    elif gate.desirability is None:
        yield from _measure(draft, loc, gate, gate.metric)


def _desirability_subject(draft: Draft, loc: Loc, gate: GateRule) -> Iterator[Problem]:
    """Report a goal that is not declared, keys without effect, and a baseline, in a gate on desirability."""
    goal_loc: Loc = (*loc, "desirability")
    if goals := draft.spec.names_of_goals:
        goal_names = ["overall", *goals]
        message = f"no goal is called {draft.tree.show(*goal_loc)}"
        yield from refer(draft, goal_loc, goal_names, "no-goals", message, f"choose one of {listed(goal_names)}")
    for key, value in (("class", gate.class_), ("slice", gate.slice), ("slices", gate.slices)):
        if value is not None:
            message = f"'{key}' has no effect: desirability is of all rows of a dataset"
            yield draft.tree.problem("unused-key", message, *loc, key, key=True, hint="remove it")
    if gate.against == "baseline":
        message = "desirability has no difference from the baseline"
        hint = "set a limit with 'min', or write 'against: last'"
        yield draft.tree.problem("nothing-to-compare", message, *loc, "against", hint=hint)


def _measure(draft: Draft, loc: Loc, gate: GateRule, choice: MetricChoice) -> Iterator[Problem]:
    """Check the measure of a gate; its options stand beside its name, or within a mapping of their own."""
    metric_loc: Loc = loc if draft.tree.get(*loc, "metric", "metric") is None else (*loc, "metric")
    entry, faults = check_measure(draft, metric_loc, choice)
    key_like = [key for key in choice.options if metric_loc == loc and closest(key, sorted(KEYS))]
    # A misspelt key of the gate looks like an unknown option of its measure: it is told of as a key, and once.
    places = {draft.tree.origin.place(*loc, key, key=True): key for key in key_like}
    reported_messages = {fault.message for fault in faults}
    misspelt = misspelt_keys(draft, loc, choice, sorted(KEYS)) if key_like else ()
    yield from (problem for problem in misspelt if problem.message not in reported_messages)
    for fault in faults:
        key = places.get(fault.place) if fault.code == "unknown-key" else None
        yield fault if key is None else unknown_key(draft.tree, sorted(KEYS), (*loc, key), fault.notes)
    if entry is not None:
        yield from _one_value(draft, loc, gate, entry)
        yield from single_prevalence(draft, entry, "a gate judges one value")
        yield from in_range(draft, loc, entry, {"min": gate.min, "max": gate.max})


def _one_value(draft: Draft, loc: Loc, gate: GateRule, entry: Entry) -> Iterator[Problem]:
    """Check that a gate has one value to judge, or one for its class."""
    levels = [level_text(level) for _, level in draft.entries(draft.spec.outcome.levels, "outcome", "levels")]
    if len(entry.choice.averages) > 1:
        yield draft.tree.problem("many-averages", "a gate judges one average over the classes", *entry.loc, "average",
                                 hint="make a gate for each")
    elif gate.class_ is not None and entry.choice.averages != ("none",):
        message = "'class' has no effect: the measure is not given for each class"
        averaged = entry.metric.sees == "event" and draft.spec.task in MANY
        hint = "add 'average: none', or remove it" if averaged else "remove it"
        yield draft.tree.problem("unused-key", message, *loc, "class", key=True, hint=hint)
    elif levels:
        class_loc = (*loc, "class")
        message = f"{draft.tree.show(*class_loc)} is not one of the declared levels"
        hint = f"the levels are {listed(levels, 'and')}"
        yield from refer(draft, class_loc, levels, "unknown-level", message, hint, meant=meant_level)


def _limits(draft: Draft, loc: Loc, gate: GateRule) -> Iterator[Problem]:
    """Check that a gate has a limit, of the kind that fits, and that some number can keep it."""
    declared = [key for key in LIMITS if getattr(gate, key) is not None]
    judges_change = gate.against is not None
    fitting = CHANGES if judges_change else LIMITS[:2]
    if not declared and not draft.misspelt(loc, LIMITS, KEYS):
        hint = f"add one of {listed(fitting)}" if judges_change else "add 'min: …', 'max: …' or both"
        yield draft.tree.problem("gate-limit", "this gate has no limit", *loc, hint=hint)
    misfits = [key for key in declared if key not in fitting]
    limited = (
        "a value, but this gate judges a change" if judges_change else "a change, but this gate is against nothing")
    for key in misfits:
        hint = "make it a gate of its own" if judges_change else (
            "say what the change is from: 'against: baseline', 'against: last' or 'against: {results: …}'")
        yield draft.tree.problem("gate-limit", f"'{key}' limits {limited}", *loc, key, key=True, hint=hint)
    if not misfits:
        yield from _contradicting_limits(draft, loc, gate.limit)


def _contradicting_limits(draft: Draft, loc: Loc, limit: dict[str, float]) -> Iterator[Problem]:
    """Report pairs of limits that no number can keep, or that are about both a rise and a fall."""
    for least, most in (("min", "max"), ("min_increase", "max_increase"), ("min_decrease", "max_decrease")):
        if limit.get(least, -float("inf")) > limit.get(most, float("inf")):
            shown = [draft.tree.show(*loc, key) for key in (least, most)]
            message = f"no number is at least {shown[0]} and at most {shown[1]}"
            yield draft.tree.problem("gate-limit", message, *loc, most, key=True, hint="change one of the two")
    for first, second in OPPOSED:
        if first in limit and second in limit:
            message = f"'{first}' and '{second}' do not go together: a change cannot be a rise and a fall"
            yield draft.tree.problem("gate-limit", message, *loc, second, key=True, hint="remove one of the two")


def _against(draft: Draft, loc: Loc, gate: GateRule) -> Iterator[Problem]:
    """Check that a gate `against` something has it to compare with, and that its `optional` has an effect."""
    message = None
    if gate.optional and gate.against != "last" and not isinstance(gate.against, AgainstEarlier):
        message = "'optional' has no effect: the gate is not against an earlier run"
    elif "optional" in gate.model_fields_set and not gate.optional and gate.against == "last":
        message = "a first run has nothing to be compared with, so a gate against 'last' is always optional"
    if message is not None:
        yield draft.tree.problem("unused-key", message, *loc, "optional", key=True, hint="remove it")
    if gate.against == "baseline":
        yield from _against_baseline(draft, loc, gate)


def _against_baseline(draft: Draft, loc: Loc, gate: GateRule) -> Iterator[Problem]:
    """Report a gate against a baseline that is not declared or is its own model, and one on a recalibrated variant."""
    baseline = None if draft.spec.compare is None else draft.spec.compare.baseline
    if baseline is None:
        hint = "add 'compare: {baseline: …}' to the spec"
        yield draft.tree.problem("nothing-to-compare", "no baseline is declared", *loc, "against", hint=hint)
    elif baseline and gate.model == baseline:
        message = f"{draft.tree.show(*loc, 'model')} is the baseline itself"
        yield draft.tree.problem("nothing-to-compare", message, *loc, "model", hint="name another model, or none")
    if gate.variant != "original":
        message = "recalibrated variants are compared with their originals, not with the baseline"
        yield draft.tree.problem("nothing-to-compare", message, *loc, "variant", hint="remove it")


def _scope(draft: Draft, loc: Loc, gate: GateRule) -> Iterator[Problem]:
    """Check the variant and the slices of a gate, as far as the spec alone tells."""
    recalibrate = draft.spec.recalibrate
    if gate.variant != "original" and recalibrate is not None:
        variant_loc, variants = (*loc, "variant"), ["original", *(choice.name for choice in recalibrate.methods), "all"]
        message = f"no variant is called {draft.tree.show(*variant_loc)}"
        if all(variants):  # else a variant has a name that cannot be read
            yield from refer(draft, variant_loc, variants, "unknown-variant", message, choose(variants, None))
    if draft.spec.slices is None or not draft.readable("slices"):
        return
    if gate.slice is not None and gate.slices is not None:
        return
    if isinstance(gate.slices, str):
        names = ["all", *(key[0] for key in _slice_columns(draft) if len(key) == 1)]
        message = f"no entry of 'slices' is by {draft.tree.show(*loc, 'slices')} alone"
        yield from refer(draft, (*loc, "slices"), names, "unknown-slice", message, choose(names, None))
    elif gate.slices is not None:
        yield from _uncombined_columns(draft, (*loc, "slices"), gate.slices)
    elif gate.slice is not None:
        yield from _uncombined_columns(draft, (*loc, "slice"), tuple(gate.slice))


def _uncombined_columns(draft: Draft, loc: Loc, columns: tuple[str, ...]) -> Iterator[Problem]:
    """Report columns of a gate that no entry of the spec's `slices` combines."""
    combinations = _slice_columns(draft)
    if columns and all(columns) and set(columns) not in map(set, combinations):
        hint = f"the slices are by {listed([' × '.join(key) for key in combinations], 'and')}" if combinations else None
        message = f"no entry of 'slices' is by {listed(columns, 'and')}{' alone' if len(columns) == 1 else ''}"
        yield draft.tree.problem("unknown-slice", message, *loc, hint=hint)


def _slice_columns(draft: Draft) -> list[tuple[str, ...]]:
    """Return the readable columns of each entry of the spec's slices, or the name of its condition."""
    slicings = draft.spec.slices or ()
    entries = [slicing.columns or (slicing.title,) for slicing in slicings]
    return [readable for names in entries if (readable := tuple(name for name in names if name))]


INFLATED = (
    "noise makes it larger than it is on every night, and many nights add that up",
    "judge the 'brier' score or the 'log_loss', which grow with it, or write 'on: interval'")

REFUSED: dict[str | None, tuple[str, str]] = {
    **dict.fromkeys(("gaps", "squared_gaps", "distance", "squared_distance", "searched", "searched_square"), INFLATED),
    "scatter": ("noise makes it smaller than it is on every night, and many nights add that up", INFLATED[1]),
    "extreme": ("it is one row of each night, so it has no error", "write 'on: value'"),
    "test": ("it is a test of one night, so it has no limit of its own", "write 'on: value'"),
}
"""Why measures of which intervals know the noise have no evidence of many nights, and the way out."""

OF_NUMBERS = (
    "its outcome is a number, so a few rows may make up most of what it says, and no evidence keeps its level",
    "write 'on: interval'")
"""The same of measures of numbers and counts: Bahadur & Savage (1956), The nonexistence of certain statistical
procedures in nonparametric problems."""

UNPROVEN = (
    "no evidence of it is known to keep the level over many nights",
    "docs/sequence.md lists the measures; or write 'on: interval'")
"""The same of all others."""


def _nights(draft: Draft) -> Iterator[Problem]:
    """Report gates `on: sequence` in a run without a day or a ledger, and `sequence` settings without such a gate."""
    first = next((loc for loc, gate in draft.entries(draft.spec.gates, "gates") if gate.on == "sequence"), None)
    if first is None:
        if draft.spec.sequence is not None and draft.readable("gates"):
            message, hint = "'sequence' has no effect: no gate is 'on: sequence'", "remove it, or add 'on: sequence'"
            yield draft.tree.problem("unused-key", message, "sequence", key=True, hint=hint)
        return
    if draft.readable("as_of") and draft.spec.as_of is None:
        message = "'on: sequence' adds up nights, and this run is of no day"
        hint = "add 'as_of: 2026-11-21', or run with --as-of DATE"
        yield draft.tree.problem("sequence", message, *first, "on", hint=hint)
    if draft.readable("ledger") and draft.spec.ledger is False:
        message = "'on: sequence' adds up the nights in the ledger, and 'ledger: false' keeps none"
        hint = "remove 'ledger: false', or write 'on: interval'"
        yield draft.tree.problem("sequence", message, *first, "on", hint=hint)


def _check_what_is_judged(draft: Draft, loc: Loc, gate: GateRule) -> Iterator[Problem]:
    """Refuse a gate `on: sequence` on desirability or on a change from an earlier run."""
    if gate.desirability is not None:
        message = "'on: sequence' judges no desirability, whose interval is no measure of its error"
        yield draft.tree.problem("sequence", message, *loc, "on", hint="make a gate for each of its measures")
    if gate.against == "last" or isinstance(gate.against, AgainstEarlier):
        message = "'on: sequence' judges no change from an earlier run, which is as uncertain, and the same every night"
        hint = "set the limit as a number with 'min' or 'max', or write 'on: interval'"
        yield draft.tree.problem("sequence", message, *loc, "on", hint=hint)


def _check_evidence(draft: Draft, loc: Loc, gate: GateRule) -> Iterator[Problem]:
    """Check that nights give evidence on the measure of a gate, and that it has an interval if that is needed."""
    if gate.metric is None:
        return
    metric_loc = loc if draft.tree.get(*loc, "metric", "metric") is None else (*loc, "metric")
    entry, _ = check_measure(draft, metric_loc, gate.metric)
    if entry is None:
        return
    name, kind = entry.metric.name, entry.metric.interval
    if entry.metric.sees == "items":
        if (why := _why_no_bets_on_items(draft, entry.metric)) is not None:
            message = f"'on: sequence' cannot judge {name}: {why[0]}"
            yield draft.tree.problem("sequence", message, *loc, "on", hint=why[1])
        return
    by_rows, between = (*BOUNDED, *F_MEASURES), draft.spec.sequence is not None and draft.spec.sequence.between_nights
    if kind != "proportion" and name not in (*AVERAGED, *LARGE_NIGHTS):
        unproven = UNPROVEN if set(entry.metric.tasks) & set(CLASSES) else OF_NUMBERS
        reason, hint = REFUSED.get(kind, unproven)
        yield draft.tree.problem("sequence", f"'on: sequence' cannot judge {name}: {reason}", *loc, "on", hint=hint)
    elif draft.spec.intervals.method == "none" and (between or not (kind == "proportion" or name in by_rows)):
        message = f"'on: sequence' takes the standard error of {name} from its interval, and there is none"
        hint = "remove 'method: none' from 'intervals', or write 'on: value'"
        yield draft.tree.problem("sequence", message, *loc, "on", hint=hint)


def _why_no_bets_on_items(draft: Draft, metric: Metric) -> tuple[str, str] | None:
    """Return why nights give no exact evidence on a measure of items, and the way out; None where they do."""
    if not metric.averages_items:
        return "it is no mean over all items", "judge the 'mean' or 'pass_at', or write 'on: interval'"
    if not all(map(math.isfinite, metric.range)):
        return "scores have no range, so that one may make up most of it", "add the 'range' of scores under 'score'"
    if draft.spec.cluster is not None or draft.spec.importance:
        return "its items are not independent and alike", "write 'on: interval'"
    return None


@dataclass(frozen=True, slots=True)
class EarlierPlan:
    """The results of an earlier run: where they are, the path as it is written, and what that is relative to.

    ``relative`` is the end of a sentence, such as " (relative to spec.yaml)"; empty of an absolute path.
    """

    path: Path
    written: str
    relative: str


@dataclass(frozen=True, slots=True)
class GatePlan:
    """A gate: its ``rule`` as it is written, and what that is on.

    It is on the measures ``entries``, of the class ``class_`` where that is one; on all rows, on the ``slice`` with
    these labels, or on every slice by ``slices``: ("all",) or names of columns. A change is ``against`` the model
    ``baseline``, the last run of the output folder, or the results of an ``earlier`` run.
    """

    rule: GateRule
    entries: tuple[MetricPlan, ...]
    class_: str | None
    slice: Mapping[str, str] | None
    slices: tuple[str, ...] | None
    against: Literal["baseline", "last", "results"] | None
    baseline: str | None
    earlier: EarlierPlan | None

    @property
    def reference(self) -> str | None:
        """What a change is measured from: the baseline's model, "last", or the path of an earlier run; else None."""
        if self.earlier is not None:
            return self.earlier.written
        return self.baseline if self.against == "baseline" else self.against

    @property
    def words(self) -> str:
        """The gate in words: what it is on, its limits, and its reference: "brier max 0.2, of every model on test"."""
        if self.rule.check is not None:
            return f"the check {self.rule.check}"
        measures = " and ".join(entry.label for entry in self.entries)
        subject = measures if self.rule.desirability is None else f"desirability {self.rule.desirability}"
        subject += "" if self.class_ is None else f" of class {self.class_}"
        limits = " and ".join(f"{key} {limit:g}" for key, limit in self.rule.limit.items())
        change = "" if self.reference is None else f" against {self.reference}"
        variant = {"original": "", "all": " and its variants"}.get(
            self.rule.variant, f" recalibrated by {self.rule.variant}")
        scope = f"{self.rule.model or 'every model'}{variant} on {self.rule.dataset or 'every dataset'}"
        nights = ", by the evidence of all nights" if self.rule.on == "sequence" else ""
        slices = ""
        if self.slice is not None:
            slices = f", in the slice {', '.join(f'{column}={level}' for column, level in self.slice.items())}"
        elif self.slices is not None:
            slices = ", in every slice" if self.slices == ("all",) else f", in every slice by {' × '.join(self.slices)}"
        return f"{subject} {limits}{change}, of {scope}{slices}{nights}"

    @property
    def document(self) -> dict[str, object]:
        """The gate as JSON values, before data are seen; null stands for every dataset, model or class."""
        rule = self.rule
        check: dict[str, object] = {} if rule.check is None else {"check": rule.check}
        return {
            "name": rule.name, "measures": [entry.document for entry in self.entries],
            "desirability": rule.desirability, "class": self.class_, "dataset": rule.dataset, "model": rule.model,
            "variant": rule.variant, "slice": None if self.slice is None else dict(self.slice),
            "slices": None if self.slices is None else list(self.slices), "limit": rule.limit,
            "against": self.reference, "on": rule.on, "undefined": rule.undefined, "severity": rule.severity,
            **check,
        }


def gates_plan(spec: Spec) -> tuple[GatePlan, ...]:
    """Return the plans of the gates of a spec, in order; none where it declares none."""
    return tuple(_gate_plan(spec, number, gate) for number, gate in enumerate(spec.gates or ()))


def sequence_plan(spec: Spec) -> SequenceRule:
    """Return the settings of all gates `on: sequence`, or their defaults."""
    return spec.sequence or SequenceRule()


def evidence_kind(entry: MetricPlan) -> Literal["rows", "losses", "cells"] | None:
    """Return what the bets on a measure are on, where its evidence can be exact; None where it cannot.

    "rows" are successes and failures of a proportion, "losses" those within bounds whose mean it is, "cells" those of
    the confusion matrix whose ratio it is.
    """
    if entry.metric.interval == "proportion" and entry.metric.needs == "labels":
        return "rows"
    if entry.metric.name in BOUNDED or (entry.metric.sees == "items" and all(map(math.isfinite, entry.metric.range))):
        return "losses"
    return "cells" if entry.metric.name in F_MEASURES else None


def least_night(entries: Iterable[MetricPlan]) -> int:
    """Return how many rows of the rarer outcome a night must be expected to have, to be evidence on measures.

    0 where the mean of each over nights is its value, however few rows they have.
    """
    return max(LARGE_NIGHTS.get(entry.metric.name, 0) for entry in entries)


def _gate_plan(spec: Spec, index: int, gate: GateRule) -> GatePlan:
    """Return the plan of a gate of a spec, by its number from 0."""
    declared = gate.against
    against = "results" if isinstance(declared, AgainstEarlier) else declared
    labels = None if gate.slice is None else {column: level_text(level) for column, level in gate.slice.items()}
    return GatePlan(
        gate, () if gate.metric is None else tuple(entries(spec, gate.metric)),
        None if gate.class_ is None else level_text(gate.class_),
        slice=None if labels is None else MappingProxyType(labels),
        slices=(gate.slices,) if isinstance(gate.slices, str) else gate.slices,
        against=against,
        baseline=spec.compare.baseline if against == "baseline" and spec.compare is not None else None,
        earlier=_earlier_run(spec, index, declared.results) if isinstance(declared, AgainstEarlier) else None,
    )


def _earlier_run(spec: Spec, index: int, declared_path: str) -> EarlierPlan:
    """Return the plan of the earlier run whose results a gate names, by their path as in the spec."""
    loc = ("gates", index, "against", "results")
    place = spec.origin.place(*loc)
    file = place.file if place is not None and place.file in spec.origin.folders else spec.origin.path
    relative = "" if Path(declared_path).is_absolute() else (
        " (relative to the working folder)" if file is None else f" (relative to {Path(file).name})")
    return EarlierPlan(spec.origin.folder_of(*loc) / declared_path, declared_path, relative)


def judges_number(plan: Plan, gate: GatePlan, subject: Subject) -> bool:
    """Tell whether a gate judges the number of a subject: its measure, class, dataset, model, variant and slice."""
    if gate.against == "baseline" and subject.model == gate.baseline:
        return False
    return (
        gate.rule.dataset in (None, subject.dataset) and gate.rule.model in (None, subject.model)
        and gate.rule.variant in ("all", subject.variant) and gate.class_ in (None, subject.class_)
        and gate.rule.desirability == subject.desirability and _in_slice(gate, subject)
        and (subject.metric is None or any(_is_measure(plan, entry, subject) for entry in gate.entries))
    )


def _in_slice(gate: GatePlan, subject: Subject) -> bool:
    """Tell whether the slices that a gate judges, or all rows, include the slice of a number."""
    if gate.slice is not None:
        return subject.slice == gate.slice
    if gate.slices is None or subject.slice is None:
        return gate.slices is None and subject.slice is None
    return gate.slices == ("all",) or set(subject.slice) == set(gate.slices)


def _is_measure(plan: Plan, entry: MetricPlan, subject: Subject) -> bool:
    """Tell whether a number measures what an entry of a gate does: same metric, options and average."""
    class_ = subject.class_
    if (subject.metric, subject.average) != (entry.metric.name, entry.average):
        return False
    options = entry.shown if class_ is None else entry.shown_of(plan.outcome.levels.index(class_))
    return subject.params == options


def looks_back(plan: Plan) -> Iterator[Literal["evidence", "reference"]]:
    """Yield what gates read of earlier nights: the evidence of each, and the reference that they left."""
    gates = plan.part(gates_plan)
    if any(gate.rule.on == "sequence" for gate in gates):
        yield "evidence"
    if any(gate.against == "last" for gate in gates):
        yield "reference"


def lines(plan: Plan) -> Iterator[str]:
    """Yield the number of gates, and a line for each."""
    gates = plan.part(gates_plan)
    if gates:
        yield f"judged by {counted(len(gates), 'gate')}"
        yield from (f"  gate {number}: {gate.words}" for number, gate in enumerate(gates, 1))


def document(plan: Plan) -> dict[str, object]:
    """Return the gates, as JSON values."""
    return {"gates": [{"gate": number, **gate.document} for number, gate in enumerate(plan.part(gates_plan), 1)]}


PARTS = (gates_plan, sequence_plan)
