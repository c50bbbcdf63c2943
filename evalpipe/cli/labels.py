"""`evalpipe labels`: which rows to label next, and how many more labels verdicts need."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalpipe.cli.output import printing
from evalpipe.words.numbers import signed_interval
from evalpipe.words.spelling import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.chapters.labels.compute_needed import NeededLabels


@click.command(short_help="Choose the rows to label next.")
@click.argument("spec", type=click.Path())
@click.option("--next", "count", type=click.IntRange(min=1), metavar="K", help="Choose K rows to label next.")
@click.option("-o", "--out", type=click.Path(), metavar="FILE",
              help="Where they are written with all other rows: csv, tsv, parquet, feather, ndjson.")
@click.option("--needed", "is_asked", is_flag=True,
              help="Print how many more labels each gate, comparison and slice needs for a verdict.")
@click.option("--set", "overrides", metavar="A.B=C", multiple=True, help="Set a key of the spec; may be repeated.")
@click.option("--as-of", metavar="DAY", help="The day that the card is about, as in 2026-11-21.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def labels(
    spec: str, count: int | None, out: str | None, overrides: Sequence[str], as_of: str | None, form: str, *,
    is_asked: bool,
) -> None:
    """Choose the rows to label next, so that intervals narrow and estimates stay unbiased; or say how many it takes.

    --next writes all rows by the spec's id: those to label now, numbered in column next, come first. The column
    probability is that of having been drawn, now or before. Label all K rows, join the column by the id, and write
    `selected: {probability: probability}` in the spec; then the next round can be drawn. The same spec and data
    draw the same rows.

    --needed evaluates the spec, writes nothing, and scales the intervals to more labels at the present values.
    """
    from evalpipe.labelling import needed, queue
    from evalpipe.recalibration import write

    if count is None and not is_asked:
        raise click.UsageError("name --next K, --needed, or both")
    if (count is None) != (out is None):
        raise click.UsageError("--next and --out go together: how many rows, and the file for them")
    document: dict[str, Any] = {"queue": None, "needed": None}
    lines: list[str] = []
    if count is not None and out is not None:
        rows = queue(spec, count, overrides=overrides, as_of=as_of)
        write(rows, Path(out))
        document["queue"] = {"file": out, "rows": rows.height, "next": count}
        lines.append(f"{out}: {counted(rows.height, 'row')}, of which the first {count:,} are to be labelled next")
    if is_asked:
        numbers = needed(spec, overrides=overrides, as_of=as_of)
        document["needed"] = [asdict(number) for number in numbers]
        lines += _needed_lines(numbers)
    with printing():
        click.echo(json.dumps(document, indent=1, ensure_ascii=False) if form == "json" else "\n".join(lines))


def _needed_lines(numbers: Sequence[NeededLabels]) -> Iterator[str]:
    """Yield a line for each number without a verdict, the gates first, and how many have one."""
    open_numbers = [number for number in numbers if number.more != 0]
    for number in open_numbers:
        if number.more is not None:
            needs = f"{number.more:,} more labels"
        else:
            needs = f"beyond its {number.rows:,} rows" if number.beyond else "no interval"
        value = "no value" if number.value is None else signed_interval(number.value, number.lower, number.upper)
        yield f"{needs:>22}  {number.known:,} of {number.rows:,}  {number.kind}  {number.about}: {value}"
    decided = len(numbers) - len(open_numbers)
    yield f"{counted(decided, 'number')} of {len(numbers):,} have a verdict already"
