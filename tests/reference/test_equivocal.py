"""The equivocal zone against its definition and against scikit-learn on the reportable rows.

The zone is that of class_pred objects of the R package probably: from the threshold less the one distance to the
threshold plus the other, both ends included. Rates of rows are exact; scikit-learn's measures agree to 1e-12 relative,
the rounding of float64 sums.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn import metrics as sk

import evalpipe

NAMES = ["accuracy", "balanced_accuracy", "mcc", "kappa", "sensitivity", "specificity", "precision", "f1", "roc_auc",
         "brier"]


def graded(seed: int, n: int = 400) -> pl.DataFrame:
    """Return rows whose probabilities are hundredths, so that many lie on the ends of a zone."""
    generator = np.random.default_rng(seed)
    truth = generator.random(n) < 0.35
    chance = np.clip(np.round(generator.normal(0.4 + 0.2 * truth, 0.2), 2), 0.01, 0.99)
    return pl.DataFrame({"y": truth.astype(int), "p": chance, "w": generator.gamma(2, 1, n)})


def estimated(frame: pl.DataFrame, **keys: Any) -> Any:
    spec = {
        "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1},
        "datasets": {"d": {"path": "memory"}}, "models": {"m": {"probability": "p"}},
        "intervals": {"method": "none"}, "report": {"formats": []},
    }
    return evalpipe.run(spec | keys, frames={"d": frame})


def by_name(results: Any) -> dict[str, Any]:
    return {row.metric: row for row in results.rows}


@pytest.mark.metrics(*NAMES, "reportable_rate")
@pytest.mark.parametrize(("cut", "below", "above"), [(0.5, 0.05, 0.05), (0.4, 0.1, 0.02), (0.3, 0.0, 0.1)])
@pytest.mark.parametrize("weight", [None, "w"])
def test_scikit_learn_agrees_on_the_reportable_rows(cut: float, below: float, above: float, weight: str | None) -> None:
    frame = graded(3)
    keys: dict[str, Any] = {"threshold": cut, "equivocal": {"below": below, "above": above}, "metrics": NAMES}
    found = by_name(estimated(frame, **keys, **({"weight": "w"} if weight else {})))
    hundredths = np.round(frame["p"].to_numpy() * 100).astype(int)  # whole, so that no end is missed by rounding
    low, high = round(100 * (cut - below)), round(100 * (cut + above))
    kept = (hundredths < low) | (hundredths > high)
    assert (hundredths == low).sum() > 0
    assert (hundredths == high).sum() > 0
    whole = frame["w"].to_numpy() if weight else np.ones(len(frame))
    y, p, w = (x[kept] for x in (frame["y"].to_numpy(), frame["p"].to_numpy(), whole))
    d = (p >= cut).astype(int)
    peers = {
        "accuracy": sk.accuracy_score(y, d, sample_weight=w),
        "balanced_accuracy": sk.balanced_accuracy_score(y, d, sample_weight=w),
        "mcc": sk.matthews_corrcoef(y, d, sample_weight=w), "kappa": sk.cohen_kappa_score(y, d, sample_weight=w),
        "sensitivity": sk.recall_score(y, d, sample_weight=w), "precision": sk.precision_score(y, d, sample_weight=w),
        "specificity": sk.recall_score(y, d, pos_label=0, sample_weight=w), "f1": sk.f1_score(y, d, sample_weight=w),
        "roc_auc": sk.roc_auc_score(frame["y"], frame["p"], sample_weight=whole),
        "brier": sk.brier_score_loss(frame["y"], frame["p"], sample_weight=whole),
        "reportable_rate": np.average(kept, weights=whole),
    }
    assert {name: row.value for name, row in found.items()} == pytest.approx(peers, rel=1e-12)
    kept_rows, all_rows = (len(y), y.sum()), (len(frame), frame["y"].sum())
    own = {"sensitivity": (y.sum(), y.sum()), "specificity": (len(y) - y.sum(), 0),
           "precision": (d.sum(), (d & y).sum()), **dict.fromkeys(("roc_auc", "brier", "reportable_rate"), all_rows)}
    assert {name: (row.n, row.events) for name, row in found.items()} == {
        name: own.get(name, kept_rows) for name in peers}


@pytest.mark.metrics("accuracy", "mcc", "f1", "brier", "reportable_rate")
def test_scikit_learn_agrees_on_averages_over_the_reportable_rows_of_several_levels() -> None:
    generator = np.random.default_rng(8)
    chances = np.round(generator.dirichlet([1.0, 1.5, 2.0], 500), 2)
    chances[:, 2] = np.round(1 - chances[:, :2].sum(axis=1), 2)
    truth = np.array([generator.choice(3, p=row / row.sum()) for row in chances])
    names = np.array(["a", "b", "c"])
    frame = pl.DataFrame({"y": names[truth], **{f"p_{name}": chances[:, k] for k, name in enumerate(names)}})
    averages = ["macro", "macro_weighted", "micro"]
    found = estimated(
        frame, task="multiclass", outcome={"column": "y", "levels": ["a", "b", "c"]},
        models={"m": {"probabilities": "p_{level}"}}, equivocal={"min_probability": 0.6},
        metrics=["accuracy", "mcc", {"metric": "f1", "average": averages}, "brier"],
    )
    kept = chances.max(axis=1) >= 0.6
    assert (chances.max(axis=1) == 0.6).any()
    y, d = truth[kept], chances[kept].argmax(axis=1)
    peers = {
        ("accuracy", None): sk.accuracy_score(y, d), ("mcc", None): sk.matthews_corrcoef(y, d),
        **{("f1", name): sk.f1_score(y, d, average=name.replace("macro_weighted", "weighted")) for name in averages},
        ("brier", None): ((chances - np.eye(3)[truth]) ** 2).sum(axis=1).mean() / 2,
        ("reportable_rate", None): kept.mean(),
    }
    assert {(row.metric, row.average): row.value for row in found.rows} == pytest.approx(peers, rel=1e-12)
    table = found.confusion[0]
    assert np.array_equal(table.counts, sk.confusion_matrix(y, d))
    assert table.equivocal == (~kept).sum()
