"""Which run is the reference of an output folder, that later runs are compared with, and which it leaves there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from evalpipe.base.formats import REFERENCE, REFERENCE_BEFORE, RESULTS
from evalpipe.errors import DataError, Problem
from evalpipe.results import Results
from evalpipe.results.observed import EarlierRun, NoEarlier
from evalpipe.runs.folder import NO_NIGHTS, EarlierNights, RunFolder
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Collection

    from evalpipe.results import FailOn
    from evalpipe.runs.folder import Night


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
        """Return what tells the night of a run from others: its day, its spec and the hashes of its data."""
        datasets = {dataset.name for dataset in results.datasets}
        return cls(results.as_of, results.spec_sha256, frozenset(
            (file.dataset, file.sha256) for file in results.inputs if file.dataset in datasets))

    def is_of(self, results: Results) -> bool:
        """Tell whether results are of this night: of the same day or, without days, of the same spec and data."""
        if self.as_of is not None or results.as_of is not None:
            return self.as_of == results.as_of
        has_all_hashes = all(sha256 is not None for _, sha256 in self.inputs)
        return has_all_hashes and self == Tonight.of(results)

    def is_after(self, results: Results) -> bool:
        """Tell whether results are of an earlier night than this one; without days, of any other night."""
        return not self.is_of(results) and (
            self.as_of is None or results.as_of is None or results.as_of < self.as_of)


def read_run(folder: RunFolder, name: str, shown: str, hint: str = "") -> EarlierRun | Problem:
    """Read the results of a run from the file ``name`` of a folder; a Problem with the hint where it is broken."""
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
    """Return the reference of a run: that of its folder, else that of the newest earlier night, never of its own night.

    Results in the folder that, by the ledger, no run there wrote are a copy: they come after the nights of the ledger.
    ``shown`` is the folder's path in messages. Without a reference, returns why; a Problem where the file is broken.
    """
    folder_references = references_in_folder(folder, shown)
    if isinstance(folder_references, Problem):
        return folder_references
    folder_reference = next((run for run in folder_references if _may_be_reference_of(tonight, run)), None)
    if folder_reference is not None and (not nights.earlier or folder_reference.sha256 in nights.of_folder):
        return folder_reference
    recorded = {night.results_sha256 for night in nights.earlier}
    left_by_nights = (_reference_of_night(tonight, night, recorded) for night in nights.earlier)
    ledger_reference = next(filter(None, left_by_nights), None)
    # Of a ledger nothing is said, for a run again by `evalpipe verify` has none.
    why = sentence("no-folder" if folder is None else "no-run-kept")
    return ledger_reference or folder_reference or NoEarlier(why)


def references_in_folder(folder: Path | None, shown: str) -> list[EarlierRun] | Problem:
    """Return the references in an output folder, the newest first; a Problem where `reference.json` is broken.

    ``shown`` is the folder's path in messages. Without `reference.json` the newest run is the only reference, if it may
    be one.
    """
    if folder is None:
        return []
    files = RunFolder(folder)
    if not files.has(REFERENCE):
        newest = read_run(files, RESULTS, RESULTS)
        return [newest] if isinstance(newest, EarlierRun) and may_be_reference(newest.results) else []
    hint = f"remove it to begin anew, or make the newest run the reference: evalpipe accept {shown}"
    current = read_run(files, REFERENCE, str(Path(shown) / REFERENCE), hint)
    previous = read_run(files, REFERENCE_BEFORE, REFERENCE_BEFORE)
    if isinstance(current, Problem):
        return current
    return [current, previous] if isinstance(previous, EarlierRun) else [current]


def _may_be_reference_of(tonight: Tonight, run: EarlierRun) -> bool:
    """Tell whether a run may be tonight's reference: it is of an earlier night, or was accepted without a day.

    A failed run without a day is a reference only where it was accepted, and then for every later run.
    """
    accepted = tonight.as_of is None and run.results.as_of is None and not may_be_reference(run.results)
    return accepted or tonight.is_after(run.results)


def _reference_of_night(tonight: Tonight, night: Night, recorded: Collection[str]) -> EarlierRun | None:
    """Return the reference that a night of the ledger left for later ones; None where its folder has other results now.

    It is `reference.json` of the night's folder, if the ledger has recorded these results, else the night itself, if it
    may be a reference.
    """
    files = RunFolder(night.folder)
    run = read_run(files, RESULTS, RESULTS)
    if isinstance(run, Problem) or run.sha256 != night.results_sha256:
        return None
    reference = read_run(files, REFERENCE, REFERENCE)
    if isinstance(reference, EarlierRun) and reference.sha256 in recorded and tonight.is_after(reference.results):
        return reference
    return replace(run, path=REFERENCE) if may_be_reference(run.results) else None


def may_be_reference(results: Results, fail_on: FailOn = "fail") -> bool:
    """Tell whether a run may become the reference of later ones.

    It may where `evalpipe run` ends with 0, and no value is beyond its limit against the reference before. Otherwise a
    fall would be reported once, and later nights would be compared with the fallen value. With ``fail_on`` "never" it
    is as with "fail".
    """
    gates_hold = results.holds("fail" if fail_on == "never" else fail_on)
    return gates_hold is not False and not any(
        gate.verdict == "fail" or (gate.observed is not None and gate.limits.side(gate.observed, gate.scale) != 0)
        for gate in results.gates if gate.against == "last")


def next_references(
    run: EarlierRun, reference: EarlierRun | NoEarlier, folder: Path, *, fit: bool, accepted: bool = False
) -> dict[str, bytes]:
    """Return the files of references that a run leaves in its folder, by name: the newest two there are.

    They are chosen from the references in the folder and the run itself or, where it is not ``fit`` to be a reference,
    the ``reference`` that it was compared with. Other references of the same nights are dropped. Where a night is run
    again, references of later days stay ahead of it, unless it is ``accepted``.
    """
    tonight, stored = Tonight.of(run.results), references_in_folder(folder, "")
    before = [reference] if isinstance(reference, EarlierRun) else []
    kept_sha256s = {run.sha256, *(earlier.sha256 for earlier in before)}
    replaced_nights = [tonight, *(Tonight.of(earlier.results) for earlier in before)]
    others = [] if isinstance(stored, Problem) else [
        other for other in stored
        if other.sha256 in kept_sha256s or not any(night.is_of(other.results) for night in replaced_nights)]
    day = run.results.as_of
    later = [] if accepted else [
        other for other in others
        if other.sha256 == run.sha256 or (day is not None and (other.results.as_of or "") > day)]
    ordered = {file.sha256: file.content for file in (*later, *([run] if fit else before), *others)}
    return dict(zip((REFERENCE, REFERENCE_BEFORE), ordered.values(), strict=False))


def has_another_reference(folder: Path, results: Results, fail_on: FailOn, *, without_ledger: bool) -> bool:
    """Tell whether an output folder has another reference than the run of ``results`` there left in it.

    Then gates `against: last` would be judged anew. ``without_ledger`` says that references come from the folder alone;
    then its present one is compared too.
    """
    last = next((gate for gate in results.gates if gate.against == "last"), None)
    if last is None:
        return False
    files = RunFolder(folder)
    run = EarlierRun(results, REFERENCE, files.content(RESULTS))
    no_reference = NoEarlier(sentence("no-run-kept"))
    expected = next_references(run, no_reference, folder, fit=may_be_reference(results, fail_on)).get(REFERENCE)
    stored = files.content_if_there(REFERENCE)
    current = reference_for(Tonight.of(results), folder, "") if without_ledger else None
    return expected != stored or (isinstance(current, EarlierRun) and current.sha256 != last.against_sha256)
