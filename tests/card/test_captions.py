"""What figures say beneath them: whole clauses, the finding first, in at most 25 words with the title."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evalpipe.card.edition import Edition
from evalpipe.card.figures import drawings
from evalpipe.card.figures.calibration import band_off_diagonal, too_high_or_low
from evalpipe.card.figures.scatter import distance_from_diagonal
from evalpipe.card.figures.svg import IN_NOTES, MOST_WORDS, Clauses, Sheet, drawing, split_into_clauses
from evalpipe.card.html import write_page
from evalpipe.results import Results
from evalpipe.results.curves.residuals import ObservedPredictedSmooth
from few_by_day import few_by_day

if TYPE_CHECKING:
    from collections.abc import Callable

CONFIGS = sorted(path.stem for path in (Path(__file__).resolve().parents[2] / "configs").glob("*.yaml"))
UNFINISHED = {"a", "an", "and", "are", "at", "by", "for", "from", "in", "is", "of", "on", "or", "than", "that", "the",
              "to", "where", "with"}
"""Words that no clause ends with."""


def ends_as_a_clause_does(said: str) -> bool:
    last = re.findall(r"[\w%]+", said)[-1]
    return said.endswith(".") and "…" not in said and last.lower() not in UNFINISHED


@pytest.mark.parametrize("cut", ["rows that are yes and 4 of 203 that are no are …", "from 0.446 to.", "A: 1; and"])
def test_a_caption_that_is_cut_is_known(cut: str) -> None:
    assert not ends_as_a_clause_does(cut)


@pytest.mark.parametrize("name", few_by_day(CONFIGS, ("titanic",)))
def test_captions_of_every_config_are_short_and_end_as_a_clause_does(
    name: str, example: Callable[[str], Path]
) -> None:
    edition = Edition(Results.read(example(name) / "results.json"))
    write_page(edition, 1, linked=True)
    for number, figure in edition.figures_drawn():
        assert len(f"{figure.title} {figure.said}".split()) <= MOST_WORDS, (number, figure.title, figure.said)
        assert ends_as_a_clause_does(figure.said), (number, figure.title, figure.said)
        assert figure.said != IN_NOTES, (number, figure.title)
        assert figure.said == figure.finding or figure.reading == f"{figure.finding} {figure.caption}"


def test_as_many_whole_clauses_are_said_as_there_is_room_for() -> None:
    clauses = [f"model {k}: one two three four" for k in range(6)]
    for count, room in product(range(1, 7), range(6, 30)):
        said = Clauses(tuple(clauses[:count])).fitting(room)
        assert len(said.split()) <= room
        kept, _, more = said.removesuffix(".").partition("; and ")
        assert kept.split("; ") == clauses[: len(kept.split("; "))]
        assert not more or more in {f"{word} more model{'s' * (word != 'one')}" for word in (
            "one", "two", "three", "four", "five")}
    assert Clauses(tuple(clauses[:3])).fitting(25) == "; ".join(clauses[:3]) + "."
    assert Clauses(tuple(clauses)).fitting(25) == "; ".join(clauses[:3]) + "; and three more models."
    assert Clauses(tuple(clauses)).fitting(17) == "; ".join(clauses[:2]) + "; and four more models."
    assert Clauses(tuple(clauses), "").fitting(17) == "; ".join(clauses[:2]) + "."


def test_a_name_without_end_is_cut_and_the_number_is_not() -> None:
    name = "a model with a name that goes on and on and on"
    assert Clauses((f"{name}: 0 of 10 off the diagonal",)).fitting(10) == "a model with a…: 0 of 10 off the diagonal."
    assert Clauses((name,)).fitting(10) == IN_NOTES
    assert Clauses((name,)).fitting(2) == ""


def test_a_text_of_one_sentence_is_kept_whole_where_it_fits_and_else_ends_after_a_clause() -> None:
    text = "Of 300 the best is A: 0.7. 15 are not dominated."
    assert split_into_clauses(text).fitting(20) == text
    assert split_into_clauses(text).fitting(9) == "Of 300 the best is A: 0.7."
    assert split_into_clauses(text).whole == text


def test_the_notes_say_at_length_what_the_caption_says_in_short() -> None:
    same = drawing("k", "ROC curve", ("A: area 0.8.", "How.", "alt"), [Sheet()])
    assert (same.said, same.finding, same.reading) == ("A: area 0.8.", "A: area 0.8.", "How.")
    longer = drawing("k", "ROC curve", (Clauses(("A: 0.8",), at_length=("A: area 0.8",)), "How.", "alt"), [Sheet()])
    assert (longer.said, longer.reading) == ("A: 0.8.", "A: area 0.8. How.")


@pytest.mark.parametrize(("sides", "said"), [
    ("....", "nowhere clearly too high or too low"), ("aaaa", "too low everywhere"), ("bb..", "too high below 0.4"),
    ("..aa", "too low above 0.6"), (".b..", "too high near 0.4"), (".bb.", "too high from 0.4 to 0.6"),
    ("a..b", "too low below 0.2, too high above 0.8"), ("ab.a", "too low below 0.2, too high near 0.4"),
])
def test_where_probabilities_are_too_high_or_too_low_is_said_in_a_few_words(sides: str, said: str) -> None:
    limits = {".": (-0.1, 0.1), "a": (0.05, 0.1), "b": (-0.1, -0.05)}
    band = [(p, p + limits[side][0], p + limits[side][1]) for p, side in zip((0.2, 0.4, 0.6, 0.8), sides, strict=True)]
    assert too_high_or_low(band) == said
    assert (band_off_diagonal(band, "spline") == "the spline's band includes the diagonal everywhere") == (
        said == "nowhere clearly too high or too low")


@pytest.mark.parametrize(("line", "said"), [
    ([0.0, 5.4, 10.5], "close to the diagonal"), ([0.0, 5.0, 11.0], "1 above the diagonal where 10 is predicted"),
    ([-3.0, 5.0, 11.0], "3 below the diagonal where 0 is predicted"),
])
def test_a_smooth_line_is_close_to_the_diagonal_within_a_twentieth_of_the_range(line: list[float], said: str) -> None:
    points: dict[str, list[float | None]] = {"predicted": [0.0, 5.0, 10.0], "observed": [*line]}
    curve = ObservedPredictedSmooth(dataset="d", model="m", curve="observed_predicted_smooth", points=points, notes={})
    assert distance_from_diagonal(curve) == said


def test_captions_of_models_with_long_names_are_short(results: Results) -> None:
    models = [model.model_copy(update={"label": f"{'a long name ' * 9}{k}"}) for k, model in enumerate(results.models)]
    drawn = drawings(results.model_copy(update={"models": models}), "validation")
    assert len(drawn) > 10
    assert [d.title for d in drawn if len(f"{d.title} {d.said}".split()) > MOST_WORDS] == []
