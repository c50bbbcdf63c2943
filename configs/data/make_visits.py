"""Fit two models of whether a person sees a doctor in a year and write their predictions as Parquet.

    python configs/data/make_visits.py [FOLDER]

The data are those of make_randhie.py (see README.md in this folder). The cases are parted in three: 40 % train the
models, with all their years; of each other case one year, drawn at random, is predicted, for 30 % to fit recalibrators
on and for 30 % to evaluate. The same library versions write the same bytes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.naive_bayes import GaussianNB
from statsmodels.datasets import randhie

SEED = 1976
DECIMALS = 6  # the last bits of the boosted trees depend on the number of threads
FEATURES = ["lncoins", "idp", "lpi", "fmde", "physlm", "disea", "hlthg", "hlthf", "hlthp"]
SHARES = {"training": 0.4, "calibration": 0.3, "evaluation": 0.3}


def years() -> pl.DataFrame:
    """Return one year of one person a row: `case` from 1 (rows in a row with the same features), `visit`, features."""
    table = pl.DataFrame({name: values.to_numpy() for name, values in randhie.load_pandas().data.items()})
    return table.with_columns(
        case=pl.struct(FEATURES).rle_id().cast(pl.Int64) + 1,
        visit=pl.when(pl.col("mdvis") > 0).then(pl.lit("yes")).otherwise(pl.lit("no")),
    )


def split(table: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return all rows of the cases that train, and a row of each other case, in the order of the table."""
    draw = np.random.default_rng(SEED)
    cases = draw.permutation(table["case"].unique().sort().to_numpy())
    ends = np.cumsum([0, *SHARES.values()]) * len(cases)
    shuffled = table.with_row_index("row")[draw.permutation(len(table))]
    shuffled = shuffled.unique("case", keep="first", maintain_order=True)
    found = {}
    for name, first, last in zip(SHARES, ends[:-1], ends[1:], strict=True):
        chosen = pl.col("case").is_in(cases[round(first) : round(last)].tolist())
        found[name] = table.filter(chosen) if name == "training" else table[shuffled.filter(chosen)["row"].sort()]
    return found


def predictions(training: pl.DataFrame, new: pl.DataFrame) -> dict[str, np.ndarray]:
    """Return each model's probabilities [m] of a visit for the rows of ``new``."""
    models = {
        "naive_bayes": GaussianNB(),
        "boosting": HistGradientBoostingClassifier(
            learning_rate=0.1, max_iter=300, max_leaf_nodes=31, min_samples_leaf=20, early_stopping=False),
    }
    x, y = training.select(FEATURES).to_numpy(), (training["visit"] == "yes").to_numpy()
    x_new = new.select(FEATURES).to_numpy()
    return {name: model.fit(x, y).predict_proba(x_new)[:, 1].round(DECIMALS) for name, model in models.items()}


def main(folder: Path) -> None:
    """Fit the models and write `visits_training.parquet`, `…_calibration.parquet` and `…_evaluation.parquet`."""
    parts = split(years())
    shown = ["case", "visit"]
    for name, part in parts.items():
        columns = {} if name == "training" else predictions(parts["training"], part)
        part.select(shown).with_columns(**columns).write_parquet(folder / f"visits_{name}.parquet")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
