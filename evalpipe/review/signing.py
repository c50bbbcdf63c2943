"""`evalpipe sign`: the sign-off of a card that exists, which leaves its evidence as it is.

It is a conductor beside `evalpipe.run`: it verifies an output folder, renders its card and writes both.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from evalpipe.base.ed25519 import signer
from evalpipe.base.folders import signals_postponed
from evalpipe.base.formats import REFERENCE, RESULTS, SIGNATURES
from evalpipe.errors import DataError, UsageError
from evalpipe.results import UNREADABLE_RESULTS
from evalpipe.results.observed import EarlierRun, NoEarlier
from evalpipe.results.signatures import Signature, faults, newest, records_json, roles_by_person
from evalpipe.run import templates_from
from evalpipe.runs.folder import RunFolder
from evalpipe.runs.record import locked_output, put_files
from evalpipe.runs.references import next_references, references_in_folder
from evalpipe.words.sentences import sentence
from evalpipe.words.spelling import joined

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from evalpipe.base.ed25519 import Signer
    from evalpipe.results import Gate, Results
    from evalpipe.results.comments import Comment
    from evalpipe.results.signatures import Decision
    from evalpipe.templating.files import Templates
    from evalpipe.words.card_fields import Role


@dataclass(frozen=True, slots=True)
class SignedCard:
    """The outcome of signing a card: the signature, the new status of the document, and the files written.

    ``unchecked`` says, a sentence each, what could not be compared before it was signed.
    """

    signature: Signature
    status: str
    files: tuple[str, ...]
    unchecked: tuple[str, ...] = ()


def sign(
    folder: str | os.PathLike[str], *, role: Role, name: str, decision: Decision, date: str | dt.date,
    conditions: Sequence[str] = (), expires: str | dt.date | None = None, organisation: str | None = None,
    template: str | os.PathLike[str] | Literal[False] | None = None, key: str | os.PathLike[str] | None = None,
    ledger: str | None = None,
) -> SignedCard:
    """Add a signature to the card in an output folder: a decision on its results, which stay as they are.

    The folder must be what its run wrote, and what the ``ledger`` has of it: a file or a URL, by default that of the
    spec, or the one beside the folder. The card is then rendered again in the formats that are there, signed.
    Days are ISO texts or dates; the clock is never read, so the same call gives the same bytes. ``template`` is as of
    `evalpipe.render`, where the card was rendered with it; ``key`` signs the manifest, which follows. Raises UsageError
    with every wrong argument, DataError where a file was changed or cannot be read. Nothing is written then.
    """
    # What is no list of texts is left for the check.
    trimmed_conditions = [trimmed(text) for text in conditions] if isinstance(conditions, list | tuple) else conditions
    fields: dict[str, object] = {
        "role": role, "name": trimmed(name), "organisation": trimmed(organisation), "date": iso_day(date),
        "decision": decision, "conditions": trimmed_conditions, "expires": iso_day(expires)}
    problems = list(faults(fields))
    if problems:
        raise UsageError(*problems)

    from evalpipe.card.sign_off import needs_distinct_people, status_text

    def added(results: Results, run: RunFolder) -> ReviewedCard:
        """Return the card with the new signature; raises UsageError where it must not be added."""
        earlier = run.signatures
        signature = Signature.model_validate(fields | {"evidence_sha256": results.evidence_sha256})
        _refuse_out_of_order(signature, earlier)
        signatures = (*earlier, signature)
        for person, roles in roles_by_person(signatures).items() if needs_distinct_people(results) else ():
            others = [other for other in roles if other != signature.role]
            if signature.role in roles:
                message = f"{person} has signed as {joined(others, 'and')}, and the spec has 'card.sign_off.distinct'"
                raise UsageError.of("same-signer", message, f"another person signs as {signature.role}")
        return ReviewedCard(SIGNATURES, results, signatures, run.comments)

    card, files, unchecked = add_to_card(folder, added, templates_from(template), signer(key), ledger)
    return SignedCard(card.signatures[-1], status_text(card.results, card.signatures), files, unchecked)


class ReviewedCard(NamedTuple):
    """Results, who signed them and who commented on them, and which of the two files has a new record."""

    new: str
    results: Results
    signatures: tuple[Signature, ...]
    comments: tuple[Comment, ...]


def add_to_card(
    folder: str | os.PathLike[str], added: Callable[[Results, RunFolder], ReviewedCard], templates: Templates | None,
    key: Signer | None, ledger: str | None,
) -> tuple[ReviewedCard, tuple[str, ...], tuple[str, ...]]:
    """Lock and verify the folder, write what was ``added``, and render its card again; ``key`` signs the manifest.

    Returns the card with it, the paths of the files written, and what could not be compared, a sentence each.
    """
    from evalpipe.card import render
    from evalpipe.review.ledger_records import refuse_other_record
    from evalpipe.runs.verification import PDF, not_compared, verified_results

    run = RunFolder(folder)
    if not run.path.is_dir():
        raise DataError.of("no-results", f"there is no output folder '{folder}'", "name the folder that a run wrote")
    with locked_output(folder) as target:
        results = verified_results(run, templates)
        ledger_check = refuse_other_record(run, ledger)
        reviewed = added(results, run)
        reason = not_compared(run.content(PDF)) if run.has(PDF) else None
        card = render(results, run.formats, reviewed.signatures, templates, comments=reviewed.comments)
        records = records_json(reviewed.signatures if reviewed.new == SIGNATURES else reviewed.comments)
        put_files(target, {reviewed.new: records, **card}, key)
    unchecked = [] if reason is None else [f"{PDF} as it was: {reason}; it was drawn again, read it"]
    if ledger_check is not None and ledger_check.status == "not checked":
        unchecked.append(f"{ledger_check.file}: {ledger_check.reason}")
    return reviewed, tuple(str(run.path / name) for name in (*card, reviewed.new)), tuple(unchecked)


def _refuse_out_of_order(signature: Signature, earlier: Sequence[Signature]) -> None:
    """Raise UsageError for a signature that exists already, or is dated before the newest one of its role."""
    signer_line = f"{signature.name} ({signature.role}), {signature.date}"
    if signature in earlier:
        hint = "nothing is to be done; a further decision has another day or other conditions"
        raise UsageError.of("already-signed", f"this signature is there already: {signer_line}", hint)
    last = newest(earlier).get(signature.role)
    if last is not None and signature.date < last.date:
        message = f"the {signature.role} has signed on {last.date}, after {signature.date}"
        raise UsageError.of("bad-date", message, "the newest decision of a role counts: give its day")


def trimmed(text: str | None) -> str | None:
    """Return a text without white space around it; other types are returned unchanged, to be reported later."""
    return text.strip() if isinstance(text, str) else text


def iso_day(day: object) -> object:
    """Return a date as ISO text; other types are returned unchanged, to be reported later."""
    return f"{day:%Y-%m-%d}" if isinstance(day, dt.date) else day


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
    from evalpipe.review.ledger_records import ledger_of, refuse_other_record, sequences_restarted
    from evalpipe.runs.verification import verified_results

    run_folder = RunFolder(folder)
    kept_references, signing_key = references_in_folder(run_folder.path, str(folder)), signer(key)
    place = ledger_of(run_folder.path, ledger)
    run_folder.content(RESULTS, UNREADABLE_RESULTS)  # before the folder is locked, which a missing one cannot be
    with locked_output(folder) as target:
        run_folder = RunFolder(folder)
        results = verified_results(run_folder, templates_from(template))
        refuse_other_record(run_folder, ledger)
        restart = sequences_restarted(results, place)
        run = EarlierRun(results, REFERENCE, run_folder.content(RESULTS))
        files = next_references(run, NoEarlier(sentence("no-run-kept")), run_folder.path, fit=True, accepted=True)
        with signals_postponed("the new output is complete"), restart:
            put_files(target, files, signing_key)
    before = kept_references[0] if isinstance(kept_references, list) and kept_references else None
    if before is not None:
        before = replace(before, names={former_name: name for name, former_name in results.renamed.items()})
    now = EarlierRun(results, RESULTS, b"")
    return results, [ReferenceChange(gate, _observed_value(before, gate), _observed_value(now, gate))
                     for gate in results.gates if gate.against == "last"]


def _observed_value(run: EarlierRun | None, gate: Gate) -> float | None:
    """Return the value in a run of the number that a verdict is on; None where the run has none."""
    observed = None if run is None else run.observed(gate)
    return None if observed is None else observed.value
