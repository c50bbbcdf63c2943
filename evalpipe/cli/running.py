"""`evalpipe run` and `evalpipe render`."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from evalpipe.cli.interrupt import Interruptible, watch
from evalpipe.cli.output import printing
from evalpipe.cli.progress import Bar, Lines
from evalpipe.run import Progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.results import FailOn, Results
    from evalpipe.spec.models import Spec


def run_spec(
    path: str, out: str | None, overrides: Sequence[str], fail_on: FailOn, form: str, *, show_progress: bool,
    cache: bool,
) -> bool:
    """Run a spec file, then print the summary, the gates and the paths of what was written; tell whether gates hold."""
    from evalpipe.run import load, run

    watch()
    shown = nullcontext(Progress()) if not show_progress else Bar() if sys.stderr.isatty() else Lines()
    with shown as progress:
        spec = load(path, overrides)
        folder = Path(out) if out is not None else Path("reports") / spec.name
        watched = Interruptible(progress)
        results = run(spec, out=folder, progress=watched, fail_on=fail_on, cache=cache)
    # The results are safe by now, and the error of an output that is full says so.
    with printing(f"everything was written to '{folder}'"):
        _print(results, spec, folder, form, watched.moved)
    return results.holds(fail_on)


def _print(results: Results, spec: Spec, folder: Path, form: str, moved: str | None) -> None:
    """Print the summary, the gates and the paths of what was written, or all of it as one JSON document."""
    from evalpipe.cli.findings import print_findings
    from evalpipe.cli.gates import print_annotations, print_gates
    from evalpipe.cli.standards import annotate_standards, print_standards
    from evalpipe.cli.summary import print_summary
    from evalpipe.formats import files

    rows = () if results.row_file is None else (results.row_file.file,)
    written = [str(folder / name)
               for name in (*files(spec.report.formats, judged=results.judged).values(), "results.json", *rows)]
    if form == "json":
        document = run_document(results, written) | {"signatures_moved": moved and str(folder / moved)}
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    print_summary(results)
    print_gates(results, spec, folder)
    print_standards(results)
    print_findings(results)
    if form == "github":
        print_annotations(results, spec)
        annotate_standards(results, spec)
    if moved is not None:
        click.echo(f"\nthis card is not signed: the signatures here were of other results, and are in {folder / moved}")
    click.echo("\n" + "\n".join(written))


def run_document(results: Results, written: Sequence[str]) -> dict[str, object]:
    """Return what a run comes to as plain JSON values: its verdict, its gates, its findings and its files."""
    verdict = results.verdict if results.judged else None
    return {
        "name": results.name, "spec_sha256": results.spec_sha256, "evidence_sha256": results.evidence_sha256,
        "verdict": verdict, "gates": [gate.model_dump(by_alias=True) for gate in results.gates],
        "standards": [standard.model_dump(by_alias=True) for standard in results.standards],
        "findings": [finding.model_dump(by_alias=True) for finding in results.findings],
        "warnings": [warning.model_dump() for warning in results.warnings], "files": list(written),
    }


def render_folder(folder: str, forms: Sequence[str], template: str | Literal[False] | None) -> None:
    """Render the card again beside its results, each file replaced whole."""
    from evalpipe.record import replace_files
    from evalpipe.run import render

    card = render(folder, forms or None, template=template)
    replace_files(folder, card)
    for name in card:
        click.echo(str(Path(folder) / name))


def recalibrate_file(results: str, model: str, data: str, out: str, fitted_on: str | None) -> None:
    """Recalibrate the predictions of a file and write them beside its columns."""
    from evalpipe.recalibration import recalibrate, write

    frame = recalibrate(results, model, data, fitted_on)
    write(frame, Path(out))
    click.echo(f"{out}: {frame.height:,} {'row' if frame.height == 1 else 'rows'}")
