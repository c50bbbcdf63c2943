"""Fit a model that is too rich to 300 people of the Titanic, and the same to 100 bootstrap samples of them.

    python configs/data/make_optimism.py [FOLDER]

The whole procedure is repeated for every bootstrap sample. The people are drawn from the training rows of
`make_titanic.py`, and the model predicts its evaluation set too, on which it may be seen how good it really is. The
same library versions write the same bytes.
"""

from __future__ import annotations

import gzip
import sys
from pathlib import Path

import numpy as np
import polars as pl
from make_titanic import SEED, features, models, people, split
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import PolynomialFeatures

PEOPLE = 300
FITS = 100
DIGITS = 4


def fitted(rows: np.ndarray, survived: np.ndarray, sample: np.ndarray) -> Pipeline:
    """Return the model fitted to a sample of the rows, with its preparation of the features."""
    prepare = models()["logistic_regression"][0]
    prepare.set_params(onehotencoder__handle_unknown="ignore")
    products = PolynomialFeatures(2, interaction_only=True)
    model = make_pipeline(prepare, products, LogisticRegression(C=0.05, max_iter=5000))
    return model.fit(rows[sample], survived[sample])


def main(folder: Path) -> None:
    """Write the folder `optimism` into ``folder``: the training rows, the evaluated ones, and a file for each fit."""
    training, evaluation = split(people())
    generator = np.random.default_rng(SEED)
    training = training[np.sort(generator.choice(len(training), PEOPLE, replace=False))]
    rows, survived, everyone = features(training), training["survived"].to_numpy(), np.arange(PEOPLE)
    (folder / "optimism").mkdir(exist_ok=True)
    own = fitted(rows, survived, everyone)
    for name, table in (("training", training), ("evaluation", evaluation)):
        chances = np.round(own.predict_proba(features(table))[:, 1], DIGITS)
        table.select("passenger", "survived").with_columns(probability=chances).write_parquet(
            folder / "optimism" / f"{name}.parquet")
    for number in range(1, FITS + 1):
        sample = generator.integers(0, PEOPLE, PEOPLE)
        chances = np.round(fitted(rows, survived, sample).predict_proba(rows)[:, 1], DIGITS)
        table = training.select("passenger").with_columns(
            probability=chances, drawn=pl.Series(np.bincount(sample, minlength=PEOPLE)))
        written = gzip.compress(table.write_csv().encode(), mtime=0)
        (folder / "optimism" / f"bootstrap-{number:03}.csv.gz").write_bytes(written)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
