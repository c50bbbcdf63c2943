"""From which size on an effect is a failure: margins, their defaults and sources, and claims that are held to them.

Also how many more rows would decide what an interval leaves open, and with which probability.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, NamedTuple

from evalpipe.findings.claims import Claim, p_beyond
from evalpipe.findings.weights import by_harm
from evalpipe.findings.words import rows_of
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

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
    is_beyond = row.lower is not None and row.upper is not None and (
        row.lower > none + margin or row.upper < none - margin)
    small = AsNote(large, stated or margin, is_within, is_beyond)
    yield Claim(row, small, p, same if is_within else unclear, after=beyond)


def weight_of(rows: Sequence[Any], none: float, margin: float) -> float:
    """Return the weight of a finding of failure in ``rows``, by the row furthest from ``none``, in margins."""
    return by_harm(1.0, max(abs((row.value if hasattr(row, "value") else row.difference) - none) for row in rows) / (
        margin or 1.0))


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
        """Yield the findings as notes that say whether the effect lies within the margin, or may."""
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


MOST_MORE = 100
"""How many times the rows at hand it may take to decide, for their number to be given."""

MOST_DECIMALS, CLOSE = 6, 0.05
"""Decimals of the true value at most, and how far it may be rounded, as a share of its distance from the limit."""

CHANCE = 0.8
"""The probability with which so many more rows decide."""

HALF_A_ROW = 0.5
"""How closely their number is sought."""

LOGIT = frozenset({"delong", "logit", "bootstrap_logit", "judged_t"})
"""The interval methods whose limits are as far from the value on either side on the logit scale."""

FEW = 30
"""Events from which on the number holds: of eight, 74 to 88 in 100 runs were decided and not 80."""

STEP = 0.5
"""Of a count of events, what its exact limits allow for its being whole."""


def more_rows(row: Any, bound: float, n: int) -> float | None:
    """Return about how many more rows would decide with probability `CHANCE` if the value is the true one.

    To two digits; infinite beyond `MOST_MORE` times those at hand, None where the interval is decided or no number can
    be told. ``n`` are the rows at hand, to which the others are added: an interval of
    all is narrower by the square root of their number, and its value varies by the rows that are new.
    """
    value = row.observed if hasattr(row, "observed") else row.value
    if value is None or row.lower is None or row.upper is None or row.level is None or value == bound or (
            not row.lower <= bound <= row.upper):
        return None
    limit, z = row.lower if value > bound else row.upper, NormalDist().inv_cdf((1 + row.level) / 2)
    inside = all(0 < number < 1 for number in (value, limit, bound))
    if row.method == "exact" and 0 < bound < 1 and 0 < limit < 1:
        decides = _proportion_decider(value, limit, bound, z)
    elif row.method in LOGIT and inside:
        decides = _normal_decider(abs(_logit(value) - _logit(limit)), abs(_logit(value) - _logit(bound)), z)
    else:
        decides = _normal_decider(abs(value - limit), abs(value - bound), z)
    if not decides(1.0 + MOST_MORE):
        return math.inf
    enough, too_few = float(MOST_MORE * n), 0.0
    while enough - too_few > HALF_A_ROW:
        middle = (enough + too_few) / 2
        enough, too_few = (middle, too_few) if decides(1 + middle / n) else (enough, middle)
    step: int = 10 ** max(len(str(math.ceil(enough))) - 2, 1)
    return max(round(enough / step), 1) * step


def _normal_decider(half: float, distance: float, z: float) -> Callable[[float], bool]:
    """Return a function of a multiple of the rows that tells if a normal interval would exclude the bound with them.

    ``half`` is the half of the interval towards the bound, ``distance`` that of the value from the bound, ``z`` the
    normal quantile of the level. It is excluded with probability `CHANCE`.
    """
    power = NormalDist().inv_cdf(CHANCE) / z

    def decides(times: float) -> bool:
        return distance >= half / math.sqrt(times) * (1 + power * math.sqrt(1 - 1 / times))

    return decides


def _proportion_decider(value: float, limit: float, bound: float, z: float) -> Callable[[float], bool]:
    """Return a function of a multiple of the rows that tells if exact limits of a proportion would exclude the bound.

    The limits are taken as those of the score test with a correction for continuity: Fleiss, Levin & Paik (2003). How
    many trials the rows at hand have follows from ``limit``; ``z`` is the normal quantile of the level.
    """
    power, gap, spread = NormalDist().inv_cdf(CHANCE), abs(value - limit), z * math.sqrt(limit * (1 - limit))
    trials = ((spread + math.sqrt(spread**2 + 4 * STEP * gap)) / (2 * gap)) ** 2

    def decides(times: float) -> bool:
        needed = z * math.sqrt(bound * (1 - bound) * times * trials) + STEP
        return abs(value - bound) * times * trials >= needed + power * math.sqrt(
            value * (1 - value) * (times - 1) * trials)

    return decides


def _logit(probability: float) -> float:
    return math.log(probability / (1 - probability))


def few_events(results: Results, row: Any) -> bool:
    """Tell whether a dataset has so few events, or non-events, that numbers of rows to come are rough."""
    dataset = next(dataset for dataset in results.datasets if dataset.name == row.dataset)
    return dataset.events is not None and min(dataset.events, dataset.n - dataset.events) < FEW


def more_rows_sentence(results: Results, rows: Sequence[Any], needed: Sequence[tuple[float, float]]) -> str:
    """Return " About 1,300 more rows of this group would decide with 80% probability, if the true value is 0.546.".

    ``needed`` are of each of the rows the limit in its interval and how many more rows decide; the most is named. Of
    rows that some have no outcome of, it says how many times as many: the others take part in the interval too.
    """
    count, truth = max(number for _, number in needed), "these values are true"
    if len(rows) == 1:
        value = rows[0].observed if hasattr(rows[0], "observed") else rows[0].value
        distance = abs(value - needed[0][0])
        places = next((k for k in range(MOST_DECIMALS) if abs(round(value, k) - value) <= CLOSE * distance),
                      MOST_DECIMALS)
        truth = f"the true value is {numbers.number(value, places)}"
    if math.isinf(count):
        return f" Even {MOST_MORE} times as many rows would decide with less than {CHANCE:.0%} probability, if {truth}."
    if any(dataset.without_outcome for dataset in results.datasets):
        times = max(1 + number / rows_of(results, row) for row, (_, number) in zip(rows, needed, strict=True))
        shown = numbers.fixed(times, 1 if times < 10 else 0)
        return (f" About {shown} times as many rows, with and without an outcome, would decide with {CHANCE:.0%} "
                f"probability, if {truth}.")
    is_sum_of_weights = results.weight is not None and results.weight.get("kind") == "frequency"
    what = "observations (the sum of weights)" if is_sum_of_weights else "rows"
    group = "" if rows[0].slice is None else " of this group" if len(rows) == 1 else " of each group"
    rough = any(few_events(results, row) for row in rows)
    return (f" {'Very roughly' if rough else 'About'} {numbers.count(int(count))} more {what}{group} would decide with "
            f"{CHANCE:.0%} probability, if {truth}.")
