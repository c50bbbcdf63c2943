"""Whether the rows of a plan's datasets are held, or read part by part and summed up."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StreamingPlan:
    """The ``reason`` why rows are read part by part, ``batch`` of them at once, and never held; or held (None)."""

    reason: str
    batch: int | None = None

    @property
    def streamed(self) -> bool:
        """Whether rows are read part by part."""
        return self.batch is not None


HELD = StreamingPlan("nothing is read part by part")
