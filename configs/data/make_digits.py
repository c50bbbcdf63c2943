"""Fit two models on images of handwritten digits and write their predictions as Parquet.

    python configs/data/make_digits.py [FOLDER]

The images come with scikit-learn (see README.md in this folder). 60 % of them, stratified by digit, train the models;
the other 40 % are the evaluation set. The same library versions write the same bytes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer

SEED = 1998
TRAINING_SHARE = 0.6
DARKEST = 16  # a pixel is a whole number from 0 to 16


def models() -> dict[str, Pipeline]:
    """Return the two models, not fitted; both see the pixels as shares of the darkest one."""
    share = FunctionTransformer(lambda pixels: pixels / DARKEST)
    return {
        "logistic": make_pipeline(share, LogisticRegression(tol=1e-10, max_iter=10_000)),
        "forest": make_pipeline(share, RandomForestClassifier(500, min_samples_leaf=3, random_state=SEED, n_jobs=1)),
    }


def predictions(pixels: np.ndarray, digits: np.ndarray, new: np.ndarray) -> dict[str, np.ndarray]:
    """Return the probabilities [m] for the images ``new`` [m, 64] by column, one for each model and digit.

    The models are fitted to ``pixels`` [n, 64] and ``digits`` [n].
    """
    columns = {}
    for name, model in models().items():
        probabilities = model.fit(pixels, digits).predict_proba(new)
        columns |= {f"{name}_{digit}": probabilities[:, digit] for digit in range(10)}
    return columns


def main(folder: Path) -> None:
    """Fit the models and write `digits_training.parquet` and `digits_evaluation.parquet` into ``folder``."""
    pixels, digits = load_digits(return_X_y=True)
    rows = np.arange(len(digits))
    training, kept = (
        np.sort(part)
        for part in train_test_split(rows, train_size=TRAINING_SHARE, random_state=SEED, stratify=digits)
    )
    table = pl.DataFrame({"image": rows + 1, "digit": digits}, schema={"image": pl.Int64, "digit": pl.Int64})
    table[training].write_parquet(folder / "digits_training.parquet")
    probabilities = predictions(pixels[training], digits[training], pixels[kept])
    table[kept].with_columns(**probabilities).write_parquet(folder / "digits_evaluation.parquet")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
