"""Checks of reference rates: each is one value of a measure that is asked for, and has a name of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.spec.rules_measures import effective, known_value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of reference rates: of the measure of each, and two of one name and measure."""
    names: set[tuple[str, ...]] = set()
    for loc, rate in draft.entries(draft.spec.reference_rates, "reference_rates"):
        entry, faults = known_value(draft, loc, rate, "a reference rate is one value of each model")
        yield from faults
        if entry is not None and rate.name:
            name = rate.name, entry.metric.name, effective(draft, entry)
            if name in names:
                message = f"{draft.tree.show(*loc, 'name')} has two rates of {entry.metric.name}"
                yield draft.tree.problem("duplicate-rate", message, *loc, "name", hint="rename or remove one of them")
            names.add(name)
