"""`evalpipe show`, `diff`, `verify`, `sign`, `comment` and `export`: what is done with the outputs of runs."""

from __future__ import annotations

import json
import math
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evalpipe.base.formats import KEY_SIGNATURE
from evalpipe.cli.output import printing
from evalpipe.errors import UsageError
from evalpipe.review.exports import EXPORTS
from evalpipe.review.exports.every_eval_ever import RELATIONSHIPS
from evalpipe.words.spelling import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.addresses import Addresses
    from evalpipe.results.comments import Comment
    from evalpipe.results.signatures import Signature
    from evalpipe.review.commenting import CommentedCard
    from evalpipe.review.exports import Export
    from evalpipe.review.exports.declare import Files
    from evalpipe.review.origins import Verification
    from evalpipe.review.signing import SignedCard


template_option = click.option(
    "--template", type=click.Path(), help="Folder of templates that the card was rendered with, where they are not "
    "those of the spec.")
recording_ledger_option = click.option(
    "--ledger", metavar="PLACE", help="The ledger that has the run: a file or a URL.  [default: that of the spec, or "
    "ledger.sqlite beside DIR]")


@click.command(short_help="Trace an estimate to its inputs.")
@click.argument("folder", metavar="DIR", type=click.Path())
@click.argument("estimate", metavar="[ESTIMATE]", required=False)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def show(folder: str, estimate: str | None, form: str) -> None:
    """Print an estimate in the output folder DIR, and all that it was made from.

    That is its rows, files with their sha256, columns, slice, threshold, prevalence, interval, seed and versions, and
    what its measure means. Without ESTIMATE, print the address of every estimate with its value.

    \b
    evalpipe show DIR roc_auc                      where there is one model
    evalpipe show DIR roc_auc@naive_bayes          its original predictions, on all rows
    evalpipe show DIR roc_auc@season=a             in a slice
    evalpipe show DIR test/naive_bayes/isotonic/overall/roc_auc

    An ESTIMATE is its measure and what tells it from others, in any order, with @ or / between: dataset, model,
    variant, slice, options, average, class. A part with one of these signs stands in double quotes. The exit code is 2
    where it is no estimate's, or that of several, which are listed; 3 where DIR holds no results.
    """
    from evalpipe.card.addresses import Addresses
    from evalpipe.runs.folder import RunFolder

    run = RunFolder.named(folder)
    addresses = Addresses(run.results)
    if estimate is None:
        _list_addresses(addresses, form)
        return
    from evalpipe.cli.trace import facts, trace

    row = addresses.find(estimate)
    document = trace(run.results, row, addresses.of(row), run)
    if form == "json":
        click.echo(json.dumps(document, indent=1, ensure_ascii=False))
        return
    terms_and_texts = list(facts(run.results, row, document))
    width = max(len(term) for term, _ in terms_and_texts)
    lines = [document["address"], "", *(f"{term:<{width}}  {text}" for term, text in terms_and_texts)]
    click.echo("\n".join(map(printable, lines)))


def _list_addresses(addresses: Addresses, form: str) -> None:
    from evalpipe.card.tables import shown

    if form == "json":
        rows = [{"address": addresses.of(row), "value": row.value, "lower": row.lower, "upper": row.upper,
                 "status": row.status} for row in addresses.estimates]
        click.echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    lines = [(printable(addresses.of(row)), shown(row).text) for row in addresses.estimates]
    if not lines:
        click.echo("there are no estimates: the results are of candidates alone")
        return
    width = max(len(address) for address, _ in lines)
    for address, text in lines:
        click.echo(f"{address:<{width}}  {text}")


HEADINGS = {"output": "the folder", "spec": "the spec", "input": "the inputs", "ledger": "the ledger",
            "recomputed": "run again"}


@click.command(short_help="Check a card and what it was made from.")
@click.argument("folder", metavar="DIR", type=click.Path())
@click.option("--spec", type=click.Path(), help="The spec file, where it is not where the run found it.")
@click.option("--inputs", is_flag=True, help="End with 1 also where the spec, an input or the ledger is not here to be "
              "checked.")
@click.option("--recompute", is_flag=True, help="Run the spec again in a temporary folder, and compare bytes and "
              "numbers.")
@click.option("--public-key", type=click.Path(), help="PEM file of the ed25519 key that must have signed the manifest.")
@template_option
@recording_ledger_option
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def verify(
    folder: str, spec: str | None, inputs: bool, recompute: bool, public_key: str | None, template: str | None,
    ledger: str | None, form: str,
) -> int:
    """Check the card in the output folder DIR, and the spec and the inputs that it was made from.

    Each file is the same, differs, or is not checked, and why. The bytes of each are compared with DIR/manifest.json;
    the numbers of the card, its attachments and its signatures also with results.json, and these with the ledger.
    Nothing is written to DIR.

    A file of a run again has the same numbers where its bytes differ, but no number by more than 1e-12, and nothing
    else: another processor, system or version may give other last digits.

    The exit code is 0 where nothing differs but in last digits. It is 1 where a file differs or is missing from DIR, or
    the ledger has other results, or the run cannot be repeated that --recompute asks for. It is 1 too where another
    version drew the PDF, so that its pages cannot be compared, and no --public-key vouches for it. It is 3 where DIR
    cannot be read.
    """
    from evalpipe.review.checking import verify as verify_folder

    progress = None
    if recompute:
        from evalpipe.cli.run import Lines

        progress = Lines()
    verification = verify_folder(
        folder, spec=spec, public_key=public_key, recompute=recompute, template=template, ledger=ledger,
        progress=progress)
    holds = verification.holds(inputs=inputs)
    with printing():
        if form == "json":
            files = [{"kind": file.kind, "file": file.file, "status": file.status, "reason": file.reason,
                      "notes": list(file.notes)} for file in verification.files]
            document = {"ok": holds, "folder": verification.folder, "sign_off": verification.sign_off, "files": files}
            click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        else:
            _print(verification)
    return 0 if holds else 1


def _print(verification: Verification) -> None:
    """Print a line for each checked file, under a heading for its kind, then how many have each status."""
    widest = max(len(printable(file.file)) for file in verification.files)
    indent = len("same numbers" if verification.count("same numbers") else "not checked")
    kind = None
    for file in verification.files:
        if file.kind != kind:
            kind = file.kind
            click.echo(HEADINGS[kind])
        # A folder of somebody else may have files whose names would steer the terminal.
        name, reason = printable(file.file), f"  {printable(file.reason)}" if file.reason else ""
        click.echo(f"  {file.status:<{indent}}  {name:<{widest if reason else 0}}{reason}")
        for note in file.notes:
            click.echo(f"{'':>{indent + 2}}  = {note}")
    same_count, close_count, differing_count, unchecked_count = (
        verification.count(status) for status in ("same", "same numbers", "differs", "not checked"))
    numbers = f"{close_count} the same numbers, " if close_count else ""
    differs = f"{differing_count} {'differs' if differing_count == 1 else 'differ'}"
    click.echo(f"\n{verification.folder}: {same_count} the same, {numbers}{differs}, {unchecked_count} not checked")
    click.echo(f"sign-off: {printable(verification.sign_off)}")


@contextmanager
def warning_of_lost_signature(folder: str) -> Iterator[None]:
    """Run a block, and print on stderr if it removed the key's signature of the manifest, which has changed."""
    from evalpipe.runs.folder import RunFolder

    signature = RunFolder(folder).file(KEY_SIGNATURE)
    was_signed = signature.exists()
    yield
    if was_signed and not signature.exists():
        click.echo(f"the manifest has changed, and is no longer signed: sign it with --key; {signature} was removed",
                   err=True)


def sign_folder(folder: str, fields: dict[str, Any], form: str) -> None:
    """Sign the card in a folder, and print its new status, the sha256 of the results and the files written."""
    from evalpipe.review.signing import sign

    with warning_of_lost_signature(folder):
        signed = sign(folder, **fields)
    _print_added(folder, "signature", signed.signature, signed, form)


def comment_on_card(folder: str, text: str, fields: dict[str, Any], form: str) -> None:
    """Comment on the card in a folder; print how many comments it has, the sha256 of the results and the files."""
    from evalpipe.review.commenting import comment

    with warning_of_lost_signature(folder):
        commented = comment(folder, text, **fields)
    _print_added(folder, "comment", commented.comment, commented, form)


def _print_added(
    folder: str, noun: str, record: Signature | Comment, card: SignedCard | CommentedCard, form: str
) -> None:
    """Print the status of a card with a new ``record``, the sha256 of the results and the files written."""
    with printing(f"the {noun} was written to '{folder}'"):
        if form == "json":
            document = {"status": card.status, noun: record.model_dump(), "files": list(card.files),
                        "unchecked": list(card.unchecked)}
            click.echo(json.dumps(document, indent=2, ensure_ascii=False))
            return
        click.echo(card.status)
        click.echo(f"evidence, unchanged: results.json, sha256 {record.evidence_sha256}")
        for sentence in card.unchecked:
            click.echo(f"not checked: {sentence}")
        click.echo("\n" + "\n".join(card.files))


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


DIFF_FORMATS = ("text", "json", "markdown", "html")
IGNORABLE = ("spec", "data", "intervals", "findings", "other")


class Size(click.ParamType[float]):
    """A tolerance: a number that is not negative and not endless."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the tolerance as a number; fails where it is no number, negative or infinite."""
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
        """Return the metric and its tolerance of a text such as "brier=0.001"; fails for other texts."""
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
@click.option("--format", "form", type=click.Choice(DIFF_FORMATS), default="text", show_default=True,
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
    from evalpipe.review.differences.page import shown, write
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
