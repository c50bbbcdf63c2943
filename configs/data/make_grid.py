"""Tune a logistic regression on breast tumours over 300 candidates and write their finished metrics as CSV.

    python configs/data/make_grid.py [FOLDER]

The data are those that scikit-learn carries (see README.md in this folder); the rows are the training half of
make_tumours.py. A candidate is the number of features, those with the largest F statistics, and the inverse strength C
of the L2 penalty. Its metrics are means over ten folds, with their standard errors. The same library versions write
the same bytes.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

SEED = 1995
FOLDS = 10
STRENGTHS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


def tumours() -> tuple[np.ndarray, np.ndarray]:
    """Return the 30 features [n, 30] of the training tumours, and 1 for malignant ones [n]."""
    data = load_breast_cancer()
    y = (data.target == list(data.target_names).index("malignant")).astype(int)
    training, _ = train_test_split(np.arange(len(y)), train_size=0.5, random_state=SEED, stratify=y)
    return data.data[np.sort(training)], y[np.sort(training)]


def metrics(x: np.ndarray, y: np.ndarray, features: int, strength: float) -> dict[str, float]:
    """Return the mean and the standard error over the folds of the Brier score and the ROC AUC of a candidate."""
    values: dict[str, list[float]] = {"brier": [], "roc_auc": []}
    for training, test in StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(x, y):
        model = make_pipeline(SelectKBest(f_classif, k=features), StandardScaler(),
                              LogisticRegression(C=strength, tol=1e-10, max_iter=10_000))
        p = model.fit(x[training], y[training]).predict_proba(x[test])[:, 1]
        values["brier"].append(float(np.mean((y[test] - p) ** 2)))
        values["roc_auc"].append(float(roc_auc_score(y[test], p)))
    row = {}
    for name, folds in values.items():
        row[name] = round(float(np.mean(folds)), 6)
        row[f"{name}_std_err"] = round(float(np.std(folds, ddof=1)) / math.sqrt(FOLDS), 6)
    return row


def main(folder: Path) -> None:
    """Write `tumours_grid.csv` into ``folder``."""
    x, y = tumours()
    rows = [{"features": features, "C": strength, **metrics(x, y, features, strength)}
            for features in range(1, x.shape[1] + 1) for strength in STRENGTHS]
    pl.DataFrame(rows).write_csv(folder / "tumours_grid.csv")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
