"""Who signed a card and what they decided: the records of `signatures.json`, which stands beside `results.json`.

A signature is a record of a decision about results, which it names by their sha256. It proves nothing about its signer.
`RecordList` reads such a file, and that of comments; `comments.py` shares the checks of names, days and texts too.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar, get_args

from pydantic import Field, TypeAdapter, ValidationError

from evalpipe.base.formats import SIGNATURES
from evalpipe.base.records import Record
from evalpipe.errors import DataError, Problem
from evalpipe.words.card_fields import Role
from evalpipe.words.spelling import closest, joined, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

Decision = Literal["approved", "approved_with_conditions", "rejected", "reviewed"]

EVIDENCE_DIGITS = 8
"""The digits of the sha256 of `results.json` by which people tell evidence from other evidence."""

LONGEST_NAME = 100
LONGEST_CONDITION = 1_000
MOST_CONDITIONS = 50

DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")

UNWRITTEN = re.compile(
    "[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
"""Characters that no name needs: controls, line breaks, what turns the direction of text, and halves of characters,
which come from a command line that is not UTF-8."""


class Signature(Record):
    """One reader's decision on the results of a run."""

    role: Role
    name: str
    organisation: str | None = None
    date: str
    """The day of the decision."""
    decision: Decision
    conditions: list[str] = Field(default_factory=list)
    """What has to be met."""
    expires: str | None = None
    """The day until which the decision is valid."""
    evidence_sha256: str = Field(pattern="^[0-9a-f]{64}$")
    """The sha256 of the `results.json` that was signed."""


class AboutResults(Protocol):
    """What a person adds to results, a signature or a comment."""

    @property
    def evidence_sha256(self) -> str:
        """The sha256 of the `results.json` that it is about."""

    def model_dump(self) -> dict[str, Any]:
        """Return its fields by name."""


Added = TypeVar("Added", bound=AboutResults)


def records_json(records: Sequence[AboutResults]) -> bytes:
    """Return the bytes of a file of signatures or comments: a JSON list in the order of adding, a line for each."""
    lines = [json.dumps(record.model_dump(), ensure_ascii=False) for record in records]
    return ("[\n  " + ",\n  ".join(lines) + "\n]\n").encode()


@dataclass(frozen=True, slots=True)
class RecordList(Generic[Added]):
    """A file of what people add to results, and what is said of it: "sign" them "again", "'A' (owner) signed" them."""

    file: str
    noun: str
    verb: str
    participle: str
    by: Callable[[Added], str]
    """Returns who added a record."""
    adapter: TypeAdapter[list[Added]]
    faults: Callable[[Sequence[dict[str, Any]]], Iterator[tuple[int, Problem]]]
    """Yields the index and a problem of each record whose fields are wrong."""
    refusal: Callable[[str, str], DataError]
    """Returns the error with a message and a hint."""

    @property
    def again(self) -> str:
        """What people are to do where the file is gone: "sign again"."""
        return f"{self.verb.partition(' ')[0]} again"

    def read(self, content: bytes, path: Path, hint: str) -> tuple[Added, ...]:
        """Return the records in the content of a file at ``path``; raises DataError with ``hint`` for invalid ones."""
        try:
            records = tuple(self.adapter.validate_json(content))
        except ValidationError as error:
            first = error.errors()[0]
            json_path = ".".join(str(part) for part in first["loc"]) or "the document"
            message = f"{path} does not hold {self.noun}: {json_path}: {first['msg'].lower()}"
            raise self.refusal(message, hint) from None
        for index, problem in self.faults([record.model_dump() for record in records]):
            raise self.refusal(f"{path} does not hold {self.noun}: {index}: {problem.message}", hint)
        return records

    def of_other_results(self, record: Added, evidence_sha256: str, path: Path) -> DataError:
        """Return the error that a record in the file at ``path`` is not of the results with this sha256."""
        its_evidence, evidence = (sha256[:EVIDENCE_DIGITS] for sha256 in (record.evidence_sha256, evidence_sha256))
        message = (f"{path} is of other results: {self.by(record)} {self.participle} "
                   f"evidence {its_evidence}, and results.json is {evidence}")
        hint = f"restore the results that were {self.participle}; or move {self.file} away and {self.verb} these"
        return DataError.of("other-evidence", message, hint)


def newest(signatures: Sequence[Signature]) -> dict[Role, Signature]:
    """Return the signature of each role that counts, the last one, by role in the order of roles."""
    last_by_role = {signature.role: signature for signature in signatures}
    return {role: last_by_role[role] for role in get_args(Role) if role in last_by_role}


def person(name: str) -> str:
    """Return a name as it is compared: without capitals and further white space."""
    return " ".join(name.casefold().split())


def roles_by_person(signatures: Sequence[Signature]) -> dict[str, list[Role]]:
    """Return the roles of everyone whose signatures count in several, by name as written in the first of them."""
    roles: dict[str, list[Role]] = {}
    name_of: dict[str, str] = {}
    for role, signature in newest(signatures).items():
        roles.setdefault(name_of.setdefault(person(signature.name), signature.name), []).append(role)
    return {name: theirs for name, theirs in roles.items() if len(theirs) > 1}


def faults(fields: dict[str, object]) -> Iterator[Problem]:
    """Yield a problem for everything that is wrong with the fields of a signature, types included."""
    yield from choice_problems("role", fields["role"], get_args(Role))
    yield from name_problems("name", fields["name"])
    if fields["organisation"] is not None:
        yield from name_problems("organisation", fields["organisation"])
    yield from choice_problems("decision", fields["decision"], get_args(Decision))
    yield from day_problems("date", fields["date"])
    yield from _condition_problems(fields["decision"], fields["conditions"])
    if fields["expires"] is not None:
        yield from _expiry_problems(fields["expires"], fields["date"], fields["decision"])


def choice_problems(key: str, value: object, known: tuple[str, ...]) -> Iterator[Problem]:
    """Yield a problem where the value of a key is missing or not among the ``known`` values."""
    choices = joined(known, "or")
    if value is None:
        yield Problem("missing-option", f"no {key} is given", hint=f"give the {key}: {choices}")
    elif value not in known:
        guess = closest(str(value), known)
        yield Problem(f"unknown-{key}", f"unknown {key} {quoted(value)}",
                      hint=f"did you mean '{guess}'?" if guess else f"choose {choices}")


def name_problems(key: str, value: object, missing: str = "give the name of the person who signs") -> Iterator[Problem]:
    """Yield problems of a value that cannot be the name of a person or an organisation; ``missing`` is for none."""
    if value is None:
        yield Problem("missing-option", f"no {key} is given", hint=missing)
    elif not isinstance(value, str) or not any(map(str.isalnum, value)):
        yield Problem(f"bad-{key}", f"the {key} {quoted(value)} has no letter", hint="give it in any script")
    else:
        yield from text_problems(f"bad-{key}", f"the {key}", value, LONGEST_NAME)


def text_problems(code: str, what: str, text: str, longest: int) -> Iterator[Problem]:
    """Yield problems of a text that is too long or has invisible characters; ``what`` names it in messages."""
    if len(text) > longest:
        hint = f"shorten it to {longest:,} or fewer"
        yield Problem(code, f"{what} has {len(text):,} characters: {quoted(text)}", hint=hint)
    invisible = UNWRITTEN.search(text)
    if invisible:
        message = f"{what} contains a control character, U+{ord(invisible[0]):04X}: {quoted(text)}"
        yield Problem(code, message, hint="leave it out")


def is_day(value: object) -> bool:
    """Tell whether a value is a text such as 2026-11-21 that is a day of the calendar."""
    try:
        return bool(isinstance(value, str) and DAY.fullmatch(value) and date.fromisoformat(value))
    except ValueError:
        return False


def day_problems(key: str, value: object, of: str = "decision") -> Iterator[Problem]:
    """Yield a problem where the value of a key is missing or not a day such as 2026-11-21; ``of`` is what happened."""
    if value is None:
        yield Problem("missing-option", f"no {key} is given", hint=f"give the day of the {of}, as in 2026-11-21")
    elif not is_day(value):
        yield Problem(f"bad-{key}", f"{quoted(value)} is not a day of the calendar", hint="write it as in 2026-11-21")


def _condition_problems(decision: object, conditions: object) -> Iterator[Problem]:
    """Yield problems with a signature's conditions: given for an approval, missing where needed, or bad texts."""
    if not isinstance(conditions, list | tuple):
        message = f"the conditions are no list: {quoted(conditions)}"
        yield Problem("bad-conditions", message, hint="give a list of texts")
        return
    if decision == "approved" and conditions:
        yield Problem("bad-conditions", "a card that is approved has no conditions",
                      hint="decide 'approved_with_conditions', or leave the conditions out")
    if decision == "approved_with_conditions" and not conditions:
        yield Problem("bad-conditions", "a card that is approved with conditions needs a condition",
                      hint="give at least one, or decide 'approved'")
    if len(conditions) > MOST_CONDITIONS:
        hint = f"give {MOST_CONDITIONS} at most"
        yield Problem("bad-conditions", f"there are {len(conditions)} conditions", hint=hint)
    for number, text in enumerate(conditions, 1):
        if not isinstance(text, str) or not text.strip():
            hint = "say what has to be met, or leave it out"
            yield Problem("bad-conditions", f"condition {number} is empty", hint=hint)
        else:
            yield from text_problems("bad-conditions", f"condition {number}", text, LONGEST_CONDITION)


def _expiry_problems(expires: object, day: object, decision: object) -> Iterator[Problem]:
    """Yield problems with the last day of validity: not a date, not after the decision, or given for a rejection."""
    yield from day_problems("expires", expires)
    if decision == "rejected":
        yield Problem("bad-expires", "a card that is rejected has no day until which it is valid", hint="leave it out")
    elif is_day(expires) and is_day(day) and str(expires) <= str(day):
        message = f"it would be valid until {expires}, which is not after the date, {day}"
        yield Problem("bad-expires", message, hint="give a later day, or leave it out")


def _numbered_faults(signatures: Sequence[dict[str, Any]]) -> Iterator[tuple[int, Problem]]:
    """Yield the index and a problem of each signature whose fields are wrong."""
    for index, fields in enumerate(signatures):
        yield from ((index, problem) for problem in faults(fields))


SIGNATURE_LIST = RecordList(
    SIGNATURES, "signatures", "sign", "signed", lambda signature: f"{quoted(signature.name)} ({signature.role})",
    TypeAdapter(list[Signature]), _numbered_faults,
    lambda message, hint: DataError.of("not-signatures", message, hint))
"""The file of signatures."""
