"""What people said of findings, gates and the verdict: the records of `comments.json`, beside `signatures.json`.

A comment is a challenge or an answer to one. It is about results, which it names by their sha256, and no part of them.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, get_args

from pydantic import Field, TypeAdapter

from evalpipe.base.digests import bytes_sha256
from evalpipe.base.formats import COMMENTS
from evalpipe.base.records import Record
from evalpipe.errors import DataError, Problem
from evalpipe.results.signatures import (
    RecordList,
    choice_problems,
    day_problems,
    is_day,
    name_problems,
    person,
    records_json,
    text_problems,
)
from evalpipe.words.card_fields import Role
from evalpipe.words.spelling import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from evalpipe.results import Results
    from evalpipe.results.document import Finding
    from evalpipe.results.signatures import Signature

LONGEST_COMMENT = 2_000

VERDICT = "verdict"
"""What a comment on the verdict of the run is on."""


class Comment(Record):
    """What one person said of a finding, a gate or the verdict, or in answer to another comment."""

    number: int
    """Its place among the comments, from 1."""
    on: str
    """What it is about, as `subjects` names it; an answer has that of the comment it answers."""
    reply_to: int | None = None
    """The number of the comment that it answers."""
    name: str
    role: Role | None = None
    date: str
    text: str
    """What is said, in Markdown."""
    signatures_sha256: str | None = Field(default=None, pattern="^[0-9a-f]{64}$")
    """The sha256 of `signatures.json` when it was written; null where nobody had signed."""
    evidence_sha256: str = Field(pattern="^[0-9a-f]{64}$")
    """The sha256 of the `results.json` that it is about."""


def finding_subjects(results: Results) -> list[tuple[str, Finding]]:
    """Return (subject, finding) of each finding: its code, or of several with one code "calibration/2" and so on."""
    several = {code for code, number in Counter(finding.code for finding in results.findings).items() if number > 1}
    numbers: Counter[str] = Counter()
    named = []
    for finding in results.findings:
        numbers[finding.code] += 1
        suffix = f"/{numbers[finding.code]}" if finding.code in several else ""
        named.append((f"{finding.code}{suffix}", finding))
    return named


def gate_subject(number: int) -> str:
    """Return what a comment on a gate is on: "gate 3"."""
    return f"gate {number}"


def subjects(results: Results) -> dict[str, str]:
    """Return all that a comment can be on, with words for it: the verdict, each finding, each gate by its number."""
    titles = {metric.name: metric.title for metric in results.metrics}
    gates = {gate_subject(gate.gate): gate.name or titles.get(gate.metric or "") or gate.check or "desirability"
             for gate in results.gates}
    return {VERDICT: results.verdict, **{subject: finding.text for subject, finding in finding_subjects(results)},
            **gates}


def before_comment(signatures: Sequence[Signature], comment: Comment) -> Sequence[Signature]:
    """Return the signatures that were there when a comment was written; none where they were made anew since."""
    return next((signatures[:count] for count in range(len(signatures), 0, -1)
                 if bytes_sha256(records_json(signatures[:count])) == comment.signatures_sha256), ())


def is_answered(comment: Comment, comments: Sequence[Comment]) -> bool:
    """Tell whether somebody else has answered a comment."""
    return any(other.reply_to == comment.number and person(other.name) != person(comment.name) for other in comments)


def faults(fields: dict[str, Any]) -> Iterator[Problem]:
    """Yield a problem for everything that is wrong with who says what and when, types included."""
    yield from name_problems("name", fields["name"], "give the name of the person who comments with --by")
    if fields["role"] is not None:
        yield from choice_problems("role", fields["role"], get_args(Role))
    yield from day_problems("date", fields["date"], "comment")
    text = fields["text"]
    if not isinstance(text, str) or not any(map(str.isalnum, text)):
        yield Problem("bad-text", f"the text {quoted(text)} has no letter", hint="say what is in doubt, or the answer")
    else:  # it may have several lines
        yield from text_problems("bad-text", "the text", text.replace("\n", " "), LONGEST_COMMENT)


def reply_problems(fields: dict[str, Any], earlier: Sequence[dict[str, Any]]) -> Iterator[Problem]:
    """Yield a problem where a comment answers none of the ``earlier`` ones, or differs from it in its subject."""
    answered = next((other for other in earlier if other["number"] == fields["reply_to"]), None)
    if fields["reply_to"] is None:
        return
    if answered is None:
        hint = f"the last comment is {len(earlier)}" if earlier else "there are no comments yet; leave it out"
        yield Problem("unknown-comment", f"there is no comment {fields['reply_to']} to answer", hint=hint)
    elif fields["on"] != answered["on"]:
        message = f"comment {answered['number']} is on {quoted(answered['on'])}, not on {quoted(fields['on'])}"
        yield Problem("other-subject", message, hint="leave --on out: an answer is on what the comment is on")
    elif is_day(fields["date"]) and is_day(answered["date"]) and fields["date"] < answered["date"]:
        message = f"comment {answered['number']} is of {answered['date']}, after {fields['date']}"
        yield Problem("bad-date", message, hint="give the day of the answer")


def _faults_in_order(comments: Sequence[dict[str, Any]]) -> Iterator[tuple[int, Problem]]:
    """Yield the index and a problem of each comment whose fields are wrong, or that has not its place as its number."""
    for index, fields in enumerate(comments):
        if fields["number"] != index + 1:
            yield index, Problem("bad-number", f"its number is {fields['number']}, not {index + 1}")
        for problem in (*faults(fields), *reply_problems(fields, comments[:index])):
            yield index, problem


COMMENT_LIST = RecordList(
    COMMENTS, "comments", "comment on", "commented on", lambda comment: quoted(comment.name),
    TypeAdapter(list[Comment]), _faults_in_order, lambda message, hint: DataError.of("not-comments", message, hint))
"""The file of comments."""


def refuse_unknown_subjects(comments: Sequence[Comment], results: Results, path: Path) -> None:
    """Raise DataError where a comment in the file at ``path`` is on something that the results do not have."""
    known = subjects(results)
    unknown = next((comment for comment in comments if comment.on not in known), None)
    if unknown is not None:
        message = f"{path} does not hold comments: {unknown.number - 1}: these results have no {quoted(unknown.on)}"
        raise DataError.of("not-comments", message, "restore the file; or remove it, and render the card again")
