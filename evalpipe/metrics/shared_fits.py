"""What several metrics fit to the same statistics, such as a calibration curve, declared once beside them.

A fit is a pure function of statistics, as a metric is. It is no statistic itself, for it is not linear in the weights.
A metric takes it by the name of a positional parameter; it is computed once for each batch of weights.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats


@dataclass(frozen=True)
class SharedFit:
    """One declared fit: its function, the names of the statistics that it is of, and those of its options."""

    function: Callable[..., Floats]
    statistics: tuple[str, ...]
    options: tuple[str, ...]


shared_fits: dict[str, SharedFit] = {}
"""Every declared fit by name."""


def shared_fit(function: Callable[..., Floats]) -> Callable[..., Floats]:
    """Declare a fit under the function's name, whose positional parameters name statistics.

    Keyword-only parameters are filled from the options of the same name of a metric that takes the fit; a statistic of
    the fit takes its own from those of the fit.
    """
    parameters = inspect.signature(function).parameters.values()
    options = tuple(p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY)
    shared_fits[function.__name__] = SharedFit(function, positional(function), options)
    return function


def positional(function: Callable[..., object]) -> tuple[str, ...]:
    """Return the names of a function's positional parameters."""
    parameters = inspect.signature(function).parameters.values()
    return tuple(p.name for p in parameters if p.kind is not inspect.Parameter.KEYWORD_ONLY)


def statistics_of(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the statistics among ``names``, and those that the fits among these are of, each once."""
    of_each = (shared_fits[name].statistics if name in shared_fits else (name,) for name in names)
    return tuple(dict.fromkeys(statistic for several in of_each for statistic in several))
