"""The texts below fields, which describe them in a JSON Schema."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from evalpipe.base.records import Documented


class Plain(Documented):
    """A model with every way to describe a field."""

    first: int
    """What the first is,
    in two lines."""
    second: int = Field(default=2, description="Said by the field.")
    """Said below."""
    third: int
    named: int = Field(alias="class")
    """What the class is."""


class Narrower(Plain):
    """A model that declares a field of another again."""

    model_config = ConfigDict(defer_build=True)

    first: bool
    fourth: int
    """What the fourth is."""


def descriptions(model: type[Documented]) -> dict[str, str | None]:
    return {name: part.get("description") for name, part in model.model_json_schema()["properties"].items()}


def test_a_schema_describes_each_field_by_the_text_below_it() -> None:
    assert descriptions(Plain) == {
        "first": "What the first is,\nin two lines.", "second": "Said by the field.", "third": None,
        "class": "What the class is."}


def test_a_field_that_is_declared_again_loses_its_text_and_others_keep_theirs() -> None:
    assert descriptions(Narrower) == {
        "first": None, "second": "Said by the field.", "third": None, "class": "What the class is.",
        "fourth": "What the fourth is."}
