"""Values without limits: where the spec asks for none, and where none exist."""

from __future__ import annotations

from evalpipe.intervals.declare import EVERY, interval
from evalpipe.words.sentences import sentence


@interval(
    "none", title="no interval", short="none", text="The value is given without limits.", ref=None, asked=True,
    for_={
        EVERY: sentence("asked-none"),
        "test": sentence("test"),
        "extreme": sentence("extreme"),
    })
def no_limits() -> None:
    """Return no limits."""
