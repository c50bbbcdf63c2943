"""Means with labels of a judge against ppi-python, and selected rows against closed forms. Tolerance 1e-12: sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import evalpipe
from evalpipe.statistics import Rows
from laws.test_labels import value, with_labels

ROW = np.arange(120)
P = np.round(((37 * ROW + 5) % 101 + 0.5) / 102, 3)
Q = np.round((((53 * ROW + 11) % 97 + 0.5) / 98 + ((37 * ROW + 5) % 101 + 0.5) / 102) / 2, 3)
Y = ((29 * ROW + 3) % 89) / 89 < ((37 * ROW + 5) % 101 + 0.5) / 102
KNOWN = (ROW % 5) < 1

PPI = {
    "accuracy": {0.0: 0.6666666666666666, 0.4: 0.6632791666666666, 0.8: 0.6598916666666667},
    "brier": {0.0: 0.21964770833333333, 0.4: 0.22233305833333333, 0.8: 0.22501840833333334},
}
"""ppi-python 0.2.3, `ppi_mean_pointestimate` of whether a class is right, and of squared errors, by its ``lam``. It has
the mean of other rows where evalpipe has that of all, so that its ``lam`` is our share times their part of all rows."""


@pytest.mark.parametrize(("name", "lam"), [(name, lam) for name, values in PPI.items() for lam in values])
def test_means_are_those_of_ppi_python(name: str, lam: float) -> None:
    labelled = with_labels(Rows(Y, P >= 0.5, P), KNOWN, Q)
    assert value(name, {}, labelled, lam * len(Y) / (~KNOWN).sum()) == pytest.approx(PPI[name][lam], abs=1e-12)


def run(frame: pl.DataFrame, labels: dict[str, Any], metrics: list[str]) -> Any:
    return evalpipe.run({
        "evalpipe": 1, "name": "labels", "task": "binary", "outcome": {"column": "y", "event": "yes"},
        "labels": labels, "datasets": {"rows": {"path": "memory"}}, "models": {"m": {"probability": "p"}},
        "metrics": metrics,
        "intervals": {"replicates": 100}}, frames={"rows": frame})


def test_sensitivity_of_verified_rows_is_that_of_begg_and_greenes() -> None:
    verified = np.where(P >= 0.5, ROW % 3 > 0, ROW % 7 == 0)  # positives of the test far more often
    frame = pl.DataFrame({"y": [("yes" if y else "no") if v else None for y, v in zip(Y, verified, strict=True)],
                          "p": P, "test": P >= 0.5})
    results = run(frame, {"selected": {"strata": ["test"]}}, ["sensitivity", "specificity"])
    # Begg & Greenes (1983), eq. 2: P(D | T) of the verified, times P(T) of all.
    positive = P >= 0.5
    ill_positive, ill_negative = (Y[verified & (positive == side)].mean() * (positive == side).mean()
                                  for side in (True, False))
    well_positive, well_negative = (positive.mean() - ill_positive, (~positive).mean() - ill_negative)
    values = {row.metric: row.value for row in results.rows}
    assert values["sensitivity"] == pytest.approx(ill_positive / (ill_positive + ill_negative), abs=1e-12)
    assert values["specificity"] == pytest.approx(well_negative / (well_negative + well_positive), abs=1e-12)


def test_a_mean_under_chances_is_hajeks() -> None:
    chance = np.round(0.15 + 0.7 * P, 3)
    verified = chance > ((41 * ROW + 17) % 113) / 113
    frame = pl.DataFrame({"y": [("yes" if y else "no") if v else None for y, v in zip(Y, verified, strict=True)],
                          "p": P, "chance": chance})
    results = run(frame, {"selected": {"probability": "chance"}}, ["brier"])
    weight = 1 / chance[verified]
    loss = (P[verified] - Y[verified])**2
    assert results.rows[0].value == pytest.approx((weight * loss).sum() / weight.sum(), abs=1e-12)
    assert results.labelled[0].effective == pytest.approx(weight.sum()**2 / (weight**2).sum(), abs=1e-9)
