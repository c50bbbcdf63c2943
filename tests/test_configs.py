"""Every example spec runs, shows what it says, agrees with other libraries, and its data can be made again."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import poisson
from sklearn import metrics as sk

from evalpipe.results import Results

ROOT = Path(__file__).resolve().parents[1]
CONFIGS = ROOT / "configs"
DATA = CONFIGS / "data"
SPECS = sorted(CONFIGS.glob("*.yaml"))
DIGITS = [str(digit) for digit in range(10)]
PARTIES = [
    "Strong Democrat", "Weak Democrat", "Independent-Democrat", "Independent", "Independent-Republican",
    "Weak Republican", "Strong Republican",
]
LARGEST = 150_000  # bytes: the data travel with every clone


Example = Callable[[str], Results]
Value = Callable[..., float]


@pytest.fixture(scope="module")
def values(example: Callable[[str], Path]) -> Example:
    """Return the results of a config by its name."""
    return cache(lambda name: Results.read(example(name) / "results.json"))


@pytest.fixture(scope="module")
def value(values: Example) -> Value:
    """Return one value of a config; the mean over classes where no class is named."""

    def value_of(name: str, model: str, metric: str, class_: str | None = None, **params: str | int) -> float:
        (found,) = (
            row.value for row in values(name).rows
            if (row.model, row.metric, row.class_) == (model, metric, class_) and params.items() <= row.params.items()
        )  # fmt: skip
        assert found is not None
        return found

    return value_of


def test_every_task_has_an_example(values: Example) -> None:
    assert {values(spec.stem).task for spec in SPECS} == {
        "binary", "multiclass", "ordinal", "regression", "count", "score"}


def test_every_example_spec_is_explained() -> None:
    listed = re.findall(r"^\| \[(\S+)\]", (CONFIGS / "README.md").read_text(encoding="utf-8"), re.MULTILINE)

    assert sorted(listed) == [spec.name for spec in SPECS]


def test_every_file_of_data_is_small_and_explained_with_its_rows() -> None:
    text = (DATA / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\S+)` \| ([\d,]+) \|", text, re.MULTILINE)
    files = sorted([*DATA.glob("*.parquet"), *DATA.glob("optimism/*.parquet"), *DATA.glob("*.csv")])

    readers = {".parquet": pl.read_parquet, ".csv": pl.read_csv}
    heights = {file.relative_to(DATA).as_posix(): readers[file.suffix](file).height for file in files}
    assert {name: int(count.replace(",", "")) for name, count in rows} == heights
    assert [file.name for file in files if file.stat().st_size > LARGEST] == []


# How far each column of predictions may lie from the committed one: the largest difference where the model has one
# optimum, which solvers reach to about 1e-6; the mean difference of trees, which may split otherwise in another
# version. Prices are in euros, and those of the linear model may differ by the cent to which they are rounded.
OPTIMUM, TREES = "max", "mean"
SCRIPTS: dict[str, dict[str, tuple[str, float]]] = {
    "titanic": {"logistic_regression": (OPTIMUM, 1e-5), "random_forest": (TREES, 0.02)},
    "digits": {"logistic_": (OPTIMUM, 1e-5), "forest_": (TREES, 0.02)},
    "anes96": {"ordered_": (OPTIMUM, 1e-5), "multinomial_": (OPTIMUM, 1e-5)},
    "apartments": {"linear": (OPTIMUM, 0.011), "forest": (TREES, 20.0)},
    "randhie": {"poisson_glm": (OPTIMUM, 1e-5), "boosting": (TREES, 0.05)},
    "visits": {"naive_bayes": (OPTIMUM, 1e-5), "boosting": (TREES, 0.02)},
    "tumours": {
        "one_predictor": (OPTIMUM, 1e-5), "ridge": (OPTIMUM, 1e-5), "lasso_": (OPTIMUM, 1e-5),
        "random_forest": (TREES, 0.02),
    },
}


@pytest.mark.nightly
@pytest.mark.parametrize("name", SCRIPTS)
def test_the_script_makes_the_committed_rows_and_predictions(name: str, tmp_path: Path) -> None:
    made = subprocess.run(
        [sys.executable, DATA / f"make_{name}.py", tmp_path], check=False, capture_output=True, text=True
    )
    assert made.returncode == 0, made.stderr
    fresh, kept = parts(tmp_path, name), parts(DATA, name)
    assert fresh.keys() == kept.keys() >= {"training", "evaluation"}

    for part, table in kept.items():
        predicted = {} if part == "training" else {
            column: limit for column in table.columns
            for start, limit in SCRIPTS[name].items() if column.startswith(start)
        }  # fmt: skip
        assert fresh[part].columns == table.columns
        assert fresh[part].drop(predicted).equals(table.drop(predicted))
        assert bool(predicted) == (part != "training")
        for column, (how, limit) in predicted.items():
            difference = (fresh[part][column] - table[column]).abs()
            assert (difference.max() if how == OPTIMUM else difference.mean()) < limit, (part, column)


@pytest.mark.nightly
def test_the_script_makes_the_committed_rows_of_the_demo(tmp_path: Path) -> None:
    subprocess.run([sys.executable, DATA / "make_demo.py", tmp_path / "visits.csv"], check=True)
    fresh, kept = (pl.read_csv(folder / "visits.csv") for folder in (tmp_path, DATA.parents[1] / "evalpipe" / "demo"))

    observed = ["person", "visit", "health"]
    assert fresh.select(observed).equals(kept.select(observed))
    assert (fresh["logistic_regression"] - kept["logistic_regression"]).abs().max() < 1e-5
    assert (fresh["boosted_trees"] - kept["boosted_trees"]).abs().mean() < 0.02


@pytest.mark.nightly
def test_the_script_makes_the_committed_grid(tmp_path: Path) -> None:
    subprocess.run([sys.executable, DATA / "make_grid.py", tmp_path], check=True)
    fresh, kept = (pl.read_csv(folder / "tumours_grid.csv") for folder in (tmp_path, DATA))

    assert fresh.columns == kept.columns
    assert fresh.select("features", "C").equals(kept.select("features", "C"))
    # Each model has one optimum, which solvers reach to about 1e-6, and values are rounded to six decimals.
    assert max((fresh[column] - kept[column]).abs().max() for column in kept.columns[2:]) < 1e-5


def test_the_fits_of_the_titanic_are_of_the_evaluated_rows() -> None:
    ids = pl.read_parquet(DATA / "titanic_evaluation.parquet")["passenger"]
    fits = sorted((DATA / "titanic_fits").iterdir())

    assert [file.name for file in fits] == [f"seed-{seed:02}.parquet" for seed in range(1, 21)]
    assert all(pl.read_parquet(file)["passenger"].equals(ids) for file in fits)
    assert sum(file.stat().st_size for file in fits) < 2 * LARGEST


@pytest.mark.nightly
def test_the_script_makes_the_committed_fits(tmp_path: Path) -> None:
    subprocess.run([sys.executable, DATA / "make_titanic_fits.py", tmp_path], check=True)

    for file in (DATA / "titanic_fits").iterdir():
        fresh, kept = (pl.read_parquet(folder / "titanic_fits" / file.name) for folder in (tmp_path, DATA))
        assert (fresh["probability"] - kept["probability"]).abs().mean() < SCRIPTS["titanic"]["random_forest"][1]


def test_the_bootstrap_fits_are_of_the_training_rows() -> None:
    folder = DATA / "optimism"
    training = pl.read_parquet(folder / "training.parquet")
    fits = [pl.read_csv(file) for file in sorted(folder.glob("bootstrap-*.csv.gz"))]

    assert len(fits) == 100
    assert all(fit["passenger"].to_list() == training["passenger"].to_list() for fit in fits)
    assert {int(fit["drawn"].sum()) for fit in fits} == {len(training)} == {300}
    assert not set(training["passenger"]) & set(pl.read_parquet(folder / "evaluation.parquet")["passenger"])
    assert sum(file.stat().st_size for file in folder.iterdir()) < 2 * LARGEST


@pytest.mark.nightly
def test_the_script_makes_the_committed_bootstrap_fits(tmp_path: Path) -> None:
    subprocess.run([sys.executable, DATA / "make_optimism.py", tmp_path], check=True)

    for file in sorted((DATA / "optimism").glob("*.csv.gz")):
        fresh, kept = (pl.read_csv(folder / "optimism" / file.name) for folder in (tmp_path, DATA))
        assert fresh.drop("probability").equals(kept.drop("probability"))
        # One optimum, which the solver reaches to about 1e-5 on features of these sizes, and four decimals.
        assert (fresh["probability"] - kept["probability"]).abs().max() <= 2e-4


@pytest.mark.nightly
def test_the_script_of_the_benchmark_makes_the_committed_items(tmp_path: Path) -> None:
    subprocess.run([sys.executable, DATA / "make_benchmark.py", tmp_path], check=True)
    fresh, kept = (pl.read_parquet(folder / "benchmark.parquet") for folder in (tmp_path, DATA))
    keys = ["image", "digit", "epoch"]
    assert fresh.select(keys).equals(kept.select(keys))
    # Trees and neighbours at equal distance may read a digit in another way on another processor.
    for model in set(kept.columns) - set(keys):
        assert (fresh[model] - kept[model]).abs().mean() < 0.02


def test_the_benchmark_ties_models_as_their_differences_say(values: Example) -> None:
    results = values("benchmark")
    table = pl.read_parquet(DATA / "benchmark.parquet")
    for row in results.score_errors:
        assert row.value == pytest.approx(table[row.model].mean())
    (tied,) = results.tied_sets
    apart = {frozenset((row.model, row.baseline)) for row in results.comparisons
             if row.metric == "mean" and row.slice is None and row.verdict in ("better", "worse")}
    in_a_set = {frozenset((first, second)) for members in tied.sets for first in members for second in members
                if first != second}
    pairs = {frozenset((first, second)) for first in tied.ranked for second in tied.ranked if first != second}
    assert in_a_set == pairs - apart
    assert tied.sets[-1] == [tied.ranked[-1]] == ["tree"]


def parts(folder: Path, name: str) -> dict[str, pl.DataFrame]:
    """Return the tables of an example by what they are for."""
    files = sorted(folder.glob(f"{name}_*.parquet"))
    return {file.stem.removeprefix(f"{name}_"): pl.read_parquet(file) for file in files}


def test_every_script_is_run() -> None:
    others = {"grid", "titanic_fits", "optimism", "demo", "gallery", "benchmark", "labels"}
    assert {file.stem.removeprefix("make_") for file in DATA.glob("make_*.py")} == {*SCRIPTS, *others}


def test_no_evaluated_row_was_trained_on() -> None:
    keys = {
        "digits": "image", "anes96": "respondent", "apartments": "apartment", "randhie": "case", "visits": "case",
        "tumours": "tumour",
    }
    for name, key in keys.items():
        each = [set(table[key]) for table in parts(DATA, name).values()]
        assert len(set.union(*each)) == sum(map(len, each)), name


def levels(name: str, model: str, outcome: str, labels: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the true codes [n] and the probabilities [n, K] of a config's evaluation set."""
    table = pl.read_parquet(DATA / f"{name}_evaluation.parquet")
    truth = np.array([labels.index(str(level)) for level in table[outcome]])
    return truth, table.select([f"{model}_{label}" for label in labels]).to_numpy()


def cost(truth: np.ndarray, predicted: np.ndarray) -> float:
    named = {(1, 7): 6.0, (1, 8): 7.0, (3, 8): 5.0, (5, 9): 4.0}
    return float(np.mean([named.get(pair, 0.0) for pair in zip(truth.tolist(), predicted.tolist(), strict=True)]))


@pytest.mark.parametrize("model", ["logistic", "forest"])
def test_digits_agree_with_scikit_learn(model: str, value: Value) -> None:
    truth, p = levels("digits", model, "digit", DIGITS)
    predicted = p.argmax(1)
    expected = {
        "accuracy": sk.accuracy_score(truth, predicted),
        "balanced_accuracy": sk.balanced_accuracy_score(truth, predicted),
        "kappa": sk.cohen_kappa_score(truth, predicted),
        "mcc": sk.matthews_corrcoef(truth, predicted),
        "cost": cost(truth, predicted),
        "precision": sk.precision_score(truth, predicted, average="macro"),
        "sensitivity": sk.recall_score(truth, predicted, average="macro"),
        "f1": sk.f1_score(truth, predicted, average="macro"),
        "log_loss": sk.log_loss(truth, p),
        "brier": np.sum((p - np.eye(10)[truth]) ** 2) / (2 * len(p)),
        "top_k_accuracy": sk.top_k_accuracy_score(truth, p, k=2),
        "hand_till_auc": sk.roc_auc_score(truth, p, multi_class="ovo", average="macro"),
        "roc_auc": sk.roc_auc_score(truth, p, multi_class="ovr", average="macro"),
    }
    each = {"precision": sk.precision_score, "sensitivity": sk.recall_score, "f1": sk.f1_score}

    # Both sides add the same 719 float64 terms in another order: far closer than 1e-10.
    assert {name: value("digits", model, name) for name in expected} == pytest.approx(expected, rel=1e-10)
    for name, function in each.items():
        found = [value("digits", model, name, digit) for digit in DIGITS]
        assert found == pytest.approx(function(truth, predicted, average=None), rel=1e-10)


@pytest.mark.parametrize("model", ["logistic", "forest"])
def test_ppv_of_a_digit_follows_from_bayes(model: str, value: Value) -> None:
    truth, p = levels("digits", model, "digit", DIGITS)
    table = sk.confusion_matrix(truth, p.argmax(1))
    prior = np.array([sum(np.log10(1 + 1 / (10 * first + digit)) for first in range(1, 10)) for digit in range(10)])
    shares = table / table.sum(axis=1, keepdims=True)
    hits = prior * np.diag(shares)
    false = np.array([
        (1 - prior[k]) * (table[:, k].sum() - table[k, k]) / (len(truth) - table[k].sum()) for k in range(10)
    ])

    # The spec has Benford's law to five decimals.
    assert value("digits", model, "ppv") == pytest.approx(np.mean(hits / (hits + false)), abs=1e-5)


@pytest.mark.parametrize("model", ["ordered", "multinomial"])
def test_anes96_agrees_with_scikit_learn(model: str, value: Value) -> None:
    truth, p = levels("anes96", model, "party", PARTIES)
    predicted = p.argmax(1)
    below = (truth[:, None] <= np.arange(6)).astype(float)
    expected = {
        "accuracy": sk.accuracy_score(truth, predicted),
        "kappa": sk.cohen_kappa_score(truth, predicted),
        "ordinal_mae": sk.mean_absolute_error(truth, predicted),
        "ordinal_rmse": sk.root_mean_squared_error(truth, predicted),
        "rps": sk.mean_squared_error(below, p.cumsum(axis=1)[:, :6]),
        "log_loss": sk.log_loss(truth, p),
        "brier": np.sum((p - np.eye(7)[truth]) ** 2) / (2 * len(p)),
    }

    # Both sides add the same 472 float64 terms in another order: far closer than 1e-10.
    assert {name: value("anes96", model, name) for name in expected} == pytest.approx(expected, rel=1e-10)
    for weights in ("linear", "quadratic"):
        found = value("anes96", model, "weighted_kappa", weights=weights)
        assert found == pytest.approx(sk.cohen_kappa_score(truth, predicted, weights=weights), rel=1e-10)


@pytest.mark.parametrize("model", ["linear", "forest"])
def test_apartments_agree_with_scikit_learn(model: str, value: Value) -> None:
    table, training = (pl.read_parquet(DATA / f"apartments_{part}.parquet") for part in ("evaluation", "training"))
    truth, predicted = table["m2_price"].to_numpy(), table[model].to_numpy()
    slope, intercept = np.polyfit(predicted, truth, 1)
    expected = {
        "rmse": sk.root_mean_squared_error(truth, predicted),
        "mae": sk.mean_absolute_error(truth, predicted),
        "median_absolute_error": sk.median_absolute_error(truth, predicted),
        "mape": 100 * sk.mean_absolute_percentage_error(truth, predicted),
        "rsq": np.corrcoef(truth, predicted)[0, 1] ** 2,
        "linear_calibration_slope": slope,
        "linear_calibration_intercept": intercept,
    }
    total = np.sum((truth - training["m2_price"].to_numpy().mean()) ** 2)
    baseline = 1 - np.sum((truth - predicted) ** 2) / total

    # Prices are in the thousands, so that a sum of 9,000 squares keeps about eleven digits; least squares, about eight.
    assert {name: value("apartments", model, name) for name in expected} == pytest.approx(expected, rel=1e-8)
    r2 = {name: value("apartments", model, "r2", baseline=name) for name in ("evaluation", "training")}
    assert r2 == pytest.approx({"evaluation": sk.r2_score(truth, predicted), "training": baseline}, rel=1e-10)


def test_the_linear_model_of_apartments_is_that_of_the_book(value: Value) -> None:
    # Biecek and Burzykowski (2021), section 15.4: figures of R's lm, here from predictions rounded to the cent.
    assert value("apartments", "linear", "rmse") == pytest.approx(283.0865, abs=0.001)
    assert value("apartments", "linear", "r2", baseline="evaluation") == pytest.approx(0.9011624, abs=1e-6)
    assert value("apartments", "linear", "median_absolute_error") == pytest.approx(212.7067, abs=0.01)


@pytest.mark.parametrize("model", ["poisson_glm", "boosting"])
def test_randhie_agrees_with_scikit_learn_and_scipy(model: str, value: Value) -> None:
    table = pl.read_parquet(DATA / "randhie_evaluation.parquet")
    truth, mean = table["visits"].to_numpy(), table[model].to_numpy()
    chi2 = float(np.sum((truth - mean) ** 2 / mean))
    expected = {
        "rmse": sk.root_mean_squared_error(truth, mean),
        "mae": sk.mean_absolute_error(truth, mean),
        "r2": sk.r2_score(truth, mean),
        "pearson_chi2": chi2,
        "pearson_dispersion": chi2 / len(truth),
        "poisson_deviance": sk.mean_poisson_deviance(truth, mean),
        "d2_poisson": sk.d2_tweedie_score(truth, mean, power=1),
        "poisson_log_loss": -poisson.logpmf(truth, mean).mean(),
    }

    # Both sides add the same 2,647 float64 terms in another order: far closer than 1e-10.
    assert {name: value("randhie", model, name) for name in expected} == pytest.approx(expected, rel=1e-10)


# What the first lines of each config say: the measure is lower for the first model than for the second.
SAID = [
    ("digits", "accuracy", {}, "logistic", "forest"),
    ("anes96", "accuracy", {}, "ordered", "multinomial"),
    ("anes96", "weighted_kappa", {"weights": "linear"}, "multinomial", "ordered"),
    ("anes96", "weighted_kappa", {"weights": "quadratic"}, "multinomial", "ordered"),
    ("anes96", "ordinal_mae", {}, "ordered", "multinomial"),
    ("anes96", "ordinal_rmse", {}, "ordered", "multinomial"),
    ("apartments", "rmse", {}, "linear", "forest"),
    ("apartments", "mae", {}, "forest", "linear"),
    ("apartments", "median_absolute_error", {}, "forest", "linear"),
]


@pytest.mark.parametrize(("name", "metric", "params", "lower", "higher"), SAID)
def test_a_config_shows_the_order_of_models_that_it_says(
    name: str, metric: str, params: dict[str, str | int], lower: str, higher: str, value: Value
) -> None:
    assert value(name, lower, metric, **params) < value(name, higher, metric, **params)


def test_configs_show_the_sizes_that_they_say(value: Value, values: Example) -> None:
    apartments = pl.read_parquet(DATA / "apartments_evaluation.parquet")
    linear, forest = ((apartments["m2_price"] - apartments[model]).to_numpy() for model in ("linear", "forest"))
    low, high = linear[linear < 0], linear[linear > 0]

    (visits,) = values("prevalence").observed
    assert round(visits.value, 1) == 0.7
    assert value("digits", "forest", "log_loss") > 2 * value("digits", "logistic", "log_loss")
    assert [round(value("randhie", model, "pearson_dispersion")) for model in ("poisson_glm", "boosting")] == [6, 6]
    assert np.abs(linear).min() > 100  # never right
    assert [np.median(low), np.median(high)] == pytest.approx([-200, 400], abs=25)
    assert np.mean(np.abs(forest) < 100) > 0.25  # often close
    assert np.abs(forest).max() > 2 * np.abs(linear).max()  # sometimes far off


def test_the_goals_for_tumours_are_met_as_the_formulas_of_the_book_say(values: Example) -> None:
    table = pl.read_parquet(DATA / "tumours_evaluation.parquet")
    truth = (table["diagnosis"] == "malignant").to_numpy()
    features = {"one_predictor": 1, "lasso_strong": 4, "lasso_medium": 9, "lasso_weak": 15, "ridge": 30,
                "random_forest": 30}
    found = {row.model: row for row in values("desirability").desirability.overall}

    assert list(found) == list(features)
    for name, count in features.items():
        said = table[name].to_numpy() >= 0.5
        parts = [
            np.clip((0.1 - sk.brier_score_loss(truth, table[name].to_numpy())) / 0.1, 0, 1),
            np.clip((20 - count) / 19, 0, 1),
            float(sk.recall_score(~truth, ~said) >= 0.8),
            np.clip((sk.recall_score(truth, said) - 0.8) / 0.2, 0, 1),
        ]
        # Four numbers and a fourth root of double precision.
        assert found[name].value == pytest.approx(np.prod(parts) ** 0.25, abs=1e-12)
    ranked = sorted(found, key=lambda name: found[name].rank or 0)
    assert ranked[:3] == ["lasso_medium", "lasso_strong", "lasso_weak"]
    assert [found[name].value for name in ("one_predictor", "ridge", "random_forest")] == [0, 0, 0]


def test_the_fits_of_the_forest_have_the_values_that_scikit_learn_gives(values: Example) -> None:
    truth = pl.read_parquet(DATA / "titanic_evaluation.parquet")["survived"].to_numpy() == "yes"
    fits = [pl.read_parquet(file)["probability"].to_numpy() for file in sorted((DATA / "titanic_fits").iterdir())]
    rows = {row.metric: row for row in values("repeats").repeats}

    # Means over 883 rows in another order.
    for metric, function in (("brier", sk.brier_score_loss), ("roc_auc", sk.roc_auc_score)):
        expected = [function(truth, p) for p in fits]
        assert rows[metric].values == pytest.approx(expected, abs=1e-12)
        assert (rows[metric].mean, rows[metric].sd) == pytest.approx(
            (np.mean(expected), np.std(expected, ddof=1)), abs=1e-12)


def test_the_optimism_is_what_scikit_learn_gives(values: Example) -> None:
    folder = DATA / "optimism"
    training = pl.read_parquet(folder / "training.parquet")
    truth = training["survived"].to_numpy() == "yes"
    fits = [pl.read_csv(file) for file in sorted(folder.glob("bootstrap-*.csv.gz"))]
    rows = {row.metric: row for row in values("optimism").optimism}

    # Means over a hundred means over 300 rows, in another order.
    for metric, function in (("brier", sk.brier_score_loss), ("roc_auc", sk.roc_auc_score)):
        excess = [function(truth, fit["probability"], sample_weight=fit["drawn"]) - function(truth, fit["probability"])
                  for fit in fits]
        out = [function(truth[fit["drawn"] == 0], fit.filter(pl.col("drawn") == 0)["probability"]) for fit in fits]
        apparent = function(truth, training["probability"])
        assert rows[metric].optimism == pytest.approx(np.mean(excess), abs=1e-12)
        assert rows[metric].corrected == pytest.approx(apparent - np.mean(excess), abs=1e-12)
        assert rows[metric].out_of_bag == pytest.approx(np.mean(out), abs=1e-12)


def test_the_candidates_are_ranked_as_the_formulas_of_the_book_say(values: Example) -> None:
    table = pl.read_csv(DATA / "tumours_grid.csv")
    candidates = values("candidates").candidates
    d = (np.clip((0.1 - table["brier"].to_numpy()) / 0.1, 0, 1) ** 2
         * np.clip((table["roc_auc"].to_numpy() - 0.9) / 0.1, 0, 1)
         * np.clip((20 - table["features"].to_numpy()) / 19, 0, 1)) ** 0.25
    order = sorted(range(len(d)), key=lambda row: -d[row])
    ids = table.select("features", "C").to_dicts()

    # Three numbers, a square and a fourth root of double precision.
    assert [row.value for row in candidates.ranking] == pytest.approx(d[order].tolist(), abs=1e-12)
    assert [row.id for row in candidates.ranking[:20]] == [ids[row] for row in order[:20]]
    assert values("candidates").rows == values("candidates").datasets == []


def test_the_audit_says_what_its_card_answers_and_fills_in_its_numbers(
    values: Example, example: Callable[[str], Path]
) -> None:
    results = values("audit")
    page = (example("audit") / "card.html").read_text(encoding="utf-8")
    missing = {standard.profile: [item.id for item in standard.items if item.status == "missing"]
               for standard in results.standards}

    assert missing == {"stard_2015": ["17"], "eu_ai_act_annex_iv": ["2g", "3"], "model_cards_2019": ["3", "7"]}
    assert [item.id for item in results.standards[1].items if item.status == "not_applicable"] == ["1f", "8"]
    assert [standard.verdict for standard in results.standards] == ["pass", None, None]
    assert len(results.statement.numbers) == 4
    assert [file.path for file in results.statement.files] == ["audit_risks.md"]
    assert "number unknown" not in page
    assert "{{ value" not in page.partition('id="spec-title"')[0]
    assert "Groups cannot be told apart: results by age or by instrument are <b>missing</b>" in page
