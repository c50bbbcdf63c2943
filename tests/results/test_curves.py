"""The records of curves: what stands in a file, what older files lack, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest

import evalpipe
from evalpipe.engine.curves.declare import PREFIXES, registry
from evalpipe.errors import DataError
from evalpipe.results import Results
from evalpipe.results.curves import CURVES
from evalpipe.results.curves.calibration import Reliability
from evalpipe.results.curves.events import Sweep

TRUTH, CHANCE = [0, 1] * 20, [i / 40 for i in range(40)]


@pytest.fixture(scope="module")
def text() -> str:
    metrics = ["roc_auc", "brier", {"metric": "f_beta", "beta": 2}, "sensitivity"]
    return evalpipe.evaluate(TRUTH, CHANCE, event=1, metrics=metrics, intervals={"replicates": 100}).to_json()


def changed(text: str, curve: str, change: Any) -> str:
    """Return results with one curve changed."""
    document = json.loads(text)
    change(next(row for row in document["curves"] if row["curve"] == curve))
    return json.dumps(document)


def test_what_is_read_is_written_again(text: str) -> None:
    results = Results.from_json(text)
    assert results.to_json() == text
    assert {type(curve) for curve in results.curves} == {CURVES[curve.curve] for curve in results.curves}


def test_every_curve_has_a_record_of_its_own_in_which_every_column_is_a_field() -> None:
    computed = {PREFIXES.get(kind, "") + name for name, declared in registry.items() for kind in declared.of}
    assert set(CURVES) == computed, "of each a record in results/curves/ and a function in engine/curves/"
    for name, record in CURVES.items():
        points = record.model_fields["points"].annotation
        assert name in record.names()
        assert points is not None
        assert points.__doc__
        assert points.model_fields


def test_the_schema_says_what_the_columns_and_the_notes_of_each_curve_are() -> None:
    schema = Results.model_json_schema()
    kinds = schema["properties"]["curves"]["items"]["discriminator"]["mapping"]
    assert list(kinds) == sorted(CURVES)
    for place in kinds.values():
        record = schema["$defs"][place.rpartition("/")[2]]
        points = schema["$defs"][record["properties"]["points"]["$ref"].rpartition("/")[2]]
        assert record["description"]
        assert points["description"]
        assert all(column.get("items") or column.get("anyOf") for column in points["properties"].values())


def test_a_sweep_has_a_column_for_each_measure(text: str) -> None:
    (sweep,) = (curve for curve in Results.from_json(text).curves if isinstance(curve, Sweep))
    assert list(sweep.points.measures) == ["f_beta(beta=2)", "sensitivity"]
    assert [len(column) for column in sweep.points.columns.values()] == [41, 41, 41]


def test_a_file_from_before_bands_of_all_bins_at_once_is_read(text: str) -> None:
    def older(curve: dict[str, Any]) -> None:
        del curve["points"]["simultaneous_lower"], curve["points"]["simultaneous_upper"], curve["notes"]["mean_gap"]

    results = Results.from_json(changed(text, "calibration_uniform", older))
    curve = next(c for c in results.curves if isinstance(c, Reliability) and c.curve == "calibration_uniform")
    assert (curve.points.simultaneous_lower, curve.notes.mean_gap) == (None, None)
    assert list(curve.points.columns) == ["mean_probability", "event_rate", "lower", "upper", "weight", "rows"]
    assert json.loads(results.to_json())["curves"] == json.loads(changed(text, "calibration_uniform", older))["curves"]


@pytest.mark.parametrize(("change", "where", "reason"), [
    (lambda curve: curve["points"].pop("threshold"), "roc.points.threshold", "field required"),
    (lambda curve: curve["points"].update(extra=[1.0]), "roc.points.extra", "extra inputs are not permitted"),
    (lambda curve: curve["points"]["threshold"].pop(), "roc.points", "the columns of a curve differ in length"),
    (lambda curve: curve["notes"].update(area="large"), "roc.notes.area",
     "input should be a valid number, unable to parse string as a number"),
])
def test_a_curve_that_is_not_as_declared_is_refused(text: str, change: Any, where: str, reason: str) -> None:
    with pytest.raises(DataError) as caught:
        Results.from_json(changed(text, "roc", change))
    assert str(caught.value) == (
        f"error[not-results]: results.json does not hold results of evalpipe: curves.1.{where}: {reason}\n"
        "  = help: give the output folder of `evalpipe run`, written by this version or an earlier one"
    )


def test_the_table_of_curves_has_their_points_as_text(text: str) -> None:
    frame = Results.from_json(text).frame("curves")
    row = frame.row(by_predicate=pl.col("curve") == "roc", named=True)
    assert list(json.loads(row["points"])) == ["false_positive_rate", "sensitivity", "threshold"]
