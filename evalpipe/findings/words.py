"""The words that findings share: numbers with their limits, and what they are of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalpipe import numbers
from evalpipe.card.names import names_of
from evalpipe.card.wording import capital, joined, number_word
from evalpipe.records import Measured
from evalpipe.results.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.results import Results
    from evalpipe.results.findings import FindingKind

MOST_NAMED = 3
"""The most rows that one sentence names; of more it gives the number."""


def finding(
    kind: FindingKind, weight: float, text: str, section: str, rows: Sequence[Any] = ()
) -> Finding:
    """Return a finding that rests on rows of the results, whose text is begun with a capital letter."""
    return Finding(kind=kind, weight=weight, text=capital(text), section=section,
                   estimates=[measured(row) for row in rows if getattr(row, "metric", None)])


def measured(row: Any) -> Measured:
    """Return what was measured, of what and where, of a row of the results."""
    return Measured(**{name: getattr(row, name) for name in Measured.model_fields if hasattr(row, name)})


def with_limits(row: Any) -> str:
    """Write the value of a row with its limits, such as "0.56 (0.50 to 0.62)"."""
    value = row.value if hasattr(row, "value") else row.difference
    if value is None:
        return "undefined"
    if row.lower is None or row.upper is None:
        return numbers.number(value)
    shown, limits = numbers.interval(value, row.lower, row.upper)
    return f"{shown} ({limits})"


def of_models(results: Results, rows: Sequence[Any]) -> str:
    """Name the models of rows, with their dataset where several are evaluated: "Forest and Logistic regression"."""
    labels = list(dict.fromkeys(of_model(results, row) for row in rows))
    return joined(labels) if len(labels) <= MOST_NAMED else f"{number_word(len(labels))} models"


def of_model(results: Results, row: Any) -> str:
    """Name the model of a row, with its dataset where several are evaluated."""
    several = sum(dataset.role == "evaluate" for dataset in results.datasets) > 1
    label = names_of(results).model(row.model, row.variant)
    return f"{label} on {row.dataset}" if several else label


def values_of(results: Results, rows: Sequence[Any]) -> str:
    """Write the value of each row with its limits, and the model where there are several."""
    if len(rows) == 1:
        return with_limits(rows[0])
    return joined([f"{with_limits(row)} for {of_model(results, row)}" for row in rows[:MOST_NAMED]]) + (
        "" if len(rows) <= MOST_NAMED else f" and {len(rows) - MOST_NAMED} more")


def measures(results: Results, metric: str) -> list[Any]:
    """Return the estimates of a measure on all rows, asked for or taken for findings, that have a value."""
    return [row for row in (*results.rows, *results.diagnostics)
            if row.metric == metric and row.slice is None and row.class_ is None and row.value is not None
            and "prevalence" not in row.params]


def anchor(results: Results, row: Any) -> str:
    """Return the anchor of the card's section on the dataset of a row."""
    names = [dataset.name for dataset in results.datasets]
    return f"dataset-{names.index(row.dataset) + 1}"
