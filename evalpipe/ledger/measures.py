"""The measures that the runs in a ledger have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.errors import UsageError
from evalpipe.words.spelling import closest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.ledger.entries import Row


def measure_of(runs: Sequence[Row], metric: str | None) -> str:
    """Return the measure of this name, or the first of the newest run; raises UsageError where no run has it."""
    names = list(dict.fromkeys(str(row["metric"]) for run in reversed(runs) for row in run["estimates"]))
    if metric is None and names:
        return names[0]
    if metric in names:
        return str(metric)
    if not names:
        raise UsageError.of("unknown-metric", "the runs in the ledger have no measures", "see --format json")
    near = closest(str(metric), names)
    hint = f"did you mean '{near}'?" if near else f"measures of these runs: {', '.join(names)}"
    raise UsageError.of("unknown-metric", f"no run in the ledger has the measure '{metric}'", hint)
