"""`evalpipe diff`."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMATS = ("text", "json", "markdown", "html")
IGNORABLE = ("spec", "data", "intervals", "findings", "other")


class Size(click.ParamType[float]):
    """A tolerance: a number that is not negative and not endless."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; fails with the reason."""
        try:
            size = float(value)
        except ValueError:
            self.fail(f"'{value}' is not a number", param, ctx)
        if not (math.isfinite(size) and size >= 0):
            self.fail(f"'{value}' is no tolerance; give a number from 0 up", param, ctx)
        return size


class MetricSize(click.ParamType[tuple[str, float]]):
    """A metric and its tolerance: ``brier=0.001``."""

    name = "metric=number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, float]:
        """Return the metric and the number; fails with the reason."""
        if isinstance(value, tuple):
            return value
        metric, separator, size = value.rpartition("=")
        if not separator or not metric.strip():
            self.fail(f"'{value}' is not a metric and its tolerance, as in brier=0.001", param, ctx)
        return metric.strip(), Size().convert(size, param, ctx)


@click.command("diff", short_help="Compare two runs.")
@click.argument("a", metavar="A", type=click.Path())
@click.argument("b", metavar="B", type=click.Path())
@click.option("--atol", type=Size(), default=0.0, metavar="NUMBER",
              help="Absolute difference up to which numbers count as the same.  [default: 0]")
@click.option("--rtol", type=Size(), default=0.0, metavar="NUMBER",
              help="The same as a part of the larger of the two numbers; the wider of both holds.  [default: 0]")
@click.option("--tolerance", "tolerances", type=MetricSize(), multiple=True, metavar="METRIC=NUMBER",
              help="Absolute tolerance of the estimates of one metric, in place of --atol and --rtol; may be repeated.")
@click.option("--ignore", "ignored", type=click.Choice(IGNORABLE), multiple=True,
              help="Show what differs in this, and do not count it; may be repeated. intervals: of estimates whose "
                   "value is the same. other: parts that are counted and not listed.")
@click.option("--paired/--no-paired", default=True, show_default=True,
              help="Evaluate the rows of both row-level files again, for intervals of paired differences.")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True,
              help="markdown: for a comment on a pull request. html: a page that needs nothing else.")
@click.option("--out", type=click.Path(), metavar="FILE", help="Write to this file, and print the verdict alone.")
def diff(
    a: str, b: str, atol: float, rtol: float, tolerances: Sequence[tuple[str, float]], ignored: Sequence[Any],
    paired: bool, form: Any, out: str | None,
) -> int:
    """Compare two runs: A and B are output folders, or results.json files.

    Says which keys of the spec, files and versions differ; which estimates, with intervals that overlap or not; which
    gates failed or hold now; which findings appeared or went. The first line is the verdict.

    Where both runs have a row-level file (report: {rows: parquet}) with the same ids, estimates that differ get a
    paired difference with its interval; where they cannot, the reason is told.

    The exit code is 0 where all is the same within the tolerances, and 1 where anything differs that is not ignored;
    versions alone do not count. It is 2 for a wrong command line, and 3 where a folder cannot be read or holds another
    version of the format.
    """
    from evalpipe.cli.output import printing, write_file
    from evalpipe.review.differences.compare import compare
    from evalpipe.review.differences.formats import shown, write
    from evalpipe.review.differences.records import Tolerance, read_run

    first, second = read_run(a), read_run(b)
    difference = compare(first, second, Tolerance(atol, rtol, dict(tolerances)), ignored, paired=paired)
    written = write(difference, first, second, form)
    if out is not None:
        write_file(Path(out), written)
        about = {"verdict": difference.verdict, "same": difference.same, "file": out}
        written = json.dumps(about, ensure_ascii=False) if form == "json" else f"{shown(difference.verdict)}\n{out}"
        written += "\n"
    with printing():
        click.echo(written, nl=False)
    return 0 if difference.same else 1
