"""`evalpipe register`: one page over all cards in folders and ledgers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalpipe.cli.output import printing, write_file
from evalpipe.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.review.register.page import Format

FORMS = ("text", "html", "csv", "json")


@click.command(short_help="List all cards by what needs a person.")
@click.argument("reports", metavar="REPORTS...", nargs=-1, required=True)
@click.option("--out", type=click.Path(), metavar="FILE", help="Write to this file, and print the summary alone.")
@click.option("--format", "form", type=click.Choice(FORMS),
              help="The format.  [default: that of FILE's ending, such as .html; else text]")
@click.option("--as-of", metavar="DAY", help="The day on which approvals are judged.  [default: the newest day "
              "of a run or a signature]")
def register(reports: Sequence[str], out: str | None, form: Format | None, as_of: str | None) -> None:
    """List every card in REPORTS by what needs a person: rejected, failed, expired, drifting, not approved and so on.

    REPORTS are folders, searched for output folders and ledgers, and ledgers: files or URLs. Of each card its newest
    run counts, with its verdict, its first finding, what changed since the run before, and who signed until when. The
    files of each are compared with its manifest. Text, page, csv and json hold the same.

    \b
    evalpipe register reports                          in the terminal
    evalpipe register reports --out reports/index.html
    evalpipe register postgresql://… reports --as-of 2026-12-01 --format csv

    No clock is read, and nothing but FILE is written. The exit code is 0, whatever needs a person.
    """
    from evalpipe.review.register.entries import register as register_of
    from evalpipe.review.register.page import form_of, summary, write
    from evalpipe.spec.field_types import is_day

    if as_of is not None and not is_day(as_of):
        raise UsageError.of("bad-day", f"--as-of: '{as_of}' is not a day", "write it as in 2026-11-21")
    result = register_of(reports, as_of)
    chosen = form or (None if out is None else form_of(Path(out))) or "text"
    content = write(result, chosen, Path.cwd() if out is None else Path(out).absolute().parent)
    if out is not None:
        write_file(Path(out), content)
    with printing():
        click.echo(content if out is None else f"{summary(result)}\n{out}", nl=out is not None)
