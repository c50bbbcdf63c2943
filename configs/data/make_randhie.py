"""Fit two models of the number of visits to a doctor in a year and write their predictions as Parquet.

    python configs/data/make_randhie.py [FOLDER]

The data are those of the RAND Health Insurance Experiment and come with statsmodels (see README.md in this folder).
Half of the cases train the models, with all their years; of each other case one year, drawn at random, is predicted.
The same library versions write the same bytes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.ensemble import HistGradientBoostingRegressor
from statsmodels.datasets import randhie
from statsmodels.genmod.families import Poisson
from statsmodels.genmod.generalized_linear_model import GLM

SEED = 1974
DECIMALS = 6  # the last bits of the boosted trees depend on the number of threads
FEATURES = ["lncoins", "idp", "lpi", "fmde", "physlm", "disea", "hlthg", "hlthf", "hlthp"]


def years() -> pl.DataFrame:
    """Return one year of one person a row: `case` from 1, `visits`, the features.

    The table does not say who a person is, but a person's years follow each other and have the same features. Such rows
    are one case.
    """
    table = pl.DataFrame({name: values.to_numpy() for name, values in randhie.load_pandas().data.items()})
    return table.rename({"mdvis": "visits"}).with_columns(case=pl.struct(FEATURES).rle_id().cast(pl.Int64) + 1)


def split(table: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows of half of the cases, and a row of each other case, both in the order of the table."""
    draw = np.random.default_rng(SEED)
    cases = table["case"].unique().sort().to_numpy()
    training = pl.col("case").is_in(draw.choice(cases, len(cases) // 2, replace=False).tolist())
    shuffled = table.with_row_index("row")[draw.permutation(len(table))].filter(~training)
    drawn = shuffled.unique("case", keep="first")["row"].sort()
    return table.filter(training), table[drawn]


def poisson_glm(features: np.ndarray, visits: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Return the means [m] that a Poisson regression with log link predicts for the features ``new`` [m, 9]."""
    one, other = (np.column_stack([np.ones(len(rows)), rows]) for rows in (features, new))
    return np.asarray(GLM(visits, one, family=Poisson()).fit(tol=1e-12).predict(other)).round(DECIMALS)


def boosting(features: np.ndarray, visits: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Return the means [m] that boosted trees with Poisson loss predict for the features ``new`` [m, 9]."""
    model = HistGradientBoostingRegressor(
        loss="poisson", learning_rate=0.05, max_iter=100, max_leaf_nodes=15, min_samples_leaf=100, early_stopping=False
    )
    return model.fit(features, visits).predict(new).round(DECIMALS)


def main(folder: Path) -> None:
    """Fit the models and write `randhie_training.parquet` and `randhie_evaluation.parquet` into ``folder``."""
    training, evaluation = split(years())
    given = training.select(FEATURES).to_numpy(), training["visits"].to_numpy(), evaluation.select(FEATURES).to_numpy()
    predictions = {"poisson_glm": poisson_glm(*given), "boosting": boosting(*given)}
    shown = ["case", "visits"]
    training.select(shown).write_parquet(folder / "randhie_training.parquet")
    evaluation.select(shown).with_columns(**predictions).write_parquet(folder / "randhie_evaluation.parquet")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
