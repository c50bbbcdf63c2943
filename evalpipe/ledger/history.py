"""Step 3: the ledger that a run is recorded in, and what it holds of the nights before.

All that reads a ledger raises UsageError where it cannot be read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evalpipe.base.formats import RESULTS
from evalpipe.chapters.gates.earlier_runs import NO_NIGHTS, EarlierNights, Night
from evalpipe.chapters.gates.plan import gates_plan
from evalpipe.chapters.trend.compute import EarlierNight
from evalpipe.chapters.trend.plan import trend_plan
from evalpipe.errors import UsageError
from evalpipe.ledger.place import LedgerPlace
from evalpipe.plan.resolve import ledger_named
from evalpipe.runs.folder import RunFolder

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from evalpipe.base.databases import DatabaseUri
    from evalpipe.chapters.gates.plan import GatePlan
    from evalpipe.ledger.entries import Row
    from evalpipe.ledger.store import Ledger
    from evalpipe.plan.plan import Plan
    from evalpipe.results import Gate, Results, Warned
    from evalpipe.spec.spec import Spec


def open_ledger(named: DatabaseUri | bool, out: Path) -> Ledger | None:  # noqa: FBT001 - as a plan has it
    """Reach the ledger of an output folder, and record in it the results there that it lacks; None for none.

    It lacks those of a run that was killed before it could record them. Raises UsageError where it cannot be used.
    """
    place = LedgerPlace.named(named, out)
    if place is None:
        return None
    from evalpipe.ledger.store import Ledger

    ledger = Ledger.open(place)
    ledger.catch_up(out)
    return ledger


def ledger_to_read(spec: Spec, out: Path) -> Ledger | None:
    """Reach the ledger of an output folder to read from it; None where the spec has none."""
    from evalpipe.ledger.store import Ledger

    place = LedgerPlace.named(ledger_named(spec), out)
    return None if place is None else Ledger.read(place)


def enter(ledger: Ledger, results: Results, out: Path, shown: str) -> None:
    """Record a run of an output folder, called ``shown``, in the ledger.

    Raises UsageError, which says that the output is complete all the same.
    """
    try:
        ledger.record(results, out)
    except UsageError as error:
        note = f"the new output in '{shown}' is complete; the next run to it is recorded with this one"
        raise UsageError(*(replace(problem, notes=(*problem.notes, note)) for problem in error.problems)) from None


def earlier_nights(plan: Plan, ledger: Ledger) -> tuple[EarlierNight, ...]:
    """Return the nights before this one that the trend of a plan is made of, the oldest first; none without a trend.

    Raises UsageError where the ledger cannot be read.
    """
    trend = plan.part(trend_plan)
    if trend is None or plan.as_of is None:
        return ()
    from evalpipe.ledger.nights import estimates_of, under_new_names

    period = None if trend.control is None else trend.control.period
    runs = runs_charted(ledger, plan.name, plan.as_of, trend.nights, period, plan.renamed)
    estimates = estimates_of(ledger, [run["run"] for run in runs], trend.metrics)
    return tuple(EarlierNight.of_ledger(run, under_new_names(estimates[run["run"]], run["names"])) for run in runs)


def nights_before(
    ledger: Ledger | None, of: Plan | Results, gates: Iterable[Gate | GatePlan], out: Path
) -> EarlierNights:
    """Return the nights before that ``of`` a plan, or of results, whose folders may have a reference for its ``gates``.

    ``out`` is the output folder. There are none where no gate is `against: last`, or there is no day or no ledger.
    """
    if ledger is None or all(gate.against != "last" for gate in gates):
        return NO_NIGHTS
    from evalpipe.ledger.nights import names_now, nights, runs_in

    of_folder = runs_in(ledger, out)
    runs = of_folder if of.as_of is None else nights(ledger, of.name, of.as_of, forgotten=True)
    names = {run["results_sha256"]: now for run, now in zip(runs, names_now(runs, of.renamed), strict=True)}
    earlier = () if of.as_of is None else tuple(
        Night(ledger.place.path_of(run["folder"]), run["results_sha256"]) for run in reversed(runs))
    return EarlierNights(earlier, frozenset(run["results_sha256"] for run in of_folder), names)


def reference_in_ledger(spec: Spec, sha256: str, out: Path) -> Path | None:
    """Return the file of results with a sha256, which the ledger of an output folder leads to; None without any."""
    from evalpipe.ledger.nights import nights

    ledger = ledger_to_read(spec, out)
    runs = [] if ledger is None else nights(ledger, spec.name, forgotten=True)
    folders = [RunFolder(ledger.place.path_of(run["folder"]))
               for run in runs if ledger and run["results_sha256"] == sha256]
    return next((folder.results_file for folder in folders if folder.sha256_if_readable(RESULTS) == sha256), None)


def earlier_evidence(plan: Plan, ledger: Ledger | None) -> list[Row]:
    """Return the evidence of the nights before this one on gates `on: sequence`; none where no gate is.

    Raises UsageError where the ledger cannot be read.
    """
    sequential = any(gate.rule.on == "sequence" for gate in plan.part(gates_plan))
    if ledger is None or plan.as_of is None or not sequential:
        return []
    from evalpipe.ledger.nights import evidence_before

    return evidence_before(ledger, plan.name, plan.as_of)


def evidence_again(spec: Spec, out: Path) -> list[Row]:
    """Return the same for a run again of the one in an output folder, from the ledger of that."""
    from evalpipe.ledger.nights import evidence_before

    if spec.as_of is None or all(gate.on != "sequence" for gate in spec.gates or ()):
        return []
    ledger = ledger_to_read(spec, out)
    return [] if ledger is None else evidence_before(ledger, spec.name, spec.as_of)


def runs_charted(
    ledger: Ledger, name: str, as_of: str, count: int, period: tuple[str, str] | None, renamed: Mapping[str, str],
    charted: Mapping[str, str] | None = None,
) -> list[Row]:
    """Return the newest runs of a name before a day, ``count`` of them, and those of a period, the oldest first.

    ``renamed`` are the former names of models, by their names; ``names`` of a run are those that it has under the names
    of its time, and what they are called now. Of the nights that `evalpipe gc` has forgotten those count that were
    ``charted`` before: the sha256 of their results by day.
    """
    from evalpipe.ledger.nights import names_now, nights

    before = [night for night in nights(ledger, name, as_of, forgotten=True)
              if not night["forgotten"] or (charted or {}).get(night["as_of"]) == night["results_sha256"]]
    first, last = period or ("", "")
    return [{**run, "names": names}
            for place, (run, names) in enumerate(zip(before, names_now(before, renamed), strict=True), 1)
            if place > len(before) - count or first <= run["as_of"] <= last]


def warnings_of_ledger(ledger: Ledger, results: Results, out: Path) -> list[Warned]:
    """Return warnings of what the run before this one had and this one has not, and of former names nobody knows.

    The run before is the latest night before that of ``results`` or, without a day, the last run of the output folder
    that was of another spec or other data.
    """
    from evalpipe.ledger.entries import run_row
    from evalpipe.ledger.nights import nights, runs_in
    from evalpipe.ledger.warnings import gone, unknown_names

    if results.as_of is not None:
        before = nights(ledger, results.name, results.as_of, last=1)
    else:
        same = ("spec_sha256", "inputs_sha256")
        now = run_row(results)
        before = [run for run in runs_in(ledger, out) if any(run[key] != now[key] for key in same)][-1:]
    return [*(warning for run in ledger.with_numbers(before) for warning in gone(run, results)),
            *unknown_names(ledger, results)]
