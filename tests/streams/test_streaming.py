"""Datasets that are read part by part: the same numbers as of rows that are held, whatever the parts are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from evalpipe.errors import DataError
from evalpipe.plan import memory
from evalpipe.streams import tally
from few_by_day import by_night, few_by_day
from streams.streaming import numbers, rows, run, write

if TYPE_CHECKING:
    from pathlib import Path

FEW = {"replicates": 100, "bands": False}
RANKED = {"roc_auc", "average_precision", "ks", "gini"}


KEYS: dict[str, dict[str, Any]] = {
    "plain": {},
    "log odds": {"models": {"p": {"score": "odds", "scale": "logit"}}},
    "frequency weights": {"weight": {"column": "times", "kind": "frequency"}},
    "equivocal": {"equivocal": {"below": 0.1, "above": 0.05}},
    "prevalence": {"prevalence": 0.1},
    "clusters": {"cluster": "who", "slices": ["s"]},
    "clusters of frequency weights": {"cluster": "who", "weight": {"column": "times", "kind": "frequency"}},
    "slices": {"slices": ["s", {"column": "age", "cuts": [45, 55]}, ["s", "h"], {"name": "old", "where": "age > 60"}]},
    "slices and rest": {"slices": ["s"], "slice_rules": {"reference": "rest"}, "compare": {"baseline": "q"}},
    "slices by period": {
        "slices": [{"column": "day", "by": "month"}, ["s", {"column": "at", "by": "quarter"}]],
        "slice_rules": {"reference": {"day": "2026-01"}}},
    "classes beside": {
        "models": {"p": {"probability": "p"}, "hard": {"prediction": "label"}}, "metrics": ["accuracy", "f1"],
        "compare": {"baseline": "p"}, "slices": ["s"], "outcome": {"column": "y", "event": 1, "levels": [1, 0]}},
    "classes alone": {"models": {"hard": {"prediction": "label"}}, "metrics": ["accuracy", "kappa"], "threshold": None},
}
USUAL = {"log odds", "frequency weights", "slices and rest", "classes beside"}
"""What every run asks for; all by night."""


@pytest.mark.parametrize("name", few_by_day(KEYS, USUAL))
def test_values_are_those_of_held_rows(tmp_path: Path, name: str) -> None:
    path = write(rows(), tmp_path / "d", [1000, 1])
    streamed, held = (run(path, mode, **KEYS[name]) for mode in ("grid", "exact"))
    assert [dataset.model_copy(update={"cells": None}) for dataset in streamed.datasets] == held.datasets
    assert [row.slice for row in streamed.rows] == [row.slice for row in held.rows]
    assert streamed.slices == held.slices
    for row, exact in zip(streamed.rows, held.rows, strict=True):
        assert (row.metric, row.model, row.n, row.events, row.status) == (
            exact.metric, exact.model, exact.n, exact.events, exact.status)
        # Sums are rounded once; ranked measures may differ by the few pairs that share one of 180,000 cells.
        tolerance = 1e-3 if row.metric in RANKED else 1e-12
        assert row.value == pytest.approx(exact.value, rel=tolerance, abs=row.error_bound or 0), row.metric


def test_periods_of_separated_text_need_no_declared_type(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    for number, part in enumerate([rows().head(1500), rows().tail(2500)]):
        part.write_csv(tmp_path / "d" / f"{number}.csv")
    keys: dict[str, Any] = {"slices": [{"column": "at", "by": "month"}], "metrics": ["accuracy"]}
    streamed, held = (run(tmp_path / "d", mode, **keys) for mode in ("grid", "exact"))
    assert [(row.slice, row.value) for row in streamed.rows] == [(row.slice, row.value) for row in held.rows]
    with pytest.raises(DataError) as caught:
        run(tmp_path / "d", slices=[{"column": "at", "by": "day"}])
    assert "column 'at' of dataset 'd' has 150 days, more than the 50" in str(caught.value)
    assert "take a longer period: {column: at, by: week}, or raise 'max_levels'" in str(caught.value)


def test_parts_of_any_size_and_order_give_the_same_bytes(tmp_path: Path) -> None:
    frame = rows(1500)
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=1)
    expected = numbers(run(write(frame, tmp_path / "one", [])))
    assert numbers(run(write(shuffled, tmp_path / "few", [700, 1, 300], row_group=100))) == expected
    assert numbers(run(write(shuffled.reverse(), tmp_path / "many", [1] * 40 + [17] * 20))) == expected


MANY: dict[str, dict[str, Any]] = {
    "slices": {"compare": {"baseline": "q"}}, "clusters": {"cluster": "who"},
    "weights": {"weight": {"column": "times", "kind": "frequency"}}}


@pytest.mark.parametrize(("dense", "name"), [
    (0, "slices"), (0, "clusters"), (1_000_000, "weights"),
    by_night(1_000_000, "slices"), by_night(1_000_000, "clusters"), by_night(0, "weights")])
def test_cells_of_very_many_slices_are_counted_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dense: int, name: str
) -> None:
    """Both where all cells are kept sparsely, and where they become so many in the middle of a part."""
    path, keys = write(rows(3000), tmp_path / "d", [1000]), {"slices": ["s"]} | MANY[name]
    monkeypatch.setattr(memory, "BATCH", 400)
    expected = numbers(run(path, intervals=FEW, **keys))
    sparse: list[int] = []
    added = tally._GroupCounts._add_sparse
    monkeypatch.setattr(tally._GroupCounts, "_add_sparse", lambda counts, positions, weights: (
        sparse.append(len(positions)), added(counts, positions, weights)))
    monkeypatch.setattr(tally, "DENSE", dense)
    monkeypatch.setattr(tally, "PENDING", 1500)

    assert numbers(run(path, intervals=FEW, **keys)) == expected
    assert sparse


def test_row_weights_are_copies(tmp_path: Path) -> None:
    frame = rows(1000)
    copies = frame[np.repeat(np.arange(1000), frame["times"].to_numpy())]
    weighed = run(write(frame, tmp_path / "w", []), weight={"column": "times", "kind": "frequency"})
    copied = run(write(copies, tmp_path / "c", [400]))
    for row, other in zip(weighed.rows, copied.rows, strict=True):
        assert (row.value, row.lower, row.upper) == (other.value, other.lower, other.upper)


def test_less_memory_changes_no_byte(tmp_path: Path) -> None:
    path = write(rows(30_000), tmp_path / "d", [])
    little, plenty = (
        run(path, engine={"mode": "grid", "workers": 2, "memory": allowed}) for allowed in ("290MB", "4GB"))
    assert numbers(little) == numbers(plenty)
