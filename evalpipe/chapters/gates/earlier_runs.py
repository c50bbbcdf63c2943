"""Earlier runs: reading those that gates are against, and which run is the reference of an output folder."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from evalpipe.base.formats import REFERENCE, REFERENCE_BEFORE, RESULTS
from evalpipe.chapters.gates.compute import FIRST
from evalpipe.chapters.gates.compute_numbers import EarlierRun, NoEarlier
from evalpipe.chapters.gates.plan import gates_plan
from evalpipe.chapters.slices.compute import absent_slice
from evalpipe.errors import DataError, Problem
from evalpipe.results import Results
from evalpipe.runs.folder import RunFolder
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from evalpipe.chapters.gates.plan import EarlierPlan, GatePlan
    from evalpipe.data.sample import Sample
    from evalpipe.plan.plan import Plan
    from evalpipe.results import FailOn, Gate


@dataclass(frozen=True, slots=True)
class Tonight:
    """What tells the night of a run from others: its day or, without one, its spec and the sha256 of its data.

    ``inputs`` are the datasets with the sha256 of their files.
    """

    as_of: str | None
    spec_sha256: str
    inputs: frozenset[tuple[str, str | None]]

    @classmethod
    def of(cls, results: Results) -> Tonight:
        """Return the night that results are of."""
        datasets = {dataset.name for dataset in results.datasets}
        return cls(results.as_of, results.spec_sha256, frozenset(
            (file.dataset, file.sha256) for file in results.inputs if file.dataset in datasets))

    def is_of(self, results: Results) -> bool:
        """Tell whether results are of this night."""
        if self.as_of is not None or results.as_of is not None:
            return self.as_of == results.as_of
        known = all(sha256 is not None for _, sha256 in self.inputs)
        return known and self == Tonight.of(results)

    def is_after(self, results: Results) -> bool:
        """Tell whether results are of a night before this one; without days that is any other night."""
        return not self.is_of(results) and (
            self.as_of is None or results.as_of is None or results.as_of < self.as_of)


@dataclass(frozen=True, slots=True)
class Night:
    """An earlier night of the ledger: the folder that it was written to, and the sha256 of its results."""

    folder: Path
    results_sha256: str


@dataclass(frozen=True, slots=True)
class EarlierNights:
    """The ``earlier`` nights of the ledger, the newest first, and the sha256 of all results of the output folder.

    ``names`` say, by the sha256 of their results, what models that were renamed since are called now.
    """

    earlier: Sequence[Night] = ()
    of_folder: Collection[str] = ()
    names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


NO_NIGHTS = EarlierNights()


def look_back(
    plan: Plan, samples: Sequence[Sample], folder: Path | None = None, shown: str = "",
    nights: EarlierNights = NO_NIGHTS,
) -> dict[int, EarlierRun | NoEarlier]:
    """Return the earlier runs that gates are against, or why there are none, by the number of the gate from 0.

    ``folder`` is the output folder, called ``shown``, whose reference is for gates `against: last`; where it has none
    of an earlier night, that of the ``nights`` of the ledger is. Raises DataError with every file that cannot be read
    and every slice that no row is in.
    """
    read_files = frozenset((file.dataset, file.sha256) for sample in samples for file in sample.files)
    tonight = Tonight(plan.as_of, plan.spec_sha256, read_files)

    @cache
    def read(earlier: EarlierPlan | None, optional: bool) -> EarlierRun | NoEarlier | Problem:  # noqa: FBT001
        return (reference_for(tonight, folder, shown, nights) if earlier is None
                else _read_earlier(earlier, optional=optional))

    runs: dict[int, EarlierRun | NoEarlier] = {}
    problems: list[Problem] = []
    for index, gate in enumerate(plan.part(gates_plan)):
        problems += _unknown_slices(plan, index, gate, samples)
        if gate.against not in ("last", "results"):
            continue
        run = read(gate.earlier, gate.rule.optional)
        if isinstance(run, Problem):
            problems.append(replace(run, place=plan.places.place("gates", index, "against", "results")))
        else:
            runs[index] = run if isinstance(run, NoEarlier) else replace(
                run, names=nights.names.get(run.sha256) or {was: name for name, was in plan.renamed.items()})
    if problems:
        raise DataError(*problems)
    return runs


def _unknown_slices(plan: Plan, index: int, gate: GatePlan, samples: Sequence[Sample]) -> Iterator[Problem]:
    """Report each evaluated dataset that has no row in the slice of a gate, with the slices that it has."""
    for sample in samples if gate.slice else ():
        if sample.role == "evaluate" and gate.rule.dataset in (None, sample.dataset):
            absent = absent_slice(sample, gate.slice or {})
            if absent is not None:
                message, hint = absent
                yield Problem("unknown-slice", message, plan.places.place("gates", index, "slice"), hint)


def _read_earlier(earlier: EarlierPlan, *, optional: bool) -> EarlierRun | NoEarlier | Problem:
    """Read the results at a path of the spec."""
    folder = RunFolder.named(earlier.path)
    if folder.has(RESULTS):
        return _read(folder, RESULTS, earlier.written, "name a run's output folder")
    missing = f"there are no results of an earlier run at {earlier.written}"
    absent = NoEarlier(sentence("no-earlier-results", path=earlier.written, relative=earlier.relative))
    return absent if optional else Problem("missing-file", missing, hint=FIRST)


def _read(folder: RunFolder, name: str, shown: str, hint: str = "") -> EarlierRun | Problem:
    """Read the results of a run from a file of an output folder."""
    try:
        content = folder.content(name, shown=shown)
        return EarlierRun(Results.from_json(content.decode("utf-8"), shown), shown, content)
    except UnicodeDecodeError:
        return Problem("unreadable-file", f"cannot read {shown}: it is not UTF-8 text", hint=hint)
    except DataError as error:
        return replace(error.problems[0], hint=hint)


def reference_for(
    tonight: Tonight, folder: Path | None, shown: str, nights: EarlierNights = NO_NIGHTS
) -> EarlierRun | NoEarlier | Problem:
    """Return the reference of a run: that of its folder, else that of the nights before; never one of its own night.

    What the folder has of a night that was run elsewhere is a copy, and is asked after these nights.
    """
    kept = kept_in(folder, shown)
    if isinstance(kept, Problem):
        return kept
    first = next((run for run in kept if _may_serve(tonight, run)), None)
    if first is not None and (not nights.earlier or first.sha256 in nights.of_folder):
        return first
    known = {night.results_sha256 for night in nights.earlier}
    left = next(filter(None, (_left_by(tonight, night, known) for night in nights.earlier)), None)
    # Of a ledger nothing is said, for a run again by `evalpipe verify` has none.
    why = sentence("no-folder" if folder is None else "no-run-kept")
    return left or first or NoEarlier(why)


def kept_in(folder: Path | None, shown: str) -> list[EarlierRun] | Problem:
    """Return the references that an output folder, called ``shown``, holds, the newest first; a Problem if broken.

    Where it has no `reference.json`, its newest run is the only one, if it may be one.
    """
    if folder is None:
        return []
    files = RunFolder(folder)
    if not files.has(REFERENCE):
        newest = _read(files, RESULTS, RESULTS)
        return [newest] if isinstance(newest, EarlierRun) and may_be_reference(newest.results) else []
    hint = f"remove it to begin anew, or make the newest run the reference: evalpipe accept {shown}"
    first = _read(files, REFERENCE, str(Path(shown) / REFERENCE), hint)
    before = _read(files, REFERENCE_BEFORE, REFERENCE_BEFORE)
    return first if isinstance(first, Problem) else [first, before] if isinstance(before, EarlierRun) else [first]


def _may_serve(tonight: Tonight, run: EarlierRun) -> bool:
    """Tell whether a night may be held to a run that is kept as a reference.

    A run of no day that failed is kept only where it was accepted, which is for every run after.
    """
    accepted = tonight.as_of is None and run.results.as_of is None and not may_be_reference(run.results)
    return accepted or tonight.is_after(run.results)


def _left_by(tonight: Tonight, night: Night, known: Collection[str]) -> EarlierRun | None:
    """Return what a night left as the reference of later ones; None where its folder is not as it was recorded.

    That is the file `reference.json` in its folder, where the ledger knows these results, else the night itself where
    it may be a reference.
    """
    files = RunFolder(night.folder)
    run = _read(files, RESULTS, RESULTS)
    if isinstance(run, Problem) or run.sha256 != night.results_sha256:
        return None
    kept = _read(files, REFERENCE, REFERENCE)
    if isinstance(kept, EarlierRun) and kept.sha256 in known and tonight.is_after(kept.results):
        return kept
    return replace(run, path=REFERENCE) if may_be_reference(run.results) else None


def may_be_reference(results: Results, fail_on: FailOn = "fail") -> bool:
    """Tell whether a run may become the reference.

    It may where `evalpipe run` ends with 0, and no value is beyond its limit against the reference before; otherwise a
    fall would be told of once and then be what is normal. With ``fail_on`` "never" it is as with "fail".
    """
    holds = results.holds("fail" if fail_on == "never" else fail_on)
    return holds is not False and not any(_is_beyond(gate) for gate in results.gates if gate.against == "last")


def _is_beyond(gate: Gate) -> bool:
    """Tell whether a gate failed, whatever its severity, or its value alone misses the limit."""
    if gate.observed is None or gate.verdict == "fail":
        return gate.verdict == "fail"
    return gate.limits.side(gate.observed, gate.scale) != 0


def next_references(
    run: EarlierRun, held_to: EarlierRun | NoEarlier, folder: Path, *, fit: bool, accepted: bool = False
) -> dict[str, bytes]:
    """Return the files of references that a run leaves in its folder: the newest two there are.

    They are of those that the folder has, of what the run was ``held_to`` and, where it is ``fit``, of the run itself.
    Of its night only the run stays, or what was accepted. Where a night is run again, later ones stay before it, but
    not before one that is ``accepted``.
    """
    tonight, kept = Tonight.of(run.results), kept_in(folder, "")
    before = [held_to] if isinstance(held_to, EarlierRun) else []
    same = {run.sha256, *(earlier.sha256 for earlier in before)}
    nights = [tonight, *(Tonight.of(earlier.results) for earlier in before)]
    others = [] if isinstance(kept, Problem) else [
        other for other in kept if other.sha256 in same or not any(night.is_of(other.results) for night in nights)]
    day = run.results.as_of
    later = [] if accepted else [
        other for other in others
        if other.sha256 == run.sha256 or (day is not None and (other.results.as_of or "") > day)]
    ordered = {file.sha256: file.content for file in (*later, *([run] if fit else before), *others)}
    return dict(zip((REFERENCE, REFERENCE_BEFORE), ordered.values(), strict=False))


def has_another_reference(folder: Path, results: Results, fail_on: FailOn, *, alone: bool) -> bool:
    """Tell whether an output folder has another reference than the run of ``results`` there left in it.

    ``alone`` says that no ledger is asked for a reference, so that the run would be held to what the folder has.
    """
    last = next((gate for gate in results.gates if gate.against == "last"), None)
    if last is None:
        return False
    files = RunFolder(folder)
    run = EarlierRun(results, REFERENCE, files.content(RESULTS))
    held_to = NoEarlier(sentence("no-run-kept"))
    left = next_references(run, held_to, folder, fit=may_be_reference(results, fail_on)).get(REFERENCE)
    there = files.content_if_there(REFERENCE)
    now = reference_for(Tonight.of(results), folder, "") if alone else None
    return left != there or (isinstance(now, EarlierRun) and now.sha256 != last.against_sha256)


@dataclass(frozen=True, slots=True)
class ReferenceChange:
    """What `accept` does to a verdict against the reference: the value before, if there was one, and from now on."""

    gate: Gate
    before: float | None
    after: float | None


def reference_changes(results: Results, before: EarlierRun | None) -> list[ReferenceChange]:
    """Return what it changes for each verdict against the reference that ``results`` take the place of ``before``."""
    now = EarlierRun(results, RESULTS, b"")
    names = {was: name for name, was in results.renamed.items()}
    then = None if before is None else replace(before, names=names)
    return [ReferenceChange(gate, _value(then, gate), _value(now, gate))
            for gate in results.gates if gate.against == "last"]


def _value(run: EarlierRun | None, gate: Gate) -> float | None:
    observed = None if run is None else run.observed(gate)
    return None if observed is None else observed.value
