"""From which size on an effect is a failure: margins, their defaults and sources, and claims that are held to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from evalpipe.findings.claims import Claim, p_beyond
from evalpipe.findings.weights import by_harm
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from evalpipe.findings.claims import Say
    from evalpipe.results import Results
    from evalpipe.results.document import Finding


class Default(NamedTuple):
    """A margin where the spec has none: what it is of, its unit, the tasks that have it, and where it comes from."""

    size: float
    of: str
    unit: str
    tasks: Collection[str]
    source: str


NUMBERS = ("regression", "count")
ALL = ("binary", "multiclass", "ordinal", *NUMBERS)
PRECISION = ("of the order of the precision that Riley, R. D. et al. (2021) ask of a validation: Minimum sample size "
             "for external validation of a clinical prediction model with a binary outcome. Statistics in Medicine "
             "40(19), 4230–4251")
OURS = "a convention of evalpipe"

DEFAULTS: dict[str, Default] = {
    "calibration": Default(0.1, "probabilities on average", " in log odds", ("binary",),
                           f"a tenth more or fewer events, {PRECISION}"),
    "slope": Default(0.1, "calibration slope", " from 1", ("binary", *NUMBERS), PRECISION),
    "confidence": Default(0.02, "accuracy less confidence", "", ("multiclass",), OURS),
    "mean": Default(0.1, "mean error", " standard deviations of the outcome", NUMBERS,
                    "Austin, P. C. (2009). Balance diagnostics for comparing the distribution of baseline covariates. "
                    "Statistics in Medicine 28(25), 3083–3107"),
    "skill": Default(0.01, "gain over no features", "", ALL, f"{OURS}: one per cent of the loss"),
    "ranking": Default(0.02, "ROC AUC", " from 0.5", ("binary",), OURS),
    "dispersion": Default(0.2, "dispersion", " from 1", ("count",),
                          f"{OURS}: intervals of Poisson counts are then a tenth too narrow"),
    "zeros": Default(0.05, "zero counts", " of those expected", ("count",),
                     "the tolerance of `check_zeroinflation` of the R package performance (Lüdecke et al. 2021)"),
    "groups": Default(0.05, "groups", "", ALL, f"{OURS}: half of the 0.1 that AIF360 takes as fair"),
    "datasets": Default(0.02, "datasets", "", ALL, OURS),
    "models": Default(0.01, "models", "", ALL, OURS),
}
"""By key of `margins` in a spec."""


def margin_of(results: Results, kind: str) -> float:
    """Return the margin of a kind of effect: that of the spec, or else the default."""
    asked: dict[str, float] = results.spec.get("margins") or {}
    return asked.get(kind, DEFAULTS[kind].size)


def margin_between(results: Results, kind: str, metric: str, reference: float | None) -> float:
    """Return the margin of a difference of a measure from its value in a ``reference``.

    Of a measure that is the better the smaller, such as an error, it is a share of that value.
    """
    direction = next((entry.direction for entry in results.metrics if entry.name == metric), "none")
    return margin_of(results, kind) * (abs(reference or 0.0) if direction == "minimize" else 1.0)


def against_margin(
    row: Any, none: float, margin: float, large: Say, same: Say | None = None, unclear: Say | None = None,
    p_value: float | None = None, stated: float | None = None,
) -> Iterator[Claim]:
    """Yield the claims of an effect: ``large`` where it lies beyond the margin, a note where it may lie within it.

    ``none`` is the value without effect, ``p_value`` that of the test of it, where there is a better one than the
    interval's. Where neither is borne out, ``same`` is claimed of an interval within the margin and ``unclear`` of
    another. ``stated`` is the margin in words, where it is a share of something.
    """
    value = row.value if hasattr(row, "value") else row.difference
    bound = none + margin if value > none else none - margin
    p = p_beyond(row, none) if p_value is None else p_value
    beyond = Claim(row, large, max(p_beyond(row, bound), p) if abs(value - none) > margin else 1.0)
    yield beyond
    is_within = within(row, none, margin)
    small = AsNote(large, stated or margin, is_within, _beyond(row, none, margin))
    yield Claim(row, small, p, same if is_within else unclear, after=beyond)


def weight_of(rows: Sequence[Any], none: float, margin: float) -> float:
    """Return what a failure of all rows of a dataset weighs, by the row that is furthest from no effect."""
    return by_harm(1.0, max(abs((row.value if hasattr(row, "value") else row.difference) - none) for row in rows) / (
        margin or 1.0))


def _beyond(row: Any, none: float, margin: float) -> bool:
    """Tell whether the interval of a row lies beyond a margin on either side of the value without effect."""
    return row.lower is not None and row.upper is not None and (row.lower > none + margin or row.upper < none - margin)


def within(row: Any, none: float, margin: float) -> bool:
    """Tell whether the interval of a row lies within a margin about the value without effect."""
    return row.lower is not None and row.upper is not None and (
        none - margin <= row.lower and row.upper <= none + margin)


@dataclass(frozen=True, slots=True)
class AsNote:
    """What is said of an effect beyond the margin, as a note that it lies within it, or may.

    ``margin`` is the one that the spec or a default gives, before it is taken as a share. An interval may be beyond it
    all the same: then the correction for all tests is what leaves it open.
    """

    say: Say
    margin: float
    is_within: bool = False
    is_beyond: bool = False

    def __call__(self, results: Results, rows: Sequence[Any]) -> Iterator[Finding]:
        """Yield the findings as notes."""
        perhaps = "" if self.is_within else "perhaps "
        small = f"Significant, but {perhaps}too small to matter (margin {numbers.plain(self.margin)})."
        if self.is_beyond:
            small = (f"Alone, the effect would exceed the margin of {numbers.plain(self.margin)}; corrected for all "
                     "tests of the run, it may not.")
        for finding in self.say(results, rows):
            yield finding.model_copy(update={"kind": "note", "text": f"{finding.text} {small}",
                                             "weight": round(finding.weight * NOTE, 1)})


NOTE = 0.5
"""What a note weighs of the failure that it may be."""
