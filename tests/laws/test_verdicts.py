"""No card contradicts itself: interval, p-values and verdict of a difference agree in every example."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from evalpipe.results import Results

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evalpipe.results import Comparison, SliceDifference

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
DECIDED = {"better", "worse", "equivalent"}


def compares(path: Path) -> bool:
    """Tell whether a spec asks for differences, or for what a base of it asks."""
    keys = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
    return bool({"compare", "slices", "recalibrate", "extends"} & set(keys))


SPECS = [path.stem for path in sorted(CONFIGS.glob("*.yaml")) if compares(path)]


@pytest.fixture(scope="module")
def results(example: Callable[[str], Path]) -> Callable[[str], Results]:
    """Return the results of an example with few replicates, so that a p-value counted among them would have a floor."""
    return cache(lambda name: Results.read(example(name) / "results.json"))


def with_tests(found: Results) -> Iterator[Comparison | SliceDifference]:
    yield from (row for row in (*found.comparisons, *found.slice_differences) if row.p_value is not None)


@pytest.mark.parametrize("name", SPECS)
def test_an_interval_leaves_out_zero_where_its_p_value_is_below_one_less_the_level(
    name: str, results: Callable[[str], Results]
) -> None:
    for row in with_tests(results(name)):
        assert row.lower is not None
        assert row.upper is not None
        assert row.lower <= row.difference <= row.upper
        assert (row.p_value < 1 - row.level) == (not row.lower <= 0 <= row.upper), row


@pytest.mark.parametrize("name", SPECS)
def test_a_verdict_is_given_where_the_adjusted_p_value_is_below_one_less_the_level(
    name: str, results: Callable[[str], Results]
) -> None:
    for row in results(name).comparisons:
        if row.p_adjusted is None:
            assert row.verdict in {"same", "untested"}
            assert row.verdict != "same" or (row.difference, row.lower, row.upper, row.p_value) == (0, 0, 0, None)
        elif row.verdict != "no_direction":
            assert (row.verdict in DECIDED) == (row.p_adjusted < 1 - row.level), row
        if row.verdict in {"better", "worse"}:
            margin = row.margin or 0.0
            assert row.p_value < 1 - row.level  # and its own interval lies beyond the margin
            assert row.lower > margin or row.upper < -margin
        if row.margin is None and row.p_adjusted is not None:
            assert row.p_adjusted >= row.p_value


@pytest.mark.parametrize("name", SPECS)
def test_an_adjusted_p_value_of_a_slice_is_no_smaller_than_its_own(
    name: str, results: Callable[[str], Results]
) -> None:
    for row in results(name).slice_differences:
        assert (row.p_value is None) == (row.p_holm is None) == (row.p_benjamini_hochberg is None)
        if row.p_value is not None:
            assert row.p_value <= row.p_benjamini_hochberg <= row.p_holm <= 1


def test_the_examples_hold_verdicts_of_every_kind_and_p_values_below_any_floor(
    results: Callable[[str], Results]
) -> None:
    every = [row for name in SPECS for row in results(name).comparisons]
    assert {row.verdict for row in every} >= {"better", "worse", "undecided", "same", "no_direction"}
    # With 150 replicates a count of them could not tell a p-value below 2 / 151.
    smallest = min(row.p_adjusted for row in every if row.test == "bootstrap" and row.p_adjusted is not None)
    assert smallest < 1e-6
    women = next(
        row for row in results("slices").slice_differences
        if row.slice == {"gender": "female"} and row.metric == "sensitivity"
    )
    assert women.p_holm is not None
    assert women.p_holm < 1e-20
    assert not math.isnan(women.p_holm)
