"""What a card says under a condition: over rendered cards of many kinds, no sentence contradicts what was asked for."""

from __future__ import annotations

import html
import re
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

from card.blocks import heads, rows, table
from evalpipe.card.html import html_page
from evalpipe.card.wording import WEIGHED
from evalpipe.chapters.costs.card import sections
from evalpipe.results import Results
from tests.engine.runs import BOTH, intervals, people, run

LISTED = ["roc_auc", "brier", "sensitivity", "precision", "npv_sample", {"metric": "f_beta", "beta": 2}]
AT = [{"metric": name, "prevalence": [0.5, "declared"]} for name in ("precision", "npv_sample", "brier", "cost")]
COSTS = [{"truth": 1, "predicted": 0, "cost": 5}, {"truth": 0, "predicted": 1, "cost": 0.1}]
NONE: dict[str, Any] = {"method": "none"}
FITTED = {"fit_on": {"folds": 3}, "methods": ["logistic"]}

LEVELS = {"column": "y", "event": 1, "levels": [0, 1]}

VARIATIONS: dict[str, dict[str, Any]] = {
    "without intervals": {
        "models": BOTH, "metrics": [*LISTED, "ppv"], "threshold": 0.5, "prevalence": 0.3, "slices": ["s", "h"],
        "compare": {"baseline": "p"}, "recalibrate": FITTED, "gates": [{"metric": "roc_auc", "min": 0.5}],
        "costs": COSTS, "outcome": LEVELS, "intervals": NONE},
    "at prevalences": {
        "models": BOTH, "metrics": [*LISTED, "ppv", "npv", "cost", *AT], "threshold": 0.1 + 0.2, "costs": COSTS,
        "prevalence": {"beta": [1, 2]}, "outcome": LEVELS, "recalibrate": FITTED, "intervals": intervals(100)},
    "an equivocal zone": {
        "metrics": [*LISTED, {"metric": "net_benefit", "threshold": 0.6}], "threshold": 0.7 - 0.1, "equivocal": 0.1,
        "weight": {"column": "heavy", "kind": "importance"}, "intervals": intervals(100)},
    "without a threshold": {"metrics": ["roc_auc", "brier", "log_loss"], "intervals": intervals(100)},
}


def levels(n: int = 240) -> pl.DataFrame:
    """Return rows of three levels with their probabilities."""
    generator = np.random.default_rng(8)
    truth = generator.choice(3, n, p=[0.5, 0.3, 0.2])
    chances = generator.dirichlet([1, 1, 1], n)
    chances[np.arange(n), truth] += 0.5
    chances /= chances.sum(axis=1, keepdims=True)
    return pl.DataFrame({"y": truth, **{f"p_{k}": chances[:, k] for k in range(3)}})


@cache
def results(name: str) -> Results:
    """Return the results of a variation."""
    if name != "averages over classes":
        return run(people(300, seed=6), **VARIATIONS[name])
    averages = ["macro", "macro_weighted", "micro", "none"]
    return run(levels(), task="multiclass", outcome={"column": "y", "levels": [0, 1, 2]},
               models={"m": {"probabilities": "p_{level}"}}, intervals={"replicates": 100}, metrics=[
                   "accuracy", "brier", {"metric": "precision", "average": averages},
                   {"metric": "precision", "average": averages, "prevalence": {"0": 0.2, "1": 0.3, "2": 0.5}}])


@cache
def page(name: str) -> str:
    """Return the card up to its provenance, whose spec is as it was written, without drawings' paths."""
    text = html_page(results(name)).decode()
    return re.sub(r"<(style|script|pre)\b.*?</\1>", " ", text[: text.index('id="provenance"')], flags=re.DOTALL)


def words(markup: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", markup)).split())


every_variation = pytest.mark.parametrize("name", [*VARIATIONS, "averages over classes"])


@every_variation
def test_no_heading_says_a_thing_twice(name: str) -> None:
    heads = re.findall(r"<(h[1-6]|caption|th|dt|td)\b[^>]*>(.*?)</\1>", page(name), flags=re.DOTALL)
    said = [words(head) for _, head in heads]
    assert len(said) > 20
    twice = re.compile(r"(at prevalence [\d.]+).*\1|(\([^()]+\)) \2")
    assert [head for head in said if twice.search(head)] == []


@every_variation
def test_no_number_has_the_noise_of_arithmetic(name: str) -> None:
    found = re.findall(r"(?<![\w.])\d[\d,]*\.\d+", words(page(name)))
    assert len(found) > 50
    assert [text for text in found if len(text.replace(",", "").replace(".", "").lstrip("0")) > 10] == []


@every_variation
def test_intervals_are_spoken_of_where_there_are_some(name: str) -> None:
    said, limited = words(page(name)), any(row.lower is not None for row in results(name).rows)
    assert bool(re.search(r"with (its )?95% interval", said)) == limited
    assert ("No measure has an interval." in said) != limited


@every_variation
def test_a_definition_at_a_prevalence_is_of_that_prevalence(name: str) -> None:
    table = re.findall(r'<th scope="row"[^>]*>(.*?)</th>', page(name), flags=re.DOTALL)
    defined = [words(row) for row in table if 'class="definition meaning"' in row and "at prevalence" in row]
    known = {m.title: m for m in results(name).metrics}
    for row in (row for row in defined if "is better" not in row and "end is better" not in row):
        own = known.get(row.partition(" (")[0])  # the sample NPV at a prevalence is the NPV, and is called so
        if own is not None and own.definition in row:
            assert own.own_prevalence != (WEIGHED in row)
        else:
            assert WEIGHED in row
        assert "sample" not in row
    assert bool(defined) == (name in ("without intervals", "at prevalences", "averages over classes"))


def test_a_cost_at_each_prevalence_has_its_own_column() -> None:
    found = results("at prevalences")
    costs = table(sections(found), "Cost of a row of d")
    assert heads(costs) == ["Predictions", "Cost", "Cost (at prevalence 0.5)", "Cost (at prevalence 0.333)"]
    own = next(row.cells[1:] for row in rows(costs) if row.cells[0] == "p")
    assert [float(cell.exact) for cell in own] == [
        e.value for e in found.rows if (e.metric, e.model, e.variant) == ("cost", "p", "original")]


def test_the_cheapest_level_is_called_the_cheapest_without_a_model() -> None:
    assert "cheapest of these" not in page("at prevalences")
    assert "cheapest without a model" in page("at prevalences")


def test_the_note_on_n_speaks_of_events_where_there_are_some() -> None:
    assert "n is the denominator of the measure" in page("without a threshold")
    numbers = run(people(60), task="regression", outcome={"column": "age"}, models={"m": {"prediction": "heavy"}},
                  metrics=["rmse"], intervals={"method": "none"})
    assert "n is the denominator of the measure" not in html_page(numbers).decode()
