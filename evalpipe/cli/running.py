"""`evalpipe run` and `evalpipe render`."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from evalpipe.cli.attempt import COMPLETE, Attempt
from evalpipe.cli.logfile import Log
from evalpipe.cli.output import printing
from evalpipe.cli.verifying import telling_lost_signature

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.cli.attempt import RunOptions, RunOutcome
    from evalpipe.results import Results
    from evalpipe.spec.spec import Spec


def run_spec(path: str, options: RunOptions) -> bool:
    """Run a spec file, then print the summary, the gates and the paths of what was written; tell whether none fails."""
    with Log(options.log_file, path) as log:
        outcome = Attempt(path, options, log).run()
        holds = outcome.results.holds(options.fail_on) is not False  # without gates none fails
        with _safe(outcome.folder):
            # The results are safe by now, and the error of an output that is full says so.
            with printing(f"everything was written to '{outcome.folder}'"):
                _print(outcome, options.form)
            log.results(outcome.results, 0 if holds else 1)
    return holds


@contextmanager
def _safe(folder: Path) -> Iterator[None]:
    """Say of an interrupt that everything is written."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"{COMPLETE} in '{folder}'") from None


def _print(outcome: RunOutcome, form: str) -> None:
    """Print the summary, the gates and the paths of what was written, or all of it as one JSON document."""
    from evalpipe.base.formats import files
    from evalpipe.cli.gates import print_annotations
    from evalpipe.cli.standards import annotate_standards

    results, spec, folder, moved, same = outcome
    rows = () if results.row_file is None else (results.row_file.file,)
    written = [str(folder / name)
               for name in (*files(spec.report.formats, judged=results.judged).values(), "results.json", *rows)]
    if form == "json":
        document = run_document(results, written) | {"ran": not same, "signatures_moved": moved and str(folder / moved)}
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    if same:
        click.echo(_nothing_to_do(results, folder))
    else:
        _print_summary(results, spec, folder)
    if form == "github":
        print_annotations(results, spec)
        annotate_standards(results, spec)
    if moved is not None:
        click.echo(f"\nthis card is not signed: the signatures here were of other results, and are in {folder / moved}")
    if not same:
        click.echo("\n" + "\n".join(written))


def _print_summary(results: Results, spec: Spec, folder: Path) -> None:
    """Print what a run has to say for people."""
    from evalpipe.cli.findings import print_findings
    from evalpipe.cli.gates import print_gates
    from evalpipe.cli.standards import print_standards
    from evalpipe.cli.summary import print_summary

    print_summary(results)
    print_gates(results, spec, folder)
    print_standards(results)
    print_findings(results)


def _nothing_to_do(results: Results, folder: Path) -> str:
    """Say why a run was left out, and what that in the folder came to."""
    count = len(results.inputs)
    inputs = f"{count:,} {'input' if count == 1 else 'inputs'}"
    same = f"the spec, {inputs}, all versions and the files in {folder} are those of the run there"
    return f"nothing to do: {same}; its verdict is {results.verdict}"


def run_document(results: Results, written: Sequence[str]) -> dict[str, object]:
    """Return what a run comes to as plain JSON values: its verdict, its gates, its findings and its files."""
    return {
        "name": results.name, "as_of": results.as_of, "spec_sha256": results.spec_sha256,
        "evidence_sha256": results.evidence_sha256, "verdict": results.verdict,
        "gates": [gate.model_dump(by_alias=True) for gate in results.gates],
        "standards": [standard.model_dump(by_alias=True) for standard in results.standards],
        "findings": [finding.model_dump(by_alias=True) for finding in results.findings],
        "warnings": [warning.model_dump() for warning in results.warnings], "files": list(written),
    }


def render_folder(
    folder: str, forms: Sequence[str], template: str | Literal[False] | None, key: str | None
) -> None:
    """Render the card again beside its results, each file replaced whole."""
    from evalpipe.base.ed25519 import signer
    from evalpipe.run import render
    from evalpipe.runs.record import replace_files

    by = signer(key)
    card = render(folder, forms or None, template=template)
    with telling_lost_signature(folder):
        replace_files(folder, card, by)
    for name in card:
        click.echo(str(Path(folder) / name))


def recalibrate_file(results: str, model: str, data: str, out: str, fitted_on: str | None) -> None:
    """Recalibrate the predictions of a file and write them beside its columns."""
    from evalpipe.recalibration import recalibrate, write

    frame = recalibrate(results, model, data, fitted_on)
    write(frame, Path(out))
    click.echo(f"{out}: {frame.height:,} {'row' if frame.height == 1 else 'rows'}")
