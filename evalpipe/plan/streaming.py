"""Whether the rows of a plan's datasets are held, or read part by part and summed up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StreamingPlan:
    """The ``reason`` why rows are ``streamed``, read part by part and never held, or are held."""

    reason: str
    streamed: bool = False


HELD = StreamingPlan("nothing is read part by part")
