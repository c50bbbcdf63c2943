"""What people state on the card: the fields of `evalpipe/words/card_fields.py`, limits and changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Discriminator, Field, StrictBool, StrictStr, Tag, create_model

from evalpipe.base.origin import Loc
from evalpipe.base.records import UNWRITTEN, After
from evalpipe.spec.field_types import AnyOf, Day, FilePath, Only, Sparse, SpecPart, Unique
from evalpipe.words.card_fields import FIELDS, Role
from evalpipe.words.spelling import LONGEST


class TextFile(SpecPart):
    """A text in a file of its own."""

    file: FilePath
    """The file, in UTF-8; its path is relative to the file that names it."""


Prose = Annotated[
    Annotated[StrictStr, Field(min_length=1), Tag("a text")] | Annotated[TextFile, Tag("a file")],
    Discriminator(lambda value: "a file" if isinstance(value, Mapping | BaseModel) else "a text"),
    AnyOf(),
]
"""A text for people in Markdown, or the file that holds it. See [Prose](#prose)."""


class Change(SpecPart):
    """One entry of the change log."""

    date: Day
    """The day of the change."""
    text: Prose
    """What was changed."""


class RequiredSignatures(SpecPart):
    """Whose approval makes the document final."""

    required: Annotated[
        tuple[Role, ...], Field(min_length=1),
        Unique("duplicate-role", "the role {} is listed twice"),
    ] = ("validator", "approver")
    """The roles that must have approved, with conditions or without: until then the card is a draft or in review."""
    distinct: Annotated[StrictBool, UNWRITTEN] = False
    """Whether nobody may sign in two roles: `evalpipe sign` refuses the second, and a card that has both is not final.
    Without it such a card says so beside its status. Names are compared without capitals."""


class DocumentState(Sparse):
    """What tells a document from others, and how far it is."""

    id: Annotated[StrictStr, Field(min_length=1, max_length=60)] | None = None
    """The id of the document; made of the name and the hash of the spec where absent."""
    status: Literal["draft", "in_review", "final"] = "draft"
    """How far a document is that nobody signed; signatures, which are outside the spec, say the rest."""
    sign_off: RequiredSignatures | None = None
    """Whose signatures the document needs; those of validator and approver where absent."""


_fields: dict[str, Any] = {
    key: (Prose | None, Field(default=None, description=field.meaning)) for key, field in FIELDS.items()}


class Statement(create_model("StatedFields", __base__=DocumentState, **_fields)):  # type: ignore[misc]
    """What people state on the card: texts in Markdown, or `{file: notes.md}`; see [Prose](#prose)."""

    limits: tuple[Prose, ...] = ()
    """Known limitations and assumptions."""
    changes: tuple[Change, ...] = ()
    """The change log, in the order in which it is to be read."""

    @property
    def prose(self) -> Iterator[tuple[Loc, str | TextFile]]:
        """Every text that is stated, with its location in the spec."""
        for key in FIELDS:
            if getattr(self, key) is not None:
                yield ("card", key), getattr(self, key)
        yield from ((("card", "limits", place), text) for place, text in enumerate(self.limits))
        yield from ((("card", "changes", place, "text"), change.text) for place, change in enumerate(self.changes))


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


class StatementKeys(SpecPart):
    """Keys of a spec."""

    card: Annotated[Statement, After("as_of")] = Statement.model_construct()
    """What people state on the card: use and limits, owner, monitoring, changes."""
    words: Annotated[ReaderWords | None, UNWRITTEN] = None
    """The reader's nouns, each in the singular: `{event: survivor, row: person, predicted: said to survive}`. Figures
    and sentences that count rows use them."""
