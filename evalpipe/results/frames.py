"""Results as tables: data frames and a few lines for people at a prompt or in a notebook, and estimates as csv."""

from __future__ import annotations

import csv
import io
import json
import re
import types
import typing
from typing import TYPE_CHECKING

from evalpipe.base.formats import FORMULA, NUMBER
from evalpipe.results.document import Estimate, worst
from evalpipe.words import numbers
from evalpipe.words.sentences import Sentence

if TYPE_CHECKING:
    import polars as pl

    from evalpipe.base.records import Record
    from evalpipe.results.document import Document


def frame_of(results: Document, table: str) -> pl.DataFrame:
    """Return a table of the results as a data frame; raises KeyError, which names the tables, where there is none."""
    by_name = tables(results)
    if table not in by_name:
        raise KeyError(f"the results have no table {table!r}; there are {', '.join(by_name)}")
    return _frame(*by_name[table])


def tables(results: Document) -> dict[str, tuple[type[Record], list[Record]]]:
    """Return (record class, rows) of every table by name; tables within a part are "candidates.ranking" and so on."""
    rows_of: dict[str, tuple[type[Record], list[Record]]] = {}
    parts: list[tuple[str, Record]] = [("", results)]
    for name, part in results:
        if getattr(part, "has_tables", False):
            parts.append((f"{name}.", part))
    for prefix, record in parts:
        for name, field in type(record).model_fields.items():
            row = _record_type(field.annotation)
            if row is not None:
                # Findings are shown with their sentences.
                rows_of[prefix + (field.alias or name)] = row, list(
                    getattr(record, "findings" if name == "finding_rows" else name))
    return rows_of


def _record_type(annotation: object) -> type[Record] | None:
    """Return the record class in a list or tuple type, or the common base of several; None for other types."""
    from evalpipe.base.records import Record as Base

    items = typing.get_args(annotation)[:1] if typing.get_origin(annotation) in (list, tuple) else ()
    records = [kind for item in items for kind in _alternatives(item) if isinstance(kind, type)]
    if not records or not all(issubclass(record, Base) for record in records):
        return None
    return next(base for base in records[0].__mro__ if all(issubclass(record, base) for record in records))


def _alternatives(annotation: object) -> tuple[object, ...]:
    """Return the types in an annotated union, such as the records of all curves; of any other type, itself."""
    if typing.get_origin(annotation) is not typing.Annotated:
        return (annotation,)
    return typing.get_args(typing.get_args(annotation)[0])


def _frame(row: type[Record], rows: list[Record]) -> pl.DataFrame:
    """Return rows as a data frame; the type of a column depends on its field, not on the values in it."""
    import polars as pl

    absent = {name for name in row.absent if all(getattr(record, name) is None for record in rows)}
    names = {field.alias or name: name for name, field in row.model_fields.items() if name not in absent}
    fields = {alias: row.model_fields[name] for alias, name in names.items()}
    polars_types: dict[object, type[pl.DataType]] = {
        str: pl.String, Sentence: pl.String, int: pl.Int64, float: pl.Float64, bool: pl.Boolean}
    types = {name: polars_types.get(_plain_type(field.annotation)) for name, field in fields.items()}
    cells = []
    for record in rows:
        # A field of a plain type is taken as it is, a sentence with its words; of any other its JSON value.
        values = {alias: getattr(record, name) for alias, name in names.items()}
        dumped = record.model_dump(by_alias=True)
        cells.append({alias: _frame_cell(dumped[alias] if types[alias] is None and value is not None else value)
                      for alias, value in values.items()})
    return pl.DataFrame(cells, schema={name: kind or pl.String() for name, kind in types.items()}, strict=False)


def _frame_cell(value: object) -> object:
    """Return a value as a cell of a data frame: plain values as they are, sentences as text, others as JSON."""
    if value is None or isinstance(value, str | int | float):
        return str(value) if isinstance(value, Sentence) else value
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _plain_type(annotation: object) -> object:
    """Return the type of a field's values, such as str or a record, apart from None; None for a union of several."""
    if typing.get_origin(annotation) is typing.Literal:
        return str
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        plain_types = {_plain_type(kind) for kind in typing.get_args(annotation) if kind is not type(None)}
        return plain_types.pop() if len(plain_types) == 1 else None
    return annotation if isinstance(annotation, type) else None


MOST = 6
"""The most estimates, models or datasets that are listed."""

WIDEST = 36
"""The most characters of a name."""


def summary_text(results: Document) -> str:
    """Return a summary under 2,000 characters: what was evaluated, the verdict of gates, the first estimates."""
    evaluated = [f"{_clipped(data.name)} (n = {data.n:,})" for data in results.datasets if data.role == "evaluate"]
    lines = [
        f"Results of '{_clipped(results.name)}', {results.task}",
        *([f"  models: {_listed([_clipped(model.name) for model in results.models])}",
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
    overall = [row for row in results.rows if row.slice is None and row.class_ is None and row.variant == "original"]
    for row in overall[:MOST]:
        options = [*(f"{name}={value}" for name, value in row.params.items()), *([row.average] if row.average else [])]
        measure = _clipped(f"{row.metric}({', '.join(options)})" if options else row.metric)
        value = row.status if row.value is None else numbers.with_limits(row.value, row.lower, row.upper)
        lines.append(f"  {_clipped(row.model)} on {_clipped(row.dataset)}: {measure} {value}")
    more = len(results.rows) - min(len(overall), MOST)
    lines += [f"  {more:,} more in .estimates"] if more else []
    lines += [f"  {len(results.warnings):,} in .warnings"] if results.warnings else []
    return "\n".join(lines)


def _listed(names: list[str]) -> str:
    """Return the first `MOST` names in one text, and how many more there are."""
    more = [f"{len(names) - MOST:,} more"] if len(names) > MOST else []
    return ", ".join([*names[:MOST], *more]) or "none"


def _clipped(text: str) -> str:
    """Return the text, shortened to `WIDEST` characters with an ellipsis."""
    return text if len(text) <= WIDEST else f"{text[:WIDEST - 1]}…"


def estimates_csv(results: Document) -> str:
    """Return the estimates as CSV; numbers in full precision, ``params`` and ``slice`` as JSON, empty for null.

    A text that a spreadsheet would run as a formula, such as a level of the outcome, begins with an apostrophe.
    """
    out = io.StringIO()
    names = [field.alias or name for name, field in Estimate.model_fields.items()]
    # The csv module would end lines by a carriage return too.
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    for row in results.rows:
        cells = row.model_dump(by_alias=True) | {"reason": row.reason}
        writer.writerow({name: _csv_cell(value) for name, value in cells.items()})
    return out.getvalue()


def _csv_cell(value: object) -> object:
    """Return a value for a cell: a mapping as JSON, and a text that is a formula behind an apostrophe."""
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    is_formula = isinstance(value, str) and re.match(FORMULA, value) and not re.fullmatch(NUMBER, value)
    return f"'{value}" if is_formula else value
