"""Measures against the prevalence and against each other, held to confusion matrices that are reweighted by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.metrics import roc_curve

from engine.runs import intervals, people, run
from evalpipe.chapters.curves.card import relations
from evalpipe.results.curves.events import MeasuresByPrevalence, RelatedMeasures

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats
    from evalpipe.results import Results

MEASURES = ["accuracy", "balanced_accuracy", "f1", "mcc"]
NEAR = 1e-12
"""The same arithmetic in another order."""


@pytest.fixture(scope="module")
def results() -> Results:
    return run(people(300), metrics=["roc_auc"], intervals=intervals(100), curves={"relations": {"measures": MEASURES}})


def by_hand(sensitivity: Floats, specificity: Floats, prevalence: Any) -> dict[str, Floats]:
    """Return the measures of a table with these rates at a prevalence."""
    tp, fn = sensitivity * prevalence, (1 - sensitivity) * prevalence
    tn, fp = specificity * (1 - prevalence), (1 - specificity) * (1 - prevalence)
    with np.errstate(invalid="ignore", divide="ignore"):
        mcc = (tp * tn - fp * fn) / np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
        return {"accuracy": tp + tn, "balanced_accuracy": (sensitivity + specificity) / 2,
                "f1": 2 * tp / (2 * tp + fp + fn), "mcc": mcc}


def rates(cut: Floats) -> tuple[Floats, Floats]:
    """Return sensitivity and specificity at each threshold [k]."""
    frame = people(300)
    truth, score = frame["y"].to_numpy() == 1, frame["p"].to_numpy()
    said = score >= cut[:, None]
    return said[:, truth].mean(axis=1), 1 - said[:, ~truth].mean(axis=1)


def test_measures_over_thresholds_are_those_of_reweighted_tables(results: Results) -> None:
    (curve,) = (curve for curve in results.curves if isinstance(curve, RelatedMeasures))
    points = curve.points
    assert list(points.measures) == MEASURES
    assert list(dict.fromkeys(points.prevalence)) == [0.05, 0.4]
    cut = np.array([np.inf if value is None else value for value in points.threshold])
    expected = by_hand(*rates(cut), np.array(points.prevalence, float))
    for name, column in points.measures.items():
        ours = np.array([np.nan if value is None else value for value in column])
        known = ~np.isnan(ours)
        assert known.sum() > len(ours) / 2
        assert ours[known] == pytest.approx(expected[name][known], abs=NEAR)


def test_measures_by_prevalence_are_those_of_the_predicted_levels(results: Results) -> None:
    (curve,) = (curve for curve in results.curves if isinstance(curve, MeasuresByPrevalence))
    at = np.array(curve.points.prevalence, float)
    assert (at[0], at[-1], len(at)) == (0.02, 0.98, 49)
    expected = by_hand(*rates(np.full(len(at), 0.5)), at)
    for name, column in curve.points.measures.items():
        assert column == pytest.approx(expected[name], abs=NEAR)


def test_without_the_key_there_are_none() -> None:
    plain = run(people(200), metrics=["roc_auc"], intervals=intervals(100))
    assert [c for c in plain.curves if isinstance(c, RelatedMeasures | MeasuresByPrevalence)] == []
    assert list(relations(plain, "d")) == []


def test_the_highest_of_the_first_measure_is_looked_for_at_every_threshold() -> None:
    frame = people(3000, digits=6)
    asked = {"relations": {"measures": MEASURES}}
    results = run(frame, metrics=["brier"], intervals={"method": "none"}, curves=asked)
    (curve,) = (curve for curve in results.curves if isinstance(curve, RelatedMeasures))
    assert curve.notes.points_of is not None  # not every threshold is stored
    alarms, hits, _ = roc_curve(frame["y"], frame["p"], drop_intermediate=False)
    for prevalence, highest in zip((0.05, 0.4), curve.notes.highest or (), strict=True):
        expected = by_hand(hits, 1 - alarms, prevalence)
        best = int(expected["accuracy"].argmax())
        for name in MEASURES:
            value = expected[name][best]
            assert highest[name] == (None if np.isnan(value) else pytest.approx(value, abs=NEAR))
