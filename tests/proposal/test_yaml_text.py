"""Any text comes back from the strict loader as it went in: as a value, a level, a key, and in a whole spec."""

from __future__ import annotations

import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from evalpipe.base.levels import level_text
from evalpipe.proposal.columns import look_at_datasets
from evalpipe.proposal.names import has_word
from evalpipe.proposal.outcome import CENSORED
from evalpipe.proposal.propose import Proposal, propose
from evalpipe.proposal.questions import Answers
from evalpipe.proposal.spec_file import spec_text, try_spec
from evalpipe.proposal.yaml_text import SpecLine, key, lines_as_text, scalar, yaml_level
from evalpipe.spec.tree import SpecText, plain_value
from evalpipe.spec.yaml import parse

SPECIAL = [
    "no", "Yes", "ON", "null", "~", "", " ", "1e-3", "007", "-0", "+1", "0x1F", "0o7", "1_000", "12:30", ".inf", ".nan",
    "true", "True", "2024-01-01", "<<", "- a", "a: b", "a #b", "#", "?", "! x", "&a", "*a", "[a]", "{a}", "{level}",
    "%a", "@a", "`a`", "'", '"', "\\", "\\n", "a\nb", "\t", "\r", "\x85", "\u2028", "\ufeff", "\x7f", "\x00", "é",
    "日本", "🎲", "\u202e", "${env:HOME}", "${date}", "$${a}", "$$${", "${", "$", "---", "...", "|", ">", ",", "a,b",
    "=", "a ", " a", "1.", "\u0661", "_", ".pred_a",
]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.sampled_from(SPECIAL)


def loaded(text: str) -> object:
    document = parse(SpecText("spec.yaml", text), {})
    assert document.problems == (), text
    assert document.root is not None
    return plain_value(document.root)


@given(TEXTS)
@settings(max_examples=150)
def test_a_value_comes_back(text: str) -> None:
    assert loaded(f"a: {scalar(text)}  # {text!r}\n") == {"a": text}
    assert loaded(f"a: [{scalar(text)}, {scalar(text)}]\n") == {"a": [text, text]}


@given(TEXTS)
@settings(max_examples=150)
def test_a_level_comes_back_as_its_text(text: str) -> None:
    plain = loaded(f"a: [{yaml_level(text)}, x]\n")
    assert isinstance(plain, dict)
    assert level_text(plain["a"][0]) == text


@given(TEXTS)
@settings(max_examples=150)
def test_a_key_comes_back(text: str) -> None:
    assert loaded(f"{key(text)}: 1\n") == {text: 1}
    assert loaded(f"a: {{{key(text)}: 1}}\n") == {"a": {text: 1}}


@pytest.mark.parametrize("text", SPECIAL)
def test_each_special_text_comes_back(text: str) -> None:
    assert loaded(f"{key(text)}: {scalar(text)}\n") == {text: text}


@given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=6))
def test_no_comment_becomes_a_value(lines: list[tuple[str, str]]) -> None:
    written = lines_as_text([SpecLine(f"k{at}: {scalar(text)}", comment) for at, (text, comment) in enumerate(lines)])
    assert loaded(written) == {f"k{at}": text for at, (text, _) in enumerate(lines)}
    assert lines_as_text([SpecLine(comment=comment) for _, comment in lines]).count("\n") >= 1


# A name that tells of censored rows asks for the task first.
NAMES = TEXTS.filter(lambda text: bool(text.strip()) and "\x00" not in text and not has_word(text, CENSORED))


@given(NAMES, NAMES, NAMES, NAMES)
@example("y", "${env:HOME}", "no", "null")
@example("${date}", "{level}", "1e-3", "007")
@settings(max_examples=40)
def test_a_spec_names_any_columns_and_levels(outcome: str, probability: str, event: str, other: str) -> None:
    from evalpipe.base.levels import level_value

    assume(outcome != probability and level_value(event) != level_value(other))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.parquet"
        pl.DataFrame({outcome: [event, other] * 5, probability: [0.25, 0.5] * 5}).write_parquet(path)
        proposal = propose(look_at_datasets([str(path)]), Answers(outcome=outcome, event=event, models=(probability,)))
        assert isinstance(proposal, Proposal)
        target = str(path.with_name("spec.yaml"))
        plan = try_spec(spec_text(proposal, target), target)
    (model,) = plan.models.values()
    assert (plan.outcome.column, plan.outcome.event, model.probability) == (outcome, event, probability)
    assert set(plan.outcome.levels) == {event, other}
