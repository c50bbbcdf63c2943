"""The card's appendix: further figures and tables of each dataset, definitions of measures, and references in full."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evalpipe.base import constants
from evalpipe.card import wording
from evalpipe.card.dataset_results import measure_tables, variant_blocks
from evalpipe.card.figures import drawings
from evalpipe.card.figures.context import has_curves
from evalpipe.card.method import references
from evalpipe.card.page import BlockGroup, Code, Column, Figures, Formula, Heading, Line, Row, Section, Table, Text
from evalpipe.card.references import cited, reference_anchor, short_and_full_reference
from evalpipe.card.tables import MODELS_ABREAST, OF_FINDINGS, curves_of, evaluated, labels, shown, with_limits
from evalpipe.results.curves.calibration import GainTable
from evalpipe.results.curves.residuals import KindQuantiles, ResidualQuantiles
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from evalpipe.card.page import Block, Cell
    from evalpipe.results import MetricSummary, Results


SIZES = {"probability_rmse": "RMSE", "probability_mae": "MAE", "probability_mad": "MAD (median)"}
"""The measures of how large residuals of probabilities are, with their heads."""


def residual_blocks(results: Results, dataset: str) -> Iterator[Block]:
    """Yield tables of the quantiles of a dataset's residuals, of every kind; nothing where no model has residuals."""
    curves = {c.model: c for c in curves_of(results, dataset, ResidualQuantiles) if c.variant == "original"}
    if not curves:
        return
    if results.levels:
        yield Heading("Residuals of probabilities")
        yield _residual_sizes(results, dataset)
    if not results.levels:
        meaning = "Residual = observed − predicted; above zero, the prediction was too low."
    elif results.event is None:
        meaning = "The residual of a row is 1 − the probability of its true level, so it is never below zero."
    else:
        meaning = "The residual of a row is 1 − p for an event and −p for the others."
    unit = f" All in {results.unit}." if results.unit else ""
    yield Heading("Residual quantiles")
    yield Text(f"{meaning} Each row gives one quantile of the residuals and, separately, of the absolute "
               f"residuals, interpolated between rows (R's type 7). 50% is the median.{unit}", "lead")
    yield from _quantile_tables(results, dataset, curves)
    for kind in ("deviance", "pearson"):
        yield from _quantiles_of_kind(results, dataset, kind)


def _quantiles_of_kind(results: Results, dataset: str, kind: str) -> Iterator[Block]:
    """Yield a heading and tables of quantiles of "deviance" or "pearson" residuals; nothing without any."""
    curves = {c.model: c for c in curves_of(results, dataset, KindQuantiles, f"{kind}_residual_quantiles")
              if c.variant == "original"}
    if not curves:
        return
    yield Heading(f"{kind.capitalize()} residual quantiles")
    clipped = sum(curve.notes.clipped or 0.0 for curve in curves.values())
    if clipped:
        subject = "probability of the true level is" if clipped == 1 else "probabilities of the true level are"
        yield Text(f"{numbers.count(clipped)} {subject} below {constants.CLIP:g} and "
                   f"{'counts' if clipped == 1 else 'count'} as that.", "lead")
    yield from _quantile_tables(results, dataset, curves, f"{kind.capitalize()} residual")


def _residual_sizes(results: Results, dataset: str) -> Table:
    """Return a table of RMSE, MAE and MAD of the residuals of probabilities, one row for each model."""
    sizes = {(e.model, e.metric): e for e in (*results.rows, *results.diagnostics)
             if e.dataset == dataset and e.variant == "original" and e.slice is None and e.metric in SIZES}
    rows = [Row((model.label, *(shown(sizes[model.name, metric]) for metric in SIZES)))
            for model in results.models if all((model.name, metric) in sizes for metric in SIZES)]
    columns = Column("Model", style="what"), *(Column(head, "num") for head in SIZES.values())
    return Table(f"Size of the residuals on {dataset}{with_limits(results, rows)}", columns, tuple(rows), "compared",
                 stacked=True)


def _quantile_tables(
    results: Results, dataset: str, curves: Mapping[str, ResidualQuantiles | KindQuantiles], name: str = "",
) -> Iterator[Table]:
    """Yield tables of residual quantiles, with `MODELS_ABREAST` models each; residuals with a ``name`` have no unit."""
    models = [model for model in results.models if model.name in curves]
    unit = f", in {results.unit}" if results.unit and not name else ""
    for start in range(0, len(models), MODELS_ABREAST):
        abreast = models[start : start + MODELS_ABREAST]
        points = [curves[model.name].points for model in abreast]
        largest = max(abs(value) for point in points for value in point.residual if value is not None)
        digits = numbers.significant(largest, 4)
        columns, cells = [Column("Share of rows", "num")], [[f"{100 * (share or 0):.0f}%" for share in points[0].share]]
        for model, point in zip(abreast, points, strict=True):
            for head, values in (("Residual", point.residual), ("Absolute", point.absolute_residual)):
                columns.append(Column(head, "num", over=model.label))
                cells.append(["–" if value is None else numbers.fixed(value, digits) for value in values])
        yield Table(
            f"{name or 'Residual'} quantiles on {dataset}{unit}", tuple(columns),
            tuple(map(Row, zip(*cells, strict=True))), "gain",
            label=f"{name or 'Residual'} quantiles of {', '.join(model.label for model in abreast)} on {dataset}",
        )


OF_GROUP = (("Rows", "population"), ("Events", "captured"), ("Random", "random"), ("Perfect", "wizard"))
SO_FAR = (("Rows", "population_so_far", "cumulative_population"), ("Events", "captured_so_far", "cumulative_captured"),
          ("Random", "random_so_far", "cumulative_population"), ("Perfect", "wizard_so_far", "cumulative_wizard"))
"""Heads, counts and their shares; random order finds the share of the events that it has of the rows."""

PROFITS = (("Profit", "profit"), ("Random", "profit_random"), ("Perfect", "profit_wizard"))

EVEN = 1_000_000
"""Rows below which every number fits into columns of one width, which are laid out in half the time."""


def gain_blocks(results: Results, dataset: str) -> Iterator[Block]:
    """Yield the gain tables of a dataset, one for each model, with a text that explains them; nothing without any."""
    curves = [curve for curve in curves_of(results, dataset, GainTable) if curve.variant == "original"]
    if not curves:
        return
    groups, profit = len(curves[0].points.group), curves[0].points.profit is not None
    profit_note = (" Profit is that of contacting all rows so far, at the benefit and the costs under Costs and profit."
              if profit else "")
    yield Heading(f"Gain {'table' if len(curves) == 1 else 'tables'}")
    yield Text(
        f"Rows are ranked by score, highest first, and cut into {wording.number_word(groups)} groups; tied rows are "
        "divided in proportion. Random order finds events at the observed prevalence; perfect order finds all events "
        "first. Lift is relative to random order. Separation is the share of events found so far minus the share of "
        "non-events; its maximum is close to the K-S statistic. Below a count so far stands its share of all rows or "
        f"of all events.{profit_note}", "lead")
    for curve in curves:
        yield _gain_table(curve, labels(results)[curve.model])


def _gain_table(curve: GainTable, label: str) -> Table:
    """Return the gain table of a model: a row for each group, with the counts of the group and of all groups so far."""
    points = curve.points.columns
    columns: list[Column] = []
    cells: list[list[Cell]] = []

    def add(head: str, over: str, name: str, write: Callable[[float], str]) -> None:
        """Append a column with this ``head`` and ``write`` of each value in the curve's column ``name``."""
        columns.append(Column(head, "num", over=over))
        cells.append(["–" if value is None else write(value) for value in points[name]])

    def lift(value: float) -> str:
        return numbers.fixed(value, 2)

    def percent(value: float) -> str:
        return numbers.percent(value, 1)

    columns.append(Column("Group"))
    cells.append(["–" if value is None else numbers.count(value) for value in points["group"]])
    for head, name in OF_GROUP:
        add(head, "In the group", name, numbers.count)
    add("Lift", "In the group", "lift", lift)
    for head, name, share in SO_FAR:
        columns.append(Column(head, "num", over="So far"))
        cells.append([(numbers.count(count or 0.0), Line(percent(share_of_all or 0.0), "options"))
                      for count, share_of_all in zip(points[name], points[share], strict=True)])
    add("Lift", "So far", "cumulative_lift", lift)
    add("Separation", "So far", "separation", percent)
    if "profit" in points:
        digits = numbers.decimals(max(abs(value or 0.0) for _, name in PROFITS for value in points[name]))
        for head, name in PROFITS:
            add(head, "Profit so far", name, lambda value: numbers.fixed(value, digits))
    even = "profit" not in points and max(count or 0.0 for count in points["population_so_far"]) < EVEN
    return Table(label, tuple(columns), tuple(map(Row, zip(*cells, strict=True))), "gain even" if even else "gain",
                 label=f"Gain table of {label} on {curve.dataset}")


def further_sections(results: Results) -> Iterator[Section]:
    """Yield for each evaluated dataset a section of further figures, gain tables, residuals and variants."""
    for dataset_anchor, dataset in evaluated(results):
        no_curves_reason = "" if has_curves(results, dataset.name, "appendix") else (
            "There are no curves: no model gives probabilities on this dataset, or a level is absent."
            if results.levels else "There are no curves.")
        yield Section(f"further-{dataset_anchor.rpartition('-')[2]}", f"Further figures and tables on {dataset.name}", (
            *((Text(no_curves_reason),) if no_curves_reason else ()),
            Figures(partial(drawings, results, dataset.name, "appendix")),
            *gain_blocks(results, dataset.name), *residual_blocks(results, dataset.name),
            *variant_blocks(results, dataset.name)), part="appendix")


def finding_sections(results: Results) -> Iterator[Section]:
    """Yield the section of the measures that findings rest on and no other table has; none where all are listed."""
    tables: list[Block] = []
    for _, dataset in evaluated(results):
        listed = [e for e in results.diagnostics if e.dataset == dataset.name and e.variant == "original"
                  and e.metric not in SIZES]
        tables += measure_tables(results, dataset.name, OF_FINDINGS, listed) if listed else ()
    if tables:
        yield Section(OF_FINDINGS, "Measures that only findings use", tuple(tables), part="appendix")


CELLS = (
    "TP: events predicted as events. FP: non-events predicted as events. FN: events predicted as non-events. TN: "
    "non-events predicted as non-events. Each counts rows (with case weights: their total weight); n is the sum of "
    "the four."
)


def definition_sections(results: Results) -> Iterator[Section]:
    """Yield the section that defines every measure of the run."""
    blocks: list[Block] = []
    if any("TP" in metric.formula or "FP" in metric.formula for metric in results.metrics):
        blocks.append(Text(CELLS))
    for metric in results.metrics:
        blocks.append(BlockGroup(tuple(_definition(results, metric)), "measure"))
        for title, matrix in metric.matrices.items():
            rows = tuple(Row((level, *map(numbers.plain, of_level)))
                         for level, of_level in zip(results.levels, matrix, strict=True))
            blocks.append(Table(
                f"{title.capitalize()}: true level by row, predicted level by column",
                (Column("Truth"), *(Column(level, "num") for level in results.levels)), rows, "matrix-of",
                label=f"{metric.title}: {title}"))
    yield Section("definitions", "Definitions of the measures", tuple(blocks), part="appendix")


def _definition(results: Results, metric: MetricSummary) -> Iterator[Block]:
    """Yield the name, the definition, the formula, the range and the interval method of a measure."""
    yield Heading((metric.title, " ", Code(metric.name)), anchor=f"measure-{metric.name}")
    yield Text(metric.definition)
    if metric.formula:
        yield Formula(metric.name, metric.formula)
    reason = wording.chosen_methods(results.intervals.methods.get(metric.name, ()))
    interval = f" Interval: {reason}." if reason else ""
    about = f"Range {numbers.bounds(*metric.range)}. {wording.BETTER_SENTENCES[metric.direction]} "
    source = (" Reference: ", *cited(metric.reference), ".") if metric.reference else ()
    yield Text((about, wording.undefined(metric), interval, *source), "small")


def reference_sections(results: Results) -> Iterator[Section]:
    """Yield the section of full references, in the order of authors; nothing where none is cited."""
    cited = [*references(results), *(metric.reference for metric in results.metrics)]
    full_by_short = dict(short_and_full_reference(text) for reference in cited for text in reference.split("; "))
    full_texts = {reference_anchor(short): full for short, full in full_by_short.items() if full}
    ordered = sorted(full_texts.items(), key=lambda entry: entry[1].lower())
    if ordered:
        yield Section("references", "References", tuple(
            Text(full, "reference", anchor=key) for key, full in ordered), part="appendix")
