"""`evalpipe comment`: a challenge of a finding, or an answer to one, added to a card whose evidence stays as it is.

It is a conductor beside `evalpipe.run`, and adds to a card as `signing.py` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from evalpipe.base.digests import bytes_sha256
from evalpipe.base.ed25519 import signer
from evalpipe.base.formats import COMMENTS
from evalpipe.card.comments import Discussion
from evalpipe.errors import Problem, UsageError
from evalpipe.results.comments import Comment, faults, reply_problems, subjects
from evalpipe.results.signatures import records_json
from evalpipe.review.signing import ReviewedCard, add_to_card, iso_day, trimmed
from evalpipe.run import templates_from
from evalpipe.words.spelling import clipped, closest, quoted

if TYPE_CHECKING:
    import datetime as dt
    import os

    from evalpipe.results import Results
    from evalpipe.runs.folder import RunFolder
    from evalpipe.words.card_fields import Role


@dataclass(frozen=True, slots=True)
class CommentedCard:
    """The outcome of a comment: the comment, what the card says of all of them, and the files written.

    ``unchecked`` says, a sentence each, what could not be compared before it was written.
    """

    comment: Comment
    status: str
    files: tuple[str, ...]
    unchecked: tuple[str, ...] = ()


def comment(
    folder: str | os.PathLike[str], text: str, *, name: str, date: str | dt.date, on: str | None = None,
    reply_to: int | None = None, role: Role | None = None,
    template: str | os.PathLike[str] | Literal[False] | None = None, key: str | os.PathLike[str] | None = None,
    ledger: str | None = None,
) -> CommentedCard:
    """Add a comment to the card in an output folder: ``text``, in Markdown, ``on`` a finding, a gate or the verdict.

    ``on`` is the code of a finding, "calibration/2" where several have one code, "gate 3", or "verdict". An answer has
    the number of the comment that it is ``reply_to`` instead. The folder must be what its run wrote, the clock is never
    read, and ``template``, ``key`` and ``ledger`` are as of `evalpipe.sign`. Raises UsageError with every wrong
    argument, DataError where a file was changed or cannot be read. Nothing is written then.
    """
    fields: dict[str, object] = {
        "on": trimmed(on), "reply_to": reply_to, "name": trimmed(name), "role": trimmed(role), "date": iso_day(date),
        "text": trimmed(text)}
    problems = list(faults(fields))
    if problems:
        raise UsageError(*problems)

    def added(results: Results, run: RunFolder) -> ReviewedCard:
        """Return the card with the new comment; raises UsageError where it must not be added."""
        signatures, earlier = run.signatures, run.comments
        answered = next((other for other in earlier if other.number == reply_to), None)
        if answered is not None and fields["on"] is None:
            fields["on"] = answered.on
        problems = [*reply_problems(fields, [other.model_dump() for other in earlier]),
                    *_subject_problems(fields["on"], subjects(results), is_answer=reply_to is not None)]
        if problems:
            raise UsageError(*problems)
        new = Comment.model_validate(fields | {
            "number": len(earlier) + 1, "evidence_sha256": results.evidence_sha256,
            "signatures_sha256": bytes_sha256(records_json(signatures)) if signatures else None})
        for other in earlier:
            if new.model_copy(update={"number": other.number, "signatures_sha256": other.signatures_sha256}) == other:
                message = f"this comment is there already: comment {other.number}"
                hint = "nothing is to be done; a further comment has other words or another day"
                raise UsageError.of("already-commented", message, hint)
        return ReviewedCard(COMMENTS, results, signatures, (*earlier, new))

    card, files, unchecked = add_to_card(folder, added, templates_from(template), signer(key), ledger)
    discussion = Discussion(card.results, card.signatures, card.comments)
    return CommentedCard(card.comments[-1], discussion.count(), files, unchecked)


def _subject_problems(on: object, known: dict[str, str], *, is_answer: bool) -> list[Problem]:
    """Return a problem where a comment is on nothing, or on nothing that is ``known``; it lists what there is."""
    if (isinstance(on, str) and on in known) or (on is None and is_answer):
        return []
    several = [subject for subject in known if subject.startswith(f"{on}/")]
    message = f"the card has no {quoted(on)} to comment on" if on is not None else "no finding is named"
    message = f"{len(several)} findings are {quoted(on)}" if several else message
    guess = closest(str(on), known)
    hint = f"did you mean '{guess}'?" if guess and not several else "name one of these with --on"
    listed = [(subject, words) for subject, words in known.items() if not several or subject in several]
    width = max(len(subject) for subject, _ in listed)
    return [Problem("unknown-finding", message, hint=hint, notes=tuple(
        f"{subject:<{width}}  {clipped(words)}" for subject, words in listed))]
