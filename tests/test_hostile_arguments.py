"""Arguments of `evaluate`, and parts of specs, that are of no use: one clear error, whole."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import evalpipe
from evalpipe.errors import EvalpipeError

Y, P = [0, 1] * 10, [i / 20 for i in range(20)]
SLICES = "\n  = help: name each array: slices={'group': values}"
SHIFT: dict[str, Any] = {"fit_on": {"folds": 2}, "methods": ["prior_shift"]}


def told(**given: Any) -> str:
    asked = {"event": 1, "metrics": ["brier"], "intervals": {"replicates": 100}, "probability": P} | given
    with pytest.raises(EvalpipeError) as caught:
        evalpipe.evaluate(Y, **asked)
    return str(caught.value)


@pytest.mark.parametrize(
    ("slices", "kind"), [(np.array(Y), "ndarray"), ([Y], "list"), (pd.DataFrame({"a": Y}), "DataFrame")]
)
def test_slices_without_names(slices: Any, kind: str) -> None:
    assert told(slices=slices) == (
        f"error[not-a-mapping]: 'slices' is a value of type {kind}, not a mapping of names to arrays{SLICES}"
    )


def test_a_slice_whose_name_is_no_text() -> None:
    assert told(slices={1: Y}) == (
        "error[bad-name]: slices cannot be called 1: the name is no text\n"
        "  = help: name each array by a text: slices={'group': values}"
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"costs": object()}, "costs: expected a list, got a value of type object"),
        ({"gates": {1, 2}}, "gates: expected a list, got a value of type set"),
        ({"levels": dt.date(2026, 1, 1)}, "levels: expected a list, got a value of type date"),
        ({"profit": pd.DataFrame({"a": [1]})},
         "profit: expected a mapping with 'benefit', 'cost', 'fixed' and 'groups', got a value of type DataFrame"),
    ],
)
def test_an_object_that_no_spec_can_hold(given: dict[str, Any], message: str) -> None:
    assert told(**given).split("\n")[0] == f"error[wrong-type]: {message}"


def test_arrays_may_stand_for_lists_and_numbers() -> None:
    found = evalpipe.evaluate(
        Y, P, event=np.int64(1), levels=np.array([0, 1]), metrics=np.array(["brier"]), seed=np.int64(3),
        intervals={"replicates": 100},
    )
    assert found.rows[0].metric == "brier"


def test_rows_of_different_lengths_are_no_table() -> None:
    ragged = {"probability": None, "event": None, "task": "multiclass", "levels": [0, 1]}
    assert told(**ragged, probabilities=[[1.0], [0.5, 0.5]]) == (
        "error[not-a-table]: probabilities of 'model' are rows of different lengths, not [n, 2]\n"
        "  = help: give a column of probabilities for each of 'levels', in their order"
    )


def test_an_equivocal_zone_of_zero_is_none_of_a_number() -> None:
    assert told(task="regression", event=None, probability=None, prediction=P, metrics=None, equivocal=0) == (
        "error[not-for-task]: equivocal: a regression outcome has no 'equivocal'\n  = help: remove it"
    )


def test_no_information_where_no_row_is_reportable() -> None:
    found = evalpipe.evaluate(
        Y, [0.5] * 20, event=1, metrics=["accuracy", "mcc", "precision"], equivocal=0.1, no_information=True,
        intervals={"replicates": 100},
    )
    assert {(row.value, row.no_information, row.status) for row in found.rows if row.metric != "reportable_rate"} == {
        (None, None, "undefined")
    }


NEVER_ELSE = "anything but the event"


@pytest.mark.parametrize(("prevalence", "absent"), [
    (0, "the event"), (1, NEVER_ELSE), ({"beta": [1e60, 7]}, NEVER_ELSE),  # a mean of 1 but for rounding
])
def test_no_prior_can_be_shifted_to_nothing(
    prevalence: Any, absent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").touch()
    spec = {
        "evalpipe": 1, "name": "shift", "task": "binary", "outcome": {"column": "y", "event": 1},
        "prevalence": prevalence, "datasets": {"a": {"path": "a.csv"}}, "models": {"m": {"probability": "p"}},
        "recalibrate": SHIFT,
    }
    with pytest.raises(EvalpipeError) as caught:
        evalpipe.run(spec)
    assert str(caught.value) == (
        f"error[out-of-range]: recalibrate.methods[0]: prior_shift cannot shift to a prevalence at which {absent} "
        "never occurs\n  = help: no probability can be known there: give a prevalence above 0 and below 1, or leave "
        "the method out"
    )


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_durations_are_levels_like_any_other(unit: str) -> None:
    group = np.array(Y, f"timedelta64[{unit}]")
    found = evalpipe.evaluate(Y, P, event=1, metrics=["brier"], slices={"g": group}, intervals={"method": "none"})
    assert len({tuple(row.slice.values()) for row in found.rows if row.slice is not None}) == 2


def test_a_number_that_is_its_own_list_is_refused() -> None:
    with pytest.raises(EvalpipeError) as caught:
        evalpipe.evaluate(Y, [0.5] * 20, event=1, intervals={"level": np.longdouble(0.9)})
    assert "error[wrong-type]: " in str(caught.value)
    assert "got a value of type longdouble" in str(caught.value)
