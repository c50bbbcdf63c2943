"""What a thousand rows come to, against counts in numpy; the bars of the first screen."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import evalpipe
from engine.runs import BOTH, intervals, people, run
from evalpipe.card.page import StackedBars
from evalpipe.chapters.what_if.card import MOST, glance
from evalpipe.chapters.what_if.records import PerThousand
from evalpipe.results import Results

FRAME = people(400)
QUICK: dict[str, Any] = {"intervals": intervals(100), "metrics": ["sensitivity"]}
WORDS = {"event": "survivor", "row": "person", "predicted": "said to survive"}


def counts(row: PerThousand) -> list[int]:
    return [row.true_positives, row.false_negatives, row.false_positives, row.true_negatives, row.unclassified]


def expected(frame: pl.DataFrame, *, prevalence: float, threshold: float, weight: str | None = None) -> list[float]:
    """Return the exact counts of model p: found, missed, false alarms and rightly left alone."""
    event, predicted = frame["y"].to_numpy() == 1, frame["p"].to_numpy() >= threshold
    weights = np.ones(len(frame)) if weight is None else frame[weight].to_numpy()
    hit, alarm = (np.average(predicted[rows], weights=weights[rows]) for rows in (event, ~event))
    return [1000 * share for share in (
        hit * prevalence, (1 - hit) * prevalence, alarm * (1 - prevalence), (1 - alarm) * (1 - prevalence))]


@pytest.mark.parametrize(("keys", "settings"), [
    ({}, {"prevalence": FRAME["y"].mean(), "threshold": 0.5}),
    ({"threshold": 0.3}, {"prevalence": FRAME["y"].mean(), "threshold": 0.3}),
    ({"prevalence": 0.02}, {"prevalence": 0.02, "threshold": 0.5}),
    ({"weight": {"column": "times", "kind": "frequency"}},
     {"prevalence": np.average(FRAME["y"], weights=FRAME["times"]), "threshold": 0.5, "weight": "times"}),
    ({"engine": {"mode": "grid"}}, {"prevalence": FRAME["y"].mean(), "threshold": 0.5}),
])
def test_counts_are_rates_at_the_prevalence(keys: dict[str, Any], settings: dict[str, Any]) -> None:
    (row,) = run(FRAME, **QUICK, **keys).per_thousand
    exact = expected(FRAME, **settings)
    assert sum(counts(row)) == 1000
    assert np.abs(np.subtract(counts(row)[:4], exact)).max() < 1  # whole numbers that add up
    assert (row.threshold, row.declared) == (settings["threshold"], "prevalence" in keys)
    assert row.prevalence == pytest.approx(settings["prevalence"], rel=1e-12)  # another order of the sum


def test_a_prevalence_may_come_from_a_dataset() -> None:
    other = people(300, seed=5, digits=9)
    datasets = {"d": {"path": "memory"}, "o": {"path": "memory", "role": "reference"}}
    (row,) = run({"d": FRAME, "o": other}, **QUICK, datasets=datasets, prevalence={"from": "o"}).per_thousand
    assert (row.declared, row.prevalence) == (True, pytest.approx(other["y"].mean(), rel=1e-12))
    assert sum(counts(row)) == 1000


def test_rows_of_an_equivocal_zone_have_no_class() -> None:
    (row,) = run(FRAME, **QUICK, equivocal=0.1).per_thousand
    inside = ((FRAME["p"] >= 0.4) & (FRAME["p"] < 0.6)).mean()
    assert isinstance(inside, float)
    assert row.unclassified == pytest.approx(1000 * inside, abs=40)  # rows at an end of the zone may be outside of it
    assert sum(counts(row)) == 1000


def test_of_rows_of_one_class_or_another_outcome_there_is_none() -> None:
    ones = FRAME.filter(pl.col("y") == 1)
    levels = {"column": "y", "event": 1, "levels": [0, 1]}
    assert run(ones, **QUICK, outcome=levels).per_thousand == []
    assert "per_thousand" not in run(ones, **QUICK, outcome=levels).to_json()
    numeric = run(FRAME, task="regression", outcome={"column": "age"}, models={"m": {"prediction": "heavy"}},
                  metrics=["rmse"], intervals={"method": "none"})
    assert numeric.per_thousand == []


def bars(results: Results) -> StackedBars:
    (block,) = glance(results)
    return block


def test_the_bars_speak_of_the_reader_s_nouns() -> None:
    drawn = bars(run(FRAME, **QUICK, models=BOTH, words=WORDS, prevalence=0.25))
    assert (drawn.title, drawn.caption) == (
        "What happens to 1,000 people like these?", "at threshold 0.5, if 250 in 1,000 are survivors")
    assert [[part.words for part in bar.parts] for bar in drawn.bars] == [
        ["found", "missed", "others said to survive", "correctly left alone"]] * 2
    plain = bars(run(FRAME, **QUICK, prevalence=0.25))
    assert (plain.title, plain.caption) == (
        "What happens to 1,000 rows like these?", "at threshold 0.5, if 250 in 1,000 are '1'")
    assert plain.bars[0].parts[2].words == "false alarms"


def test_a_bar_is_as_wide_as_its_parts() -> None:
    (bar,) = bars(run(FRAME, **QUICK)).bars
    ends = [(start, round(start + width, 2)) for _, start, width in bar.placed]
    assert [start for start, _ in ends] == [0, *(end for _, end in ends[:-1])]
    assert ends[-1][1] == 100


def test_what_is_not_drawn_is_told() -> None:
    models = {f"m{number}": {"probability": "p", "threshold": number / 10} for number in range(1, MOST + 3)}
    drawn = bars(run({"d": FRAME, "e": FRAME.head(300)}, **QUICK, models=models))
    assert len(drawn.bars) == MOST
    assert drawn.more == "Not drawn: 2 models and 1 dataset; see results.json."
    assert drawn.caption.startswith("d, each model at its own threshold, if ")


def test_the_markdown_card_has_a_table_of_them() -> None:
    results = run(FRAME, **QUICK, words=WORDS)
    card = evalpipe.render(results, ["markdown"])["card.md"].decode()
    (row,) = results.per_thousand
    assert "**What happens to 1,000 people like these?** (at threshold 0.5, if" in card
    assert f"| p | {' | '.join(map(str, counts(row)[:4]))} |" in card
    assert f"400 people of d, {int(FRAME['y'].sum())} survivors" in card


@pytest.mark.parametrize(("variants", "drawn", "more"), [
    (1, ["p", "q", "p (v1)", "q (v1)"], ""),
    (2, ["p", "q"], "Not drawn: 4 recalibrated variants; see results.json."),
])
def test_variants_are_drawn_of_up_to_four_bars_in_all(variants: int, drawn: list[str], more: str) -> None:
    results = run(FRAME, **QUICK, models=BOTH)
    rows = [row.model_copy(update={"variant": name}) for name in ("original", "v1", "v2")[:variants + 1]
            for row in results.per_thousand]
    block = bars(results.model_copy(update={"per_thousand": rows}))
    assert ([bar.label for bar in block.bars], block.more) == (drawn, more)


@pytest.mark.parametrize(("thresholds", "at"), [
    ((0.5, 0.5), "at threshold 0.5"), ((0.5, 0.25), "each model at its own threshold"),
    ((None, 0.5), "each model at its own threshold"), ((None, None), "by the classes that each model predicts"),
    ((0.0, 0.0), "at threshold 0"),
])
def test_the_caption_says_at_which_threshold(thresholds: tuple[float | None, ...], at: str) -> None:
    results = run(FRAME, **QUICK, models=BOTH)
    rows = [row.model_copy(update={"threshold": cut, "prevalence": 0.0416, "unclassified": 0})
            for row, cut in zip(results.per_thousand, thresholds, strict=True)]
    block = bars(results.model_copy(update={"per_thousand": rows}))
    assert block.caption == f"{at}, if 42 in 1,000 are '1'"
    assert {len(bar.parts) for bar in block.bars} == {4}
