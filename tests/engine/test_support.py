"""The support of an estimate: n observations in its own denominator, and the events among them."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import evalpipe
from evalpipe.metrics import Metric, registry
from evalpipe.results import Estimate, Results
from evalpipe.statistics import Summary
from tests.engine.runs import BOTH, intervals, people, run
from tests.laws import samples

SHARES = [e for e in registry if e.is_proportion and e.sees not in ("numbers", "items")]

CELLS = {"tp": 30, "fp": 10, "fn": 20, "tn": 140}
"""50 events and 150 non-events; 40 predicted events and 160 predicted non-events."""

EXPECTED = {
    "sensitivity": (50, 50), "false_negative_rate": (50, 50), "specificity": (150, 0), "false_positive_rate": (150, 0),
    "precision": (40, 30), "npv_sample": (160, 20), "detection_prevalence": (200, 50), "accuracy": (200, 50),
    "critical_success_index": (60, 50), "ppv": (200, 50), "f1": (200, 50), "mcc": (200, 50), "brier": (200, 50),
    "roc_auc": (200, 50), "average_precision": (200, 50), "recall_at_k": (50, 50), "gain": (50, 50),
}
"""n and events by hand: the rows that the denominator of each formula counts, and how many of them are events."""


def of_cells(repeat: int = 1) -> pl.DataFrame:
    """Return the rows of `CELLS`, each ``repeat`` times; p is 0.8 for a predicted event and 0.2 for another."""
    shown = {"tp": (1, 0.8), "fp": (0, 0.8), "fn": (1, 0.2), "tn": (0, 0.2)}
    rows = [shown[cell] for cell, size in CELLS.items() for _ in range(size * repeat)]
    return pl.DataFrame({"y": [y for y, _ in rows], "p": [p for _, p in rows], "s": ["a", "b"] * (len(rows) // 2)})


def support(results: Results, **where: Any) -> dict[str, tuple[int, int | None]]:
    """Return n and events of each measure of all rows."""
    found = (row for row in results.rows if row.slice is None)
    return {row.metric: (row.n, row.events) for row in found if all(getattr(row, k) == v for k, v in where.items())}


def entries() -> list[Any]:
    """Return what the spec lists to get the measures of `EXPECTED`."""
    return [{"metric": name, "k": 20} if name == "recall_at_k" else name for name in EXPECTED]


def test_the_support_of_each_measure_is_its_own_denominator() -> None:
    found = run(of_cells(), metrics=entries(), threshold=0.5, prevalence=0.3, intervals=intervals(100))
    assert support(found) == EXPECTED


@pytest.mark.parametrize("kind", ["frequency", "importance"])
def test_support_counts_observations_whatever_they_weigh(kind: str) -> None:
    frame = of_cells().with_columns(w=pl.lit(3))
    found = run(frame, metrics=entries(), threshold=0.5, prevalence=0.3, weight={"column": "w", "kind": kind},
                intervals=intervals(100))
    times = 3 if kind == "frequency" else 1
    assert support(found) == {name: (n * times, events * times) for name, (n, events) in EXPECTED.items()}


def test_a_prevalence_changes_no_support() -> None:
    listed = [{"metric": name, "prevalence": 0.1} for name in ("precision", "accuracy")]
    found = run(of_cells(), metrics=listed, threshold=0.5, intervals=intervals(100))
    assert support(found) == {name: EXPECTED[name] for name in ("precision", "accuracy")}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("entry", SHARES, ids=lambda entry: entry.name)
def test_trials_count_each_row_once_or_not_at_all(entry: Metric, seed: int) -> None:
    """Then n, the trials under weights of 1, is a number of rows, and the trials of the events are those among them."""
    options = samples.VARIANTS.get(entry.name, ({},))[0]
    data = samples.rows("binary" if entry.sees == "event" or "binary" in entry.tasks else "many", seed=seed)
    filled = samples.filled(entry, options, data.levels)
    each = np.concatenate([np.eye(len(data.truth), dtype=int), np.ones((1, len(data.truth)), int)])
    _, trials = Summary(data, each).proportion(entry, filled)
    trials = np.broadcast_to(trials, len(each))
    assert set(trials[:-1]) <= {0.0, 1.0}
    assert trials[:-1].sum() == trials[-1]


def sliced(**keys: Any) -> Results:
    """Return a run in slices of which one has too few rows."""
    return run(people(300, seed=3), models=BOTH, metrics=["sensitivity", "precision", "brier"], threshold=0.5,
               slices=["s", "h"], slice_rules={"min_rows": 40}, intervals=intervals(100), **keys)


def inside(frame: pl.DataFrame, row: Estimate) -> pl.DataFrame:
    """Return the rows of the slice of an estimate."""
    return frame.filter(*(pl.col(name) == value for name, value in (row.slice or {}).items()))


def test_in_slices_too_and_min_rows_is_about_rows() -> None:
    frame, found = people(300, seed=3), sliced()
    told = 0
    for row in (row for row in found.rows if row.slice is not None):
        rows = inside(frame, row)
        called = rows.filter(pl.col(row.model) >= 0.5)
        of = {"sensitivity": rows.filter(pl.col("y") == 1), "precision": called, "brier": rows}[row.metric]
        few = rows.height < 40
        assert (row.status == "insufficient") == few
        assert (row.n, row.events) == ((rows if few else of).height, (rows if few else of)["y"].sum())
        told += few
    assert told > 0
    assert {(str(s.slice), s.n, s.events) for s in found.slices} == {
        (str(row.slice), inside(frame, row).height, inside(frame, row)["y"].sum())
        for row in found.rows if row.slice is not None}


def test_the_card_gives_the_rows_of_a_slice_beside_any_measure() -> None:
    frame = people(300, seed=3)
    found = run(frame, metrics=["sensitivity"], threshold=0.5, slices=["h"], intervals=intervals(100))
    card = evalpipe.render(found, ["html"])["card.html"].decode().replace("\n", "")
    for labels, rows in frame.group_by("h"):
        row = f'<th scope="row">h = {labels[0]}</th><td class="num">{rows.height}</td>'
        assert f'{row}<td class="num">{rows["y"].sum()}</td>' in card


def test_of_several_levels_a_class_has_its_own_denominator_and_an_average_all_rows() -> None:
    generator = np.random.default_rng(4)
    truth = generator.choice(3, 200, p=[0.5, 0.3, 0.2])
    picked = np.where(generator.random(200) < 0.7, truth, generator.choice(3, 200))
    chances = np.full((200, 3), 0.2)
    chances[np.arange(200), picked] = 0.6
    found = evalpipe.evaluate(
        truth, probabilities=chances, task="multiclass", levels=[0, 1, 2], intervals={"replicates": 100},
        metrics=[{"metric": name, "average": ["macro", "micro", "none"]}
                 for name in ("sensitivity", "specificity", "precision", "roc_auc")] + ["accuracy"])
    for row in found.rows:
        if row.class_ is None:
            assert (row.n, row.events) == (200, None)
            continue
        k = int(row.class_)
        of = {"sensitivity": truth == k, "specificity": truth != k, "precision": picked == k,
              "roc_auc": np.full(200, fill_value=True)}[row.metric]
        assert (row.n, row.events) == (of.sum(), (of & (truth == k)).sum())


def test_outside_an_equivocal_zone_support_is_of_reportable_rows() -> None:
    frame = people(400, seed=5)
    found = run(frame, metrics=["sensitivity", "precision", "brier"], threshold=0.5, equivocal=0.1,
                intervals=intervals(100))
    left = frame.filter((pl.col("p") < 0.4) | (pl.col("p") > 0.6))
    called, events = left.filter(pl.col("p") > 0.5), left["y"].sum()
    assert support(found) == {
        "sensitivity": (events, events), "precision": (called.height, called["y"].sum()),
        "brier": (400, frame["y"].sum()), "reportable_rate": (400, frame["y"].sum())}
