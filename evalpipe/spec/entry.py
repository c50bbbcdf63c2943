"""A measure that the spec asks for, as rules across keys see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalpipe.base.origin import Loc
    from evalpipe.metrics import Metric
    from evalpipe.spec.choices import MetricChoice


@dataclass(frozen=True, slots=True)
class Entry:
    """A measure that the spec asks for: where it stands, where its name stands, its metric and what was written."""

    loc: Loc
    named: Loc
    metric: Metric
    choice: MetricChoice
