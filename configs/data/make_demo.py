"""Fit two models of whether a person sees a doctor in a year and write the csv file of `evalpipe demo`.

    python configs/data/make_demo.py [FILE]

The data are those of make_randhie.py (see README.md in this folder). Half of the cases, drawn at random, train both
models with all their years; of each other case one year, drawn at random, is predicted. The rows are written in random
order, numbered from 1. The same library versions write the same bytes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
from make_visits import DECIMALS, FEATURES, years
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

SEED, ROWS = 2026, 2_000
FILE = Path(__file__).parents[2] / "evalpipe" / "demo" / "visits.csv"


def split(table: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return all rows of half of the cases, and in random order a row of each of `ROWS` others."""
    draw = np.random.default_rng(SEED)
    cases = draw.permutation(table["case"].unique().sort().to_numpy())
    trains = pl.col("case").is_in(cases[: len(cases) // 2].tolist())
    others = table.filter(~trains)
    shuffled = others[draw.permutation(len(others))].unique("case", keep="first", maintain_order=True)
    return table.filter(trains), shuffled[:ROWS]


def predicted(training: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """Return the csv file's table: the rows of ``new`` with each model's probability of a visit."""
    models = {
        "logistic_regression": make_pipeline(StandardScaler(), LogisticRegression()),
        "boosted_trees": HistGradientBoostingClassifier(
            learning_rate=0.05, max_iter=80, max_leaf_nodes=15, min_samples_leaf=100, early_stopping=False),
    }
    x, y, x_new = training.select(FEATURES).to_numpy(), training["visit"].to_numpy(), new.select(FEATURES).to_numpy()
    health = pl.when(pl.col("hlthp") == 1).then(pl.lit("poor")).when(pl.col("hlthf") == 1).then(pl.lit("fair")).when(
        pl.col("hlthg") == 1).then(pl.lit("good")).otherwise(pl.lit("excellent"))
    probabilities = {name: model.fit(x, y).predict_proba(x_new)[:, list(model.classes_).index("yes")].round(DECIMALS)
                     for name, model in models.items()}
    return new.select(person=pl.int_range(1, pl.len() + 1), visit="visit", health=health).with_columns(**probabilities)


if __name__ == "__main__":
    predicted(*split(years())).write_csv(Path(sys.argv[1]) if len(sys.argv) > 1 else FILE)
