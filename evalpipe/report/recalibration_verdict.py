"""What recalibration gains, in one plain paragraph a model: read off the verdicts and intervals of the results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.report import wording
from evalpipe.report.comparisons import compared, is_recalibrated
from evalpipe.report.names import Names, names_of
from evalpipe.report.tables import overall, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from evalpipe.results import Comparison, Estimate, Results

SHIFTED = "A prior shift is for rows of another prevalence than these"
"""Why such a variant has no verdict."""

COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the rows say of the recalibration of one model: a headline, and the sentences behind it."""

    headline: str
    sentences: tuple[str, ...]


def verdict_of(results: Results, dataset: str, model: str) -> Verdict:
    """Say whether recalibration of a model is a gain on a dataset, and what is wrong with its own predictions.

    A method gains where the verdict on a proper loss is "better", as `wording.PROPER_LOSSES` names them.
    """
    names = names_of(results)
    losses = _losses(results, dataset, model, names)
    said = _said(losses, {metric.name: metric.direction for metric in results.metrics}) if losses else _none(results)
    return Verdict(said.headline, (*said.sentences, *_before(results, dataset, model)))


def _losses(results: Results, dataset: str, model: str, names: Names) -> dict[str, list[Comparison]]:
    """Return the differences over all rows of each proper loss, by its name, in the order of the table of losses."""
    shifted = {record.variant for record in results.recalibration if record.method == "prior_shift"}
    rows = [
        c for c in results.comparisons
        if is_recalibrated(c) and (c.dataset, c.model, c.slice, c.average, c.class_) == (dataset, model, *[None] * 3)
        and "prevalence" not in c.params and c.variant not in shifted
    ]
    known = {c.metric for c in rows}
    kept = next((chosen for losses in wording.PROPER_LOSSES if (chosen := [x for x in losses if x in known])), [])
    found: dict[str, list[Comparison]] = {}
    for loss in kept:
        for c in rows:
            if c.metric == loss:
                found.setdefault(compared(names, c), []).append(c)
    return found


def _none(results: Results) -> Verdict:
    """Say that there is nothing by which recalibration could be judged."""
    if results.recalibration and all(record.method == "prior_shift" for record in results.recalibration):
        return Verdict("no verdict.", (f"{SHIFTED}, so the measures of these rows do not judge it.",))
    kind, example = ("proper score", "the Brier score or the log loss") if results.levels else (
        "proper loss of a mean", "RMSE or MSE")
    text = f"No {kind}, such as {example}, was asked for, and so there is no verdict."
    return Verdict("no verdict.", (text,))


def _said(losses: Mapping[str, Sequence[Comparison]], directions: Mapping[str, str]) -> Verdict:
    every = [c for rows in losses.values() for c in rows]
    if all(c.lower is None for c in every):
        return Verdict("no verdict.", ("The differences have no intervals, and so there is no verdict.",))
    gains, harms = (dict.fromkeys(c.variant for c in every if c.verdict == word) for word in ("better", "worse"))
    rest = dict.fromkeys(c.variant for c in every if c.variant not in {**gains, **harms})
    why = _because([c for c in every if c.variant in rest])
    sentences = [
        *_changes(losses, directions, "better", gains),
        *([f"No method improves {_listed(losses, 'or')}{'.' if harms else f': {why}.'}"] if not gains else []),
        *_changes(losses, directions, "worse", harms),
    ]
    if rest and (gains or harms):
        sentences.append(f"With {_listed(rest, 'and')}, {why}.")
    return Verdict(_headline(gains, harms, rest), (*sentences, *_undefined(losses)))


def _undefined(losses: Mapping[str, Sequence[Comparison]]) -> list[str]:
    """Say which losses recalibration leaves without a value, which no interval shows."""
    gone = {name: [c.variant for c in rows if c.difference is None] for name, rows in losses.items()}
    return [f"With {_listed(found, 'and')}, {name} has no value to compare." for name, found in gone.items() if found]


def _headline(gains: Collection[str], harms: Collection[str], rest: Collection[str]) -> str:
    if not gains and not harms:
        return "recalibration is no real gain."
    if not gains:
        return f"recalibration makes it worse{' with some methods, and no better with the others' if rest else ''}."
    if not harms:
        return "recalibration is a real gain."
    if any(variant not in harms for variant in gains):
        return "recalibration is a real gain with some methods, not with all."
    return "recalibration is a gain by one measure and a loss by another."


def _because(found: Sequence[Comparison]) -> str:
    """Say why differences are neither better nor worse."""
    tested = [c for c in found if c.verdict in {"undecided", "equivalent"}]
    if not tested:
        return "the difference is zero in every resample" if any(c.verdict == "same" for c in found) else (
            "there is no interval of the difference that can be relied on")
    least = "its margin" if any(c.margin for c in tested) else "zero"
    if any(_beyond(c) for c in tested):
        return f"no difference is surely beyond {least} once their number is allowed for"
    if least != "zero":
        return "no interval of the difference lies wholly beyond its margin"
    return "every interval of the difference includes zero"


def _beyond(found: Comparison) -> bool:
    """Tell whether the interval lies wholly beyond the margin, or beyond zero where none is declared."""
    margin = found.margin or 0.0
    return found.lower is not None and found.upper is not None and (found.lower > margin or found.upper < -margin)


def _changes(
    losses: Mapping[str, Sequence[Comparison]], directions: Mapping[str, str], word: str, variants: Collection[str]
) -> list[str]:
    """Say for each loss which method changes it most to one side, and how many others change any to this side."""
    said, named = [], set()
    for name, rows in losses.items():
        here = [(abs(c.difference), c) for c in rows if c.verdict == word and c.difference is not None]
        if here:
            _, most = max(here, key=lambda pair: pair[0])
            named.add(most.variant)
            verb = "falls" if (directions[most.metric] == "minimize") == (word == "better") else "rises"
            by = f"{verb}{' most' if len(here) > 1 else ''} with {most.variant}, by {_amount(most)}"
            said.append(f"{name} {by}.")
    further = len(set(variants) - named)
    return [*said[:-1], f"{said[-1][:-1]}; {_further(further, word)}."] if further else said


def _further(many: int, word: str) -> str:
    """Say how many more methods do the same, such as ``one further method gains as well``."""
    does = {"better": ("gains", "gain"), "worse": ("makes it worse", "make it worse")}[word][many > 1]
    return f"{_count(many)} further {'method' if many == 1 else 'methods'} {does} as well"


def _amount(found: Comparison) -> str:
    """Write by how much a measure changes, without its sign, and the interval of that."""
    sign = -1.0 if (found.difference or 0.0) < 0 else 1.0
    value, low, high = (sign * (end or 0.0) for end in (found.difference, found.lower, found.upper))
    text, interval = numbers.interval(value, min(low, high), max(low, high))
    return f"{text} ({interval})"


def _count(many: int) -> str:
    return COUNTS[many] if many < len(COUNTS) else numbers.count(many)


def _listed(names: Iterable[str], last: str) -> str:
    """Write names in a row, such as ``a, b and c``."""
    *first, end = names
    return f"{', '.join(first)} {last} {end}" if first else end


def _before(results: Results, dataset: str, model: str) -> list[str]:
    """Say what the calibration measures of the original predictions show, where the run has them."""
    said = []
    for e in overall(results, dataset):
        told = wording.CALIBRATION.get(e.metric)
        plain = e.model == model and e.average is None and e.class_ is None and "prevalence" not in e.params
        if plain and told is not None and e.value is not None:
            said.append(_judged(e, told))
    return [f"Without it, {'; '.join(said)}."] if said else []


def _judged(e: Estimate, told: wording.CalibrationWords) -> str:
    """Say on which side of its ideal value a measure of calibration lies, as far as its interval tells."""
    text = f"{told.name} {shown(e).text}"
    if e.lower is None or e.upper is None:
        return f"the {told.name} is {shown(e).text}"
    if e.upper < told.ideal:
        return f"{told.below}: {text}"
    if e.lower > told.ideal:
        return f"{told.above}: {text}"
    return f"the {told.name}, {shown(e).text}, agrees with {told.ideal:g}"
