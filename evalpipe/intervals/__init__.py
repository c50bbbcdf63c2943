"""Intervals, bands and tests. Importing this package registers every interval method; numpy waits until one is used."""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType

from evalpipe.intervals.declare import registry

FAMILIES = ("binomial", "analytic", "noise", "bootstrap", "judged", "contrasts", "fits")
"""The files of methods, one family each, in the order in which a card explains them."""

for family in FAMILIES:
    import_module(f"{__name__}.{family}")

LIMITS = MappingProxyType({name: method.function for name, method in registry.items() if "proportion" in method.for_})
"""The binomial methods by name: functions of successes and trials, whose shapes broadcast, and a level."""
