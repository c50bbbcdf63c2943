"""A folder against the ledger that its run is recorded in: where one of the two was changed, they disagree."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from evalpipe.errors import DataError, EvalpipeError, Problem
from evalpipe.ledger.place import OPTION, LedgerPlace
from evalpipe.results.signatures import EVIDENCE_DIGITS
from evalpipe.review.checking.checked import CheckedFile
from evalpipe.review.checking.origins import Origins
from evalpipe.runs.file_differences import notes_on, of_json
from evalpipe.runs.manifest import read_manifest
from evalpipe.runs.verification import RESULTS

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import ColumnElement

    from evalpipe.ledger.entries import Row
    from evalpipe.ledger.store import Ledger
    from evalpipe.results import Results

UNKNOWN = "the spec, which may name it, is not known: name the ledger with --ledger, or the spec with --spec"
ADDED_LATER = ("value", "error", "rows", "support")
"""What a ledger of before format 3 has not of the evidence of a night."""


def check_ledger(results: Results | None, origins: Origins, where: str | None) -> CheckedFile | None:
    """Hold the results of an output folder to what a ledger has of them, all that it has; None without a ledger.

    Without results, which cannot be read, it is not checked.

    The ledger is the one at ``where``, a file or a URL, else that of the spec, else that beside the folder. One that
    cannot be read is not checked.
    """
    place, why, written = _place(origins, where)
    if place is None:
        return None if why is None else CheckedFile("ledger", "the ledger", "not checked", why)
    if results is None:
        file = CheckedFile("ledger", place.shown, "not checked", f"{RESULTS}, which is held to it, cannot be read")
    else:
        try:
            place.found()  # before SQLAlchemy is imported, which a ledger that is not there does not need
            from evalpipe.ledger.store import Ledger

            file = _held(Ledger.read(place), results, origins.folder)
        except EvalpipeError as error:
            way = f"; name another with {OPTION}, as after a run with --set ledger=…" if where is None else ""
            file = CheckedFile("ledger", place.shown, "not checked", why or f"{error.problems[0].message}{way}")
    if written is None:
        return file
    # What the environment holds is not shown, as nowhere else.
    return replace(file, file=written, reason=file.reason.replace(place.shown, written))


def refuse_other_record(folder: Path, results: Results, where: str | None) -> CheckedFile | None:
    """Hold the results of an output folder to a ledger as `check_ledger` does; raises DataError where they differ."""
    recorded = check_ledger(results, Origins(folder, read_manifest(folder)), where)
    if recorded is not None and recorded.status == "differs":
        message = f"the ledger '{recorded.file}' does not agree with {folder / RESULTS}: {recorded.reason}"
        hint = f"see which was changed: evalpipe verify {folder} --recompute; or run again, and look at the new results"
        raise DataError(Problem("other-in-ledger", message, hint=hint, notes=recorded.notes))
    return recorded


def _place(origins: Origins, where: str | None) -> tuple[LedgerPlace | None, str | None, str | None]:
    """Return where the ledger is, why that is not certain, and how the spec refers to it by the environment.

    Without a place and a reason there is none.
    """
    from evalpipe.plan.resolve import ledger_named
    from evalpipe.run import load

    if where is not None:
        return LedgerPlace.of(where), None, None
    beside, why = LedgerPlace.beside(origins.folder), UNKNOWN
    if origins.spec is not None and origins.spec.is_file():
        manifest = origins.manifest
        overrides, day = ([], None) if manifest is None else (manifest.overrides, manifest.as_of)
        try:
            spec = load(str(origins.spec), overrides, as_of=day)
            written = spec.ledger if isinstance(spec.ledger, str) and "${" in spec.ledger else None
            return LedgerPlace.named(ledger_named(spec), origins.folder), None, written
        except EvalpipeError as error:
            why = f"the spec, which names it, cannot be read: {error.problems[0].message}"
    return (beside if beside.file is not None and beside.file.exists() else None), why, None


def _held(ledger: Ledger, results: Results, folder: Path) -> CheckedFile:
    """Hold results to the newest run of their folder in a ledger; without any to the run that has their hash or day."""
    from evalpipe.ledger.tables import RUNS

    here, shown = results.evidence_sha256, ledger.place.shown
    of_folder = RUNS.c.folder == ledger.place.folder(folder)
    of_night = (RUNS.c.name == results.name) & (RUNS.c.as_of == results.as_of)
    run = _newest(ledger, of_folder) or _newest(ledger, RUNS.c.results_sha256 == here) or _newest(ledger, of_night)
    if run is None:
        return CheckedFile("ledger", shown, "not checked", "it has no run of this folder")
    notes = tuple(notes_on(_differences(ledger, run, results), "the ledger"))
    if run["results_sha256"] != here:
        what = "this folder" if run["folder"] == ledger.place.folder(folder) else f"{results.name} as of {run['as_of']}"
        later = "later" if ledger.knows(folder, here) else "other"
        began, begins = (digest[:EVIDENCE_DIGITS] for digest in (run["results_sha256"], here))
        reason = (f"it has {later} results of {what}: their sha256 begins with {began}, that of results.json with "
                  f"{begins}")
        return CheckedFile("ledger", shown, "differs", reason, notes)
    if notes:
        return CheckedFile("ledger", shown, "differs", "its row of these results is not what results.json says", notes)
    return CheckedFile("ledger", shown, "same", "evalpipe gc has removed its numbers" if run["forgotten"] else "")


def _newest(ledger: Ledger, condition: ColumnElement[bool]) -> Row | None:
    """Return the run that was recorded last of those of a condition."""
    from sqlalchemy import select

    from evalpipe.ledger.tables import RUNS

    newest = select(RUNS).where(condition).order_by(RUNS.c.last_recorded.desc(), RUNS.c.run.desc()).limit(1)
    return next(iter(ledger.read_rows(newest)), None)


def _differences(ledger: Ledger, run: Row, results: Results) -> list[tuple[str, object, object]]:
    """Return in what all that a ledger has of a run differs from what is recorded of results."""
    from evalpipe.ledger.entries import estimate_rows, evidence_rows, run_row, verdict_rows
    from evalpipe.ledger.tables import ESTIMATES, EVIDENCE, VERDICTS

    expected = run_row(results)
    # Earlier formats have no sha256 of inputs, and no verdict where nothing was judged.
    unknown = {"results_sha256", *(["inputs_sha256"] if run["inputs_sha256"] is None else [])}
    compared = [key for key in expected if key not in unknown]
    there: Row = {key: run[key] for key in compared} | {"verdict": run["verdict"] or "none"}
    here: Row = {key: expected[key] for key in there}
    tables = {"estimates": (ESTIMATES, estimate_rows), "gates": (VERDICTS, verdict_rows),
              "evidence": (EVIDENCE, evidence_rows)}
    for name, (table, rows_of) in tables.items():
        if name == "evidence" or not run["forgotten"]:
            recorded = ledger.rows_of(table, [run["run"]])[run["run"]]
            later = ADDED_LATER if any(row.get("rows", 0) is None for row in recorded) else ()
            there[name], here[name] = (
                [{key: value for key, value in row.items() if key not in ("place", *later)} for row in rows]
                for rows in (recorded, rows_of(results)))
    return list(of_json(json.dumps(there).encode(), json.dumps(here).encode()))
