"""What rules claim of the results, and which claims these data bear out at the level of the run, all taken together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalpipe.intervals.multiplicity import holm
from evalpipe.intervals.p_values import p_against, p_between

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from evalpipe.intervals.p_values import Known
    from evalpipe.results import Results
    from evalpipe.results.findings import Finding

    Say = Callable[[Results, Sequence[Any]], Iterable[Finding]]
    """Writes the findings on rows of the results of which one claim holds."""

    Limited = Any
    """A row of the results with `value` or `difference`, `lower`, `upper` and `level`."""

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
    """Return the p-value of the test that the number of a row is ``bound``; see `p_against`."""
    return p_against(_known(row), bound)


def p_apart(first: Limited, second: Limited) -> float:
    """Return the p-value of the test that the numbers of two rows, of independent samples, are equal."""
    return p_between(_known(first), _known(second))


def _known(row: Limited) -> Known:
    return row.value if hasattr(row, "value") else row.difference, row.lower, row.upper, row.level


def decided(families: Mapping[str, Sequence[Claim]], level: float) -> Iterator[tuple[Claim, bool]]:
    """Yield each claim with whether these data bear it out, so that all are true with probability ``level``.

    The families of claims that are tested share the error, 1 - level, equally, and so do the claims of each; what one
    does not need goes to the others: Holm (1979), with weights.
    """
    tested = {name: [claim for claim in claims if claim.p_value is not None] for name, claims in families.items()}
    p_values = [claim.p_value or 0.0 for claims in tested.values() for claim in claims]
    weights = [1 / len(claims) for claims in tested.values() for _ in claims]
    adjusted = iter(holm(p_values, weights).tolist())
    so = {id(claim): next(adjusted) <= 1 - level for claims in tested.values() for claim in claims}
    for claims in families.values():
        for claim in claims:
            yield claim, so.get(id(claim), True)
