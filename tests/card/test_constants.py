"""Numbers of the engine that the card states: where one changes, its sentence does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from card.blocks import facts
from evalpipe.base import constants
from evalpipe.card import method
from evalpipe.card.figures import residuals
from evalpipe.chapters.curves.card import clipping_sentence
from evalpipe.chapters.desirability.card_models import RankingFacts, reading_notes
from evalpipe.chapters.labels import card as labels_card
from evalpipe.chapters.labels.records import LabelWorth
from evalpipe.intervals import bootstrap
from evalpipe.intervals.declare import registry

if TYPE_CHECKING:
    from pathlib import Path

    from evalpipe.results import Results

OF_ERRORS = {"LARGEST", "SMALLEST"}
"""The constants that errors state, and no card."""

NAMES = [name for name, value in vars(constants).items()
         if name.isupper() and not isinstance(value, str) and name not in OF_ERRORS]


def sentences(results: Results) -> dict[str, str]:
    """Return the sentence of the card that states each constant."""
    rules = facts(method.sections(results))
    return {
        "TOLERATED": rules["Undefined"],
        "WHISKERS": residuals.box_caption(),
        "OUTLIERS": residuals.box_caption(),
        "CLIP": clipping_sentence(),
        "LOG_ODDS_CLIP": rules["Clipping"],
        "PILOT": next(labels_card.procedures(results.model_copy(update={
            "label_worth": [LabelWorth.model_construct()]}))).text,
        "WEIGHTINGS": reading_notes(RankingFacts(several=True, drawn=True, weighed=True)),
    }


@pytest.mark.parametrize(("name", "value", "before", "after"), [
    ("TOLERATED", 0.1, "more than 5% of all", "more than 10% of all"),
    ("WHISKERS", 2.5, "within 1.5 interquartile", "within 2.5 interquartile"),
    ("OUTLIERS", 31, "the 20 largest", "the 31 largest"),
    ("CLIP", 1e-6, "count as 1e-15 at least", "count as 1e-06 at least"),
    ("LOG_ODDS_CLIP", 1e-9, "are limited so with ε = 1e−12", "are limited so with ε = 1e−09"),
    ("PILOT", 64, "chosen by 256 resamples", "chosen by 64 resamples"),
    ("WEIGHTINGS", 2000, "of 10,000 random sets", "of 2,000 random sets"),
])
def test_a_sentence_states_the_constant_as_it_is(
    results: Results, monkeypatch: pytest.MonkeyPatch, name: str, value: Any, before: str, after: str
) -> None:
    assert before in sentences(results)[name]
    monkeypatch.setattr(constants, name, value)
    changed = sentences(results)[name]
    assert after in changed
    assert before not in changed


def test_the_words_of_the_studentised_bootstrap_state_its_groups() -> None:
    assert f"error from {bootstrap.FOLDS} groups of its rows left out in turn." in registry["studentised"].text


def test_every_constant_has_a_sentence_and_a_place_where_it_is_used(results: Results, root: Path) -> None:
    rooms = (*(root / "evalpipe" / "engine").rglob("*.py"), *(root / "evalpipe" / "chapters").rglob("compute*.py"))
    engine = "".join(file.read_text(encoding="utf-8") for file in rooms)

    assert set(sentences(results)) == set(NAMES)
    assert [name for name in NAMES if f"constants.{name}" not in engine] == []
