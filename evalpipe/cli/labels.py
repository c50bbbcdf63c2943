"""`evalpipe labels`: which rows to label next, and how many more labels verdicts need."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalpipe.cli.output import printing
from evalpipe.words.numbers import with_limits
from evalpipe.words.spelling import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


TITLES = {"gate": "gates without a verdict", "comparison": "comparisons that are undecided",
          "slice": "slices that do not differ yet"}
"""What the numbers of a kind that have no verdict are called."""

MOST_ROWS = 12
"""Numbers of a kind that are listed for people: those that need the fewest labels."""


@click.command(short_help="Choose the rows to label next.")
@click.argument("spec", type=click.Path())
@click.option("--next", "count", type=click.IntRange(min=1), metavar="K", help="Choose K rows to label next.")
@click.option("-o", "--out", type=click.Path(), metavar="FILE",
              help="Where they are written with all other rows: csv, tsv, parquet, feather, ndjson.")
@click.option("--needed", "is_asked", is_flag=True,
              help="Print how many more labels each gate, comparison and slice needs for a verdict.")
@click.option("--set", "overrides", metavar="A.B=C", multiple=True, help="Set a key of the spec; may be repeated.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def labels(
    spec: str, count: int | None, out: str | None, overrides: Sequence[str], form: str, *, is_asked: bool
) -> None:
    """Choose the rows to label next, so that intervals narrow and estimates stay unbiased; or say how many it takes.

    --next writes all rows: those to label now come first, numbered in the column next. The column probability is that
    of having been drawn, now or before. Label all K rows, join the column to the data by the id, and write `selected:
    {probability: probability}` in the spec; then the next round can be drawn. The same spec and data draw the same
    rows.

    --needed evaluates the spec, writes nothing, and scales the intervals to more labels at the present values.
    """
    from evalpipe.labelling import needed, queue
    from evalpipe.recalibration import write

    if (count is None) != (out is None) or (count is None and not is_asked):
        raise click.UsageError("name --next K and -o FILE, or --needed, or all three")
    document: dict[str, Any] = {"queue": None, "needed": None}
    lines: list[str] = []
    if count is not None and out is not None:
        rows = queue(spec, count, overrides)
        write(rows, Path(out))
        document["queue"] = {"file": out, "rows": rows.height, "next": count}
        lines.append(f"{out}: {counted(rows.height, 'row')}; label the first {count:,} next")
    if is_asked:
        numbers = needed(spec, overrides)
        document["needed"] = [asdict(number) for number in numbers]
        lines += _needed_lines(numbers)
    with printing():
        click.echo(json.dumps(document, indent=1, ensure_ascii=False) if form == "json" else "\n".join(lines))


def _needed_lines(numbers: Sequence[Any]) -> Iterator[str]:
    """Yield the numbers without a verdict by kind, those that need the fewest labels first, and how many have one."""
    for kind, title in TITLES.items():
        rows = sorted((number for number in numbers if number.kind == kind and number.more != 0),
                      key=lambda row: (row.more is None, row.more or 0))
        yield from [title] if rows else []
        for row in rows[:MOST_ROWS]:
            unknown = f"beyond {row.rows:,} rows" if row.beyond else "no interval"
            value = "no value" if row.value is None else with_limits(row.value, row.lower, row.upper)
            yield (f"{unknown if row.more is None else f'{row.more:,} more':>20}  {row.about}: {value}; "
                   f"{row.known:,} of {row.rows:,} labelled")
        yield from [f"  and {len(rows) - MOST_ROWS:,} others: see --format json"] if len(rows) > MOST_ROWS else []
    yield f"{sum(number.more == 0 for number in numbers):,} of {counted(len(numbers), 'number')} have a verdict"
