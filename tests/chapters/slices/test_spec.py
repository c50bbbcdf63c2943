"""Slices as they are written: their forms, and what each is called and made of."""

from __future__ import annotations

from typing import Any

import pytest

from evalpipe.chapters.slices.spec import Cut
from evalpipe.errors import SpecError
from evalpipe.spec.load import load
from evalpipe.spec.schema import resolved, spec_sha256
from evalpipe.spec.spec import Spec

SPEC: dict[str, Any] = {
    "evalpipe": 1,
    "name": "a",
    "task": "binary",
    "outcome": {"column": "y", "event": "1"},
    "datasets": {"test": {"path": "x.csv"}},
    "models": {"m": {"probability": "p"}},
}
CUT = {"column": "cap_diameter", "cuts": [5, 10]}


def sliced(*slices: Any, **changes: Any) -> Spec:
    return load(SPEC | {"slices": list(slices)} | changes)


@pytest.mark.parametrize(
    ("written", "parts", "columns", "title"),
    [
        ("season", ("season",), ("season",), "season"),
        (["season", "habitat"], ("season", "habitat"), ("season", "habitat"), "season × habitat"),
        (CUT, (Cut(column="cap_diameter", cuts=(5, 10)),), ("cap_diameter",), "cap_diameter"),
        (["season", CUT], ("season", Cut(column="cap_diameter", cuts=(5, 10))), ("season", "cap_diameter"),
         "season × cap_diameter"),
        ({"where": "stalk > 3", "name": "tall"}, (), (), "tall"),
        (["season"], ("season",), ("season",), "season"),
    ],
)  # fmt: skip
def test_every_form_says_what_it_is_made_of(
    written: Any, parts: tuple[Any, ...], columns: tuple[str, ...], title: str
) -> None:
    spec = sliced(written)
    assert spec.slices is not None
    (slicing,) = spec.slices
    assert (slicing.parts, slicing.columns, slicing.title) == (parts, columns, title)
    assert (slicing.expression is None) == bool(parts)
    assert resolved(spec)["slices"] == [written]
    assert load(resolved(spec)).slices == spec.slices
    assert load(spec) == spec


def test_rules_have_defaults_and_are_written_only_where_there_are_slices() -> None:
    spec = sliced("season")
    assert (spec.slice_rules.min_rows, spec.slice_rules.max_levels, spec.slice_rules.reference) == (30, 50, "overall")
    assert resolved(spec)["slice_rules"]["disparities"] is None
    assert "slice_rules" not in resolved(load(SPEC))
    assert "slice_rules" in resolved(load(SPEC | {"worst_slices": {"metric": "brier", "columns": ["a"]}}))


def test_measures_are_resolved_to_their_canonical_names() -> None:
    worst = {"metric": {"metric": "recall"}, "columns": ["season"]}
    rules = {"disparities": ["demographic_parity", "tpr"]}
    document = resolved(sliced("season", worst_slices=worst, slice_rules=rules))
    assert document["worst_slices"] == {"metric": "sensitivity", "columns": ["season"], "depth": 2, "top": 10}
    assert document["slice_rules"]["disparities"] == ["demographic_parity", "sensitivity"]
    same = {"metric": "sensitivity", "columns": ["season"]}
    plain = sliced("season", worst_slices=same, slice_rules={"disparities": ["demographic_parity", "recall"]})
    assert spec_sha256(plain) == spec_sha256(sliced("season", worst_slices=worst, slice_rules=rules))


def test_a_file_that_is_extended_keeps_its_measure_when_another_key_is_set() -> None:
    spec = load(SPEC | {"worst_slices": {"metric": "brier", "columns": ["season"]}}, ["worst_slices.top=3"])
    assert spec.worst_slices is not None
    assert (spec.worst_slices.metric.metric, spec.worst_slices.top) == ("brier", 3)


@pytest.mark.parametrize("average", ["none", ["none"], ["macro", "micro"]])
def test_the_search_needs_one_value_of_each_slice(average: Any) -> None:
    several = {
        "task": "multiclass", "outcome": {"column": "y", "levels": ["a", "b", "c"]},
        "models": {"m": {"prediction": "d"}},
    }  # fmt: skip
    worst = {"metric": {"metric": "f1", "average": average}, "columns": ["season"]}
    with pytest.raises(SpecError, match="many-averages"):
        load(SPEC | several | {"worst_slices": worst})
    fine = {"metric": {"metric": "f1", "average": ["micro"]}, "columns": ["season"]}
    assert load(SPEC | several | {"worst_slices": fine}).worst_slices is not None


def test_columns_may_be_cut_differently_alone_and_in_a_combination() -> None:
    spec = sliced(CUT, ["season", {"column": "cap_diameter", "cuts": [7]}])
    assert spec.slices is not None
    assert len(spec.slices) == 2
