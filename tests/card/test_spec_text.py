from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from evalpipe.card.data import spec_text
from evalpipe.spec.tree import expand


@pytest.mark.parametrize("text", ["1e3", "0o17", "12:30", "1_000", ".5", "-3", "+1", "no", "null", "2020-01-01", ""])
def test_texts_that_look_like_something_else_are_quoted(text: str) -> None:
    assert spec_text({"event": text}) == f"event: '{text}'\n"


def test_a_text_of_several_lines_stands_in_these_lines() -> None:
    assert spec_text({"limits": "One place.\nTwo **models**.\n"}) == "limits: |\n  One place.\n  Two **models**.\n"
    assert spec_text({"limits": "One place.\n\n1. two"}) == "limits: |-\n  One place.\n\n  1. two\n"


def test_plain_texts_keys_and_their_order_stay_as_they_are() -> None:
    outcome, metrics = {"event": "giftig ≥ ü"}, ["f1", {"beta": 2.0}]
    spec = {"name": "mushrooms", "b": 1, "a": None, "outcome": outcome, "metrics": metrics}
    assert spec_text(spec) == (
        "name: mushrooms\nb: 1\noutcome:\n  event: giftig ≥ ü\nmetrics:\n- f1\n- beta: 2.0\n"
    )


@given(st.dictionaries(st.text(), st.text() | st.integers() | st.booleans() | st.none()))
def test_the_text_reads_back_but_for_what_is_absent(spec: dict[str, str | int | bool | None]) -> None:
    read = yaml.safe_load(spec_text(spec))
    assert {key: expand(value, {}) if isinstance(value, str) else value for key, value in read.items()} == {
        key: value for key, value in spec.items() if value is not None}


@given(st.text(alphabet="${}env:A") | st.text())
def test_no_text_becomes_a_reference_to_the_environment(text: str) -> None:
    assert expand(yaml.safe_load(spec_text({"title": text}))["title"], {}) == text
