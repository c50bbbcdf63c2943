"""The counts behind the sliders of the page, against the rows themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.runs import BOTH, intervals, people
from engine.runs import run as run_spec
from evalpipe.results import Results

METRICS = ["accuracy"]


def run(frames: Any, **keys: Any) -> Results:
    """Run a spec with few replicates, which are for what stands beside the counts."""
    return run_spec(frames, **{"intervals": intervals(100)} | keys)


@pytest.mark.parametrize("weight", [None, "times", "heavy"])
def test_counts_are_of_the_rows_at_or_above_each_threshold(weight: str | None) -> None:
    """Tolerance 1e-9: sums of the same weights in another order."""
    data, kind = people(300), {"times": "frequency", "heavy": "importance"}
    given: dict[str, Any] = {} if weight is None else {"weight": {"column": weight, "kind": kind[weight]}}
    (table,) = run(data, models=BOTH, metrics=METRICS, slices=["h"], threshold=0.337, **given).what_if
    weights = np.ones(len(data)) if weight is None else data[weight].to_numpy()
    truth, in_group = data["y"].to_numpy() == 1, {None: np.ones(len(data), bool)}
    in_group |= {level: data["h"].to_numpy() == level for level in ("x", "z")}
    assert table.thresholds == sorted({*(k / 100 for k in range(101)), 0.337})
    assert [(row.model, row.slice) for row in table.groups] == [
        (model, labels) for model in "pq" for labels in (None, {"h": "x"}, {"h": "z"})]
    for row in table.groups:
        of = in_group[None if row.slice is None else row.slice["h"]]
        reached = data[row.model].to_numpy() >= np.array(table.thresholds)[:, None]
        np.testing.assert_allclose(row.hits, (weights * (of & truth) * reached).sum(axis=1), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(row.alarms, (weights * (of & ~truth) * reached).sum(axis=1), rtol=1e-9, atol=1e-9)
    assert table.limited is (weight != "heavy")


def test_clusters_have_counts_without_limits() -> None:
    (table,) = run(people(300), metrics=METRICS, cluster="who").what_if
    assert not table.limited


def test_counts_agree_with_the_confusion_matrix_at_the_threshold_in_use() -> None:
    results = run(people(300), models=BOTH, metrics=METRICS, threshold=0.337, slices=["s"])
    (table,) = results.what_if
    place = table.thresholds.index(0.337)
    found = {(row.model, str(row.slice)): (row.hits[place], row.alarms[place]) for row in table.groups}
    assert found == {(c.model, str(c.slice)): (c.counts[0][0], c.counts[1][0]) for c in results.confusion}


@pytest.mark.parametrize(("given", "many"), [
    ({}, 1), ({"report": {"formats": [], "what_if": False}}, 0), ({"equivocal": 0.05}, 0),
    ({"models": {"p": {"score": "p"}}, "metrics": ["roc_auc"]}, 0),
])
def test_nothing_is_counted_where_nothing_could_be_moved(given: dict[str, Any], many: int) -> None:
    assert len(run(people(200), **{"metrics": METRICS} | given).what_if) == many
