"""What docs/books/*.yaml say of the texts' own data, found there by the same specs.

Those data are not part of this repository. The specs of configs/books run on other rows; here they run on the rows of
the texts, with other paths and columns and nothing else changed but what these rows lack. A value has every digit of
the literal that it is compared with, unless a test says otherwise.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pytest
import yaml

import evalpipe
from conftest import Shared

ROOT = Path(__file__).resolve().parents[2]
CONFIGS, ITEMS = ROOT / "configs" / "books", ROOT / "docs" / "books"
FEW = ["report.formats=[]", "id=null"]

Document = Callable[..., dict[str, Any]]


def mushrooms(folder: Path) -> list[str]:
    """Run kuhn.yaml on the mushrooms: the validation set, and recalibrators fitted on the calibration set."""
    evaluation, calibration = folder / "mushroom" / "val.csv", folder / "mushroom" / "cal.csv"
    parts = f"evaluation: {{path: {evaluation}}}, calibration: {{path: {calibration}, role: calibrate}}"
    return [
        *FEW, "outcome={column: class, event: poisonous, levels: [poisonous, edible]}", "prevalence=0.555",
        f"datasets={{{parts}}}",
        "models={naive_bayes: {label: Naive Bayes, probability: .pred_poisonous}}",
    ]


def games(folder: Path) -> list[str]:
    """Run kuhn_ordinal.yaml on the games of Wordle, for which no prevalence is declared."""
    kept = [metric for metric in yaml.safe_load((CONFIGS / "kuhn_ordinal.yaml").read_text())["metrics"]
            if "ppv" not in json.dumps(metric)]
    return [
        *FEW, 'outcome={column: tries, levels: ["2", "3", "4", "5", "6", X]}', "prevalence=null",
        f"datasets={{test: {{path: {folder / 'wordle' / 'rule_test.csv'}}}}}", f"metrics={json.dumps(kept)}",
        'models={ordered: {label: RuleFit, probabilities: ".pred_{level}"}}',
    ]


def people(folder: Path) -> list[str]:
    """Run ema_titanic.yaml on the probabilities of the text's own fit."""
    return [
        *FEW, "outcome={column: survived, event: 1, levels: [1, 0]}", "compare=null",
        f"datasets={{titanic: {{path: {folder / 'titanic' / 'lrm.csv'}}}}}",
        "models={logistic_regression: {probability: p_lrm}}",
    ]


def flats(folder: Path) -> list[str]:
    """Run ema_apartments.yaml on the predictions of the text's own fit."""
    return [*FEW, f"datasets={{evaluation: {{path: {folder / 'apartments' / 'test.csv'}}}}}",
            "models={linear: {prediction: pred_lm}}"]


OVERRIDES = {"kuhn": mushrooms, "kuhn_ordinal": games, "ema_titanic": people, "ema_apartments": flats}
FEWEST = "intervals.replicates=100"
VALUES = {"kuhn": [FEWEST, "no_information={permutations: 10}"], "kuhn_ordinal": [FEWEST]}
"""Values need no replicates or pairings but those that a spec must have: none that is compared is a mean over them."""

LIMITS = {"kuhn": [
    "metrics=[brier]", "intervals.replicates=5000", "curves=null", "no_information=false",
    "recalibrate.methods=[logistic_spline, {method: isotonic_bagged, bags: 1000}]"]}
"""Limits are those of 5,000 replicates, as many as the text draws."""


@pytest.fixture(scope="module")
def document(reference: Path, shared: Shared) -> Document:
    """Return a function that runs a spec on the data of its text, once, and returns what results.json holds."""

    @cache
    def of_config(config: str, *, limits: bool = False) -> dict[str, Any]:
        more = LIMITS if limits else VALUES
        overrides = [*OVERRIDES[config](reference), *more.get(config, [])]
        folder = shared(f"{config}-of-its-text{'-limits' if limits else ''}", lambda out: evalpipe.run(
            CONFIGS / f"{config}.yaml", overrides=overrides, out=out))
        found: dict[str, Any] = json.loads((folder / "results.json").read_text(encoding="utf-8"))
        return found

    return of_config


@pytest.fixture(scope="module")
def items() -> Iterator[ModuleType]:
    """Return docs/book_items.py as a module, which finds values in results.json."""
    sys.path.insert(0, str(ROOT / "docs"))
    import book_items

    yield book_items
    sys.path.remove(str(ROOT / "docs"))


def originals() -> Iterator[Any]:
    """Yield each config, number and literal of the items that have one."""
    for file in sorted(ITEMS.glob("*.yaml")):
        for item in yaml.load(file.read_text(encoding="utf-8"), yaml.CSafeLoader)["items"]:
            pairs = [(item.get("number"), item.get("original"))]
            for column in item.get("table", {}).get("columns", []):
                if "original" in column:
                    pairs += zip(column["number"], column["original"], strict=True)
            for number, literal in pairs:
                if literal is not None:
                    yield pytest.param(item["config"], number, literal, id=f"{item['item'][:40]}-{literal}")


@pytest.mark.parametrize(("config", "number", "literal"), list(originals()))
def test_the_spec_gives_the_number_on_the_data_of_the_text(
    config: str, number: dict[str, Any], literal: str, document: Document, items: ModuleType
) -> None:
    results = document(config, limits=number.get("take") in {"lower", "upper"})
    value, digit = items.value_of(results, number), Decimal(literal).as_tuple().exponent
    assert isinstance(digit, int)
    # Half a unit of the last digit that the literal has; 1e-12 more, since the value is a binary number.
    assert value == pytest.approx(float(literal), abs=0.5 * 10.0**digit + 1e-12)


def test_every_text_with_data_of_its_own_is_held_to_them() -> None:
    assert {param.values[0] for param in originals()} == {"kuhn", "kuhn_ordinal", "ema_titanic"}


# To 1e-6, the precision at which they are known; counts exactly.
MUSHROOMS = {
    "accuracy": 0.784837, "kappa": 0.567903, "mcc": 0.568968, "sensitivity": 0.776985, "specificity": 0.794461,
    "ppv": 0.825012, "npv": 0.740685, "log_loss": 0.4549675, "brier": 0.1501661, "roc_auc": 0.8705721,
    "pr_auc": 0.8987073, "average_precision": 0.8987241,
}


def test_the_mushrooms_have_the_numbers_of_their_chapter(document: Document, items: ModuleType) -> None:
    results = document("kuhn")
    found = {metric: items.value_of(results, {"metric": metric}) for metric in MUSHROOMS}
    assert found == pytest.approx(MUSHROOMS, abs=1e-6)
    assert items.value_of(results, {"in": "confusion", "take": "counts"}) == [[2613, 750], [564, 2180]]
    limits = [items.value_of(results, {"metric": "accuracy", "take": side}) for side in ("lower", "upper")]
    assert limits == pytest.approx([0.776006, 0.793467], abs=1e-6)


def test_the_limits_of_the_mushrooms_are_those_of_their_chapter(document: Document, items: ModuleType) -> None:
    results = document("kuhn", limits=True)
    brier = [items.value_of(results, {"metric": "brier", "take": side}) for side in ("lower", "upper")]
    # Other draws: with 5,000 replicates a limit is off by about 0.0001, and the chapter prints four digits.
    assert brier == pytest.approx([0.1452, 0.1553], abs=3e-4)
    spline = {"in": "comparisons", "metric": "brier", "variant": "logistic_spline"}
    gain = [-items.value_of(results, spline | {"take": side}) for side in ("upper", "lower")]
    # Another spline too, whose Brier score is 0.00002 above that of the chapter.
    assert gain == pytest.approx([0.00234, 0.00493], abs=1e-4)


def test_the_games_have_the_numbers_of_their_chapter(document: Document, items: ModuleType) -> None:
    results = document("kuhn_ordinal")
    expected = {
        "accuracy": 95 / 118, "kappa": 0.722097, "rps": 0.0458249, "ordinal_mse": 0.372881, "ordinal_rmse": 0.610640,
    }
    assert {metric: items.value_of(results, {"metric": metric}) for metric in expected} == pytest.approx(
        expected, abs=1e-6)
    for weights, kappa in (("linear", 0.750141), ("quadratic", 0.791218)):
        number = {"metric": "weighted_kappa", "params": {"weights": weights}}
        assert items.value_of(results, number) == pytest.approx(kappa, abs=1e-6)


def test_the_logistic_regression_of_the_titanic_is_that_of_the_text(
    document: Document, items: ModuleType, reference: Path
) -> None:
    results, model = document("ema_titanic"), {"model": "logistic_regression"}
    expected = {"sensitivity": 0.5850914, "precision": 0.7522604, "f1": 0.6582278, "accuracy": 0.8042592}
    assert {metric: items.value_of(results, {"metric": metric, **model}) for metric in expected} == pytest.approx(
        expected, abs=5e-8)
    assert items.value_of(results, {"in": "confusion", "take": "counts"}) == [[416, 295], [137, 1359]]
    ours = pl.read_parquet(CONFIGS / "data" / "ema_titanic.parquet")["logistic_regression"]
    theirs = pl.read_csv(reference / "titanic" / "lrm.csv")["p_lrm"]
    # R stops its search where the deviance moves by less than 0.001 or so; both are near the one optimum.
    assert (ours - theirs).abs().max() < 1e-6


def test_the_linear_model_of_apartments_is_that_of_the_text(document: Document, items: ModuleType) -> None:
    expected = {"mse": 80137.98, "rmse": 283.0865, "r2": 0.9011624, "median_absolute_error": 212.7067}
    results = document("ema_apartments")
    for metric, value in expected.items():
        digits = len(str(value).partition(".")[2])
        assert items.value_of(results, {"metric": metric}) == pytest.approx(value, abs=0.5 * 10.0**-digits + 1e-9)
