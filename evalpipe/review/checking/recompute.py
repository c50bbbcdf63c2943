"""`evalpipe verify --recompute`: the spec is run again in a temporary folder, and bytes or numbers are compared."""

from __future__ import annotations

import math
import platform
import shutil
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from evalpipe.base.folders import TemporaryFolder
from evalpipe.errors import EvalpipeError
from evalpipe.results import Results
from evalpipe.results.signatures import EVIDENCE_DIGITS, SIGNATURES
from evalpipe.review.checking.checked import CheckedFile, digest_of
from evalpipe.review.checking.outputs import REFERENCES
from evalpipe.review.checking.same_numbers import ALIKE, apart_in_results, apart_in_rows
from evalpipe.runs.file_differences import notes_on, of_json
from evalpipe.runs.manifest import libraries
from evalpipe.runs.verification import ESTIMATES, PDF, RESULTS, formats_in, not_compared
from evalpipe.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.results import Gate
    from evalpipe.review.checking.origins import Origins
    from evalpipe.review.checking.outputs import Outputs
    from evalpipe.run import Progress
    from evalpipe.spec.spec import Spec


@dataclass(frozen=True)
class _Repeat:
    """A run to be repeated: the ``outputs`` that it wrote, and the files that it was made from, its ``origins``."""

    outputs: Outputs
    origins: Origins

    @property
    def overrides(self) -> list[str]:
        """What `--set` laid over the spec."""
        return [] if self.outputs.manifest is None else self.outputs.manifest.overrides

    @property
    def as_of(self) -> str | None:
        """The day that the card is about."""
        return None if self.outputs.manifest is None else self.outputs.manifest.as_of

    @cached_property
    def spec(self) -> Spec:
        """The spec as it is now; raises SpecError."""
        from evalpipe.run import load

        return load(str(self.origins.spec), self.overrides, as_of=self.as_of)

    @cached_property
    def against_last(self) -> Gate | None:
        """A gate `against: last` that was judged against earlier results; None without any."""
        gates = () if self.outputs.results is None else self.outputs.results.gates
        return next((gate for gate in gates if gate.against == "last" and gate.against_sha256), None)

    @cached_property
    def reference(self) -> Path | None:
        """The file of the results that it was judged against: in the folder, or where the ledger leads to."""
        from evalpipe.ledger.history import reference_in_ledger

        if self.against_last is None:
            return None
        wanted = str(self.against_last.against_sha256)
        kept = next((name for name in REFERENCES if _has(self.outputs.folder / name, wanted)), None)
        if kept is not None:
            return self.outputs.folder / kept
        try:
            return reference_in_ledger(self.spec, wanted, self.outputs.folder)
        except EvalpipeError:
            return None


def recomputed(outputs: Outputs, origins: Origins, progress: Progress | None) -> Iterator[CheckedFile]:
    """Run the spec again and compare each file that follows from it; why it cannot be run is told of results.json."""
    repeat = _Repeat(outputs, origins)
    why = _hindrance(repeat)
    if why is not None:
        yield CheckedFile("recomputed", RESULTS, "not checked", why)
        return
    with TemporaryFolder("evalpipe-verify-") as temporary:
        again = Path(temporary) / "again"
        try:
            _run_again(repeat, again, progress)
        except EvalpipeError as error:
            first = error.problems[0]
            place = "" if first.place is None else f" ({first.place})"
            yield CheckedFile("recomputed", RESULTS, "not checked", f"the run ended: {first.message}{place}")
            return
        yield from _compared(outputs, again)
    yield from _nights(repeat)


def _nights(repeat: _Repeat) -> Iterator[CheckedFile]:
    """Hold the earlier nights that the results have, with which the spec was run again, to those in the ledger now."""
    from evalpipe.ledger.changes import changed_nights
    from evalpipe.ledger.history import ledger_to_read

    outputs, what = repeat.outputs, "the earlier nights"
    if outputs.results is None or outputs.results.trend.sha256 is None:
        return
    try:
        ledger = ledger_to_read(repeat.spec, outputs.folder)
        changed = [] if ledger is None else changed_nights(repeat.spec, outputs.results, ledger)
    except EvalpipeError as error:
        yield CheckedFile("recomputed", what, "not checked", error.problems[0].message)
        return
    reason = "the ledger has others now; the run again was given those in results.json" if changed else ""
    yield CheckedFile("recomputed", what, "differs" if changed else "same", reason, tuple(changed))


def _hindrance(repeat: _Repeat) -> str | None:
    """Return why a run cannot be repeated; None where it can."""
    manifest, gate = repeat.outputs.manifest, repeat.against_last
    if manifest is None or not manifest.spec_files:
        return "no file of the spec is known"
    if repeat.origins.spec is None:
        return "where the spec lies is not known: name it with --spec"
    if gate is not None and repeat.reference is None:
        day = "" if gate.against_as_of is None else f"those as of {gate.against_as_of}, "
        begins = str(gate.against_sha256)[:EVIDENCE_DIGITS]
        return (f"its gates `against: last` were judged against results that are no longer here, {day}with a sha256 "
                f"that begins with {begins}: a later run has replaced them")
    return None


def _has(path: Path, wanted: str) -> bool:
    try:
        return digest_of(path) == wanted
    except OSError:
        return False


def _run_again(repeat: _Repeat, again: Path, progress: Progress | None) -> None:
    """Run the spec in another folder, where the reference and the decisions of people are as they were."""
    from evalpipe.card import render
    from evalpipe.ledger.history import evidence_again
    from evalpipe.results.signatures import signatures_of
    from evalpipe.run import run_again

    outputs = repeat.outputs
    again.mkdir()
    for name, file in ((SIGNATURES, outputs.folder / SIGNATURES), (REFERENCES[0], repeat.reference)):
        if file is not None and file.exists():
            shutil.copyfile(file, again / name)
    evidence = evidence_again(repeat.spec, outputs.folder)
    results = run_again(
        str(repeat.origins.spec), again, outputs.results, overrides=repeat.overrides, as_of=repeat.as_of,
        evidence=evidence, progress=progress)
    # The card may have been rendered in further formats since, or with other templates.
    done = () if outputs.templates is not None else formats_in(again)
    further = [form for form in formats_in(outputs.folder) if form not in done]
    signatures = signatures_of(again, results.evidence_sha256)
    for name, content in render(results, further, signatures, outputs.templates).items():
        (again / name).write_bytes(content)


def _compared(outputs: Outputs, again: Path) -> Iterator[CheckedFile]:
    """Compare each file that a run writes with that of the run again, byte for byte, or else number by number."""
    listed = [] if outputs.manifest is None else list(outputs.manifest.sha256_of)
    follows: dict[str, bytes] = {}
    for name in [RESULTS, *(name for name in listed if name not in (RESULTS, SIGNATURES, *REFERENCES))]:
        if not outputs.written.has(name):
            yield CheckedFile("recomputed", name, "not checked", "it is not in the folder")
        elif _has(again / name, outputs.written.digest(name)):
            yield CheckedFile("recomputed", name, "same")
        elif name == PDF and (unknown := not_compared(outputs.written.content(PDF))) is not None:
            yield CheckedFile("recomputed", PDF, "not checked", unknown)
        elif outputs.written.content(name) == follows.get(name):
            yield CheckedFile("recomputed", name, "same numbers", f"it is what {RESULTS} in the folder comes to")
        elif (apart := _apart(outputs, again / name)) <= ALIKE:
            follows = _following(outputs) if name == RESULTS else follows
            yield CheckedFile("recomputed", name, "same numbers", _of_last_digits(apart, outputs))
        else:
            yield CheckedFile("recomputed", name, "differs", _why(outputs, again / name), _notes(outputs, again / name))


def _apart(outputs: Outputs, again: Path) -> float:
    """Return how far apart the numbers of a file of the folder and of the run again are; infinity for other faults."""
    rows = None if outputs.results is None or outputs.results.row_file is None else outputs.results.row_file.file
    if not again.exists() or again.name not in (RESULTS, rows):
        return math.inf
    if again.name == RESULTS:
        return apart_in_results(outputs.written.content(RESULTS), again.read_bytes())
    return apart_in_rows(outputs.folder / again.name, again)


def _following(outputs: Outputs) -> dict[str, bytes]:
    """Return the files that follow from results.json of the folder, as they are written now, by name."""
    from evalpipe.card import render
    from evalpipe.results.estimates_csv import estimates_csv
    from evalpipe.results.signatures import signatures_of

    if outputs.results is None:
        return {}
    signatures = signatures_of(outputs.folder, outputs.results.evidence_sha256)
    card = render(outputs.results, formats_in(outputs.folder), signatures, outputs.templates)
    return {ESTIMATES: estimates_csv(outputs.results).encode(), **card}


def _of_last_digits(apart: float, outputs: Outputs) -> str:
    """Say that numbers differ in their last digits alone, and which versions do."""
    said = f"the run again gives other last digits: numbers differ by {apart:.0e} at most, all else is the same"
    return "; ".join([said, *_changed_versions(outputs)])


def _why(outputs: Outputs, again: Path) -> str:
    """Say that a file differs from that of the run again, and which versions do."""
    missing = "" if again.exists() else "the run again does not write it"
    nights = ["the ledger has other earlier nights than then"] if _other_nights(outputs, again) else []
    return missing or "; ".join(["the run again gives other bytes", *_changed_versions(outputs), *nights])


def _changed_versions(outputs: Outputs) -> list[str]:
    """Say which versions are others than those of the run."""
    then = {} if outputs.manifest is None else {
        "evalpipe": outputs.manifest.evalpipe_version, "python": outputs.manifest.python, **outputs.manifest.libraries}
    now = {**libraries(then), "evalpipe": VERSION, "python": platform.python_version()}
    return [f"{name} was {version} and is {now.get(name, 'gone')}" for name, version in then.items()
            if now.get(name) != version]


def _other_nights(outputs: Outputs, again: Path) -> bool:
    """Tell whether gates `on: sequence` were judged by other evidence of earlier nights."""
    if again.name != RESULTS or outputs.results is None or not again.exists():
        return False
    then, now = ([gate.sequence and gate.sequence.nights_sha256 for gate in results.gates]
                 for results in (outputs.results, Results.read(again)))
    return then != now


def _notes(outputs: Outputs, again: Path) -> tuple[str, ...]:
    """Say in what results.json differs from that of the run again."""
    if again.name != RESULTS or outputs.results is None:
        return ()
    differences = of_json(outputs.written.content(RESULTS), again.read_bytes())
    return tuple(notes_on(differences, "the folder", "in", "the run again"))
