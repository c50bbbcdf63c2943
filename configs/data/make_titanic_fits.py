"""Fit a random forest of the Titanic data with 20 seeds, and write the predictions of each into a file of its own.

    python configs/data/make_titanic_fits.py [FOLDER]

The rows are those of `make_titanic.py`: all fits are trained on the same rows and predict the same evaluation set, so
that they differ by the seed alone. The same library versions write the same bytes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from make_titanic import features, models, people, split
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline

FITS = 20
TREES = 25  # few, so that the seeds matter


def main(folder: Path) -> None:
    """Write `titanic_fits/seed-01.parquet` and so on into ``folder``: the row id and the probability of survival."""
    training, evaluation = split(people())
    prepare = models()["random_forest"][0]
    (folder / "titanic_fits").mkdir(exist_ok=True)
    for seed in range(1, FITS + 1):
        forest = RandomForestClassifier(TREES, min_samples_leaf=3, random_state=seed, n_jobs=1)
        fitted = make_pipeline(prepare, forest).fit(features(training), training["survived"].to_numpy())
        chances = np.round(fitted.predict_proba(features(evaluation))[:, 1], 6)
        evaluation.select("passenger").with_columns(probability=chances).write_parquet(
            folder / "titanic_fits" / f"seed-{seed:02}.parquet")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
