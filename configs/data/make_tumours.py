"""Fit six models with one to thirty predictors to breast tumours and write their predictions as Parquet.

    python configs/data/make_tumours.py [FOLDER]

The data are those that scikit-learn carries (see README.md in this folder). Half of the tumours, stratified by
outcome, train the models; the other half is the evaluation set. The same library versions write the same bytes. Prints
how many predictors each model uses, which is what configs/desirability.yaml calls its active features.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

SEED = 1995
TRAINING_SHARE = 0.5
PENALTIES = {"lasso_strong": 0.05, "lasso_medium": 0.3, "lasso_weak": 2.0}
"""The inverse strength C of the L1 penalty."""


def tumours() -> tuple[pl.DataFrame, np.ndarray]:
    """Return the tumours, row id `tumour` from 1 and outcome `diagnosis`, and their 30 features [n, 30]."""
    data = load_breast_cancer()
    diagnosis = np.where(data.target == list(data.target_names).index("malignant"), "malignant", "benign")
    return pl.DataFrame({"tumour": np.arange(1, len(diagnosis) + 1), "diagnosis": diagnosis}), data.data


def fitted(x: np.ndarray, y: np.ndarray) -> dict[str, tuple[list[int], object]]:
    """Return each model with the columns that it is given, fitted to the features [n, 30] and the outcome [n]."""
    every = list(range(x.shape[1]))
    settings = {"tol": 1e-10, "max_iter": 100_000}
    made: dict[str, tuple[list[int], object]] = {
        "one_predictor": ([0], make_pipeline(StandardScaler(), LogisticRegression(**settings))),
        "ridge": (every, make_pipeline(StandardScaler(), LogisticRegression(**settings))),
        "random_forest": (every, RandomForestClassifier(500, min_samples_leaf=3, random_state=SEED, n_jobs=1)),
    }
    for name, c in PENALTIES.items():
        lasso = LogisticRegression(l1_ratio=1.0, C=c, solver="liblinear", random_state=SEED, **settings)
        made[name] = every, make_pipeline(StandardScaler(), lasso)
    return {name: (columns, model.fit(x[:, columns], y)) for name, (columns, model) in made.items()}


def active(model: object) -> int:
    """Return how many predictors a model uses: those with a coefficient, or that a tree splits on."""
    last = model[-1] if hasattr(model, "steps") else model
    return int(np.count_nonzero(last.coef_ if hasattr(last, "coef_") else last.feature_importances_))


def main(folder: Path) -> None:
    """Fit the models and write `tumours_training.parquet` and `tumours_evaluation.parquet` into ``folder``."""
    table, x = tumours()
    y = table["diagnosis"].to_numpy()
    training, evaluation = (np.sort(rows) for rows in train_test_split(
        np.arange(len(table)), train_size=TRAINING_SHARE, random_state=SEED, stratify=y))
    predictions = {}
    for name, (columns, model) in fitted(x[training], y[training]).items():
        event = list(model.classes_).index("malignant")
        predictions[name] = np.round(model.predict_proba(x[evaluation][:, columns])[:, event], 6)
        sys.stdout.write(f"{name}: {active(model)} active features\n")
    table[training].write_parquet(folder / "tumours_training.parquet")
    table[evaluation].with_columns(**predictions).write_parquet(folder / "tumours_evaluation.parquet")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
