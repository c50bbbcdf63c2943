"""Whether the declared prevalence equals that of the evaluated rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalpipe.card.wording import joined, observed_share, share
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, p_apart, rule
from evalpipe.findings.words import finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import ObservedShare, Results
    from evalpipe.results.document import Finding


class Share(NamedTuple):
    """A share of a level, observed or declared, with its limits; a declared one without limits is exact."""

    level_of_outcome: str
    dataset: str
    value: float
    lower: float | None
    upper: float | None
    level: float | None


Pair = tuple[Share, Share]


@rule
def prevalence_declared(results: Results) -> Iterator[Claim]:
    """Whether the declared prevalence equals that of the evaluated rows."""
    for row in results.observed:
        declared = _declared(results, row)
        if declared is not None and row.lower is not None:
            observed = Share(row.level, row.dataset, row.value, row.lower, row.upper, row.confidence)
            yield Claim((declared, observed), differs, p_apart(declared, observed))


def _declared(results: Results, row: ObservedShare) -> Share | None:
    """Return the declared share of the level of a row; None where there is none, or it is of the other level."""
    prior = results.prevalence
    if prior is None or (results.task == "binary" and row.level != results.event):
        return None
    value = prior.value if prior.levels is None else prior.levels.get(row.level)
    if value is None:
        return None
    lower, upper = prior.limits.get(row.level, (value, value))
    return Share(row.level, row.dataset, value, lower, upper, prior.level or row.confidence)


def differs(_: Results, rows: Sequence[Pair]) -> Iterator[Finding]:
    """Say which levels are declared to be more or less frequent than in the evaluated rows."""
    for dataset in dict.fromkeys(observed.dataset for _, observed in rows):
        said = [f"'{observed.level_of_outcome}' declared {share(declared.value)}, observed {_with_limits(observed)}"
                for declared, observed in rows if observed.dataset == dataset]
        text = (f"The declared prevalence differs from that of {dataset}: {joined(said)}. Measures apply at the "
                "observed prevalence unless they name another.")
        yield finding("note", weights.PRIOR, text, "prevalence")


def _with_limits(observed: Share) -> str:
    """Write an observed prevalence with its limits, in the digits that it has everywhere."""
    return observed_share(observed.value, observed.lower, observed.upper)
