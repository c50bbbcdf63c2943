"""The commands, and the boundary at which every error becomes a message and an exit code.

Commands with a file of their own are added at its end. What a command needs is imported when it runs, so that
`--help` stays quick.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from evalpipe.base.formats import FORMATS
from evalpipe.cli.demo import demo
from evalpipe.cli.exit import (
    Guard,
    collect_rarely,
    internal_problem,
    leave,
    leave_at_once,
    long_path_problem,
    print_problems,
    report_interrupt,
    requested_format,
    seconds_of,
)
from evalpipe.cli.figures import figures
from evalpipe.cli.init import init
from evalpipe.cli.labels import labels
from evalpipe.cli.ledger import gc, history, margin_and_drop
from evalpipe.cli.output import UNHEARD, full_output_error, is_lost_stream, replace_streams, tell_person
from evalpipe.cli.register import register
from evalpipe.cli.review import diff, export, recording_ledger_option, show, template_option, verify
from evalpipe.errors import EvalpipeError, InternalError, Problem, UsageError
from evalpipe.tasks import TASKS, known_task
from evalpipe.version import VERSION
from evalpipe.words.sentences import DEPRECATED
from evalpipe.words.spelling import counted

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command(short_help="Check this machine.")
@click.option("--out", type=click.Path(), default="reports", show_default=True,
              help="The folder in which output folders are made.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def doctor(out: str, form: str) -> int:
    """Check whether this machine can run evalpipe: Python, libraries, PDF, fonts, cores, memory, disks, extras.

    A page is rendered, and a file is written to the temporary folder and to that of the reports; nothing is left
    behind, and nothing is asked of a network. The exit code is 0 where all is well and 1 where a check failed; a note
    fails nothing.
    """
    from dataclasses import asdict

    from evalpipe.cli.doctor import run_checks

    checks = run_checks(Path(out))
    failed = sum(check.state == "failed" for check in checks)
    if form == "json":
        document = {"ok": not failed, "checks": [asdict(check) for check in checks]}
        click.echo(json.dumps(document, indent=1, ensure_ascii=False))
        return int(failed > 0)
    wide = max(len(check.name) for check in checks)
    for check in checks:
        click.echo(f"{check.state:<6}  {check.name:<{wide}}  {check.text}")
        if check.hint is not None:
            click.echo(f"{'':<{8 + wide}}    {check.hint}")
    click.echo(f"{counted(failed, 'check')} failed" if failed else "this machine can run evalpipe")
    return int(failed > 0)


HELP = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
class FailOnChoice(click.Choice[str]):
    """The choices of `--fail-on`, and a former word with a warning."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the chosen verdict; a former name is replaced by the present name, with a warning on stderr."""
        if value in DEPRECATED:
            click.echo(f"warning: --fail-on: {DEPRECATED[value]}", err=True)
            value = DEPRECATED[value].new
        return super().convert(value, param, ctx)


TEXT_OR_JSON = click.Choice(["text", "json"])

SCHEMAS = ("spec", "results", "cache", "comment", "diff", "diff-out", "doctor", "error", "history", "labels", "metrics",
           "plan", "register", "run", "show", "sign", "validate", "verify")
"""What `evalpipe schema` describes: `DOCUMENTS` in `cli/documents.py` has all but the first."""

set_option = click.option(
    "--set", "overrides", metavar="A.B=C", multiple=True, help="Set a key of the spec; may be repeated."
)
as_of_option = click.option(
    "--as-of", metavar="DAY", help="The day that the card is about, as in 2026-11-21; overrides 'as_of' of the spec."
)

key_option = click.option(
    "--key", type=click.Path(), help="Sign the manifest with the private ed25519 key in this PEM file.  [default: the "
    "key in the environment variable EVALPIPE_SIGNING_KEY, if there is one]",
)


@click.group(context_settings=HELP)
@click.version_option(VERSION, prog_name="evalpipe")
def app() -> None:
    """Evaluate a model's predictions and write a model card.

    \b
    evalpipe init data.csv        a spec from the columns of predictions
    evalpipe run spec.yaml        the whole pipeline
    evalpipe validate spec.yaml   every fault of the spec and the data's columns
    evalpipe metrics brier        what a number means

    A SPEC of - is read from the standard input; its paths then start from the working folder.

    Exit codes: 0 done; 1 done, but a gate did not hold; 2 the spec or the command line is wrong; 3 the data are wrong;
    4 a fault of evalpipe itself; 130 interrupted; 143 terminated.
    """


@app.command(short_help="Run the whole pipeline.")
@click.argument("spec", type=click.Path())
@click.option("--out", type=click.Path(), help="Output folder; ${date} in it is the day.  [default: reports/NAME]")
@set_option
@as_of_option
@click.option(
    "--fail-on", type=FailOnChoice(["fail", "warn", "inconclusive", "never"]), default="fail",
    show_default=True,
    help="End with 1 if a gate failed, or too few items of a standard are answered. warn: also if one of severity warn "
         "did, or something of the run before is gone. inconclusive: also if a gate is inconclusive.",
)
@click.option("--format", "form", type=click.Choice(["text", "json", "github"]), default="text", show_default=True,
              help="json: the verdict, gates, findings and files as one document. github: gates that did not hold are "
                   "annotations at their place in the spec.")
@click.option("--no-progress", is_flag=True, help="Print no progress on stderr.")
@click.option("--no-cache", is_flag=True, help="Read every part of the files again; see: evalpipe cache --help")
@click.option("--if-changed", is_flag=True,
              help="Run only where the spec, its inputs, a version or a file in the output folder has changed; else "
                   "end as the run there did, see --fail-on.")
@click.option("--timeout", type=seconds_of, metavar="DURATION",
              help="End the run with 3 where it takes longer, such as 90s, 15m or 2h; the earlier output stays.")
@click.option("--log-file", type=click.Path(), metavar="FILE",
              help="Add what the run does to FILE, as lines of JSON; several runs may share it.")
@key_option
def run(spec: str, **options: Any) -> int:
    """Run the whole pipeline; print a summary, the gates that did not hold, and where the card is.

    Everything is written whether the gates hold or not. The exit code is 1 where one does not, see --fail-on.
    """
    from evalpipe.cli.run import RunOptions, run_spec

    return 0 if run_spec(spec, RunOptions(**options)) else 1


@app.command(short_help="Check the spec and the data's columns.")
@click.argument("spec", type=click.Path())
@set_option
@as_of_option
@click.option("--format", "form", type=click.Choice(["text", "json", "github"]), default="text", show_default=True)
def validate(spec: str, overrides: Sequence[str], as_of: str | None, form: str) -> None:
    """Check the spec and the data's columns; print every fault at once."""
    from evalpipe.cli.plan import validate_spec

    validate_spec(spec, overrides, as_of, form)


@app.command(short_help="Print what would run, and why.")
@click.argument("spec", type=click.Path())
@set_option
@as_of_option
@click.option("--out", type=click.Path(), help="Output folder whose cache and ledger are looked at.  "
              "[default: reports/NAME]")
@margin_and_drop
@click.option("--format", "form", type=TEXT_OR_JSON, default="text", show_default=True)
def plan(
    spec: str, overrides: Sequence[str], as_of: str | None, out: str | None, margin: float, drop: float, form: str
) -> None:
    """Print what would run: the columns read, each measure with its interval method and why, the expected cost.

    Where files are read part by part, also which parts the cache has, and why the others would be read. Of each gate,
    once a night is in the ledger: the false alarms that it gives in a year while true values stay --margin inside their
    limits, and the nights until it tells that they fell by --drop.
    """
    from evalpipe.cli.plan import print_plan

    print_plan(spec, overrides, out, form, as_of, (margin, drop))


@app.command(short_help="Render the card again.")
@click.argument("folder", metavar="DIR", type=click.Path())
@click.option(
    "--format", "forms", type=click.Choice(list(FORMATS)), multiple=True,
    help="Format of the card, or junit.xml; may be repeated.  [default: those of the spec]",
)
@click.option("--template", type=click.Path(), help="Folder of templates for the page and the PDF.  [default: those of "
              "the spec, which the results hold]")
@click.option("--no-template", is_flag=True, help="Render with evalpipe's own templates alone.")
@key_option
def render(folder: str, forms: Sequence[str], template: str | None, no_template: bool, key: str | None) -> None:
    """Render the card, and the verdicts of gates as junit.xml, again from DIR/results.json; no data are needed.

    Signatures in DIR/signatures.json stand on the card; those of other results are refused. The manifest follows.
    """
    from evalpipe.base.ed25519 import signer
    from evalpipe.cli.review import warning_of_lost_signature
    from evalpipe.run import render as render_card
    from evalpipe.runs.record import replace_files

    if template is not None and no_template:
        raise click.UsageError("--template and --no-template exclude each other")
    by = signer(key)
    card = render_card(folder, forms or None, template=False if no_template else template)
    with warning_of_lost_signature(folder):
        replace_files(folder, card, by)
    for name in card:
        click.echo(str(Path(folder) / name))


@app.group(short_help="List or clean a cache.")
def cache() -> None:
    """List or clean what the parts of files came to, which is kept beside an output folder DIR, in .evalpipe-cache.

    A run that reads files part by part keeps what each part came to. The next run reads only what is not there: new
    files, files that have changed, and all of them where the spec asks for something else. A run that was killed
    continues where it stopped. The results are the same with and without; run --no-cache reads all.
    """


@cache.command("ls", short_help="List the entries.")
@click.argument("folder", metavar="DIR", type=click.Path())
@click.option("--format", "form", type=TEXT_OR_JSON, default="text", show_default=True)
def list_entries(folder: str, form: str) -> None:
    """List the entries of the cache of the output folder DIR, and those that its last whole run did not use."""
    from evalpipe.cli.output import list_cache

    list_cache(folder, form)


@cache.command("gc", short_help="Remove what is not used.")
@click.argument("folder", metavar="DIR", type=click.Path())
def collect_entries(folder: str) -> None:
    """Remove the entries that the last whole run to the output folder DIR did not use.

    A run is whole when it has read all its parts. Before one is, all entries are kept: a killed run continues from
    them. The exit code is 2 while a run writes to DIR.
    """
    from evalpipe.cli.output import collect_cache

    collect_cache(folder)


@app.command(short_help="Make a run the reference.")
@click.argument("folder", metavar="DIR", type=click.Path())
@key_option
@click.option("--ledger", "where", metavar="PLACE", help="The ledger whose nights gates `on: sequence` add up: a file "
              "or a URL.  [default: ledger.sqlite beside the folder]")
@template_option
def accept(folder: str, key: str | None, where: str | None, template: str | None) -> None:
    """Make the newest run in the output folder DIR the reference that gates `against: last` compare the next with.

    Its gates `on: sequence` begin anew on the day after. A run whose gates held becomes the reference by itself; a run
    that failed does so only by this command. A folder that is not what its run wrote, or of which the ledger has other
    results, is refused as by sign. Prints which
    of its gates had failed, and each value of the reference before and from now on. The exit code is 0 where it was
    done, 2 where DIR cannot be written, 3 where it holds no results of a run or a file was changed.
    """
    from evalpipe.cli.review import warning_of_lost_signature
    from evalpipe.cli.summary import print_accepted
    from evalpipe.review.signing import accept as accept_newest

    with warning_of_lost_signature(folder):
        print_accepted(folder, *accept_newest(folder, key=key, ledger=where, template=template))


@app.command(short_help="Sign a card.")
@click.argument("folder", metavar="DIR", type=click.Path())
@click.option("--role", metavar="ROLE", help="developer, validator, owner or approver.  [required]")
@click.option("--name", metavar="NAME", help="Who signs, in any script.  [required]")
@click.option("--organisation", metavar="NAME", help="For whom they sign.")
@click.option("--decision", metavar="DECISION",
              help="approved, approved_with_conditions, rejected or reviewed.  [required]")
@click.option("--condition", "conditions", metavar="TEXT", multiple=True,
              help="What has to be met; may be repeated. approved takes none, approved_with_conditions at least one.")
@click.option("--date", metavar="DAY", help="The day of the decision, as in 2026-11-21.  [required]")
@click.option("--expires", metavar="DAY", help="The day until which the decision is valid.")
@template_option
@recording_ledger_option
@click.option("--format", "form", type=TEXT_OR_JSON, default="text", show_default=True)
@key_option
def sign(folder: str, form: str, **fields: Any) -> None:
    """Add a signature to the card in the output folder DIR, and render the card again; its evidence stays as it is.

    Signatures stand in DIR/signatures.json, in the order of signing, each with the sha256 of the results.json that was
    signed. A further reader adds one; the newest decision of a role counts. A folder that is not what its run wrote is
    refused: results.json, estimates.csv and the numbers of each card must agree, and the PDF must be what is drawn
    from results.json, where the same versions drew it. So is one of which the ledger has other results. Nothing is
    written then.

    The exit code is 2 for wrong options, all of which are told, and 3 where a file was changed or cannot be read.
    """
    from evalpipe.cli.review import sign_folder

    sign_folder(folder, fields, form)


@app.command(short_help="Comment on a finding of a card.")
@click.argument("folder", metavar="DIR", type=click.Path())
@click.argument("text", metavar="TEXT")
@click.option("--on", metavar="FINDING", help="The code of a finding, or verdict, or 'gate 3'.  [required, but for an "
              "answer]")
@click.option("--by", "name", metavar="NAME", help="Who comments, in any script.  [required]")
@click.option("--date", metavar="DAY", help="The day of the comment, as in 2026-11-21.  [required]")
@click.option("--role", metavar="ROLE", help="developer, validator, owner or approver.")
@click.option("--reply-to", type=int, metavar="N", help="The number of the comment that this one answers.")
@template_option
@recording_ledger_option
@click.option("--format", "form", type=TEXT_OR_JSON, default="text", show_default=True)
@key_option
def comment(folder: str, text: str, form: str, **fields: Any) -> None:
    """Add a comment to the card in the output folder DIR, and render the card again; its evidence stays as it is.

    TEXT, in Markdown, challenges a finding, a gate or the verdict, or answers such a comment. Comments stand in
    DIR/comments.json, each with the sha256 of the results.json that it is about, and on the card below what they are
    on. A FINDING is named by its code, with its place where several have one code, as in calibration/2; without --on
    all of them are listed. A folder that is not what its run wrote is refused as by sign. Signatures stay valid, and
    the card says which comments came after one.

    The exit code is 2 for wrong options, all of which are told, and 3 where a file was changed or cannot be read.
    """
    from evalpipe.cli.review import comment_on_card

    comment_on_card(folder, text, fields, form)


@app.command(short_help="Recalibrate new predictions.")
@click.argument("results", type=click.Path())
@click.argument("model")
@click.argument("data", type=click.Path())
@click.option("-o", "--out", type=click.Path(), required=True, help="File: csv, tsv, parquet, feather, ndjson.")
@click.option("--fitted-on", help="The dataset it was fitted on, where a variant was cross-fitted on several.")
def recalibrate(results: str, model: str, data: str, out: str, fitted_on: str | None) -> None:
    """Recalibrate the predictions in DATA with what a run has fitted; write its rows with the new column.

    RESULTS is the run's output folder or results.json, MODEL a model and a variant of it: naive_bayes+isotonic.
    """
    from evalpipe.recalibration import recalibrate as recalibrated
    from evalpipe.recalibration import write

    frame = recalibrated(results, model, data, fitted_on)
    write(frame, Path(out))
    click.echo(f"{out}: {counted(frame.height, 'row')}")


app.add_command(gc)
app.add_command(history)


@app.command(short_help="List or explain the measures.")
@click.argument("name", required=False)
@click.option("--task", type=known_task, metavar=TASKS, help="Only the measures of this kind of outcome.")
@click.option("--format", "form", type=TEXT_OR_JSON, default="text", show_default=True)
def metrics(name: str | None, task: str | None, form: str) -> None:
    """List the measures, or explain one: definition, formula, range, edge cases, options, reference."""
    from evalpipe.cli.catalogue import print_metrics

    print_metrics(name, task, form)


@app.command(short_help="Print a JSON Schema.")
@click.option("--of", "kind", type=click.Choice(SCHEMAS), default="spec", show_default=True)
def schema(kind: str) -> None:
    """Print the JSON Schema of the spec, of results.json, or of what a command prints with --format json.

    error is what each of them prints where it ends with another exit code than 0 and 1, diff-out what diff prints where
    the comparison goes to a file.
    """
    from evalpipe.cli.documents import json_schema_of

    click.echo(json.dumps(json_schema_of(kind), indent=1, ensure_ascii=False))


app.add_command(demo)
app.add_command(doctor)
app.add_command(diff)
app.add_command(export)
app.add_command(figures)
app.add_command(init)
app.add_command(labels)
app.add_command(register)
app.add_command(verify)
app.add_command(show)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with the documented code."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    collect_rarely()
    replace_streams()

    def rescue(_: int) -> NoReturn:
        from evalpipe.run import abandon

        abandon(None)
        leave_at_once(report_interrupt(KeyboardInterrupt()))

    try:
        with Guard(None, rescue):
            code = _run_command(arguments)
            sys.stdout.flush()
    except OSError as error:  # only streams are left: every file has its own message
        code = full_output_error(error).exit_code
        tell_person(str(full_output_error(error)))
    leave(code)


def _run_command(arguments: list[str]) -> int:
    """Run a command; turn every error into its message and return the exit code."""
    try:
        # Not standalone: click would end the process with codes of its own, of which 1 says that a gate was missed.
        return app(args=arguments, prog_name="evalpipe", standalone_mode=False) or 0
    except click.exceptions.NoArgsIsHelpError as error:
        tell_person(error.format_message())
        return error.exit_code
    except click.ClickException as error:
        message = error.format_message().replace("\n", " ").rstrip(".")
        context = error.ctx if isinstance(error, click.UsageError) else None
        hint = f"see: {context.command_path} --help" if context else None
        return print_problems(Problem("usage", message, hint=hint), code=2, form=requested_format(arguments))
    except (click.exceptions.Abort, KeyboardInterrupt) as error:
        return report_interrupt(error)
    except EvalpipeError as error:
        unheard = any(problem.code == UNHEARD for problem in error.problems)
        form = "text" if unheard else requested_format(arguments)
        return print_problems(*error.problems, code=error.exit_code, form=form)
    except Exception as error:  # The last boundary: a fault of ours is told without a traceback.
        if isinstance(error, OSError) and is_lost_stream(error):
            raise
        long = long_path_problem(error)
        if long is None and os.environ.get("EVALPIPE_DEBUG"):
            raise
        code = InternalError.exit_code if long is None else UsageError.exit_code
        return print_problems(long or internal_problem(error), code=code, form=requested_format(arguments))
