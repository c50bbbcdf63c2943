"""How an interval method is declared: a function of what it needs, with what it is for and what people should know.

The parameters of the function name what it needs, and the engine gives it that: ``value`` and ``level``;
``successes`` and ``trials`` of a proportion; ``bins`` of a measure of gaps in bins; ``replicates`` [B] of the
bootstrap, ``jackknife`` [J], ``errors`` [B] of the replicates and ``error`` of the value; ``kind`` and ``measure``, the
kind of interval that the metric declares and its name; ``options`` of the metric and the ``bounds`` of its range; how
many ``clusters`` there are, None of rows, and how many rows the ``rarest`` level has; or any statistic by its name. It
returns the limits, or None where it has none: then percentile limits stand in, where there are replicates.

A method that is not asked for in full is chosen by what it is ``for_``: the kinds of measure, each with the reason that
`evalpipe plan` prints, `EVERY` kind where the spec must ask for it by name. Of several for one kind, the first that is
declared is taken unless the spec asks for another; those that need no replicates come before those that do. ``fails``
says under what a method does not hold, and why. The families take numpy from `evalpipe.base.lazy_numpy`, so that a card
takes their words from here without it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats
    from evalpipe.words.sentences import Sentence

Obstacle = Literal["uncertain", "clusters", "reweighted", "averaged", "weights", "weighted_even_bins"]
"""What may keep limits from holding: a prevalence that is drawn anew in each replicate, clusters, classes weighed to a
prevalence, an average over classes, importance weights, bins of equal weight under these."""

EVERY = "every"
"""The kind of a method that a spec may ask for, whatever the measure."""

FEW_CLUSTERS = 40
"""The clusters up to which quantiles of replicates cover too seldom, so that Student's distribution is taken. In the
simulations of docs/methods.md they cover 80 to 87 % with 5 clusters, 88 to 92 % with 12 and 92 to 95 % with 40."""

UNLIKE_ROWS: Mapping[Obstacle, Sentence] = MappingProxyType({
    "uncertain": sentence("uncertain-prevalence"), "clusters": sentence("clusters-resampled"),
    "reweighted": sentence("reweighted"),
})
"""Where no limits in closed form hold, of whatever measure, and why; the first that is the case is told."""

IN_CLOSED_FORM: Mapping[Obstacle, Sentence] = MappingProxyType({**UNLIKE_ROWS, "averaged": sentence("averaged")})
"""The same of limits in closed form of one number."""

Declared = TypeVar("Declared", bound=Callable[..., Any])


class Limits(NamedTuple):
    """Two limits; ``method`` names another method where that has stepped in."""

    lower: Floats | float
    upper: Floats | float
    method: str | None = None


class NoLimits(Exception):  # noqa: N818 - a finding about the data, not a fault
    """There are no limits, for the ``reason``, and none shall stand in."""

    def __init__(self, reason: Sentence) -> None:
        """Keep the reason why there are no limits."""
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class IntervalMethod:
    """One declared interval method. Built by `interval`; whatever chooses, calls or prints methods reads it.

    ``title`` names it, ``short`` where there is little room; ``text`` says what it does, ``caution`` what speaks
    against it wherever it is drawn, ``detail`` what the page of methods adds and no card, and ``ref`` who says so. With
    ``asked`` a spec may ask for it by name; ``effective`` then counts observations of equal weight under importance
    weights. ``insists``: it is taken whatever the spec asks for, as any other would miss the truth.
    """

    name: str
    function: Callable[..., Any]
    title: str
    short: str
    text: str
    caution: str
    detail: str
    ref: str | None
    for_: Mapping[str, Sentence]
    fails: Mapping[Obstacle, Sentence]
    asked: bool
    effective: bool
    insists: bool

    @cached_property
    def needs(self) -> tuple[str, ...]:
        """The names of the inputs of the method's function, in the order of its parameters."""
        return tuple(inspect.signature(self.function).parameters)

    @property
    def drawn(self) -> bool:
        """Whether it needs bootstrap replicates."""
        return "replicates" in self.needs

    def limits(self, input_of: Callable[[str], object]) -> Limits | None:
        """Return the method's limits, or None; ``input_of`` returns each input by its name. Raises NoLimits."""
        limits = self.function(*map(input_of, self.needs))
        return None if limits is None else Limits(*limits)


_declared: dict[str, IntervalMethod] = {}

registry: Mapping[str, IntervalMethod] = MappingProxyType(_declared)
"""Every interval method by name, in the order of declaration, which is that of a card."""


def asked_by_name() -> tuple[str, ...]:
    """Return the methods that a spec may ask for by name, in the order of declaration."""
    return tuple(name for name, method in registry.items() if method.asked)


def interval(
    name: str, *, title: str, text: str, ref: str | None, short: str | None = None, detail: str = "", caution: str = "",
    for_: Mapping[str, Sentence] = MappingProxyType({}), fails: Mapping[Obstacle, Sentence] = MappingProxyType({}),
    asked: bool = False, effective: bool = False, insists: bool = False,
) -> Callable[[Declared], Declared]:
    """Declare the decorated function, which is returned unchanged, as the interval method ``name``.

    `IntervalMethod` describes the facts. A method without ``for_`` serves no measure, but names the limits of
    differences. Raises ValueError when the name is used already.
    """

    def declare(function: Declared) -> Declared:
        if name in _declared:
            raise ValueError(f"the name {name!r} of an interval method is taken")
        _declared[name] = IntervalMethod(
            name, function, title, short or title, f"{text} {caution}".strip(), caution, detail, ref, for_, fails,
            asked, effective, insists)
        return function

    return declare
