"""What a run would read of earlier nights now that is not what the run before it read: these, evidence, reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.base.formats import REFERENCE
from evalpipe.chapters.gates.compute import changed_sequences
from evalpipe.chapters.gates.compute_numbers import EarlierRun
from evalpipe.chapters.gates.earlier_runs import Tonight, has_another_reference, reference_for
from evalpipe.ledger.history import (
    ledger_to_read,
    recorded_nights,
    run_before,
    runs_charted,
    since_run_before,
    warnings_of_ledger,
)
from evalpipe.ledger.nights import evidence_before
from evalpipe.results.document import OF_LEDGER
from evalpipe.results.signatures import EVIDENCE_DIGITS
from evalpipe.runs.folder import NO_NIGHTS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from evalpipe.ledger.store import Ledger
    from evalpipe.results import FailOn, Results
    from evalpipe.spec.spec import Spec


def changed_in_ledger(spec: Spec, results: Results, out: Path) -> list[str]:
    """Return, in words, how the ledger's earlier nightly runs differ from those that the run of ``results`` read.

    ``out`` is the output folder, beside which the ledger is where the spec names none. It is read only where the
    results may rest on earlier nights. Raises UsageError where it cannot be.
    """
    former_warnings = [warning for warning in results.warnings if warning.code in OF_LEDGER]
    ledger = ledger_to_read(spec, out) if former_warnings or spec.as_of is not None else None
    if ledger is None:
        return []
    changed = [] if warnings_of_ledger(ledger, results, out) == former_warnings else ["what the run before it had"]
    if spec.as_of is None:
        return changed
    changed += _changed_night_before(results, ledger, out)
    changed += changed_nights(spec, results, ledger)
    if any(gate.sequence for gate in results.gates):
        evidence = evidence_before(ledger, spec.name, spec.as_of)
        changed += [f"the evidence of earlier nights on gate {number}"
                    for number in changed_sequences(results, evidence)]
    reference_gates = [gate for gate in results.gates if gate.against == "last"]
    nights = recorded_nights(ledger, results, out) if reference_gates else NO_NIGHTS
    reference = reference_for(Tonight.of(results), out, "", nights) if reference_gates else None
    if isinstance(reference, EarlierRun) and reference.sha256 != reference_gates[0].against_sha256:
        then_sha256 = reference_gates[0].against_sha256 or "none"
        changed.append(f"the reference is the run as of {reference.results.as_of} with a sha256 that begins with "
                       f"{reference.sha256[:EVIDENCE_DIGITS]}, not {then_sha256[:EVIDENCE_DIGITS]}")
    return changed


def _changed_night_before(results: Results, ledger: Ledger, out: Path) -> list[str]:
    """Return, in words, that the night before is another one now; one that `evalpipe gc` has forgotten is the same."""
    if since_run_before(ledger, results, out) == results.since:
        return []
    night = run_before(ledger, results, out, forgotten=True)
    now, then = None if night is None else night["as_of"], None if results.since is None else results.since.as_of
    if now != then:
        return [f"the night before is that of {now}, not of {then}" if then else f"the night of {now} is before it now"]
    return [] if night is None or night["forgotten"] else [f"the night of {now} has other rows, numbers or keys"]


def changed_reference(spec: Spec, folder: Path, results: Results, fail_on: FailOn) -> Iterator[str]:
    """Yield a reason where the folder's reference is not the one that the run left, as after `evalpipe accept`."""
    without_ledger = spec.as_of is None or spec.ledger is False
    if has_another_reference(folder, results, fail_on, without_ledger=without_ledger):
        yield f"{REFERENCE} is not the one that the run left"


def changed_nights(spec: Spec, results: Results, ledger: Ledger) -> list[str]:
    """Return, in words, each earlier night in the trend of ``results`` whose run in the ledger is another one now.

    Empty where the trend has no nights from a ledger. Raises UsageError where it cannot be read.
    """
    trend = spec.asked_trend
    if trend is None or spec.as_of is None or results.trend.sha256 is None:
        return []
    baseline = None if trend.limits is None else trend.limits.baseline
    period = None if baseline is None else (baseline.first, baseline.last)
    then = {night.as_of: night.results_sha256 for night in results.trend.nights}
    runs = runs_charted(ledger, spec.name, spec.as_of, trend.nights, period, results.renamed, then)
    now = {run["as_of"]: run["results_sha256"] for run in runs}
    changed = []
    for day in sorted(day for day in {**now, **then} if now.get(day) != then.get(day)):
        if day not in then or day not in now:
            change = "was not there" if day not in then else "is no longer there"
        else:
            digits = now[day][:EVIDENCE_DIGITS], then[day][:EVIDENCE_DIGITS]
            change = f"has results with a sha256 that begins with {digits[0]}, not {digits[1]}"
        changed.append(f"the night of {day} {change}")
    return changed
