"""What people said of findings, gates and the verdict, below what they said it of, and how much of it is unanswered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evalpipe.base.digests import bytes_sha256
from evalpipe.base.formats import COMMENTS
from evalpipe.card.page import BlockGroup, Bullets, Code, Link, Strong, Text
from evalpipe.card.statements import blocks
from evalpipe.results.comments import VERDICT, before_comment, finding_subjects, gate_subject, is_answered
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

    def on(self, subject: str) -> tuple[Block, ...]:
        """Return the comments on a subject, each with its answers below it; empty without any."""
        return tuple(self._thread(comment) for comment in self.comments
                     if comment.on == subject and comment.reply_to is None)

    def on_finding(self, finding: Finding) -> tuple[Block, ...]:
        """Return the comments on a finding; empty without any."""
        return self.on(next(subject for subject, other in finding_subjects(self.results) if other is finding)
                       ) if self.comments else ()

    def on_gates(self, section: Section) -> Section:
        """Return the section of the gates with the comments on them at its end; any other as it is."""
        if section.anchor != "gates" or not self.comments:
            return section
        numbers = dict.fromkeys(gate.gate for gate in self.results.gates)
        return replace(section, blocks=(
            *section.blocks, *(block for number in numbers for block in self.on(gate_subject(number)))))

    def link(self, finding: Finding) -> tuple[Piece, ...]:
        """Return a link to the comments on a finding, with their number; empty without any."""
        number = len(self.on_finding(finding))
        return (" ", Link(counted(number, "comment"), "findings")) if number else ()

    def listed(self, findings: Sequence[tuple[Finding, Cell]]) -> Iterator[Block]:
        """Yield the lines of findings as lists, each of which ends where there are comments on its last line."""
        lines: list[Cell] = []
        for finding, line in findings:
            lines.append(line)
            thread = self.on_finding(finding)
            if thread:
                yield Bullets(tuple(lines), "findings")
                yield from thread
                lines = []
        if lines:
            yield Bullets(tuple(lines), "findings")

    def _thread(self, comment: Comment) -> Block:
        """Return a comment: who wrote it, when, its text, and its answers."""
        word = "Comment" if comment.reply_to is None else "Answer"
        is_below_it = comment.reply_to is not None or comment.on in dict(finding_subjects(self.results))
        place = "" if is_below_it else f" on {'the ' if comment.on == VERDICT else ''}{comment.on}"
        role = f" ({comment.role})" if comment.role else ""
        roles = self._signed_before(comment)
        after = f", after the {joined(roles, 'and')} signed" if roles else ""
        head = Text((Strong(f"{word} {comment.number}"), f"{place} by {comment.name}{role}, {comment.date}{after}"))
        answers = (self._thread(other) for other in self.comments if other.reply_to == comment.number)
        # Two braces are no reference to a number here: only a spec states which numbers its texts name.
        text = blocks(self.results, comment.text.replace("{{", r"\{{"))
        return BlockGroup((head, *text, *answers), "quote", f"{word} {comment.number}")

    def _signed_before(self, comment: Comment) -> list[str]:
        """Return the roles whose decision that counts was made before a comment."""
        before = before_comment(self.signatures, comment)
        return [role for role, signature in newest(self.signatures).items() if signature in before]

    def count(self) -> str:
        """Return how many comments there are, how many without an answer, and which came after a signature."""
        asked = [comment for comment in self.comments if comment.reply_to is None]
        unanswered = sum(not is_answered(comment, self.comments) for comment in asked)
        late = [str(comment.number) for comment in self.comments if self._signed_before(comment)]
        number = f"{unanswered} without an answer" if unanswered else "all with an answer"
        after = f" After a signature: {joined(late, 'and')}." if late else ""
        return f"{counted(len(asked), 'comment')}, {number}.{after}"

    def counted(self) -> tuple[Block, ...]:
        """Return that count as a paragraph with a link to the sign-off; empty without comments."""
        return (Text((self.count(), " ", Link("Comments", "sign-off"))),) if self.comments else ()

    def in_sign_off(self) -> tuple[Block, ...]:
        """Return that count with the sha256 of the file that has the comments; empty without any."""
        if not self.comments:
            return ()
        comments_hash = Code(bytes_sha256(records_json(self.comments)), style=COMMENTS_HASH)
        return (Text((self.count(), " They stand where the card says what they are on, and in ", Code(COMMENTS),
                      " with this sha256: ", comments_hash, ".")),)
