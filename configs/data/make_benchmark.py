"""Let five models read images of digits, fitted anew in four epochs, and write whether they were right, as Parquet.

    python configs/data/make_benchmark.py [FOLDER]

The images come with scikit-learn (see README.md in this folder). 240 of them are the items of the benchmark. In each
epoch every model is fitted to 150 of the others, drawn at random. The same library versions write the same bytes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.datasets import load_digits
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

SEED, ITEMS, EPOCHS, TRAINING = 2026, 240, 4, 150


def models(seed: int) -> dict[str, object]:
    """Return the five models of an epoch, not fitted."""
    return {
        "nearest": KNeighborsClassifier(3), "logistic": LogisticRegression(C=0.01, tol=1e-8, max_iter=10_000),
        "forest": RandomForestClassifier(50, random_state=seed, n_jobs=1),
        "extra_trees": ExtraTreesClassifier(50, random_state=seed, n_jobs=1),
        "tree": DecisionTreeClassifier(random_state=seed),
    }


def main(folder: Path) -> None:
    """Fit the models in every epoch and write `benchmark.parquet` into ``folder``."""
    pixels, digits = load_digits(return_X_y=True)
    others, items = train_test_split(np.arange(len(digits)), test_size=ITEMS, random_state=SEED, stratify=digits)
    items = np.sort(items)
    tables = []
    for epoch in range(1, EPOCHS + 1):
        rows = np.random.default_rng(SEED + epoch).choice(others, TRAINING, replace=False)
        right = {name: model.fit(pixels[rows], digits[rows]).predict(pixels[items]) == digits[items]
                 for name, model in models(SEED + epoch).items()}
        keys = {"image": [f"image-{item + 1:04}" for item in items], "digit": [str(digit) for digit in digits[items]]}
        tables.append(pl.DataFrame({**keys, "epoch": [epoch] * ITEMS, **{k: v.astype(int) for k, v in right.items()}}))
    pl.concat(tables).write_parquet(folder / "benchmark.parquet")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
