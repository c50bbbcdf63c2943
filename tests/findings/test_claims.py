"""Which claims are borne out: claims tested together."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from evalpipe.findings.claims import Claim, decided_claims, p_apart, p_beyond

CLOSE = 1e-9  # the same normal distribution, from the standard library and from scipy
LEVEL = 0.95


def row(value: float | None, lower: float | None, upper: float | None) -> Any:
    return SimpleNamespace(value=value, lower=lower, upper=upper, level=LEVEL)


def say(*_: Any) -> tuple[()]:
    return ()


def test_a_row_is_judged_by_its_value_or_its_difference() -> None:
    estimate, difference = row(0.6, 0.5, 0.8), SimpleNamespace(difference=0.6, lower=0.5, upper=0.8, level=LEVEL)
    assert p_beyond(estimate, 0.5) == p_beyond(difference, 0.5) == pytest.approx(0.05, rel=CLOSE)
    assert p_apart(estimate, row(0.2, 0.1, 0.3)) == p_apart(difference, row(0.2, 0.1, 0.3)) < 0.01


def borne_out(p_values: dict[str, list[float | None]]) -> dict[str, list[bool]]:
    families = {name: [Claim((name, p), say, p) for p in values] for name, values in p_values.items()}
    said: dict[str, list[bool]] = {}
    for claim, so in decided_claims(families, LEVEL):
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


def pair(beyond: float, none: float, family: str = "a") -> list[Claim]:
    first = Claim((family, "beyond"), say, beyond)
    return [first, Claim((family, "note"), say, none, after=first)]


@pytest.mark.parametrize(("families", "expected"), [
    ({"a": pair(0.049, 0.0)}, [("a", "beyond", True)]),
    ({"a": pair(0.051, 0.049)}, [("a", "note", True)]),
    ({"a": pair(0.051, 0.051)}, [("a", "note", False)]),
    # each has half of the error until the other is decided beyond its margin
    ({"a": pair(0.9, 0.024), "b": pair(0.9, 0.026, "b")}, [("a", "note", True), ("b", "note", False)]),
    ({"a": pair(0.024, 0.0), "b": pair(0.9, 0.049, "b")}, [("a", "beyond", True), ("b", "note", True)]),
])
def test_a_claim_after_another_has_what_of_the_error_that_one_had(
    families: dict[str, list[Claim]], expected: list[tuple[str, str, bool]]
) -> None:
    assert [(*claim.row, so) for claim, so in decided_claims(families, LEVEL)] == expected
