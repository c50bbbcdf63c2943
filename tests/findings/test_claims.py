"""Which claims are borne out: p-values from intervals, claims tested together, how many more rows would decide."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from scipy.stats import norm

from evalpipe.findings.claims import SMALLEST, Claim, held, p_apart, p_beyond, p_of
from evalpipe.findings.words import more_rows

CLOSE = 1e-9  # the same normal distribution, from the standard library and from scipy
LEVEL = 0.95


def row(value: float | None, lower: float | None, upper: float | None) -> Any:
    return SimpleNamespace(value=value, lower=lower, upper=upper, level=LEVEL)


def say(*_: Any) -> tuple[()]:
    return ()


def test_a_bound_at_the_end_of_the_interval_has_the_p_value_of_its_level() -> None:
    assert p_beyond(row(0.6, 0.5, 0.8), 0.5) == pytest.approx(0.05, rel=CLOSE)
    assert p_beyond(row(0.6, 0.5, 0.8), 0.8) == pytest.approx(0.05, rel=CLOSE)


def test_only_the_half_towards_the_bound_counts() -> None:
    assert p_beyond(row(0.6, 0.5, 0.9), 0.4) == pytest.approx(2 * norm.sf(2 * norm.ppf(0.975)), rel=CLOSE)
    assert p_beyond(row(0.6, 0.5, 0.9), 0.4) == p_beyond(row(0.6, 0.5, 0.61), 0.4)


@pytest.mark.parametrize("limits", [(None, None), (0.5, None), (None, 0.7)])
def test_without_limits_nothing_is_shown(limits: tuple[float | None, float | None]) -> None:
    assert p_beyond(row(0.6, *limits), 0.1) == 1.0
    assert p_beyond(row(None, None, None), 0.1) == 1.0


def test_an_interval_of_no_width_decides_unless_it_is_the_bound() -> None:
    assert p_beyond(row(0.6, 0.6, 0.6), 0.5) == SMALLEST
    assert p_beyond(row(0.6, 0.6, 0.6), 0.6) == 1.0


def test_a_value_on_the_bound_shows_nothing() -> None:
    assert p_beyond(row(0.5, 0.4, 0.6), 0.5) == 1.0
    assert p_of(0.0) == 1.0


def test_two_samples_are_apart_by_their_errors_together() -> None:
    first, second = row(0.2, 0.1, 0.3), row(0.5, 0.4, 0.9)
    error = 2**0.5 * 0.1 / norm.ppf(0.975)
    assert p_apart(first, second) == pytest.approx(2 * norm.sf(0.3 / error), rel=CLOSE)
    assert p_apart(second, first) == p_apart(first, second)
    assert p_apart(first, first) == 1.0
    assert p_apart(first, row(0.5, None, None)) == 1.0


def borne_out(p_values: dict[str, list[float | None]]) -> dict[str, list[bool]]:
    families = {name: [Claim((name, p), say, p) for p in values] for name, values in p_values.items()}
    said: dict[str, list[bool]] = {}
    for claim, so in held(families, LEVEL):
        said.setdefault(claim.row[0], []).append(so)
    return said


@pytest.mark.parametrize(("p_values", "expected"), [
    ({"a": [0.049]}, {"a": [True]}), ({"a": [0.051]}, {"a": [False]}),
    ({"a": [None, 0.5]}, {"a": [True, False]}),
    # two families have half of the error each, and the second takes over what the first does not need
    ({"a": [0.024], "b": [0.049]}, {"a": [True], "b": [True]}),
    ({"a": [0.026], "b": [0.049]}, {"a": [False], "b": [False]}),
    # a large family has no more of the error than a small one
    ({"a": [0.02], "b": [0.02, 0.9, 0.9, 0.9]}, {"a": [True], "b": [False, False, False, False]}),
])
def test_claims_share_the_error_by_families(
    p_values: dict[str, list[float | None]], expected: dict[str, list[bool]]
) -> None:
    assert borne_out(p_values) == expected


@pytest.mark.parametrize(("estimate", "bound", "n", "more"), [
    (row(0.56, 0.50, 0.62), 0.6, 883, 2000),  # (0.06 / 0.04)^2 = 2.25 times the rows: 1,104 more
    (row(0.55, 0.50, 0.60), 0.6, 400, None),  # the bound is the very limit
    (row(0.55, 0.50, 0.601), 0.6, 400, 20),
    (row(0.6, 0.50, 0.7), 0.6, 400, None),  # the value sits on it
    (row(0.6001, 0.50, 0.7), 0.6, 400, None),  # nearly: a million times as many
    (row(0.55, None, None), 0.6, 400, None), (row(0.5, 0.4, 0.55), 0.6, 400, None),
])
def test_about_so_many_more_rows_would_decide(estimate: Any, bound: float, n: int, more: int | None) -> None:
    assert more_rows(estimate, bound, n) == more
