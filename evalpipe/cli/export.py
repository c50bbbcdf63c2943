"""`evalpipe export`: results in formats of others."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalpipe.errors import UsageError
from evalpipe.review.exports import EXPORTS
from evalpipe.review.exports.every_eval_ever import RELATIONSHIPS

if TYPE_CHECKING:
    from evalpipe.review.exports import Export
    from evalpipe.review.exports.declare import Files

_WIDTH = max(map(len, EXPORTS))
FORMATS = "\n".join(f"    {name:<{_WIDTH}}  {export.title} {export.version}" for name, export in EXPORTS.items())
HELP = f"""Write the results in the output folder DIR in a format of others.

    \b
{FORMATS}

    It goes to the standard output, or to a file. The same results give the same bytes, without the network.

    The exit code is 2 where the format requires what nobody states; all of it is told, with the keys of the spec that
    fill it. It is 3 where DIR holds no results, or other ones than its manifest says.
    """


@click.command("export", short_help="Write results in a format of others.", help=HELP)
@click.argument("folder", metavar="DIR", type=click.Path())
@click.option("--to", "form", type=click.Choice(list(EXPORTS)), required=True, help="The format.")
@click.option("--out", type=click.Path(), metavar="PATH",
              help="Write to this file; of dvc, to this folder.  [default: the standard output; required of dvc]")
@click.option("--model", metavar="MODEL",
              help="Export this model alone; a variant as in forest+isotonic. Required of chai, model-index and "
                   "every-eval-ever where there are several.")
@click.option("--evaluator", type=click.Choice(RELATIONSHIPS),
              help="What the evaluator is to the model; every-eval-ever requires it.")
def export(folder: str, form: str, out: str | None, model: str | None, evaluator: str | None) -> None:
    """Write the results of an output folder in a format of others."""
    from evalpipe.review.exports.declare import ExportedRun

    chosen = EXPORTS[form]
    _refuse_misfit_options(chosen, folder, out, model, evaluator)
    _deliver(chosen, chosen.write(ExportedRun.read(folder, model, evaluator)), out)


def _refuse_misfit_options(
    chosen: Export, source: str, out: str | None, model: str | None, evaluator: str | None
) -> None:
    """Raise UsageError for options that do not fit the ``chosen`` format, or ``out`` inside the exported folder.

    ``source`` is the output folder that is exported, or its file of results.
    """
    if chosen.folder and out is None:
        raise click.UsageError(f"{chosen.name} is a folder of several files; name it with --out")
    if chosen.models == "all" and model is not None:
        raise click.UsageError(f"{chosen.name} is of the run as a whole, without --model")
    if not chosen.asks_evaluator and evaluator is not None:
        raise click.UsageError(f"{chosen.name} has no place for --evaluator")
    if out is not None:
        report_path, out_path = (Path(os.path.realpath(path)) for path in (source, out))
        report_folder = report_path.parent if report_path.is_file() else report_path
        if report_folder in (out_path, *out_path.parents):
            raise click.UsageError(f"'{out}' lies in the output folder, whose files the next run replaces")


def _deliver(chosen: Export, files: Files, out: str | None) -> None:
    """Print an export of one file, or write it to ``out``; a folder of several files is always written."""
    from evalpipe.cli.output import printing, write_file

    if out is None:
        with printing():
            click.echo("".join(files.values()), nl=False)
        return
    if chosen.folder:
        try:
            Path(out).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = f"cannot write '{out}': {error.strerror or error}"
            raise UsageError.of("output-folder", message, hint="name a folder that can be made") from None
        for name, text in files.items():
            write_file(Path(out) / name, text)
        written = [str(Path(out) / name) for name in files]
    else:
        write_file(Path(out), "".join(files.values()))
        written = [out]
    with printing():
        click.echo("\n".join(written))
