"""`evalpipe verify --recompute`: the spec is run again in a temporary folder, and the bytes of both are compared."""

from __future__ import annotations

import platform
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from evalpipe.checking.checked import CheckedFile, digest_of
from evalpipe.checking.outputs import REFERENCE
from evalpipe.errors import EvalpipeError
from evalpipe.file_differences import notes_on, of_json
from evalpipe.manifest import libraries
from evalpipe.results import Results
from evalpipe.signatures import EVIDENCE_DIGITS, SIGNATURES
from evalpipe.verification import RESULTS, formats_in
from evalpipe.version import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.checking.origins import Origins
    from evalpipe.checking.outputs import Outputs
    from evalpipe.results import Gate
    from evalpipe.run import Progress


def recomputed(outputs: Outputs, origins: Origins, progress: Progress | None) -> Iterator[CheckedFile]:
    """Run the spec again and compare each file that follows from it; why it cannot be run is told of results.json."""
    why = _hindrance(outputs, origins)
    if why is not None:
        yield CheckedFile("recomputed", RESULTS, "not checked", why)
        return
    with tempfile.TemporaryDirectory(prefix="evalpipe-verify-") as temporary:
        again = Path(temporary) / "again"
        try:
            _run_again(outputs, origins, again, progress)
        except EvalpipeError as error:
            first = error.problems[0]
            place = "" if first.place is None else f" ({first.place})"
            yield CheckedFile("recomputed", RESULTS, "not checked", f"the run ended: {first.message}{place}")
            return
        yield from _compared(outputs, again)
    yield from _nights(outputs, origins)


def _nights(outputs: Outputs, origins: Origins) -> Iterator[CheckedFile]:
    """Hold the earlier nights that the results have, with which the spec was run again, to those in the ledger now."""
    from evalpipe.ledger_changes import changed_nights
    from evalpipe.run import load

    if outputs.results is None or outputs.results.trend.sha256 is None:
        return
    what, (overrides, as_of) = "the earlier nights", _asked(outputs)
    try:
        spec = load(str(origins.spec), overrides, as_of=as_of)
        changed = changed_nights(spec, outputs.results, outputs.folder)
    except EvalpipeError as error:
        yield CheckedFile("recomputed", what, "not checked", error.problems[0].message)
        return
    reason = "the ledger has others now; the run again was given those in results.json" if changed else ""
    yield CheckedFile("recomputed", what, "differs" if changed else "same", reason, tuple(changed))


def _hindrance(outputs: Outputs, origins: Origins) -> str | None:
    """Return why a run cannot be repeated; None where it can."""
    if outputs.manifest is None or not outputs.manifest.spec_files:
        return "no file of the spec is known"
    if origins.spec is None:
        return "where the spec lies is not known: name it with --spec"
    gate = _against_last(outputs)
    if gate is not None and _reference_file(outputs, origins, str(gate.against_sha256)) is None:
        day = "" if gate.against_as_of is None else f"those as of {gate.against_as_of}, "
        begins = str(gate.against_sha256)[:EVIDENCE_DIGITS]
        return (f"its gates `against: last` were judged against results that are no longer here, {day}with a sha256 "
                f"that begins with {begins}: a later run has replaced them")
    return None


def _against_last(outputs: Outputs) -> Gate | None:
    """Return a gate `against: last` that was judged against earlier results; None without any."""
    gates = () if outputs.results is None else outputs.results.gates
    return next((gate for gate in gates if gate.against == "last" and gate.against_sha256), None)


def _reference_file(outputs: Outputs, origins: Origins, wanted: str) -> Path | None:
    """Return the file of the earlier results with a sha256: in the folder, or where the ledger leads to."""
    from evalpipe.history import reference_in_ledger
    from evalpipe.run import load

    if _has(outputs.folder / REFERENCE, wanted):
        return outputs.folder / REFERENCE
    overrides, as_of = _asked(outputs)
    try:
        return reference_in_ledger(load(str(origins.spec), overrides, as_of=as_of), wanted, outputs.folder)
    except EvalpipeError:
        return None


def _has(path: Path, wanted: str) -> bool:
    try:
        return digest_of(path) == wanted
    except OSError:
        return False


def _run_again(outputs: Outputs, origins: Origins, again: Path, progress: Progress | None) -> None:
    """Run the spec in another folder, where the reference and the decisions of people are as they were."""
    from evalpipe.card import render
    from evalpipe.history import evidence_again
    from evalpipe.run import load, run_again
    from evalpipe.signatures import signatures_of

    again.mkdir()
    gate = _against_last(outputs)
    reference = None if gate is None else _reference_file(outputs, origins, str(gate.against_sha256))
    for name, file in ((SIGNATURES, outputs.folder / SIGNATURES), (REFERENCE, reference)):
        if file is not None and file.exists():
            shutil.copyfile(file, again / name)
    overrides, as_of = _asked(outputs)
    evidence = evidence_again(load(str(origins.spec), overrides, as_of=as_of), outputs.folder)
    results = run_again(
        str(origins.spec), again, outputs.results, overrides=overrides, as_of=as_of, evidence=evidence,
        progress=progress)
    # The card may have been rendered in further formats since, or with other templates.
    done = () if outputs.templates is not None else formats_in(again)
    further = [form for form in formats_in(outputs.folder) if form not in done]
    signatures = signatures_of(again, results.evidence_sha256)
    for name, content in render(results, further, signatures, outputs.templates).items():
        (again / name).write_bytes(content)


def _asked(outputs: Outputs) -> tuple[list[str], str | None]:
    """Return what was asked for beside the spec: what `--set` laid over it, and the day."""
    return ([], None) if outputs.manifest is None else (outputs.manifest.overrides, outputs.manifest.as_of)


def _compared(outputs: Outputs, again: Path) -> Iterator[CheckedFile]:
    """Compare each file that a run writes with that of the run again, byte for byte."""
    listed = [] if outputs.manifest is None else list(outputs.manifest.sha256_of)
    for name in [RESULTS, *(name for name in listed if name not in (RESULTS, SIGNATURES, REFERENCE))]:
        if not outputs.written.has(name):
            yield CheckedFile("recomputed", name, "not checked", "it is not in the folder")
        elif not _has(again / name, outputs.written.digest(name)):
            yield CheckedFile("recomputed", name, "differs", _why(outputs, again / name), _notes(outputs, again / name))
        else:
            yield CheckedFile("recomputed", name, "same")


def _why(outputs: Outputs, again: Path) -> str:
    """Say that a file differs from that of the run again, and which versions do."""
    then = {} if outputs.manifest is None else {
        "evalpipe": outputs.manifest.evalpipe_version, "python": outputs.manifest.python, **outputs.manifest.libraries}
    now = {**libraries(then), "evalpipe": VERSION, "python": platform.python_version()}
    changed = [f"{name} was {version} and is {now.get(name, 'gone')}" for name, version in then.items()
               if now.get(name) != version]
    missing = "" if again.exists() else "the run again does not write it"
    nights = ["the ledger has other earlier nights than then"] if _other_nights(outputs, again) else []
    return missing or "; ".join(["the run again gives other bytes", *changed, *nights])


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
