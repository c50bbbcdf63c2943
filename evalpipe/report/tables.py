"""Tables of the card as frozen rows of finished text."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.report import equivocal, wording
from evalpipe.report.page import Group, Number, Row
from evalpipe.results.curves import calibration

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evalpipe.results import Comparison, Confusion, Estimate, MetricSummary, ModelSummary, Results

MODELS_ABREAST = 3
"""Models side by side in one table; more continue in a further table."""


def with_limits(results: Results, rows: Iterable[Row | Group]) -> str:
    """Return what the caption of a table says of intervals; nothing where no number has one."""
    cells = (cell for row in rows if isinstance(row, Row) for cell in row.cells)
    limits = limited(cell for cell in cells if isinstance(cell, Number))
    return f", with {wording.level(results.intervals.level)} intervals" if limits else ""


def limited(cells: Iterable[Number | None]) -> bool:
    """Tell whether a number has an interval, and so whether a caption may speak of intervals."""
    return any(cell is not None and cell.interval is not None for cell in cells)


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One metric on one dataset, with a cell for each model."""

    title: str
    options: str
    definition: str
    better: str
    method: str
    n: str
    cells: tuple[Number, ...]
    blind: str | None
    """What each model's value would be without information, with the skill against it."""


@dataclass(frozen=True, slots=True)
class MetricTable:
    """Metrics by row, models by column."""

    models: tuple[str, ...]
    rows: tuple[MetricRow, ...]

    @property
    def limited(self) -> bool:
        """Whether a number has an interval."""
        return limited(cell for row in self.rows for cell in row.cells)


@dataclass(frozen=True, slots=True)
class ConfusionCell:
    """A count, its share of all rows and its share of its row of the table."""

    count: str
    of_all: str
    of_row: str
    shade: int
    """How much of its row the cell holds, in tenths."""


@dataclass(frozen=True, slots=True)
class ConfusionTable:
    """A confusion matrix: truth by row, prediction by column."""

    model: str
    levels: tuple[str, ...]
    cells: tuple[tuple[ConfusionCell, ...], ...]
    row_totals: tuple[str, ...]
    column_totals: tuple[str, ...]
    total: str
    rule: str
    zone: str | None
    """Which rows are in no cell, where there is an equivocal zone."""


@dataclass(frozen=True, slots=True)
class GainTable:
    """A model's gain table: the head of each column, and its rows as text."""

    model: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def shown(estimate: Estimate, *, whole: bool = False, least: int = 0) -> Number:
    """Write an estimate, with at least ``least`` decimals unless it is ``whole``; an undefined one says why."""
    if estimate.value is None:
        return Number(status_of(estimate))
    note, exact = note_of(estimate), numbers.exact(estimate.value)
    if estimate.lower is None or estimate.upper is None:
        single = whole and estimate.value.is_integer()
        text = numbers.count(estimate.value) if single else numbers.number(estimate.value, 0 if whole else least)
        return Number(text, None, note, exact)
    value, interval = numbers.interval(
        estimate.value, estimate.lower, estimate.upper, whole=whole, least=0 if whole else least)
    return Number(value, interval, note, exact)


def abreast(found: Mapping[str, Estimate], models: Iterable[str], *, whole: bool) -> tuple[Number, ...]:
    """Write the estimates of one measure for some models, with as many decimals as each other."""
    held = [found.get(model) for model in models]
    least = numbers.most_decimals((e.value, e.lower, e.upper) for e in held if e is not None)
    return tuple(Number("not evaluated") if e is None else shown(e, whole=whole, least=least) for e in held)


def status_of(found: Estimate | Comparison) -> str:
    """Say what became of a number, and why."""
    return f"{found.status}: {found.reason}" if found.reason else found.status


def note_of(found: Estimate | Comparison) -> str | None:
    """Say what there is to know about a number beside its interval; None where that is nothing."""
    if found.status != "ok":
        return status_of(found)
    gaps = found.undefined_replicates
    return f"undefined in {numbers.count(gaps)} replicates" if gaps else None


def overall(results: Results, dataset: str) -> list[Estimate]:
    """Return a dataset's estimates over all rows with the models' original predictions."""
    return [e for e in results.rows if e.dataset == dataset and e.slice is None and e.variant == "original"]


def key_measures(results: Results) -> tuple[str, ...]:
    """Return the metrics that the summary shows: the usual ones, or the first six where the run has none of those."""
    known = [metric.name for metric in results.metrics]
    return tuple(name for name in wording.KEY_MEASURES if name in known) or tuple(known[:6])


def is_whole(metric: MetricSummary) -> bool:
    """Tell whether a metric may be a number of rows, which is shown without decimals."""
    return metric.range[1] is None


def metric_tables(results: Results, dataset: str, only: Sequence[str] | None = None) -> tuple[MetricTable, ...]:
    """Make the tables of a dataset's metrics, at most `MODELS_ABREAST` models each; ``only`` keeps some metrics."""
    rows = [e for e in overall(results, dataset) if e.class_ is None and (only is None or e.metric in only)]
    groups = _chunks([m for m in results.models if any(e.model == m.name for e in rows)], MODELS_ABREAST)
    return tuple(_metric_table(results, rows, models) for models in groups)


def _chunks(items: list[ModelSummary], size: int) -> Iterator[list[ModelSummary]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def _metric_table(results: Results, estimates: list[Estimate], models: list[ModelSummary]) -> MetricTable:
    described = {metric.name: metric for metric in results.metrics}
    grouped: dict[tuple[object, ...], dict[str, Estimate]] = {}
    for e in estimates:
        grouped.setdefault((e.metric, e.average, e.class_, *e.params.items()), {})[e.model] = e
    rows = (_metric_row(described[str(key[0])], found, models) for key, found in grouped.items())
    return MetricTable(tuple(model.label for model in models), tuple(rows))


def _metric_row(metric: MetricSummary, found: dict[str, Estimate], models: list[ModelSummary]) -> MetricRow:
    shown_models = [found[model.name] for model in models if model.name in found]
    sample = next(iter(found.values()))
    methods = dict.fromkeys(wording.short_method(e.method) for e in shown_models if e.value is not None)
    return MetricRow(
        title=wording.titled(metric.title, sample.params),
        options=wording.options(sample.params, sample.average),
        definition=wording.definition(metric, sample.params),
        better=wording.BETTER[metric.direction],
        method=", ".join(methods) or "–",
        n=" / ".join(dict.fromkeys(numbers.count(e.n) for e in shown_models)) or "–",
        blind=_blind(shown_models),
        cells=abreast(found, [model.name for model in models], whole=is_whole(metric)),
    )


def _blind(estimates: Sequence[Estimate]) -> str | None:
    """Write the values without information and the skills, models parted by strokes; None where there are none."""
    if all(e.no_information is None for e in estimates):
        return None
    values, skills = (
        " / ".join("–" if value is None else numbers.number(value) for value in column)
        for column in ([e.no_information for e in estimates], [e.skill for e in estimates])
    )
    known = any(e.skill is not None for e in estimates)
    return f"Without information {values}" + (f"; skill {skills}" if known else "")


def confusion_tables(results: Results, dataset: str) -> tuple[ConfusionTable, ...]:
    """Make the confusion matrices of a dataset, one a model."""
    models = {model.name: model for model in results.models}
    return tuple(
        _confusion_table(results, found, models[found.model])
        for found in results.confusion
        if found.dataset == dataset and found.slice is None and found.variant == "original"
    )


def _confusion_table(results: Results, found: Confusion, model: ModelSummary) -> ConfusionTable:
    row_totals = [sum(row) for row in found.counts]
    column_totals = [sum(column) for column in zip(*found.counts, strict=True)]
    total = sum(row_totals)
    return ConfusionTable(
        model=model.label,
        levels=tuple(found.levels),
        cells=tuple(
            tuple(
                ConfusionCell(numbers.count(x), numbers.percent(x, total), numbers.percent(x, whole), _tenths(x, whole))
                for x in row
            )
            for row, whole in zip(found.counts, row_totals, strict=True)
        ),
        row_totals=tuple(map(numbers.count, row_totals)),
        column_totals=tuple(map(numbers.count, column_totals)),
        total=numbers.count(total),
        rule=wording.rule(found, _ruled_by(model)),
        zone=equivocal.sentence(found, _ruled_by(model), _rate(results, found), weighted=results.weight is not None),
    )


def _rate(results: Results, found: Confusion) -> str | None:
    """Write the reportable rate that belongs to a confusion matrix of all rows."""
    for row in overall(results, found.dataset):
        if (row.metric, row.model) == (equivocal.RATE, found.model) and "prevalence" not in row.params:
            return shown(row).text
    return None


def _ruled_by(model: ModelSummary) -> str:
    """Name what decides the predicted level: a given "prediction", the most probable "level", or what a cut is on."""
    if "prediction" in model.columns:
        return "prediction"
    if "score" in model.columns and model.scale is None:
        return "score"
    return "probability" if "probability" in model.columns or "score" in model.columns else "level"


def _tenths(part: float, whole: float) -> int:
    return math.ceil(10 * part / whole) if whole else 0


GAIN_COLUMNS: tuple[tuple[str, Callable[[float], str]], ...] = (
    ("Group", numbers.count),
    ("Rows", numbers.count),
    ("Events found", numbers.count),
    ("At random", numbers.count),
    ("Perfect", numbers.count),
    ("Lift", lambda value: numbers.fixed(value, 2)),
    ("Rows so far", lambda value: numbers.percent(value, 1)),
    ("Found so far", lambda value: numbers.percent(value, 1)),
    ("Perfect so far", lambda value: numbers.percent(value, 1)),
    ("Lift so far", lambda value: numbers.fixed(value, 2)),
    ("Separation", lambda value: numbers.percent(value, 1)),
)
"""The columns of a gain table in the order of its points: head, and how the numbers are written."""


def gain_tables(results: Results, dataset: str) -> tuple[GainTable, ...]:
    """Make the gain tables of a dataset, one for each model that has one."""
    labels = {model.name: model.label for model in results.models}
    return tuple(
        _gain_table(curve, labels[curve.model]) for curve in results.curves if isinstance(curve, calibration.GainTable)
        and (curve.dataset, curve.slice, curve.variant) == (dataset, None, "original")
    )


def _gain_table(curve: calibration.GainTable, label: str) -> GainTable:
    columns = [
        ["–" if value is None else write(value) for value in values]
        for (_, write), values in zip(GAIN_COLUMNS, curve.points.columns.values(), strict=True)
    ]
    return GainTable(label, tuple(head for head, _ in GAIN_COLUMNS), tuple(zip(*columns, strict=True)))
