"""`evalpipe figures`: the figures of a card as files for print."""

from __future__ import annotations

import re
from pathlib import Path

import click

from evalpipe.cli.output import printing
from evalpipe.errors import UsageError

MILLIMETRES = {"mm": 1.0, "cm": 10.0, "in": 25.4}
NARROWEST, WIDEST = 40.0, 1000.0
"""Millimetres that a figure may be wide."""


class Width(click.ParamType[float]):
    """A width such as 85mm, 8.5cm or 3.3in, in millimetres."""

    name = "width"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the millimetres; fails for what is no width, or none that text fits in."""
        if isinstance(value, float):
            return value
        match = re.fullmatch(r"(\d+(?:\.\d+)?)(mm|cm|in)", str(value))
        width = 0.0 if match is None else float(match[1]) * MILLIMETRES[match[2]]
        if not NARROWEST <= width <= WIDEST:
            self.fail(f"{value} is no width from {NARROWEST:g}mm to {WIDEST:g}mm, such as 85mm, 8.5cm or 3.3in", param,
                      ctx)
        return width


@click.command(short_help="Write the figures for print.")
@click.argument("folder", metavar="DIR", type=click.Path())
@click.option("--only", metavar="NAME,…", help="These figures alone; without it, all of the card.")
@click.option("--format", "form", type=click.Choice(["pdf", "svg", "png"]), default="pdf", show_default=True)
@click.option("--width", type=Width(), default="85mm", show_default=True,
              help="How wide: 85mm is a column of a journal, 250mm a slide.")
@click.option("--out", type=click.Path(), metavar="FOLDER", help="The folder to write to.  [default: figures/NAME]")
def figures(folder: str, only: str | None, form: str, width: float, out: str | None) -> None:
    """Write the figures of the card in an output folder as files for papers and slides, with the same numbers.

    It needs results.json alone. Bands, operating points and the stroke and marker of each model are those of the card;
    what stands on its lines stands in a legend. Fonts are embedded, and the same results and versions give the same
    bytes. All are drawn before the first is written; files of these names are replaced.
    """
    from evalpipe.card.figures.in_matplotlib import drawings_of, figure_file, unknown_name
    from evalpipe.results import Results
    from evalpipe.runs.folder import has_run_files

    results = Results.read(folder)
    drawings = drawings_of(results)
    names = list(drawings) if only is None else [name.strip() for name in only.split(",")]
    for name in names:
        if name not in drawings:
            raise unknown_name("figure", name, list(drawings))
    target = Path("figures", results.name) if out is None else Path(out)
    if has_run_files(target):
        raise UsageError.of("output-folder", f"'{target}' is the output folder of a run, and nothing was written",
                            "name another folder with --out")
    files = {f"{name.replace('@', '-')}.{form}": figure_file(drawings[name], form, width) for name in names}
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (target / name).write_bytes(content)
    except OSError as error:
        raise UsageError.of("unwritable", f"cannot write to '{target}': {error.strerror or error}",
                            "name another folder with --out") from None
    with printing():
        click.echo("\n".join(str(target / name) for name in files))
