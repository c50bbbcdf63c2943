"""Whether this night lies within the control limits that earlier nights give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.wording import MOST_NAMED, more_models
from evalpipe.chapters.trend.words import limits_of, measure_of, model_of, nights_said, tonight_of
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, rule
from evalpipe.findings.words import finding, together
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalpipe.chapters.trend.records import TrendLine
    from evalpipe.results import Results
    from evalpipe.results.document import Finding


@rule
def control(results: Results) -> Iterator[Claim]:
    """Whether each measure of this night is within its control limits."""
    says = {"within": within, "above": beyond, "below": beyond}
    for line in results.trend.lines:
        if line.position is not None:
            yield Claim(line, says[line.position])
        elif line.reason is not None:
            yield Claim(line, without_limits)


@rule
def shift(results: Results) -> Iterator[Claim]:
    """Whether so many nights in a row lie on one side of the centre as the spec takes for a shift."""
    for line in results.trend.lines:
        known = line.position in ("above", "below")  # beyond its limits, which is told already
        if results.trend.shift is not None and line.run >= results.trend.shift and not known:
            yield Claim(line, shifted)


@rule
def alike(results: Results) -> Iterator[Claim]:
    """Whether nights resemble the night before them, which control limits take as independent."""
    for line in results.trend.lines:
        if line.autocorrelation_p_value is not None:
            yield Claim(line, resembling, line.autocorrelation_p_value)


def resembling(results: Results, lines: Sequence[TrendLine]) -> Iterator[Finding]:
    """Say which measures resemble those of the night before, and by how much."""
    for same in together(lines, lambda line: measure_of(results, line)):
        named = _named(
            same, lambda line: f"{numbers.fixed(line.autocorrelation or 0.0, 2)} of {model_of(results, line)}")
        text = (f"{measure_of(results, same[0])} resembles that of the night before: autocorrelation {named}, over "
                f"{nights_said(same[0].counted)}. Nights beyond the control limits then come in groups.")
        yield finding("note", weights.UNCHECKED, text, "trend", same)


def beyond(results: Results, lines: Sequence[TrendLine]) -> Iterator[Finding]:
    """Say which measures are beyond their limits on which side, and of which models."""
    for alike in together(lines, lambda line: (measure_of(results, line), line.position)):
        named = _named(alike, lambda line: f"{model_of(results, line)} {tonight_of(line)}, limits {limits_of(line)}")
        text = (f"{measure_of(results, alike[0])} is {alike[0].position} its control limits, which "
                f"{nights_said(alike[0].counted)} give: {named}.")
        worse = _is_worse(results, alike[0])
        weight = weights.OUT_OF_CONTROL if worse else weights.BETTER_THAN_LIMITS
        yield finding("fails" if worse else "note", weight, text, "trend", alike)


def within(results: Results, lines: Sequence[TrendLine]) -> Iterator[Finding]:
    """Say how many measures are within their limits."""
    count, whole = len(lines), len(results.trend.lines)
    few, most = min(line.counted for line in lines), max(line.counted for line in lines)
    subject = (f"{measure_of(results, lines[0])} of {model_of(results, lines[0])} is within its" if whole == 1 else
               f"All {whole} measures by model are within their" if count == whole else
               f"{count} of {whole} measures by model {'is within its' if count == 1 else 'are within their'}")
    spread = numbers.count(most) if few == most else numbers.ranged(numbers.count(few), numbers.count(most))
    text = f"{subject} control limits, which {spread} earlier nights give."
    yield finding("holds", weights.WITHIN_LIMITS, text, "trend", lines)


def without_limits(results: Results, lines: Sequence[TrendLine]) -> Iterator[Finding]:
    """Say that there are too few nights for limits."""
    most = max(line.counted for line in lines)
    said = "there is no earlier night" if not most else f"there are {nights_said(most)}" if most > 1 else (
        f"there is {nights_said(most)}")
    text = f"Whether this night is unusual is not known: limits need {results.trend.min_nights} nights, and {said}."
    yield finding("note", weights.UNCHECKED, text, "trend", lines)


def shifted(results: Results, lines: Sequence[TrendLine]) -> Iterator[Finding]:
    """Say which measures have been on one side of their centre for long."""
    for alike in together(lines, lambda line: (measure_of(results, line), _side(line))):
        named = _named(alike, lambda line: f"{line.run} of {model_of(results, line)}, whose centre is "
                                           f"{numbers.number(line.centre or 0.0)}")
        text = (f"{measure_of(results, alike[0])} has been {_side(alike[0])} its centre for many nights in a row: "
                f"{named}.")
        yield finding("note", weights.SHIFT, text, "trend", alike)


def _named(lines: Sequence[TrendLine], say: Callable[[TrendLine], str]) -> str:
    """Say something of the first models, and how many more there are."""
    return "; ".join(map(say, lines[:MOST_NAMED])) + more_models("; ", len(lines))


def _side(line: TrendLine) -> str:
    return "above" if (line.value[-1] or 0.0) > (line.centre or 0.0) else "below"


def _is_worse(results: Results, line: TrendLine) -> bool:
    """Tell whether a line is beyond its limits on the side that is worse; either is where no side is better."""
    direction = next(metric.direction for metric in results.metrics if metric.name == line.metric)
    return line.position != {"maximize": "above", "minimize": "below"}.get(direction)
