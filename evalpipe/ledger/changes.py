"""What a run would read of its ledger now that is not what the run before it read: nights, evidence, the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.chapters.gates.compute import changed_sequences
from evalpipe.chapters.gates.compute_numbers import EarlierRun
from evalpipe.chapters.gates.earlier_runs import Tonight, reference_for
from evalpipe.ledger.history import ledger_to_read, nights_before, runs_charted, warnings_of_ledger
from evalpipe.ledger.nights import evidence_before
from evalpipe.results.document import OF_LEDGER
from evalpipe.results.signatures import EVIDENCE_DIGITS

if TYPE_CHECKING:
    from pathlib import Path

    from evalpipe.ledger.store import Ledger
    from evalpipe.results import Results
    from evalpipe.spec.spec import Spec


def changed_in_ledger(spec: Spec, results: Results, out: Path) -> list[str]:
    """Return, in words, what the ledger has of earlier nights that is not what the run of ``results`` read.

    ``out`` is the output folder, beside which the ledger is where the spec names none. It is read only where the
    results rest on earlier nights. Raises UsageError where it cannot be.
    """
    warned = [warning for warning in results.warnings if warning.code in OF_LEDGER]
    rests = results.trend.sha256 is not None or any(gate.sequence or gate.against == "last" for gate in results.gates)
    ledger = ledger_to_read(spec, out) if warned or (rests and spec.as_of is not None) else None
    if ledger is None:
        return []
    changed = [] if warnings_of_ledger(ledger, results, out) == warned else ["what the run before it had"]
    if spec.as_of is None:
        return changed
    changed += changed_nights(spec, results, ledger)
    if any(gate.sequence for gate in results.gates):
        evidence = evidence_before(ledger, spec.name, spec.as_of)
        changed += [f"the evidence of earlier nights on gate {number}"
                    for number in changed_sequences(results, evidence)]
    last = [gate for gate in results.gates if gate.against == "last"]
    nights = nights_before(ledger, results, last, out)
    now = reference_for(Tonight.of(results), out, "", nights) if last else None
    if isinstance(now, EarlierRun) and now.sha256 != last[0].against_sha256:
        begins, began = (sha256[:EVIDENCE_DIGITS] for sha256 in (now.sha256, last[0].against_sha256 or "none"))
        changed.append(f"the reference is the run as of {now.results.as_of} with a sha256 that begins with {begins}, "
                       f"not {began}")
    return changed


def changed_nights(spec: Spec, results: Results, ledger: Ledger) -> list[str]:
    """Return, in words, each earlier night of the trend of ``results`` that is another in a ledger now.

    Empty where the results hold no nights of a ledger. Raises UsageError where it cannot be read.
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
            what = "was not there" if day not in then else "is no longer there"
        else:
            digits = now[day][:EVIDENCE_DIGITS], then[day][:EVIDENCE_DIGITS]
            what = f"has results with a sha256 that begins with {digits[0]}, not {digits[1]}"
        changed.append(f"the night of {day} {what}")
    return changed
