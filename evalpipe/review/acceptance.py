"""`evalpipe accept`: a run becomes the reference of later ones, whether its gates held or not."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from evalpipe.base.ed25519 import signer
from evalpipe.base.folders import signals_postponed
from evalpipe.base.formats import REFERENCE, RESULTS
from evalpipe.chapters.gates.compute_numbers import EarlierRun, NoEarlier
from evalpipe.chapters.gates.earlier_runs import kept_in, next_references
from evalpipe.ledger.place import LedgerPlace
from evalpipe.results import UNREADABLE_RESULTS
from evalpipe.run import templates_from
from evalpipe.runs.folder import RunFolder
from evalpipe.runs.record import locked_output, put_files
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    import os

    from evalpipe.results import Gate, Results


@dataclass(frozen=True, slots=True)
class ReferenceChange:
    """What `accept` does to a verdict against the reference: the value before, if there was one, and from now on."""

    gate: Gate
    before: float | None
    after: float | None


def accept(
    folder: str | os.PathLike[str], *, key: str | os.PathLike[str] | None = None, ledger: str | None = None,
    template: str | os.PathLike[str] | Literal[False] | None = None,
) -> tuple[Results, list[ReferenceChange]]:
    """Make the newest run in an output folder the reference of gates `against: last`, whether it held or not.

    The folder must be what its run wrote, and what a ledger has of it, as to be signed; ``template`` is as of `sign`.
    Its gates `on: sequence` begin anew on the day after: so the ``ledger`` has it, a file or a URL, by default that
    beside the folder. Returns its results, and for each of its verdicts against the reference the value before and from
    now on. The manifest follows, signed as by `run`. Raises DataError for a folder without results, or of which a file
    was changed; UsageError where it, or the ledger, cannot be written. Nothing is written then.
    """
    from evalpipe.ledger.store import Ledger
    from evalpipe.review.checking.origins import refuse_other_record
    from evalpipe.runs.verification import verified

    run_folder = RunFolder(folder)
    kept_references, signing_key = kept_in(run_folder.path, str(folder)), signer(key)
    place = LedgerPlace.default_for(run_folder.path) if ledger is None else LedgerPlace.of(ledger)
    run_folder.content(RESULTS, UNREADABLE_RESULTS)  # before the folder is locked, which a missing one cannot be
    with locked_output(folder) as target:
        run_folder = RunFolder(folder)
        results, _ = verified(run_folder, templates_from(template))
        refuse_other_record(run_folder, ledger)
        nightly_ledger = Ledger.read(place) if begins_anew(results) else None
        run = EarlierRun(results, REFERENCE, run_folder.content(RESULTS))
        files = next_references(run, NoEarlier(sentence("no-run-kept")), run_folder.path, fit=True, accepted=True)
        day = str(results.as_of)
        restart = nullcontext() if nightly_ledger is None else nightly_ledger.begun_anew(results.name, day)
        with signals_postponed("the new output is complete"), restart:
            put_files(target, files, signing_key)
    former_reference = kept_references[0] if isinstance(kept_references, list) and kept_references else None
    return results, _reference_changes(results, former_reference)


def begins_anew(results: Results) -> bool:
    """Tell whether accepting a run restarts the sequences of its spec: it has a day and gates `on: sequence`."""
    return results.as_of is not None and any(gate.on == "sequence" for gate in results.gates)


def _reference_changes(results: Results, before: EarlierRun | None) -> list[ReferenceChange]:
    """Return what each verdict `against: last` compares with: in the run ``before``, and then in ``results``."""
    new_reference = EarlierRun(results, RESULTS, b"")
    current_names = {former_name: name for name, former_name in results.renamed.items()}
    old_reference = None if before is None else replace(before, names=current_names)
    return [ReferenceChange(gate, _observed_value(old_reference, gate), _observed_value(new_reference, gate))
            for gate in results.gates if gate.against == "last"]


def _observed_value(run: EarlierRun | None, gate: Gate) -> float | None:
    """Return the value in a run of the number that a verdict is on; None where the run has none."""
    observed = None if run is None else run.observed(gate)
    return None if observed is None else observed.value
