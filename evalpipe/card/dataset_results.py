"""The card's sections on each dataset that is evaluated: its measures, its calibration, and its decisions.

Before them stand their tables: measures of models, measures of classes, and confusion matrices.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from evalpipe.card import wording
from evalpipe.card.figures import drawings
from evalpipe.card.figures.context import has_curves
from evalpipe.card.page import (
    Aside,
    BlockGroup,
    Column,
    Figures,
    Heading,
    Line,
    Row,
    Section,
    Strong,
    Styled,
    Table,
    Text,
)
from evalpipe.card.tables import (
    MEASURES_ABREAST,
    abreast,
    below,
    evaluated,
    even_groups,
    overall,
    row_anchor,
    shown,
    with_limits,
)
from evalpipe.card.wording import names_of
from evalpipe.chapters import functions
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.card.page import Block, Cell, Number
    from evalpipe.results import Confusion, Estimate, MetricSummary, ModelSummary, Results


def measure_tables(
    results: Results, dataset: str, section: str = "", listed: Sequence[Estimate] | None = None
) -> Iterator[Table]:
    """Yield tables of a dataset's measures: a row for each measure or, of many models, for each model.

    With up to `MODELS_BESIDE` models all measures stand in one table; with more a table has at most
    `MEASURES_ABREAST` measures. ``section`` is the anchor of the section of the tables. ``listed`` are the
    estimates to show in place of those that the spec lists.
    """
    metrics = {metric.name: metric for metric in results.metrics}
    estimates = [e for e in overall(results, dataset) if e.class_ is None] if listed is None else listed
    models = [model for model in results.models if any(e.model == model.name for e in estimates)]
    by_measure: dict[tuple[object, ...], dict[str, Estimate]] = {}
    for e in estimates:
        by_measure.setdefault((e.metric, e.average, *e.params.items()), {})[e.model] = e
    measures = [(metrics[str(key[0])], by_model) for key, by_model in by_measure.items()]
    if len(models) > MODELS_BESIDE:
        for side_by_side in even_groups(measures, MEASURES_ABREAST):
            yield _model_table(results, (dataset, section), models, side_by_side,
                               whole=len(side_by_side) == len(measures))
    else:
        bounded = below(e for metric, by_model in measures if _is_bounded(metric) for e in by_model.values())
        rows = tuple(_measure_row(metric, by_model, [model.name for model in models],
                                  bounded if _is_bounded(metric) else None, section) for metric, by_model in measures)
        columns = (
            Column("Measure", style="what"), *(Column(model.label, "num") for model in models),
            Column("Better", style="better side"), Column("n", "num", "n side"),
            Column("Interval", style="method side"),
        )
        yield Table(f"Measures on {dataset}{with_limits(results, rows)}", columns, rows, "", stacked=True,
                    rest="estimates.csv")


if TYPE_CHECKING:
    Measured = tuple[MetricSummary, Mapping[str, Estimate]]
    """A measure with one choice of options, and the estimate of each model."""

MODELS_BESIDE = 2
"""Models beside each other in the table of measures; more stand below each other, with the measures beside them."""


def _is_bounded(metric: MetricSummary) -> bool:
    """Tell whether a measure is from −1 to 1, so that its digits can agree with those of others."""
    low, high = metric.range
    return low is not None and high is not None and low >= -1 and high <= 1


def _measure_row(
    metric: MetricSummary, by_model: Mapping[str, Estimate], models: Sequence[str], places: int | None, section: str
) -> Row:
    """Return the row of a measure with one choice of options: each model's estimate, direction, n and method.

    ``places`` are the decimals of all numbers, None for as many as they need; ``section`` is the anchor of the
    section.
    """
    first = next(iter(by_model.values()))
    estimates = [by_model[name] for name in models if name in by_model]
    options = wording.options(wording.unnamed_options(metric.title, first.params), first.average)
    notes = (without_information(estimates), _degrees_of_freedom(estimates))
    return Row((
        (wording.metric_title(metric.title, first.params), *([Aside(f"({options})", "options")] if options else []),
         Aside(wording.definition(metric, first.params), "definition meaning"),
         *(Aside(text, "definition") for text in notes if text)),
        *abreast(by_model, models, whole=metric.is_whole, places=places), *_facts_of_measure(metric, estimates)),
        anchor=row_anchor(section, estimates))


def _facts_of_measure(metric: MetricSummary, estimates: Sequence[Estimate]) -> tuple[str, str, str]:
    """Return (which values are better, n, interval methods) of a measure as texts, over all models."""
    methods = dict.fromkeys(wording.short_method(e.method) for e in estimates if e.value is not None)
    n = dict.fromkeys(numbers.count(e.n) for e in estimates)
    shown_n = " / ".join(n) if len(n) <= MODELS_BESIDE else numbers.ranged(
        *(numbers.count(end(e.n for e in estimates)) for end in (min, max)))
    return wording.BETTER[metric.direction], shown_n or "–", ", ".join(methods) or "–"


def _degrees_of_freedom(estimates: Sequence[Estimate]) -> str:
    """Return "Degrees of freedom 3 / 4", of each model where they differ; empty where there are none."""
    dof = dict.fromkeys(str(e.degrees_of_freedom) for e in estimates if e.degrees_of_freedom is not None)
    return f"Degrees of freedom {' / '.join(dof)}" if dof else ""


def _model_table(
    results: Results, place: tuple[str, str], models: Sequence[ModelSummary], measures: Sequence[Measured], *,
    whole: bool,
) -> Table:
    """Return a table of measures with a row for each model; direction, n and interval method are in its foot.

    ``place`` is the name of the dataset and the anchor of its section. The caption names the first and the last
    measure unless the table is ``whole``.
    """
    heads, cells = [], []
    for metric, by_model in measures:
        first = next(iter(by_model.values()))
        heads.append(wording.measure(metric.title, first.params, first.average))
        numbers_of_models = abreast(by_model, [model.name for model in models], whole=metric.is_whole,
                                    places=below(by_model.values()))
        cells.append([_with_notes(number, by_model.get(model.name))
                      for model, number in zip(models, numbers_of_models, strict=True)])
    rows = tuple(Row((model.label, *row), anchor=row_anchor(place[1], [
        by_model[model.name] for _, by_model in measures if model.name in by_model], model.name))
        for model, row in zip(models, zip(*cells, strict=True), strict=True))
    facts = zip(*(_facts_of_measure(metric, list(by_model.values())) for metric, by_model in measures), strict=True)
    from_to = "" if whole else f", {heads[0]} to {heads[-1]}"
    return Table(
        f"Measures on {place[0]}{from_to}{with_limits(results, rows)}",
        (Column("Model", style="what"), *(Column(head, "num") for head in heads)), rows, "by-model", stacked=True,
        foot=tuple(Row((name, *row)) for name, row in zip(("Better", "n", "Interval"), facts, strict=True)),
        rest="estimates.csv")


def _with_notes(number: Number, estimate: Estimate | None) -> Cell:
    """Return a number with what is noted of it on further lines: its value without information, degrees of freedom."""
    if estimate is None:
        return number
    notes = [text for text in (without_information([estimate]), _degrees_of_freedom([estimate])) if text]
    return (number, *(Aside(text, "definition") for text in notes)) if notes else number


def without_information(estimates: Sequence[Estimate]) -> str:
    """Return in words the values if outcome and prediction were independent, and the skills; empty without any."""
    if all(e.no_information is None for e in estimates):
        return ""
    values, skills = (
        " / ".join("–" if value is None else numbers.number(value) for value in column)
        for column in ([e.no_information for e in estimates], [e.skill for e in estimates])
    )
    has_skill = any(e.skill is not None for e in estimates)
    return f"Without information {values}" + (f"; skill {skills}" if has_skill else "")


CLASS_MEASURES = 4
"""Measures side by side in a table of classes."""


def class_blocks(results: Results, dataset: str) -> Iterator[Block]:
    """Yield tables of the measures of each class, model by model, at most `CLASS_MEASURES` measures in each."""
    estimates = [e for e in overall(results, dataset) if e.class_ is not None]
    if not estimates:
        return
    yield Heading("Measures of each class")
    yield Text("Each class is the event, against all others. Rows: those of this true class.", "lead")
    titles = {metric.name: metric.title for metric in results.metrics}
    is_counted = results.weight is not None and results.weight.get("kind") == "frequency"
    sizes = {level.level: numbers.count(level.weight if is_counted else level.rows)
             for summary in results.datasets if summary.name == dataset for level in summary.levels}
    for model in results.models:
        measures: dict[str, dict[str | None, Estimate]] = {}
        for e in (e for e in estimates if e.model == model.name):
            params = {key: value for key, value in e.params.items() if key != "prevalence" or isinstance(value, str)}
            measures.setdefault(wording.measure(titles[e.metric], params), {})[e.class_] = e
        places = {name: below(by_level.values()) for name, by_level in measures.items()}
        for start in range(0, len(measures), CLASS_MEASURES):
            names = list(measures)[start : start + CLASS_MEASURES]
            rows = tuple(Row((level, sizes[level], *(
                shown(measures[name][level], places=places[name]) for name in names))) for level in results.levels)
            columns = (Column("Class"), Column("Rows", "num"), *(Column(name, "num") for name in names))
            yield Table(f"{model.label}{with_limits(results, rows)}", columns, rows, "classes",
                        label=f"Measures of each class, {model.label} on {dataset}")


SHADED = 4
"""The levels from which on cells are shaded by their share of the row, and leave out that of the whole."""


CROWDED = 10
"""The levels from which on cells have whole per cents, so that a phone and a page have room for them."""

MOST_LETTERS = 28
"""Letters that the heads of many columns have together, the longest word of each; longer ones are numbers of rows."""


@dataclass(frozen=True, slots=True)
class Shading:
    """What darkens the cells of matrices: their ``counts`` or their ``shares`` of the row, None where nothing does.

    ``many`` says that there are many levels, so that cells leave out their share of the whole.
    """

    by: Literal["counts", "shares"] | None
    many: bool
    by_predicted: bool = False
    """Whether the rows are the predicted levels, and the columns the true ones."""
    crowded: bool = False
    """Whether there are so many levels that their per cents are whole."""

    @classmethod
    def of(cls, results: Results) -> Shading:
        """Return the shading that the spec requests; without a request, many levels are shaded by their shares."""
        has_many_levels, requested = len(results.levels) >= SHADED, results.spec.get("report", {}).get("confusion")
        table = requested if isinstance(requested, dict) else {"shade": requested}
        return cls(table.get("shade") or ("shares" if has_many_levels else None), has_many_levels,
                   table.get("rows") == "predicted", len(results.levels) >= CROWDED)

    def style(self, count: float, row_total: float, largest: float) -> str:
        """Return the style of a cell, a shade from 0 to 10: ``count`` over ``row_total``, or over ``largest``."""
        total = largest if self.by == "counts" else row_total
        return "" if self.by is None else f" shade-{math.ceil(10 * count / total) if total else 0}"

    @property
    def meaning(self) -> str:
        """The sentence part that says what a strong shade means; empty without shades."""
        larger = {"counts": "its count", "shares": "its share of the row"}
        return "" if self.by is None else f"; the stronger the colour of a cell, the larger {larger[self.by]}"


def confusion_blocks(results: Results, dataset: str) -> Iterator[Block]:
    """Yield the confusion matrices of a dataset, without those of slices and of recalibrated variants."""
    matrices = [matrix for matrix in results.confusion
                if matrix.dataset == dataset and matrix.slice is None and matrix.variant == "original"]
    yield from _matrix_blocks(results, matrices, f"Confusion {'matrix' if len(matrices) == 1 else 'matrices'}")


def variant_blocks(results: Results, dataset: str) -> Iterator[Block]:
    """Yield the confusion matrices of a dataset's recalibrated variants."""
    matrices = [matrix for matrix in results.confusion
                if matrix.dataset == dataset and matrix.slice is None and matrix.variant != "original"]
    yield from _matrix_blocks(results, matrices, "Confusion matrices of recalibrated variants")


def _matrix_blocks(results: Results, matrices: Sequence[Confusion], title: str) -> Iterator[Block]:
    """Yield a heading, a line on how to read the cells, and a table for each matrix; nothing without matrices."""
    if not matrices:
        return
    shading, models = Shading.of(results), {model.name: model for model in results.models}
    counts = f"Counts{' (total weights)' if wording.is_weighted(results) else ''}"
    reportable = "reportable " if any(confusion.zone for confusion in matrices) else ""
    shares = (" and per cent of the table's row" if shading.many
              else f", per cent of all {reportable}rows, and per cent of the table's row")
    yield Heading(title)
    yield Text(f"{counts}{shares}{shading.meaning}.", "lead")
    yield BlockGroup(tuple(_matrix_table(results, matrix, models[matrix.model], shading) for matrix in matrices),
                     "wide" if shading.many else "matrices")


def _matrix_table(results: Results, confusion: Confusion, model: ModelSummary, shading: Shading) -> Table:
    """Return a confusion matrix as a table: true levels by row, or predicted ones where the spec requests that."""
    matrix = [*zip(*confusion.counts, strict=True)] if shading.by_predicted else confusion.counts
    totals = [sum(row) for row in matrix]
    of_columns = [numbers.count(sum(column)) for column in zip(*matrix, strict=True)]
    sizes = sum(totals), max(map(max, matrix))
    down, across = ("Predicted", "Truth") if shading.by_predicted else ("Truth", "Predicted")
    # Heads of columns break between words alone.
    letters = sum(max(map(len, level.split()), default=0) for level in confusion.levels)
    is_numbered = shading.many and letters > MOST_LETTERS
    heads = [f"{k}" for k in range(1, len(confusion.levels) + 1)] if is_numbered else confusion.levels
    labels: list[Cell] = [(Strong(head), f" {level}") if is_numbered else level
                          for head, level in zip(heads, confusion.levels, strict=True)]
    columns = (Column(down, style="corner"), *(Column(head, "num", over=across) for head in heads),
               Column("Total", "num"))
    names = _cell_names(results, confusion, shading)
    rows = tuple(
        Row((label, *(_matrix_cell(count, total, sizes, shading, right=i == j, name=names.get((i, j), ""))
                      for j, count in enumerate(counts)), numbers.count(total)))
        for i, (label, counts, total) in enumerate(zip(labels, matrix, totals, strict=True)))
    model_name = names_of(results).model(model.name, confusion.variant)
    is_tall = is_numbered or len(confusion.levels) > CROWDED  # on a phone a row has its label on a line of its own
    style = f"confusion{' many' if shading.many else ''}{' tall' if is_tall else ''}"
    return Table((model_name, *_prediction_rules(results, confusion, model)), columns, rows, style,
                 label=f"Confusion matrix of {model_name} on {confusion.dataset}",
                 foot=(Row(("Total", *of_columns, numbers.count(sizes[0]))),))


CELLS = {(True, True): "TP", (True, False): "FN, type II error", (False, True): "FP, type I error",
         (False, False): "TN"}
"""The cells of a binary matrix, by whether the truth and the prediction are the event."""


def _cell_names(results: Results, confusion: Confusion, shading: Shading) -> dict[tuple[int, int], str]:
    """Return the names of the cells of a binary matrix by (row, column) of its table; empty of several levels."""
    if results.event is None or len(confusion.levels) > 2:
        return {}
    events = [level == results.event for level in confusion.levels]
    return {(j, i) if shading.by_predicted else (i, j): CELLS[truth, prediction]
            for i, truth in enumerate(events) for j, prediction in enumerate(events)}


def _matrix_cell(
    count: float, row_total: float, sizes: tuple[float, float], shading: Shading, *, right: bool, name: str = ""
) -> Styled:
    """Return a cell of a confusion matrix: its count and ``name``, and its shares of all rows and of its row.

    ``sizes`` are the total and the largest count of the matrix; ``right`` says that true and predicted level
    agree.
    """
    style, (total, largest) = "right" if right else "wrong", sizes
    style += shading.style(count, row_total, largest)
    if not shading.many:
        return Styled((Strong(numbers.count(count)), *([Line(name, "shares")] if name else []),
                       Line(f"{numbers.percent(count, total)} of all", "shares"),
                       Line(f"{numbers.percent(count, row_total)} of row", "shares")), style)
    share = numbers.whole_percent if shading.crowded else numbers.percent
    text: Cell = (Strong(numbers.count(count)), Line(share(count, row_total), "shares")) if count else (
        Aside(numbers.count(count), "none"))
    return Styled(text, style)


def _prediction_rules(results: Results, confusion: Confusion, model: ModelSummary) -> Iterator[Aside]:
    """Yield sentences that say how the levels were predicted, and which rows are in no cell.

    The rule is on a "prediction" column, the most probable "level", or the "probability" or "score" that a threshold
    is on. A recalibrated variant is always classified by its probabilities.
    """
    ruled_by = "probability" if results.task == "binary" else "level"
    if confusion.variant == "original" and "prediction" in model.columns:
        ruled_by = "prediction"
    elif confusion.variant == "original" and "score" in model.columns and model.scale is None:
        ruled_by = "score"
    yield Aside(wording.prediction_rule(confusion, ruled_by), "rule")
    for sentences in functions("card", "matrix"):
        yield from (Aside(sentence, "rule") for sentence in sentences(results, confusion, ruled_by))


COUNTED = (
    "n is the denominator of the measure: for sensitivity the events, for precision the predicted events. For "
    "measures that are not a share, and for means over classes, n is all observations used."
)


def sections(results: Results) -> Iterator[Section]:
    """Yield for each evaluated dataset the sections on its results, its calibration and its predicted levels."""
    for anchor, dataset in evaluated(results):
        dataset_number, name = anchor.rpartition("-")[2], dataset.name
        leads = (Text(sentence, "lead") for sentences in functions("card", "reading")
                 for sentence in sentences(results, name))
        yield Section(anchor, f"Results on {name}", (
            *leads, *measure_tables(results, name, anchor), *((Text(COUNTED, "small"),) if results.levels else ()),
            *class_blocks(results, name), Figures(partial(drawings, results, name, "results"))))
        if has_curves(results, name, "calibration"):
            yield Section(f"calibration-{dataset_number}", f"Calibration on {name}", (
                Figures(partial(drawings, results, name, "calibration")),), part="calibration")
        matrices = tuple(confusion_blocks(results, name))
        if matrices or has_curves(results, name, "decisions"):
            yield Section(f"decisions-{dataset_number}", f"Predicted levels on {name}", (
                *matrices, Figures(partial(drawings, results, name, "decisions"))), part="decisions")
