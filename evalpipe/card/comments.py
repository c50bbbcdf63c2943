"""What people said of findings, gates and the verdict, below what they said it of, and how much of it is unanswered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evalpipe.base.digests import bytes_sha256
from evalpipe.base.formats import COMMENTS
from evalpipe.card.page import BlockGroup, Bullets, Code, Line, Link, Strong, Text
from evalpipe.card.statements import blocks
from evalpipe.results.comments import (
    VERDICT,
    before_comment,
    finding_subjects,
    gate_subject,
    is_answered,
    subjects,
)
from evalpipe.results.signatures import newest, records_json
from evalpipe.words.spelling import counted, joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.page import Block, Cell, Piece, Section
    from evalpipe.results import Results
    from evalpipe.results.comments import Comment
    from evalpipe.results.document import Finding
    from evalpipe.results.signatures import Signature

COMMENTS_HASH = "comments-hash"
"""The style of the sha256 of `comments.json`, by which a page is told from others."""


@dataclass(frozen=True, slots=True)
class Discussion:
    """The comments on results, and the signatures, before or after which they were written."""

    results: Results
    signatures: Sequence[Signature] = ()
    comments: Sequence[Comment] = ()

    def asked(self, subject: str | None = None) -> list[Comment]:
        """Return the comments, on a subject or all, that are no answers."""
        return [comment for comment in self.comments if comment.reply_to is None and subject in (None, comment.on)]

    def on(self, subject: str) -> tuple[Block, ...]:
        """Return the comments on a subject, each with its answers below it; empty without any."""
        return tuple(self._thread(comment) for comment in self.asked(subject))

    def subject_of(self, finding: Finding) -> str:
        """Return what a comment on a finding is on."""
        return next(subject for subject, other in finding_subjects(self.results) if other is finding)

    def on_gates(self, section: Section) -> Section:
        """Return the section of the gates with the comments on them at its end; any other as it is."""
        if section.anchor != "gates" or not self.comments:
            return section
        numbers = dict.fromkeys(gate.gate for gate in self.results.gates)
        return replace(section, blocks=(
            *section.blocks, *(block for number in numbers for block in self.on(gate_subject(number)))))

    def link(self, finding: Finding) -> tuple[Piece, ...]:
        """Return a link to the comments on a finding, with their number; empty without any."""
        asked = self.asked(self.subject_of(finding)) if self.comments else []
        return (" ", Link(counted(len(asked), "comment"), _anchor(asked[0]))) if asked else ()

    def listed(self, findings: Sequence[tuple[Finding, Cell]]) -> Iterator[Block]:
        """Yield the lines of findings as lists, each of which ends where there are comments on its last line."""
        lines: list[Cell] = []
        for finding, line in findings:
            lines.append(line)
            threads = self.on(self.subject_of(finding)) if self.comments else ()
            if threads:
                yield Bullets(tuple(lines), "findings")
                yield from threads
                lines = []
        if lines:
            yield Bullets(tuple(lines), "findings")

    def _thread(self, comment: Comment) -> Block:
        """Return a comment, and below it its answers and theirs in the order in which they were written."""
        known, thread = subjects(self.results), [comment]
        for other in self.comments:
            thread += [other] if other.reply_to in {earlier.number for earlier in thread} else []
        words = "the verdict" if comment.on == VERDICT else f"{comment.on} ({known[comment.on]})"
        is_below_it = comment.on in dict(finding_subjects(self.results))
        answers = (BlockGroup(self._said(other, f"Answer {other.number}", "" if other.reply_to == comment.number else
                                         f" to {other.reply_to}"), "quote") for other in thread[1:])
        challenge = self._said(comment, f"Comment {comment.number}", "" if is_below_it else f" on {words}")
        return BlockGroup((*challenge, *answers), "quote", f"Comment {comment.number}")

    def _said(self, comment: Comment, title: str, place: str) -> tuple[Block, ...]:
        """Return who wrote a comment, when, and its text; ``title`` and ``place`` say which it is, and on what."""
        roles = self._signed_before(comment)
        after = f", after the {joined(roles, 'and')} signed" if roles else ""
        role = f" ({comment.role})" if comment.role else ""
        head = (Strong(title), f"{place} by {comment.name}{role}, {comment.date}{after}:")
        # Two braces are no reference to a number here: only a spec states which numbers its texts name.
        first, *rest = blocks(self.results, comment.text.replace("{{", r"\{{"))
        if not isinstance(first, Text):
            return Text(head, anchor=_anchor(comment)), first, *rest
        words = first.text if isinstance(first.text, tuple) else (first.text,)
        return Text((*head, Line(""), *words), anchor=_anchor(comment)), *rest

    def _signed_before(self, comment: Comment) -> list[str]:
        """Return the roles whose decision that counts was made before a comment."""
        before = before_comment(self.signatures, comment)
        return [role for role, signature in newest(self.signatures).items() if signature in before]

    def count(self) -> str:
        """Return how many comments there are, how many without an answer, and which came after a signature."""
        asked = self.asked()
        unanswered = sum(not is_answered(comment, self.comments) for comment in asked)
        late = [str(comment.number) for comment in self.comments if self._signed_before(comment)]
        if len(asked) == 1:
            answers = "without an answer" if unanswered else "with an answer"
        else:
            answers = f"{unanswered or 'none'} without an answer"
        after = f" Written after a signature: {joined(late, 'and')}." if late else ""
        return f"{counted(len(asked), 'comment')}, {answers}.{after}"

    def counted(self) -> tuple[Block, ...]:
        """Return that count as a paragraph, with links to the comments; empty without any."""
        links = [piece for comment in self.asked() for piece in (", ", Link(f"{comment.number}", _anchor(comment)))]
        return (Text((self.count(), " Read: ", *links[1:], ".")),) if links else ()

    def in_sign_off(self) -> tuple[Block, ...]:
        """Return that count with the sha256 of the file that has the comments; empty without any."""
        if not self.comments:
            return ()
        comments_hash = Code(bytes_sha256(records_json(self.comments)), style=COMMENTS_HASH)
        where = " Each stands below what it is on, and all are in "
        return (Text((self.count(), where, Code(COMMENTS), " with this sha256: ", comments_hash, ".")),)


def _anchor(comment: Comment) -> str:
    return f"comment-{comment.number}"
