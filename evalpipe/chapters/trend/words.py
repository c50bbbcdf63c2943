"""What lines of a trend are called, and the sentences on them that the findings, the card and its figure share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.wording import names_of
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalpipe.chapters.trend.records import TrendLine
    from evalpipe.results import Results


def measure_of(results: Results, line: TrendLine) -> str:
    """Name the measure of a line, with the dataset where several are evaluated."""
    name = names_of(results).measure(line.metric, line.params, line.average)
    several = sum(dataset.role == "evaluate" for dataset in results.datasets) > 1
    return f"{name} on {line.dataset}" if several else name


def model_of(results: Results, line: TrendLine) -> str:
    """Name the model of a line."""
    return names_of(results).model(line.model, line.variant)


def by_measure(lines: Iterable[TrendLine]) -> list[list[TrendLine]]:
    """Return the lines of each measure on each dataset together, in the order of the measures."""
    groups: dict[tuple[object, ...], list[TrendLine]] = {}
    for line in lines:
        groups.setdefault((line.dataset, line.metric, tuple(line.params.items()), line.average), []).append(line)
    return list(groups.values())


def tonight_of(line: TrendLine) -> str:
    """Write the value of tonight with its interval."""
    if line.value[-1] is None:
        return "undefined"
    return numbers.with_limits(line.value[-1], line.lower[-1], line.upper[-1])


def limits_of(line: TrendLine) -> str:
    """Write the control limits of tonight: "0.78 to 0.88"."""
    if not line.limit_lower or line.limit_lower[-1] is None or line.limit_upper[-1] is None:
        return "none"
    lower, upper = line.limit_lower[-1], line.limit_upper[-1]
    digits = numbers.decimals(lower, upper, line.value[-1] or 0.0)
    return f"{numbers.fixed(lower, digits)} to {numbers.fixed(upper, digits)}"


def nights_said(count: int) -> str:
    """Write how many nights there are: "1 earlier night"."""
    return f"{numbers.count(count)} earlier night{'' if count == 1 else 's'}"


def outside(line: TrendLine, place: int) -> bool:
    """Tell whether the value of a night is beyond its control limits."""
    if not line.limit_lower:
        return False
    value, lower, upper = line.value[place], line.limit_lower[place], line.limit_upper[place]
    return None not in (value, lower, upper) and not (lower or 0.0) <= (value or 0.0) <= (upper or 0.0)
