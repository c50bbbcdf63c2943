"""Fit two models of party identification in the United States in 1996 and write their predictions as Parquet.

    python configs/data/make_anes96.py [FOLDER]

The answers come with statsmodels (see README.md in this folder). Half of the respondents, stratified by party, train
the models; the other half is the evaluation set. The same library versions write the same bytes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.model_selection import train_test_split
from statsmodels.datasets import anes96
from statsmodels.discrete.discrete_model import MNLogit
from statsmodels.miscmodels.ordinal_model import OrderedModel

SEED = 1996
PARTIES = [
    "Strong Democrat",
    "Weak Democrat",
    "Independent-Democrat",
    "Independent",
    "Independent-Republican",
    "Weak Republican",
    "Strong Republican",
]
FEATURES = ["logpopul", "TVnews", "selfLR", "age", "educ", "income"]


def respondents() -> tuple[np.ndarray, np.ndarray]:
    """Return the codes of the parties [n], from 0, and the features [n, 6]."""
    answers = anes96.load_pandas().data
    return answers["PID"].to_numpy().astype(int), answers[FEATURES].to_numpy()


def ordered(features: np.ndarray, codes: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Return the probabilities [m, 7] of an ordered logit for the features ``new`` [m, 6]."""
    fitted = OrderedModel(codes, features, distr="logit").fit(method="bfgs", gtol=1e-8, maxiter=1000, disp=False)
    return np.asarray(fitted.predict(new))


def multinomial(features: np.ndarray, codes: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Return the probabilities [m, 7] of a multinomial logistic regression for the features ``new`` [m, 6]."""
    one, other = (np.column_stack([np.ones(len(rows)), rows]) for rows in (features, new))
    return np.asarray(MNLogit(codes, one).fit(method="newton", tol=1e-10, disp=False).predict(other))


def main(folder: Path) -> None:
    """Fit the models and write `anes96_training.parquet` and `anes96_evaluation.parquet` into ``folder``."""
    codes, features = respondents()
    rows = np.arange(len(codes))
    training, kept = (
        np.sort(part) for part in train_test_split(rows, train_size=0.5, random_state=SEED, stratify=codes)
    )
    centre, spread = features[training].mean(axis=0), features[training].std(axis=0)
    scaled = (features - centre) / spread
    columns = {}
    for name, model in {"ordered": ordered, "multinomial": multinomial}.items():
        probabilities = model(scaled[training], codes[training], scaled[kept])
        columns |= {f"{name}_{party}": probabilities[:, code] for code, party in enumerate(PARTIES)}
    table = pl.DataFrame({"respondent": rows + 1, "party": [PARTIES[code] for code in codes]})
    table[training].write_parquet(folder / "anes96_training.parquet")
    table[kept].with_columns(**columns).write_parquet(folder / "anes96_evaluation.parquet")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
