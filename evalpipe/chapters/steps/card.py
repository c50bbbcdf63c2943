"""What the card says of measures per step of a fit: its section, findings, the words they share, and figures."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evalpipe.card.figures.axes import Axis, number_axis
from evalpipe.card.figures.context import context_of, or_nan, with_series
from evalpipe.card.figures.labels import LineLabel, label_lines
from evalpipe.card.figures.panel import columns
from evalpipe.card.figures.svg import Clauses, drawing, more_models_than_inks
from evalpipe.card.method import Procedure
from evalpipe.card.page import Aside, Column, Figures, Group, Number, Row, Section, Table, Text
from evalpipe.card.tables import better_side, metric_of
from evalpipe.card.wording import MOST_NAMED, joined, more_models, names_of
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, Unless, rule
from evalpipe.findings.words import anchor, finding, grouped
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.figures.context import Context
    from evalpipe.card.figures.panel import Panel
    from evalpipe.card.figures.svg import Drawing, KeyEntry
    from evalpipe.card.page import Cell
    from evalpipe.chapters.steps.records import StepHistory
    from evalpipe.results import ModelSummary, Results
    from evalpipe.results.document import Finding


def sections(results: Results) -> Iterator[Section]:
    """Yield a section for each dataset on which models have steps."""
    for number, dataset in enumerate((dataset.name for dataset in results.datasets), 1):
        rows = step_rows(results, dataset)
        if rows:
            verdicts = [finding.text for finding in results.findings if finding.section == f"steps-{number}"]
            lead = (f"Measures of each model at every step of its fit, on all rows of {dataset}, without intervals. "
                    f"All other parts of this card show {shown_steps(results, rows)}.")
            yield Section(f"steps-{number}", f"Measures per step on {dataset}", (
                Text(lead, "lead"), *map(Text, verdicts), _table(results, dataset, rows),
                *(() if any(OPTIMISTIC in verdict for verdict in verdicts) else (Text(OPTIMISTIC, "small"),)),
                Figures(partial(step_figures, results, dataset))), part="results")


def facts(results: Results, model: ModelSummary) -> Iterator[tuple[str, str]]:
    """Yield which step of a model is shown, of how many; nothing of a model without steps."""
    row = next((row for row in results.steps if row.model == model.name), None)
    if row is not None:
        last = ", the last" if row.shown == row.steps[-1] else ""
        yield "Step", f"{row.shown}, the only one" if len(
            row.steps) == 1 else f"{row.shown}{last} of {_steps_text(row)}"


def reading(results: Results, dataset: str) -> Iterator[str]:
    """Yield a sentence on the step of each model at which the measures of a dataset are shown."""
    rows = step_rows(results, dataset)
    if rows:
        yield f"Models that have steps are shown at one of them: {shown_steps(results, rows)}."


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield the method note on measures per step; nothing where no model has steps."""
    if results.steps:
        rules = any(threshold.rule != "fixed" for threshold in results.thresholds)
        chosen = " A threshold that a rule chose is that of the shown step, at every step." if rules else ""
        yield Procedure("Measures per step", (
            "Every step has all rows of the dataset once, and is measured as the shown step is, with the same "
            f"threshold.{chosen} The values have no intervals. The best step is the first whose value no other step "
            "betters; values that differ by rounding alone tie. It is chosen on the rows that judge it: to choose a "
            "step for use, take rows of their own, and judge it on others."))


def _steps_text(row: StepHistory) -> str:
    """Return the number of steps, with the first and the last, as text."""
    if len(row.steps) == 1:
        return "1 step"
    return f"{numbers.count(len(row.steps))} steps, {numbers.ranged(str(row.steps[0]), str(row.steps[-1]))}"


def _table(results: Results, dataset: str, rows: Sequence[StepHistory]) -> Table:
    """Return the table of each measure at the first, the last and the best step, model by model."""
    columns = (Column("Measure", style="what"), Column("First step", "num"), Column("Last step", "num"),
               Column("Shown step", "num", shown=any(row.shown != row.steps[-1] for row in rows)),
               Column("Best", "num"), Column("Best step", "num"))
    cells: list[Row | Group] = []
    for number, row in enumerate(rows):
        if not number or rows[number - 1].model != row.model:
            about = Aside(f"{_steps_text(row)}; step {row.shown} shown", "options")
            cells.append(Group((f"{label_of(results, row)}: ", about)))
        better = {"lowest": "lower is better", "highest": "higher is better"}.get(
            better_end(results, row) or "", "neither side is better")
        values = [Number("–") if value is None else
                  Number(value_text(results, row, value), None, None, numbers.exact(value))
                  for value in (row.values[0], row.values[-1], row.at(row.shown), row.best_value)]
        best: Cell = "–" if row.best is None else str(row.best)
        if row.best is not None and row.ties:
            best = (str(row.best), Aside(f"and {numbers.count(row.ties)} more", "options"))
        cells.append(Row(((measure_title(results, row), Aside(better, "definition")), *values, best)))
    return Table(f"Measures at the first, the last and the best step on {dataset}", columns, tuple(cells), "compared",
                 stacked=True)


if TYPE_CHECKING:
    Rivals = tuple[StepHistory, StepHistory]
    """A proper score of a model at its steps, and a measure of its predicted levels."""

PROPER = ("log_loss", "brier", "rps")
"""Scores that are best, on average, for the true probabilities."""

OF_LEVELS = ("accuracy", "misclassifications", "error_rate", "balanced_accuracy")
"""Measures that see predicted levels alone."""


NO_STEPS = Unless("no-steps", by_results=lambda results: not results.steps)


@rule("note", unless=(NO_STEPS,))
def best_steps_differ(results: Results) -> Iterator[Claim]:
    """Whether a proper score and accuracy, or misclassifications, are best at different steps of a fit."""
    for rows in _histories_by_model(results):
        scores, counts = _first_with_best(rows, PROPER), _first_with_best(rows, OF_LEVELS)
        if scores is not None and counts is not None:
            shared = set(scores.steps) & set(counts.steps)
            if not any(scores.is_best(step) and counts.is_best(step) for step in shared):
                yield Claim((scores, counts), best_steps_differ_findings)


@rule("note", unless=(NO_STEPS,))
def step_not_best(results: Results) -> Iterator[Claim]:
    """Whether the step that the card shows has a worse value than an earlier or a later one."""
    for rows in _histories_by_model(results):
        row = _first_with_best(rows, (*PROPER, *dict.fromkeys(row.metric for row in rows)))
        if row is not None and row.shown != row.best and not row.is_best(row.shown) and (
            value_text(results, row, row.at(row.shown)) != value_text(results, row, row.best_value)):
            yield Claim(row, shown_step_findings)


def _histories_by_model(results: Results) -> Iterator[list[StepHistory]]:
    """Yield the histories of all measures of each model on each dataset, as lists."""
    yield from grouped(results.steps, lambda row: (row.dataset, row.model))


def _first_with_best(rows: Sequence[StepHistory], metrics: Sequence[str]) -> StepHistory | None:
    """Return the history of the first of these ``metrics`` that has a best step; None where none has."""
    with_best = (row for metric in metrics for row in rows if row.metric == metric and row.best is not None)
    return next(with_best, None)


def best_steps_differ_findings(results: Results, rows: Sequence[Rivals]) -> Iterator[Finding]:
    """Yield findings on models whose best steps by a proper score and by accuracy or misclassifications differ."""
    for pairs in grouped(rows, lambda pair: (pair[0].dataset, pair[0].metric, pair[1].metric)):
        scores, counts = pairs[0]
        score, count = measure_title(results, scores), measure_title(results, counts)
        if len(pairs) == 1:
            at_best_score = value_text(results, counts, None if scores.best is None else counts.at(scores.best))
            where = (f"{label_of(results, scores)}: {score} is best at step {scores.best} "
                     f"({value_text(results, scores, scores.best_value)}), {count} at step {counts.best} "
                     f"({value_text(results, counts, counts.best_value)}; {at_best_score} at step {scores.best}).")
        else:
            steps_of_models = [f"{a.best} and {b.best} for {label_of(results, a)}" for a, b in pairs[:MOST_NAMED]]
            where = (f"{score} and {count} are best at different steps: {'; '.join(steps_of_models)}"
                     f"{more_models('; ', len(pairs))}.")
        meaning = (f"{score} judges the probabilities, {count} the predicted levels alone: choose the step by what "
                   "will be used.")
        yield finding("note", weights.STEPS_DIFFER, f"{where} {meaning} {OPTIMISTIC}",
                      anchor(results, scores, "steps"), [row for pair in pairs for row in pair])


def shown_step_findings(results: Results, rows: Sequence[StepHistory]) -> Iterator[Finding]:
    """Yield findings on models whose shown step has a worse value than the best one."""
    for group in grouped(rows, lambda row: (row.dataset, row.metric)):
        parts = []
        for row in group[:MOST_NAMED]:
            shown, best = (value_text(results, row, None if step is None else row.at(step))
                           for step in (row.shown, row.best))
            parts.append(f"{label_of(results, row)} {shown} at step {row.shown}, {best} at step {row.best}")
        more = more_models("; ", len(group))
        text = (f"The step that this card shows is not the best by {measure_title(results, group[0])}: "
                f"{'; '.join(parts)}{more}.")
        yield finding("note", weights.STEP_NOT_BEST, text, anchor(results, group[0], "steps"), group)


OPTIMISTIC = "A best step is chosen on the rows that judge it, so its value is optimistic."
ENDS = {"minimize": "lowest", "maximize": "highest"}


def step_rows(results: Results, dataset: str) -> list[StepHistory]:
    """Return the histories by step of every measure and model of a dataset, model by model."""
    return [row for row in results.steps if row.dataset == dataset]


def measure_title(results: Results, row: StepHistory) -> str:
    """Return the title of a history's measure, with its options where other histories of it differ in them."""
    forms = {tuple(other.params.items()) for other in results.steps if other.metric == row.metric}
    prevalence = {name: value for name, value in row.params.items() if name == "prevalence"}
    return names_of(results).measure(row.metric, row.params if len(forms) > 1 else prevalence, row.average)


def better_end(results: Results, row: StepHistory) -> str | None:
    """Return on which side better values lie, "lowest" or "highest"; None where neither is better."""
    return ENDS.get(metric_of(results, row.metric).direction)


def label_of(results: Results, row: StepHistory) -> str:
    """Return the label of the model of a history."""
    return names_of(results).model(row.model)


def value_text(results: Results, row: StepHistory, value: float | None) -> str:
    """Return a value of the history's measure as text; a whole number of rows has no decimals."""
    if value is None:
        return "undefined"
    is_count = metric_of(results, row.metric).is_whole and value.is_integer()
    return numbers.count(value) if is_count else numbers.number(value)


def shown_steps(results: Results, rows: Sequence[StepHistory]) -> str:
    """Return which step the rest of the card shows: "Run 1 and Run 2 at step 40, their last"."""
    row_of_models = {row.model: row for row in rows}.values()
    groups: dict[tuple[int, bool], list[str]] = {}
    for row in row_of_models:
        groups.setdefault((row.shown, row.shown == row.steps[-1]), []).append(label_of(results, row))
    if len(groups) > max(1, MOST_NAMED):
        return "each model at its last step" if all(last for _, last in groups) else "each model at a step of its own"
    parts = []
    for (step, is_last), labels in groups.items():
        models = joined(labels) if len(labels) <= MOST_NAMED else f"{numbers.count(len(labels))} models"
        last = "" if not is_last else ", its last" if len(labels) == 1 else ", their last"
        parts.append(f"{models} at step {step}{last}")
    return "; ".join(parts)


def best_step_text(results: Results, rows: Sequence[StepHistory]) -> str:
    """Return the best step of each model by one measure: "Log loss: lowest at step 40 for Run 1 (0.528)"."""
    title, end = measure_title(results, rows[0]), better_end(results, rows[0])
    with_best = [row for row in rows if row.best is not None]
    if end is None or not with_best:
        return f"{title}: {'neither side is better' if end is None else 'undefined'}"
    step_texts = [f"{'first at' if row.ties else 'at'} step {row.best} for {label_of(results, row)} "
              f"({value_text(results, row, row.best_value)})" for row in with_best[:MOST_NAMED]]
    return f"{title}: {end} {joined(step_texts)}{more_models(', and ', len(with_best))}"


def best_step_in_short(results: Results, rows: Sequence[StepHistory]) -> str:
    """Return the best step of the first model by one measure: "Log loss: lowest at step 40 for Run 1"."""
    title, end = measure_title(results, rows[0]), better_end(results, rows[0])
    best = next((row for row in rows if row.best is not None), None)
    if end is None or best is None:
        return f"{title}: {'neither side is better' if end is None else 'undefined'}"
    text = f"{title}: {end} {'first ' if best.ties else ''}at step {best.best}"
    return text + (f" for {label_of(results, best)}" if len(rows) > 1 else "")


ABREAST = 3
"""Sheets of a figure, side by side where there is room."""

MOST_PANELS = 2 * ABREAST
"""Panels of a figure; further measures have a figure of their own."""

HEIGHT = 150.0
"""Pixels of a panel."""


def step_figures(results: Results, dataset: str) -> Iterator[Drawing]:
    """Yield figures of every measure of a dataset by step, the models together."""
    measures = list(grouped(step_rows(results, dataset), lambda row: (
        row.metric, tuple(row.params.items()), row.average)))
    if more_models_than_inks(results.models):
        measures = [[row] for rows in measures for row in rows]
    for start in range(0, len(measures), MOST_PANELS):
        yield _step_figure(context_of(results, dataset), measures[start : start + MOST_PANELS], start)


def _step_figure(context: Context, measures: Sequence[Sequence[StepHistory]], start: int) -> Drawing:
    """Return a figure with a panel for each measure: a line for each model, its best step, and the shown step.

    ``start`` is the number of measures in figures before this one.
    """
    results = context.results

    def draw(plot: Panel, panel_number: int) -> None:
        """Draw the lines of all models in one measure, and on top the best step of each."""
        pairs = with_series(context.series, measures[panel_number])
        for series, row in pairs:
            steps, values = list(map(float, row.steps)), list(map(or_nan, row.values))
            plot.line(steps, values, series.ink, name=series.label, dash=series.dash)
            if row.shown != row.steps[-1]:
                plot.marks([float(row.shown)], [or_nan(row.at(row.shown))], series.ink, "o", size=6, kind="ring")
        for series, row in pairs:  # above all lines
            if row.best is not None:
                plot.marks([float(row.best)], [or_nan(row.best_value)], series.ink, series.marker, size=5,
                            name=f"{series.label}, best step")

    def name(plot: Panel, panel_number: int, named: set[str]) -> list[KeyEntry]:
        """Write the name of each model that its sheet has not yet beside its line."""
        if more_models_than_inks(results.models):
            return []
        lines = [(series.name, LineLabel(series.label, series.ink, list(map(float, row.steps)),
                                         list(map(or_nan, row.values)), dash=series.dash))
                 for series, row in with_series(context.series, measures[panel_number])]
        labels = [label for model, label in lines if model not in named]
        unnamed = [label for model, label in lines if model in named]
        named.update(model for model, _ in lines)
        return label_lines(plot, labels, unnamed=unnamed)

    all_rows = [row for rows in measures for row in rows]
    apart = more_models_than_inks(results.models)  # each model has a panel of its own
    axes = [number_axis(f"{measure_title(results, rows[0])}{f', {label_of(results, rows[0])}' if apart else ''}"
                        f"{better_side(results, rows[0].metric)}",
                        [or_nan(value) for row in rows for value in row.values], most=4, room=0.08)
            for rows in measures]
    sheets = columns(_steps_axis([step for row in all_rows for step in row.steps]), axes, HEIGHT, ABREAST, draw, name)
    best = [f"{best_step_text(results, rows)}." for rows in measures]
    finding = Clauses(tuple(best_step_in_short(results, rows) for rows in measures), "measure",
                      (" ".join(best[:2]),))
    title = "Measures per step"
    has_rings = any(row.shown != row.steps[-1] for row in all_rows)
    rings = " A ring is the step that the rest of the card shows." if has_rings else ""
    caption = (f"Each measure at every step, on {context.dataset.name}; no intervals. A marker is the first step with "
               f"the best value.{rings}")
    alt = f"{title} on {context.dataset.name}. {' '.join(best)}"
    return drawing(f"d{context.place}-steps-{start}", title, (finding, caption, alt), sheets)


def _steps_axis(steps: Sequence[int]) -> Axis:
    """Return the axis of steps, whose ticks are whole numbers."""
    if len(set(steps)) == 1:
        return Axis("Step", steps[0] - 1, steps[0] + 1, ((steps[0], f"{steps[0]}"),))
    axis = number_axis("Step", map(float, steps), most=6)
    return Axis(axis.name, axis.low, axis.high, tuple(tick for tick in axis.ticks if float(tick[0]).is_integer()))
