"""What a figure says beneath it: whole clauses, as many as there is room for, and how many are left to the notes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.card.wording import number_word
from evalpipe.words.spelling import plural

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MOST_WORDS = 25
"""The words of a caption: the title of a figure, and what it says."""

MOST_SAID = 3
"""Clauses of a caption that say the same of several models, or of several groups."""

BETWEEN = re.compile(r"(?<=[;.]) ")
"""Where one clause of a sentence ends and the next begins."""

IN_NOTES = "Its notes say what it shows."
"""What stands in place of a clause that is longer than a caption, as a name without end makes it."""


@dataclass(frozen=True, slots=True)
class Clauses:
    """What a figure says, in clauses of which the first matters most; none ends with a full stop.

    ``about`` is what there is a clause of for each, such as "model", empty where those left out are not counted;
    ``at_length`` are the same clauses as the notes of the figure have them, where these say more.
    """

    short: tuple[str, ...]
    about: str = "model"
    at_length: tuple[str, ...] = ()

    @property
    def whole(self) -> str:
        """The clauses as the notes have them: the first `MOST_SAID` where they are of one kind each."""
        return listed(self.at_length or self.short, self.about)

    def fitting(self, room: int) -> str:
        """Return the clauses that fit in ``room`` words as one sentence, with the number of those left out."""
        if not self.short or room <= 0:
            return ""
        if not self.about and len(self.whole.split()) <= room:
            return self.whole
        texts = (text for text in _shorter_and_shorter(self.short, self.about) if len(text.split()) <= room)
        return next(texts, None) or _with_short_name(self.short[0], room)


def clauses_of(sentence: str) -> Clauses:
    """Return a finding that is one text as its clauses."""
    return Clauses(tuple(clause.rstrip(";.") for clause in BETWEEN.split(sentence) if clause), "", (sentence,))


def listed(clauses: Sequence[str], about: str = "model") -> str:
    """Join clauses to one sentence, with the first `MOST_SAID` of them and the number of the others."""
    most = MOST_SAID if about else len(clauses)
    text = "; ".join(clauses[:most]).removesuffix(".")
    return f"{text}{_and_more(len(clauses) - most, about)}." if clauses else ""


def _shorter_and_shorter(clauses: Sequence[str], about: str) -> Iterator[str]:
    """Yield sentences of ever fewer clauses; a single one stands last, without the number of the others."""
    for count in range(min(len(clauses), MOST_SAID), 0, -1):
        yield f"{'; '.join(clauses[:count])}{_and_more(len(clauses) - count, about)}."
    yield f"{clauses[0]}."


def _and_more(number: int, about: str) -> str:
    """Return the end of a sentence on what is left out, such as "; and two more models"; empty without any."""
    if number <= 0 or not about:
        return ""
    return f"; and {number_word(number)} more {about if number == 1 else plural(about)}"


def _with_short_name(clause: str, room: int) -> str:
    """Return a clause as a sentence with the name before its colon cut to the ``room``; `IN_NOTES` where none fits."""
    name, colon, words = clause.partition(": ")
    left = room - len(words.split())
    if colon and left >= 1:
        return f"{' '.join(name.split()[:left])}…: {words}."
    return IN_NOTES if len(IN_NOTES.split()) <= room else ""
