"""Tables of candidates made for tests, and the spec that ranks them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import evalpipe

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from evalpipe.results import Candidates, Results

Row = dict[str, Any]
GOALS: list[Row] = [
    {"metric": "brier", "minimize": {"low": 0.0, "high": 0.5}, "weight": 2},
    {"characteristic": "features", "minimize": {"low": 0, "high": 20}},
]


def written(folder: Path, rows: Sequence[Row], name: str = "grid.csv") -> Path:
    """Write rows as CSV, None as an empty cell."""
    heads = list(rows[0])
    lines = [",".join("" if row[head] is None else str(row[head]) for head in heads) for row in rows]
    path = folder / name
    path.write_text("\n".join([",".join(heads), *lines]) + "\n", encoding="utf-8")
    return path


def spec_of(path: Path, goals: Sequence[Row] = GOALS, **keys: Any) -> Row:
    """Return a spec of candidates alone."""
    return {"evalpipe": 1, "name": "grid", "task": "binary", "candidates": {"path": str(path), "id": "mtry"} | keys,
            "desirability": list(goals), "report": {"formats": []}}


def run_of(folder: Path, rows: Sequence[Row], goals: Sequence[Row] = GOALS, **keys: Any) -> Results:
    """Run the spec of a table of these rows."""
    return evalpipe.run(spec_of(written(folder, rows), goals, **keys))


def ranked(folder: Path, rows: Sequence[Row], goals: Sequence[Row] = GOALS, **keys: Any) -> Candidates:
    """Return the ranking of a table of these rows."""
    return run_of(folder, rows, goals, **keys).candidates
