"""Values without limits: where the spec asks for none, and where none exist."""

from __future__ import annotations

from evalpipe.intervals.declare import EVERY, interval


@interval(
    "none", title="no interval", short="none", text="The value is given without limits.", ref=None, asked=True,
    for_={
        EVERY: "the spec asks for none",
        "test": "a hypothesis test, whose distribution replicates do not draw: it has no limits",
        "extreme": "an extreme of these rows, which no replicate exceeds although new data may: it has no limits",
    })
def no_limits() -> None:
    """Return no limits."""
