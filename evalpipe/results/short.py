"""Results in a few lines, for people at a prompt or in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.chapters.gates.records import worst
from evalpipe.words import numbers

if TYPE_CHECKING:
    from evalpipe.results.document import Document
    from evalpipe.results.tables import Estimate

MOST = 6
"""The most estimates, models or datasets that are listed."""

WIDEST = 36
"""The most characters of a name."""


def in_short(results: Document) -> str:
    """Return what was evaluated, the verdict of the gates and the first estimates: under 2,000 characters."""
    evaluated = [f"{_clip(d.name)} (n = {d.n:,})" for d in results.datasets if d.role == "evaluate"]
    lines = [
        f"Results of '{_clip(results.name)}', {results.task}",
        *([f"  models: {_listed([_clip(model.name) for model in results.models])}",
           f"  datasets: {_listed(evaluated)}"] if results.datasets else []),
        *([f"  candidates: {len(results.candidates.ranking):,}"] if results.candidates.ranking else []),
    ]
    if results.gates:
        passed = sum(gate.verdict == "pass" for gate in results.gates)
        lines.append(f"  gates: {passed:,} of {len(results.gates):,} held, verdict {worst(results.gates)}")
    elif not any(standard.verdict for standard in results.standards):
        lines.append("  no gates, verdict none")
    lines += [f"  {standard.profile}: {standard.present} of {standard.applicable} items answered"
              + (f", verdict {standard.verdict}" if standard.verdict else "") for standard in results.standards]
    whole = [row for row in results.rows if row.slice is None and row.class_ is None and row.variant == "original"]
    lines += [f"  {_line(row)}" for row in whole[:MOST]]
    more = len(results.rows) - min(len(whole), MOST)
    lines += [f"  {more:,} more in .estimates"] if more else []
    lines += [f"  {len(results.warnings):,} in .warnings"] if results.warnings else []
    return "\n".join(lines)


def _line(row: Estimate) -> str:
    options = [*(f"{name}={value}" for name, value in row.params.items()), *([row.average] if row.average else [])]
    what = _clip(f"{row.metric}({', '.join(options)})" if options else row.metric)
    return f"{_clip(row.model)} on {_clip(row.dataset)}: {what} {_value(row)}"


def _value(row: Estimate) -> str:
    if row.value is None:
        return row.status
    return numbers.with_limits(row.value, row.lower, row.upper)


def _listed(names: list[str]) -> str:
    more = [f"{len(names) - MOST:,} more"] if len(names) > MOST else []
    return ", ".join([*names[:MOST], *more]) or "none"


def _clip(text: str) -> str:
    return text if len(text) <= WIDEST else f"{text[:WIDEST - 1]}…"
