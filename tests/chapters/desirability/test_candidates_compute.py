"""The ranking of candidates: against plain formulas, under any order of rows, and with what is missing."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evalpipe
from chapters.desirability.grids import GOALS, Row, ranked, run_of, spec_of, written
from evalpipe.errors import SpecError

ROWS: list[Row] = [
    {"mtry": 3, "brier": 0.10, "brier_se": 0.02, "features": 5},
    {"mtry": 1, "brier": 0.30, "brier_se": 0.02, "features": 2},
    {"mtry": 2, "brier": 0.12, "brier_se": 0.02, "features": 5},
    {"mtry": 4, "brier": 0.08, "brier_se": 0.02, "features": 12},
    {"mtry": 5, "brier": 0.09, "brier_se": 0.02, "features": 20},
]


def overall(brier: float, features: float) -> float:
    """Return D by hand: the goals of `GOALS`, the first of which counts twice."""
    return ((0.5 - brier) / 0.5) ** (2 / 3) * max((20 - features) / 20, 0) ** (1 / 3)


def test_the_300_candidates_of_the_reference_are_ranked_without_predictions(reference: Path) -> None:
    path = reference / "desirability" / "classification_results.csv"
    goals: list[Row] = [
        {"metric": "roc_auc", "maximize": {"low": 0.5, "high": 0.9}},
        {"characteristic": "num_features", "minimize": {"low": 1, "high": 200}},
    ]
    spec = spec_of(path, goals) | {"task": "multiclass"}
    results = evalpipe.run(spec | {"candidates": {"path": str(path), "id": ["mixture", "penalty"]}})
    with path.open(encoding="utf-8") as lines:
        rows = [{key: float(cell) for key, cell in row.items()} for row in csv.DictReader(lines)]
    few = [min(max((200 - row["num_features"]) / 199, 0), 1) for row in rows]
    good = [min(max((row["roc_auc"] - 0.5) / 0.4, 0), 1) for row in rows]
    expected = [math.sqrt(a * b) for a, b in zip(few, good, strict=True)]
    ids = [(row["mixture"], row["penalty"]) for row in rows]
    found = {(row.id["mixture"], row.id["penalty"]): row for row in results.candidates.ranking}

    assert len(found) == 300
    assert [found[key].value for key in ids] == pytest.approx(expected, abs=1e-9)
    assert [found[key].rank for key in ids] == [1 + sum(other > d + 1e-12 for other in expected) for d in expected]
    # Written by desirability2's test of the same goals, see tests/reference/test_desirability.py.
    top = [row.value for row in results.candidates.ranking[:5]]
    assert top == pytest.approx([0.914960558262011, 0.914314065134075, 0.914053183466656, 0.913821290331398,
                                 0.913540207982462], abs=1e-9)
    assert (results.rows, results.datasets, results.models) == ([], [], [])


def test_values_ranks_and_fronts_are_those_of_plain_loops(tmp_path: Path) -> None:
    candidates = ranked(tmp_path, ROWS)
    table = {row.id["mtry"]: row for row in candidates.ranking}

    # Two powers and a product of double precision.
    assert {key: row.value for key, row in table.items()} == pytest.approx(
        {row["mtry"]: overall(row["brier"], row["features"]) for row in ROWS}, abs=1e-12)
    assert [row.id["mtry"] for row in candidates.ranking] == [3, 2, 4, 1, 5]
    assert [row.rank for row in candidates.ranking] == [1, 2, 3, 4, 5]
    assert {key: row.front for key, row in table.items()} == {1: True, 2: False, 3: True, 4: True, 5: False}
    assert candidates.axes == ["minimize brier", "minimize features"]
    assert table[5].desirability == {"minimize brier": pytest.approx(0.82), "minimize features": 0.0}


@pytest.mark.parametrize(("named", "axes"), [
    (["features", "brier"], ["minimize features", "minimize brier"]),
    (["brier_score", "recall"], ["minimize brier", "minimize recall"]),
    (["recall", "features"], ["minimize recall", "minimize features"]),
])
def test_the_figure_has_the_named_goals_by_any_of_their_names(
    tmp_path: Path, named: list[str], axes: list[str]
) -> None:
    rows = [row | {"calls": place} for place, row in enumerate(ROWS)]
    goals = [*GOALS, {"characteristic": "recall", "minimize": {"low": 0, "high": 9}}]  # as a measure is called too
    found = ranked(tmp_path, rows, goals, pareto=named, columns={"recall": "calls"}, std_err={"recall": "calls"})
    assert found.axes == axes
    assert sorted(row.values["minimize recall"] for row in found.ranking) == [0, 1, 2, 3, 4]


def test_standard_errors_say_who_lies_within_one_of_the_best(tmp_path: Path) -> None:
    assert ranked(tmp_path, ROWS).within is None
    candidates = ranked(tmp_path, ROWS, std_err={"brier": "brier_se"})

    assert candidates.within == pytest.approx(overall(0.12, 5), abs=1e-12)
    assert {row.id["mtry"]: row.near for row in candidates.ranking} == {
        3: True, 2: True, 4: False, 1: False, 5: False}
    assert candidates.ranking[0].std_err == {"minimize brier": 0.02}


@pytest.mark.parametrize(("goal", "worst"), [
    ({"target": {"low": 0.0, "target": 0.1, "high": 0.2}}, 0.5),
    ({"box": {"low": 0.0, "high": 0.12}}, 0.0),
    # The least lies between the ends, at a point of the curve.
    ({"custom": {"values": [0.0, 0.08, 0.1, 1.0], "desirability": [1, 0.1, 0.9, 0.9]}}, 0.1),
])
def test_the_worse_side_of_a_value_is_that_of_its_goal(tmp_path: Path, goal: Row, worst: float) -> None:
    candidates = ranked(tmp_path, [{"mtry": 1, "brier": 0.1, "se": 0.05}], [{"metric": "brier", **goal}],
                        std_err={"brier": "se"})

    assert candidates.within == pytest.approx(worst, abs=1e-12)


@given(st.permutations(range(len(ROWS))))
def test_the_order_of_the_rows_changes_nothing(order: list[int]) -> None:
    with TemporaryDirectory() as name:
        shuffled = ranked(Path(name), [ROWS[place] for place in order], std_err={"brier": "brier_se"})

        assert shuffled == ranked(Path(name), ROWS, std_err={"brier": "brier_se"})


@given(st.lists(st.floats(0, 0.5, width=16), min_size=2, max_size=8, unique=True), st.floats(0.5, 4))
def test_a_monotone_change_of_values_and_limits_keeps_the_order(values: list[float], scale: float) -> None:
    rows = [{"mtry": place, "brier": value, "size": value * 8 + 3} for place, value in enumerate(values)]
    with TemporaryDirectory() as name:
        first = ranked(Path(name), rows, [{"metric": "brier", "minimize": {"low": 0, "high": 1, "scale": scale}}])
        other = ranked(Path(name), rows, [{"characteristic": "size", "minimize": {"low": 3, "high": 11}}])

    assert [row.id for row in first.ranking] == [row.id for row in other.ranking]
    assert [row.id["mtry"] for row in first.ranking] == np.argsort(values, kind="stable").tolist()


def test_a_missing_value_leaves_a_candidate_last_unless_the_goal_says_what_it_counts(tmp_path: Path) -> None:
    rows = [*ROWS, {"mtry": 0, "brier": None, "brier_se": None, "features": 1}]
    last = ranked(tmp_path, rows).ranking[-1]
    goals = [{**GOALS[0], "missing": 0.5}, GOALS[1]]

    assert (last.id, last.value, last.rank, last.pareto, last.status, last.reason) == (
        {"mtry": 0}, None, None, None, "undefined", "no value of: minimize brier")
    counted = next(row for row in ranked(tmp_path, rows, goals).ranking if row.id["mtry"] == 0)
    assert counted.value == pytest.approx(0.5 ** (2 / 3) * 0.95 ** (1 / 3), abs=1e-12)


def test_ties_share_a_rank_and_stand_in_the_order_of_their_ids(tmp_path: Path) -> None:
    rows = [{"mtry": name, "brier": 0.1, "features": 5} for name in (10, 9, 2)]

    assert [(row.id["mtry"], row.rank) for row in ranked(tmp_path, rows).ranking] == [(2, 1), (9, 1), (10, 1)]


def test_a_long_table_is_ranked_as_the_wide_one(tmp_path: Path) -> None:
    long = [{"mtry": row["mtry"], ".metric": name, "mean": value, "std_err": error}
            for row in ROWS for name, value, error in (
                ("brier_class", row["brier"], row["brier_se"]), ("features", row["features"], None),
                ("accuracy", 0.9, 0.01))]
    wide = ranked(tmp_path, ROWS, std_err={"brier": "brier_se"})
    other = ranked(tmp_path, long, long={"metric": ".metric", "value": "mean", "std_err": "std_err"})

    assert other.ranking == wide.ranking
    assert other.within == wide.within


@pytest.mark.parametrize("ending", ["parquet", "ndjson"])
def test_every_format_gives_the_same_ranking(tmp_path: Path, ending: str) -> None:
    import polars as pl

    frame = pl.DataFrame(ROWS)
    path = tmp_path / f"grid.{ending}"
    frame.write_parquet(path) if ending == "parquet" else frame.write_ndjson(path)

    assert evalpipe.run(spec_of(path)).candidates == ranked(tmp_path, ROWS)


def test_levels_conditions_and_named_columns(tmp_path: Path) -> None:
    rows = [{"mtry": place, "bs": 0.1, "licence": licence} for place, licence in enumerate(("open", "closed", "odd"))]
    goals = [{"metric": "brier", "minimize": {"low": 0, "high": 0.5}},
             {"characteristic": "licence", "category": {"open": 1.0, "closed": 0.3}}]
    candidates = ranked(tmp_path, rows, goals, columns={"brier_class": "bs"}, where="licence <> 'odd'")

    assert [(row.id["mtry"], row.values["category licence"]) for row in candidates.ranking] == [
        (0, "open"), (1, "closed")]
    assert [goal.column for goal in candidates.goals] == ["bs", "licence"]


def test_candidates_stand_beside_models_and_take_the_same_goals(tmp_path: Path) -> None:
    data = written(tmp_path, [{"y": place % 2, "p": 0.2 + 0.6 * (place % 2)} for place in range(20)], "data.csv")
    spec = spec_of(written(tmp_path, ROWS)) | {
        "outcome": {"column": "y", "event": 1}, "datasets": {"test": {"path": str(data)}},
        "models": {"a": {"probability": "p", "characteristics": {"features": 4}}}, "intervals": {"method": "none"},
    }
    results = evalpipe.run(spec)

    (model,) = results.desirability.overall
    assert model.value == pytest.approx(overall(0.04, 4), abs=1e-12)
    assert [row.id["mtry"] for row in results.candidates.ranking] == [3, 2, 4, 1, 5]
    assert [(file.dataset, file.role) for file in results.inputs] == [
        ("test", "evaluate"), ("candidates", "candidates")]


def test_a_goal_that_tells_no_candidates_apart_is_a_warning(tmp_path: Path) -> None:
    rows = [{"mtry": place, "brier": 0.1, "features": place} for place in range(3)]

    assert [(row.code, row.message) for row in run_of(tmp_path, rows).warnings] == [(
        "goal-without-effect",
        "the goal 'minimize brier' tells no candidate from another: each has the desirability 0.8 in it")]


def test_a_single_goal_has_no_figure_and_no_front(tmp_path: Path) -> None:
    candidates = ranked(tmp_path, ROWS, GOALS[:1])

    assert candidates.axes == []
    assert {row.front for row in candidates.ranking} == {None}


def test_an_id_that_is_no_single_value_is_an_error(tmp_path: Path) -> None:
    import polars as pl

    from evalpipe.errors import DataError

    path = tmp_path / "grid.parquet"
    pl.DataFrame({"mtry": [[1], [2]], "brier": [0.1, 0.2], "features": [1, 2]}).write_parquet(path)
    with pytest.raises(DataError) as caught:
        evalpipe.run(spec_of(path))

    assert [(problem.code, problem.message) for problem in caught.value.problems] == [(
        "wrong-type", "column 'mtry' of the table of candidates holds lists or mappings, not single values")]


def test_a_text_cannot_refer_to_a_measure_that_is_not_computed(tmp_path: Path) -> None:
    spec = spec_of(written(tmp_path, ROWS)) | {"card": {"intended_use": "Brier score {{ value('brier') }}"}}
    with pytest.raises(SpecError) as caught:
        evalpipe.run(spec)

    assert [(problem.code, problem.message, problem.hint) for problem in caught.value.problems] == [(
        "not-asked-for", ("card.intended_use: {{ value('brier') }}: without predictions no measure is computed that a "
                          "text could refer to"), "write the number itself")]
