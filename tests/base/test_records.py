"""Records of the results: the order of fields, fields that are left out, and keys that tell rows apart."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import pytest

from evalpipe.base.formats import format_files
from evalpipe.base.records import After, DescribedRow, Measured, Record, SparseRecord, Subject, order_fields


class First(Record):
    """The keys of a chapter, of which the second follows the first."""

    mild: Annotated[int, After("b")] = 0
    wild: int = 0


class Second(Record):
    """The keys of another chapter, after one of the first."""

    tame: Annotated[int, After("mild")] = 0
    late: Annotated[int, After("b")] = 0


class Whole(Second, First):
    """A model with the keys of both."""

    a: int = 0
    b: int = 0
    c: int = 0


def test_fields_of_chapters_follow_those_that_they_name() -> None:
    assert list(order_fields(Whole).model_fields) == ["a", "b", "mild", "tame", "wild", "late", "c"]


def test_a_field_after_one_that_is_not_there_is_an_error() -> None:
    class Lost(First):
        a: int = 0

    with pytest.raises(ValueError, match=r"^Lost has no field 'b' after which others could stand$"):
        order_fields(Lost)


class Part(DescribedRow):
    """A row that leaves out one field of two."""

    absent: ClassVar[tuple[str, ...]] = ("a",)
    a: int | None = None
    """The first."""
    b: int | None = None


def test_a_field_that_may_be_absent_is_left_out_where_it_is_none() -> None:
    assert [part.model_dump() for part in (Part(), Part(a=0, b=1))] == [{"b": None}, {"a": 0, "b": 1}]
    assert issubclass(Part, SparseRecord)
    schema = Part.model_json_schema(mode="serialization")
    assert list(schema["properties"]) == ["a", "b"]
    assert schema["properties"]["a"]["description"] == "The first."


ROW: dict[str, Any] = {"dataset": "d", "model": "m", "metric": "f1", "params": {"x": 1, "a": 2}}
OTHERS = ({"dataset": "e"}, {"model": "n"}, {"variant": "beta"}, {"metric": "f2"}, {"params": {"x": 1}},
          {"average": "macro"}, {"class": "c"}, {"slice": {"g": "a"}}, {"slice": {"g": "b"}})


def test_rows_are_of_the_same_where_all_that_they_are_of_is() -> None:
    turned = Measured.model_validate(ROW | {"params": {"a": 2, "x": 1}, "slice": {"h": 1, "g": "a"}})
    assert turned.about == Measured.model_validate(ROW | {"slice": {"g": "a", "h": 1}}).about
    assert len({Measured.model_validate(ROW | other).about for other in ({}, *OTHERS)}) == 10


def test_numbers_that_gates_are_on_are_told_apart_by_their_key() -> None:
    others = (*OTHERS, {"desirability": "overall", "metric": None}, {"check": "code", "metric": None})
    turned = Subject.model_validate(ROW | {"params": {"a": 2, "x": 1}, "slice": {"h": 1, "g": "a"}})
    assert turned.key == Subject.model_validate(ROW | {"slice": {"g": "a", "h": 1}}).key
    assert len({Subject.model_validate(ROW | other).key for other in ({}, *others)}) == 12
    assert "check" not in Subject.model_validate(ROW).model_dump()


def test_files_that_need_verdicts_are_written_where_there_are_some() -> None:
    files = {"html": "card.html", "junit": "junit.xml"}
    assert format_files(["html", "junit"], judged=True) == files
    assert format_files(["html", "junit"], judged=False) == {"html": "card.html"}
