"""What the ledger recorded of an output folder under review: of its run, its reference, and the nights before it.

Where a folder and the ledger that its run is recorded in disagree, one of the two was changed.
"""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from evalpipe.base.formats import RESULTS
from evalpipe.errors import DataError, EvalpipeError, Problem
from evalpipe.ledger.entries import FILE as LEDGER_FILE
from evalpipe.ledger.entries import OPTION, LedgerPlace, facts
from evalpipe.ledger.history import evidence_again, ledger_to_read, reference_in_ledger
from evalpipe.results.sequences import begins_anew
from evalpipe.results.signatures import EVIDENCE_DIGITS
from evalpipe.review.origins import CheckedFile, Origins
from evalpipe.runs.verification import difference_notes, json_differences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from sqlalchemy import ColumnElement

    from evalpipe.ledger.entries import Row
    from evalpipe.ledger.store import Ledger
    from evalpipe.results import Results
    from evalpipe.results.document import RunVerdict
    from evalpipe.runs.folder import RunFolder
    from evalpipe.spec.spec import Spec

__all__ = [
    "LEDGER_FILE", "LedgerPlace", "RecordedRun", "changed_keys", "check_ledger", "check_nights", "evidence_again",
    "ledger_of", "recorded_runs", "reference_in_ledger", "refuse_other_record", "sequences_restarted",
]

LEDGER_UNKNOWN = "the spec, which may name it, is not known: name the ledger with --ledger, or the spec with --spec"
ADDED_LATER = ("value", "error", "rows", "support")
"""What a ledger of before format 3 has not of the evidence of a night."""


def check_ledger(results: Results | None, origins: Origins, address: str | None) -> CheckedFile | None:
    """Return the check of a folder's results against all that a ledger recorded of them; None without a ledger.

    The ledger is the one at ``address``, a file or a URL, else that of the spec, else that beside the folder. It is
    "not checked" where the ledger or the results cannot be read.
    """
    place, uncertainty, text_in_spec = _ledger_place(origins, address)
    if place is None:
        return None if uncertainty is None else CheckedFile("ledger", "the ledger", "not checked", uncertainty)
    if results is None:
        file = CheckedFile("ledger", place.shown, "not checked", f"{RESULTS}, which is held to it, cannot be read")
    else:
        try:
            place.found()  # before SQLAlchemy is imported, which a ledger that is not there does not need
            from evalpipe.ledger.store import Ledger

            file = _compare_with_run(Ledger.read(place), results, origins.folder.path)
        except EvalpipeError as error:
            remedy = f"; name another with {OPTION}, as after a run with --set ledger=…" if address is None else ""
            reason = uncertainty or f"{error.problems[0].message}{remedy}"
            file = CheckedFile("ledger", place.shown, "not checked", reason)
    if text_in_spec is None:
        return file
    # What the environment holds is not shown, as nowhere else.
    return replace(file, file=text_in_spec, reason=file.reason.replace(place.shown, text_in_spec))


def refuse_other_record(folder: RunFolder, address: str | None) -> CheckedFile | None:
    """Return the check of a folder's results against a ledger; raises DataError where they differ.

    The ledger is the one at ``address``, else that of the spec, else that beside the folder. Returns None without one.
    """
    checked = check_ledger(folder.results, Origins(folder, folder.manifest), address)
    if checked is not None and checked.status == "differs":
        message = f"the ledger '{checked.file}' does not agree with {folder.results_file}: {checked.reason}"
        hint = (f"see which was changed: evalpipe verify {folder.path} --recompute; or run again, and look at the new "
                "results")
        raise DataError(Problem("other-in-ledger", message, hint=hint, notes=checked.notes))
    return checked


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run that a ledger has.

    ``limits`` returns the verdict on each of its limits, ``spec`` the digest of each key of its spec, None in a ledger
    of an earlier format; both are read when they are asked.
    """

    name: str
    as_of: str | None
    last_recorded: str
    folder: Path
    results_sha256: str
    verdict: RunVerdict
    limits: Callable[[], list[str]]
    spec: Callable[[], dict[str, Any] | None]


def changed_keys(recorded: RecordedRun, results: Results) -> list[str]:
    """Return the keys of the spec, but for its day, that results have otherwise than a recorded run; sorted."""
    before, now = recorded.spec(), facts(results)["spec"]
    return [] if before is None else sorted(key for key in {*before, *now} if before.get(key) != now.get(key))


def recorded_runs(place: LedgerPlace) -> list[RecordedRun]:
    """Return all runs of a ledger, the oldest of each name first; raises UsageError where it cannot be read."""
    from evalpipe.ledger.nights import facts_of, runs_by_name, verdicts_of
    from evalpipe.ledger.store import Ledger

    ledger = Ledger.read(place)

    def verdicts(run: int) -> list[str]:
        return [limit["verdict"] for limit in verdicts_of(ledger, run)]

    def spec(run: int) -> dict[str, Any] | None:
        facts = facts_of(ledger, run)
        return None if facts is None else dict(facts["spec"])

    return [RecordedRun(row["name"], row["as_of"], row["last_recorded"], place.path_of(row["folder"]),
                        row["results_sha256"], row["verdict"] or "none", partial(verdicts, row["run"]),
                        partial(spec, row["run"]))
            for row in runs_by_name(ledger)]


def _ledger_place(origins: Origins, address: str | None) -> tuple[LedgerPlace | None, str | None, str | None]:
    """Return the place of the ledger, the reason why that is uncertain, and its text in the spec, if that has a "${".

    There is no ledger where both the place and the reason are None. The ledger is the one at ``address``, a file or a
    URL, else that of the spec, else that beside the output folder.
    """
    from evalpipe.plan.resolve import ledger_named
    from evalpipe.run import load

    if address is not None:
        return LedgerPlace.of(address), None, None
    folder = origins.folder.path
    default, uncertainty = LedgerPlace.default_for(folder), LEDGER_UNKNOWN
    if origins.spec is not None and origins.spec.is_file():
        manifest = origins.manifest
        overrides, day = ([], None) if manifest is None else (manifest.overrides, manifest.as_of)
        try:
            spec = load(str(origins.spec), overrides, as_of=day)
            text_in_spec = spec.ledger if isinstance(spec.ledger, str) and "${" in spec.ledger else None
            return LedgerPlace.named(ledger_named(spec), folder), None, text_in_spec
        except EvalpipeError as error:
            uncertainty = f"the spec, which names it, cannot be read: {error.problems[0].message}"
    return (default if default.file is not None and default.file.exists() else None), uncertainty, None


def _compare_with_run(ledger: Ledger, results: Results, folder: Path) -> CheckedFile:
    """Return the check of results against the ledger's newest run of their folder, or of their sha256, or day."""
    from evalpipe.ledger.store import RUNS

    results_sha256, shown = results.evidence_sha256, ledger.place.shown
    of_folder = RUNS.c.folder == ledger.place.folder(folder)
    of_day = (RUNS.c.name == results.name) & (RUNS.c.as_of == results.as_of)
    conditions = (of_folder, RUNS.c.results_sha256 == results_sha256, of_day)
    run = next(filter(None, (_newest_run(ledger, condition) for condition in conditions)), None)
    if run is None:
        return CheckedFile("ledger", shown, "not checked", "it has no run of this folder")
    notes = tuple(difference_notes(_record_differences(ledger, run, results), "the ledger"))
    if run["results_sha256"] != results_sha256:
        is_same_folder = run["folder"] == ledger.place.folder(folder)
        subject = "this folder" if is_same_folder else f"{results.name} as of {run['as_of']}"
        # The ledger knows these results too, so the run that it has as the newest was recorded after theirs.
        later = "later" if ledger.knows(folder, results_sha256) else "other"
        recorded_digits, digits = (digest[:EVIDENCE_DIGITS] for digest in (run["results_sha256"], results_sha256))
        reason = (f"it has {later} results of {subject}: their sha256 begins with {recorded_digits}, that of "
                  f"results.json with {digits}")
        return CheckedFile("ledger", shown, "differs", reason, notes)
    if notes:
        return CheckedFile("ledger", shown, "differs", "its row of these results is not what results.json says", notes)
    return CheckedFile("ledger", shown, "same", "evalpipe gc has removed its numbers" if run["forgotten"] else "")


def _newest_run(ledger: Ledger, condition: ColumnElement[bool]) -> Row | None:
    """Return the last recorded run in a ledger that meets a SQL condition; None without any."""
    from sqlalchemy import select

    from evalpipe.ledger.store import RUNS

    newest = select(RUNS).where(condition).order_by(RUNS.c.last_recorded.desc(), RUNS.c.run.desc()).limit(1)
    return next(iter(ledger.read_rows(newest)), None)


def _record_differences(ledger: Ledger, run: Row, results: Results) -> list[tuple[str, object, object]]:
    """Return how the ledger's rows of a run differ from those that it would record of ``results``: place, old, new."""
    from evalpipe.ledger.entries import estimate_rows, evidence_rows, run_row, verdict_rows
    from evalpipe.ledger.store import ESTIMATES, EVIDENCE, VERDICTS

    expected = run_row(results)
    # Sentences are of the version that wrote them. Earlier formats have no facts, no sha256 of inputs, and no verdict
    # where nothing was judged.
    not_compared = {"results_sha256", *(key for key in ("inputs_sha256", "facts") if run[key] is None)}
    compared = [key for key in expected if key not in not_compared]
    recorded_rows: Row = {key: run[key] for key in compared} | {"verdict": run["verdict"] or "none"}
    expected_rows: Row = {key: expected[key] for key in recorded_rows}
    tables = {"estimates": (ESTIMATES, estimate_rows), "gates": (VERDICTS, verdict_rows),
              "evidence": (EVIDENCE, evidence_rows)}
    for name, (table, rows_of) in tables.items():
        if name == "evidence" or not run["forgotten"]:
            recorded = ledger.rows_of(table, [run["run"]])[run["run"]]
            missing = ADDED_LATER if any(row.get("rows", 0) is None for row in recorded) else ()
            recorded_rows[name], expected_rows[name] = (
                [{key: value for key, value in row.items() if key not in ("place", "reason", *missing)} for row in rows]
                for rows in (recorded, rows_of(results)))
    return list(json_differences(json.dumps(recorded_rows).encode(), json.dumps(expected_rows).encode()))


def check_nights(spec: Spec, results: Results | None, folder: Path) -> Iterator[CheckedFile]:
    """Yield whether the earlier nightly runs in the results, used again by the repeated run, are in the ledger now."""
    from evalpipe.ledger.since_last_run import changed_nights

    subject = "the earlier nights"
    if results is None or results.trend.sha256 is None:
        return
    try:
        ledger = ledger_to_read(spec, folder)
        changed = [] if ledger is None else changed_nights(spec, results, ledger)
    except EvalpipeError as error:
        yield CheckedFile("recomputed", subject, "not checked", error.problems[0].message)
        return
    reason = "the ledger has others now; the run again was given those in results.json" if changed else ""
    yield CheckedFile("recomputed", subject, "differs" if changed else "same", reason, tuple(changed))


def ledger_of(folder: Path, address: str | None) -> LedgerPlace:
    """Return the place of the ledger of an output folder: ``address``, a file or a URL, else the file beside it.

    Raises UsageError where the address names none.
    """
    return LedgerPlace.default_for(folder) if address is None else LedgerPlace.of(address)


def sequences_restarted(results: Results, place: LedgerPlace) -> AbstractContextManager[None]:
    """Return a context that restarts the sequences of gates after the day of a run, if it ends without an error.

    It does nothing for a run that `begins_anew` is false of. Raises UsageError where the ledger cannot be read.
    """
    from evalpipe.ledger.store import Ledger

    if not begins_anew(results):
        return nullcontext()
    return Ledger.read(place).sequences_restarted(results.name, str(results.as_of))
