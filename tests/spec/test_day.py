"""The day of a spec, and the texts that hold it as ``${date}``. Broken days are in the corpus."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalpipe.errors import SpecError, UsageError
from evalpipe.spec.load import load
from evalpipe.spec.overrides import dated_path
from evalpipe.spec.schema import resolved, spec_sha256
from evalpipe.spec.tree import Dated, expand

BASE = """evalpipe: 1
name: nightly
task: binary
outcome: {column: y, event: "1"}
datasets: {test: {path: "data/${date}/${env:PART}.csv"}}
models: {m: {probability: p}}
"""
PART = {"PART": "part-${date}"}


@pytest.fixture
def spec_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a spec with a day whose base has the texts that wait for it."""
    monkeypatch.chdir(tmp_path)
    Path("base.yaml").write_text(BASE)
    file = Path("spec.yaml")
    file.write_text("extends: base.yaml\nas_of: 2026-11-21\ntitle: The day ${date}, written $${date}\n")
    return file


def test_the_day_of_the_spec_stands_in_every_text_of_every_file(spec_file: Path) -> None:
    spec = load(spec_file, environment=PART)

    assert spec.title == "The day 2026-11-21, written ${date}"
    # What a variable holds is a text and no reference.
    assert spec.datasets["test"].path == "data/2026-11-21/part-${date}.csv"


@pytest.mark.parametrize("day", ["2026-11-22", dt.date(2026, 11, 22)])
def test_the_day_that_is_asked_for_overrides_all_others(spec_file: Path, day: str | dt.date) -> None:
    spec = load(spec_file, ["as_of=2026-11-20"], PART, as_of=day)

    assert (spec.as_of, spec.title) == ("2026-11-22", "The day 2026-11-22, written ${date}")


def test_an_override_is_dated_too(spec_file: Path) -> None:
    spec = load(spec_file, ["as_of=2026-11-20", "title=${date}"], PART)

    assert (spec.as_of, spec.title) == ("2026-11-20", "2026-11-20")


def test_the_day_is_in_the_hash(spec_file: Path) -> None:
    same = ["datasets.test.path=x.csv", "title=a"]
    days = [load(spec_file, same, PART, as_of=day) for day in ("2026-11-21", "2026-11-22")]

    assert [resolved(spec)["as_of"] for spec in days] == ["2026-11-21", "2026-11-22"]
    assert spec_sha256(days[0]) != spec_sha256(days[1])


@pytest.mark.parametrize("day", [dt.datetime(2026, 11, 21, tzinfo=dt.UTC), 20261121])
def test_what_is_no_day_is_refused(spec_file: Path, day: Any) -> None:
    with pytest.raises(UsageError) as caught:
        load(spec_file, environment=PART, as_of=day)

    assert str(caught.value) == (
        f"error[wrong-type]: as_of is a day, and {type(day).__name__} is none\n"
        "  = help: give a text as in '2026-11-21', or a datetime.date")


def test_a_loaded_spec_whose_texts_hold_its_day_takes_no_other(spec_file: Path) -> None:
    spec = load(spec_file, environment=PART)

    assert spec_sha256(load(spec, as_of="2026-11-21")) == spec_sha256(load(load(spec), ["seed=0"]))
    for again, overrides in ((spec, ["as_of=2026-11-22"]), (load(spec), ["as_of=null"])):
        with pytest.raises(SpecError) as caught:
            load(again, overrides)
        first, second = caught.value.problems
        assert (first.code, second.code) == ("other-day", "other-day")
        assert str(first) == (
            "error[other-day]: this text holds the day 2026-11-21, as of which the spec was loaded\n"
            " --> spec.yaml:3:8\n"
            "  |\n"
            "3 | title: The day ${date}, written $${date}\n"
            "  |        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ load the spec with the other day")


def test_a_loaded_spec_without_such_texts_takes_any_day() -> None:
    spec = load({
        "evalpipe": 1, "name": "a", "task": "binary", "outcome": {"column": "y", "event": "1"}, "as_of": "2026-11-21",
        "datasets": {"test": {"path": "${date}.csv"}}, "models": {"m": {"probability": "p"}}})

    assert spec.datasets["test"].path == "${date}.csv"  # a mapping is taken as it is
    assert load(spec, as_of="2026-11-22").as_of == "2026-11-22"


def test_what_a_day_does_not_make_is_told_of_its_tag(tmp_path: Path) -> None:
    file = tmp_path / "spec.yaml"
    file.write_text(BASE.replace("name: nightly", "name: nightly\nas_of: 2026-11-21\nseed: !!int ${date}"))

    with pytest.raises(SpecError, match="the tag asks for a whole number"):
        load(file, environment=PART)


PIECES = st.lists(st.one_of(
    st.just(("${date}", None)), st.just(("$${", "${")), st.just(("${env:A}", "${date}$${")),
    st.text(st.characters(exclude_characters="${}"), max_size=5).map(lambda text: (text, text))), max_size=12)


@given(PIECES)
def test_a_text_is_read_piece_by_piece(pieces: list[tuple[str, str | None]]) -> None:
    text = expand("".join(written for written, _ in pieces), {"A": "${date}$${"})

    day = "2026-11-21"
    assert (text.on(day) if isinstance(text, Dated) else text) == "".join(
        day if meant is None else meant for _, meant in pieces)
    assert isinstance(text, Dated) == any(meant is None for _, meant in pieces)


@pytest.mark.parametrize(("path", "day", "dated"), [
    ("reports/${date}", "2026-11-21", "reports/2026-11-21"), ("a$b", None, "a$b"), ("$${date}", None, "${date}"),
    ("${env:A}/${date}", "2026-11-21", "x/2026-11-21"),
])
def test_a_path_of_the_command_line_is_dated(path: str, day: str | None, dated: str) -> None:
    assert dated_path(path, day, {"A": "x"}, "--out") == dated


@pytest.mark.parametrize(("path", "told"), [
    ("r/${date}", ("error[no-day]: --out: ${date} is the day under 'as_of', and none is given\n"
                  "  = help: write 'as_of: 2026-11-21', or give --as-of 2026-11-21")),
    ("r/${Day}", ("error[bad-reference]: --out: '${Day}' is not a reference\n"
                 "  = help: write ${date} for the day under 'as_of'; for the text itself, '$${'")),
    ("r/${env:B}", ("error[unset-variable]: --out: the environment variable B is not set\n"
                   "  = help: set it, or give a default: ${env:B:-…}")),
])
def test_a_path_that_cannot_be_dated_is_told(path: str, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        dated_path(path, None, {}, "--out")

    assert str(caught.value) == told
