"""`evalpipe run` and `evalpipe render`."""

from __future__ import annotations

import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evalpipe.cli.interrupt import Interruptible, watch
from evalpipe.cli.progress import Bar, Lines
from evalpipe.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.table import Table

    from evalpipe.results import Comparison, Estimate, FailOn, Results

LOSSES = ("brier", "log_loss", "rmse", "mse")
"""The measures in which the summary compares variants with their originals."""

USUAL = {("base", "e"), ("scale", "half"), ("pairs", "equal")}
"""Options that go without saying in the summary."""


def run_spec(
    path: str, out: str | None, overrides: Sequence[str], fail_on: FailOn, form: str, *, show_progress: bool
) -> bool:
    """Run a spec file, then print the summary, the gates and the paths of what was written; tell whether gates hold."""
    from evalpipe.cli.gates import print_annotations, print_gates
    from evalpipe.run import Silence, load, run

    watch()
    shown = nullcontext(Silence()) if not show_progress else Bar() if sys.stderr.isatty() else Lines()
    with shown as progress:
        spec = load(path, overrides)
        folder = Path(out) if out is not None else Path("reports") / spec.name
        results = run(spec, out=folder, progress=Interruptible(progress))
    print_summary(results)
    print_gates(results)
    if form == "github":
        print_annotations(results, spec)
    click.echo("")
    cards = (f"card.{kind}" for kind in spec.report.formats if kind != "junit")
    for name in (*cards, *(["junit.xml"] if results.gates and "junit" in spec.report.formats else []), "results.json"):
        click.echo(str(folder / name))
    return results.holds(fail_on)


def render_folder(folder: str, forms: Sequence[str]) -> None:
    """Render the card again beside its results, each file replaced whole."""
    from evalpipe.run import render

    card = render(folder, forms or None)
    try:
        _replace(Path(folder), card)
    except OSError as error:
        raise UsageError.of(
            "output-folder", f"cannot write to '{folder}': {error.strerror or error}",
            hint="render a copy of the folder that can be written",
        ) from None
    for name in card:
        click.echo(str(Path(folder) / name))


def recalibrate_file(results: str, model: str, data: str, out: str, fitted_on: str | None) -> None:
    """Recalibrate the predictions of a file and write them beside its columns."""
    from evalpipe.recalibration import recalibrate, write

    frame = recalibrate(results, model, data, fitted_on)
    write(frame, Path(out))
    click.echo(f"{out}: {frame.height:,} {'row' if frame.height == 1 else 'rows'}")


def _replace(folder: Path, card: Mapping[str, bytes]) -> None:
    with tempfile.TemporaryDirectory(dir=folder, prefix=".render-") as fresh:
        for name, content in card.items():
            (Path(fresh) / name).write_bytes(content)
        for name in card:
            (Path(fresh) / name).replace(folder / name)


def print_summary(results: Results) -> None:
    """Print one table a dataset: measures down, models across."""
    from rich.console import Console

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    for dataset in (d.name for d in results.datasets if d.role == "evaluate"):
        console.print(_table(results, dataset))
        if results.recalibration:
            console.print(_variants(results, dataset))
        for line in _decided(results, dataset):
            console.print(line, markup=False)
    for warning in results.warnings:
        console.print(f"warning: {warning.message}", style="yellow", markup=False)


def _decided(results: Results, dataset: str) -> Iterator[str]:
    """Yield the thresholds that rules chose, and who is the most desirable."""
    labels = {model.name: model.label for model in results.models}
    for row in results.thresholds:
        if row.dataset == dataset and row.variant == "original" and row.chosen_on is not None:
            limits = "" if row.lower is None or row.upper is None else f" ({row.lower:.4g}, {row.upper:.4g})"
            where = f"on {row.chosen_on}" if row.folds is None else f"cross-fitted in {row.folds} folds"
            yield f"threshold of {labels[row.model]}: {row.value:.4g}{limits}, {row.rule}, {where}"
    for first in results.desirability.overall:
        if first.dataset == dataset and first.rank == 1 and first.value is not None:
            limits = "" if first.lower is None or first.upper is None else f" ({first.lower:.4g}, {first.upper:.4g})"
            variant = "" if first.variant == "original" else f" ({first.variant})"
            sure = "" if first.probability_best is None else f", best in {first.probability_best:.1%} of replicates"
            yield f"most desirable: {labels[first.model]}{variant}, D {first.value:.4g}{limits}{sure}"


def _table(results: Results, dataset: str) -> Table:
    from rich.table import Table
    from rich.text import Text

    summary = next(d for d in results.datasets if d.name == dataset)
    events = "" if summary.events is None else f", {summary.events} events ('{results.event}')"
    title = f"{results.title}: {dataset}, n = {summary.n}{events}"
    table = Table(title=Text(title), title_justify="left", caption=_caption(results), caption_justify="left")
    table.add_column("measure")
    for model in results.models:
        table.add_column(Text(model.label), justify="right")
    rows = [row for row in results.rows if row.dataset == dataset and row.class_ is None and row.slice is None]
    rows = [row for row in rows if row.variant == "original"]
    for row in (row for row in rows if row.model == results.models[0].name):
        same = [other for other in rows if _key(other) == _key(row)]
        table.add_row(_name(results, row), *(_cell(other) for other in same))
    return table


def _variants(results: Results, dataset: str) -> Table:
    """Return the differences of every variant from its original, in the losses of probabilities or of numbers."""
    from rich.table import Table
    from rich.text import Text

    labels = {model.name: model.label for model in results.models}
    found = [
        row for row in results.comparisons
        if row.dataset == dataset and row.slice is None and row.variant != "original" and row.metric in LOSSES
        and row.class_ is None and row.baseline_dataset is None
    ]
    losses = list(dict.fromkeys(_loss(row) for name in LOSSES for row in found if row.metric == name))
    title = f"Recalibrated, less the original: {dataset}"
    table = Table(title=Text(title), title_justify="left")
    table.add_column("variant")
    titles = {metric.name: metric.title for metric in results.metrics}
    for name, at in losses:
        table.add_column(Text(titles[name] + at), justify="right")
    for key in dict.fromkeys((row.model, row.variant) for row in found):
        same = {_loss(row): row for row in found if (row.model, row.variant) == key}
        table.add_row(Text(f"{labels[key[0]]} ({key[1]})"), *(_difference(same.get(loss)) for loss in losses))
    return table


def _loss(row: Comparison) -> tuple[str, str]:
    """Name the measure of a difference, and the prevalence that it is taken at."""
    at = row.params.get("prevalence")
    return row.metric, "" if at is None else f" (at prevalence {at if isinstance(at, str) else f'{at:.4g}'})"


def _difference(row: Comparison | None) -> str:
    if row is None or row.difference is None:
        return "–"
    limits = "" if row.lower is None or row.upper is None else f" ({row.lower:.4g}, {row.upper:.4g})"
    return f"{row.difference:+.4g}{limits} {row.verdict}"


def _caption(results: Results) -> str | None:
    said = []
    if any(row.lower is not None for row in results.rows):
        said.append(f"with {results.intervals.level * 100:g} % intervals")
    if any(row.class_ is not None for row in results.rows):
        said.append("the values of single classes are in the card and in estimates.csv")
    if any(row.slice is not None for row in results.rows):
        said.append("the values of slices are in the card and in estimates.csv")
    return "; ".join(said) or None


def _name(results: Results, row: Estimate) -> str:
    title = next(metric.title for metric in results.metrics if metric.name == row.metric)
    params = {key: value for key, value in row.params.items() if (key, value) not in USUAL and key != "epsilon"}
    params = {"at prevalence" if key == "prevalence" else key: value for key, value in params.items()}
    said = [f"{key} {value}" if isinstance(value, str) else f"{key} {value:.4g}" for key, value in params.items()]
    said = [*said, (row.average or "").replace("_", " ")]
    return f"{title} ({', '.join(filter(None, said))})" if any(said) else title


def _key(row: Estimate) -> tuple[object, ...]:
    return row.metric, tuple(row.params.items()), row.average


def _cell(row: Estimate) -> str:
    if row.value is None:
        return f"undefined: {row.reason}"
    if row.lower is None or row.upper is None:
        return f"{row.value:.4g}"
    return f"{row.value:.4g} ({row.lower:.4g}, {row.upper:.4g})"
