"""Levels of an outcome: the same by their value, however they are written or stored."""

from __future__ import annotations

import pytest

from evalpipe.base.levels import find_level, level_text, level_value, meant_level, other_level


@pytest.mark.parametrize("same", [
    ("1", "1.0", "+1", "1.", "1.00", "true", "True", "TRUE", " 1", "1e0"),
    ("0", "0.0", "-0.0", ".0", "false", "FALSE"),
    ("-1", "-1.0"),
    ("102", "102.0", "1.02e2"),
    ("0.5", ".5", "0.50"),
    ("9007199254740993", "9007199254740993.0"),
    ("9007199254740992",),  # a float of 64 bits cannot tell it from the one above
    ("01",), ("001",), ("yes",), ("Yes",), ("",), ("1,0",), ("1_000",), ("nan",), ("t",), ("1e9999",),
], ids=lambda same: same[0])  # fmt: skip
def test_levels_of_the_same_value_are_told_by_value(same: tuple[str, ...]) -> None:
    assert len({level_value(text) for text in same}) == 1
    for level in ("1", "0", "-1", "102", "0.5", "01", "yes", "9007199254740993"):
        assert (level_value(level) == level_value(same[0])) == (level in same)


def test_a_level_is_found_by_its_text_before_its_value() -> None:
    assert find_level("1.0", ["1", "1.0"]) == "1.0"
    assert find_level("1.00", ["1", "1.0"]) is None  # of two levels of the same value, neither is guessed
    assert find_level("True", ["1", "0"]) == "1"
    assert find_level("yes", ["Yes", "no"]) is None
    assert meant_level("yes", ["Yes", "no"]) == "Yes"
    assert meant_level("+1", ["-1", "0"]) is None


@pytest.mark.parametrize(("event", "found", "expected"), [
    ("1", "false", "0"), ("1", "0.0", "0"), ("0", "True", "1"), ("true", "0", "false"), ("false", "1.0", "true"),
    ("1", "2", "2"), ("1", "-1", "-1"), ("yes", "0.0", "0.0"),
])
def test_the_other_level_is_written_as_the_event_is(event: str, found: str, expected: str) -> None:
    assert other_level(event, found) == expected


def test_the_text_of_a_level() -> None:
    assert [level_text(value) for value in (True, 1, 1.0, 0.5, -0.0, "1.0")] == ["true", "1", "1", "0.5", "0", "1.0"]
