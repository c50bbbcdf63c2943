"""What rules claim of the results, and which claims these data bear out at the level of the run, all taken together."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from evalpipe.results import Results
    from evalpipe.results.findings import Finding

    Say = Callable[[Results, Sequence[Any]], Iterable[Finding]]
    """Writes the findings on rows of the results of which one claim holds."""

    Limited = Any
    """A row of the results with `value` or `difference`, `lower`, `upper` and `level`."""

SMALLEST = 1e-300
"""The smallest p-value: a normal tail further out has none that a float holds."""


@dataclass(frozen=True, slots=True)
class Claim:
    """That something is so of a row of the results; rows of which the same is said are named in one sentence.

    ``p_value`` is that of the test that it is not so; None of a fact, or of a verdict that results hold already.
    ``otherwise`` is said of rows for which the claim is not borne out.
    """

    row: Any
    say: Say
    p_value: float | None = None
    otherwise: Say | None = None


def p_beyond(row: Limited, bound: float) -> float:
    """Return the two-sided p-value of the test that a number is ``bound``, from its interval; 1 without one.

    The half of the interval towards the bound is taken as that of a normal distribution: Altman & Bland (2011).
    """
    value = row.value if hasattr(row, "value") else row.difference
    if value is None or row.lower is None or row.upper is None or row.level is None:
        return 1.0
    half = value - row.lower if value > bound else row.upper - value
    if half <= 0:
        return SMALLEST if value != bound else 1.0
    return p_of((value - bound) / half * NormalDist().inv_cdf((1 + row.level) / 2))


def p_apart(first: Limited, second: Limited) -> float:
    """Return the two-sided p-value of the test that two numbers of independent samples are equal; 1 without limits.

    Each interval gives its error by the half that faces the other number, as of a normal distribution.
    """
    if first.value > second.value:
        return p_apart(second, first)
    if None in (first.upper, first.level, second.lower, second.level) or first.value == second.value:
        return 1.0
    halves = (first.upper - first.value, first.level), (second.value - second.lower, second.level)
    errors = (half / NormalDist().inv_cdf((1 + level) / 2) for half, level in halves)
    error = sum(error**2 for error in errors) ** 0.5
    return p_of((second.value - first.value) / error) if error > 0 else SMALLEST


def p_of(z: float) -> float:
    """Return the two-sided p-value of a number of standard errors."""
    return max(2 * NormalDist().cdf(-abs(z)), SMALLEST)


def held(families: Mapping[str, Sequence[Claim]], level: float) -> Iterator[tuple[Claim, bool]]:
    """Yield each claim with whether these data bear it out, so that all are true with probability ``level``.

    The families of claims that are tested share the error, 1 - level, equally, and so do the claims of each; what one
    does not need goes to the others: Holm (1979), with weights.
    """
    tested = {name: [claim for claim in claims if claim.p_value is not None] for name, claims in families.items()}
    weights = {id(claim): 1 / len(claims) for claims in tested.values() for claim in claims}
    borne_out = _rejected([claim for claims in tested.values() for claim in claims], weights, 1 - level)
    for claims in families.values():
        for claim in claims:
            yield claim, claim.p_value is None or id(claim) in borne_out


def _rejected(claims: Iterable[Claim], weights: Mapping[int, float], error: float) -> set[int]:
    """Return the ids of the claims whose hypotheses Holm's procedure rejects, the smallest weighted p-value first."""
    left, rejected = sum(weights.values()), set[int]()
    for claim in sorted(claims, key=lambda claim: (claim.p_value or 0.0) / weights[id(claim)]):
        weight = weights[id(claim)]
        if (claim.p_value or 0.0) > error * weight / left:
            break
        rejected.add(id(claim))
        left -= weight
    return rejected
