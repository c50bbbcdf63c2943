"""The key of the reader's nouns."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StrictStr

from evalpipe.base.records import UNWRITTEN, After
from evalpipe.spec.field_types import Only, SpecPart
from evalpipe.words.spelling import LONGEST

Noun = Annotated[StrictStr, Field(min_length=1, max_length=LONGEST)]
"""A noun with its adjectives, in the singular."""


class ReaderWords(SpecPart):
    """What the card calls the rows and the event, in the words of its reader."""

    event: Annotated[Noun | None, Only("binary"), UNWRITTEN] = None
    """A row with the event, such as `survivor`; a row with its level where absent."""
    row: Annotated[Noun | None, UNWRITTEN] = None
    """What a row stands for, such as `person`; `row` where absent."""
    predicted: Annotated[Noun | None, Only("binary"), UNWRITTEN] = None
    """What is said of a row that is predicted as the event, such as `said to survive`."""


class WordsKeys(SpecPart):
    """Keys of a spec."""

    words: Annotated[ReaderWords | None, After("card"), UNWRITTEN] = None
    """The reader's nouns, each in the singular: `{event: survivor, row: person, predicted: said to survive}`. Figures
    and sentences that count rows use them."""
