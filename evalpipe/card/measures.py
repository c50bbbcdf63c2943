"""Tables of measures of a dataset: measures down and models across."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalpipe.card import wording
from evalpipe.card.page import Aside, Column, Number, Row, Table
from evalpipe.card.tables import MODELS_ABREAST, abreast, overall, with_limits
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.results import Estimate, MetricSummary, ModelSummary, Results, Scalar


class MeasureRow(NamedTuple):
    """A measure with one choice of options: its estimates for some models that have it, and a number for each model."""

    metric: MetricSummary
    params: Mapping[str, Scalar]
    average: str | None
    estimates: tuple[Estimate, ...]
    cells: tuple[Number, ...]

    @property
    def title(self) -> str:
        """What the measure is called, without its options."""
        return wording.titled(self.metric.title, self.params)

    @property
    def options(self) -> str:
        """The options and the average, such as "beta = 2"."""
        return wording.options(self.params, self.average)


def measure_tables(results: Results, dataset: str) -> Iterator[Table]:
    """Make the tables of all measures of a dataset, at most `MODELS_ABREAST` models each."""
    groups = list(_measured(results, dataset))
    for models, measures in groups:
        columns = (
            Column("Measure", style="what"), *(Column(model.label, "num") for model in models),
            Column("Better", style="better side"), Column("n", "num", "n side"),
            Column("Interval", style="method side"),
        )
        rows = tuple(_row(measure) for measure in measures)
        labels = f", models {', '.join(model.label for model in models)}" if len(groups) > 1 else ""
        yield Table(f"Measures on {dataset}{with_limits(results, rows)}{labels}", columns, rows, "", stacked=True,
                    rest="estimates.csv")


def _measured(results: Results, dataset: str) -> Iterator[tuple[list[ModelSummary], list[MeasureRow]]]:
    """Yield models side by side with their measures."""
    metrics = {metric.name: metric for metric in results.metrics}
    estimates = [e for e in overall(results, dataset) if e.class_ is None]
    models = [model for model in results.models if any(e.model == model.name for e in estimates)]
    grouped: dict[tuple[object, ...], dict[str, Estimate]] = {}
    for e in estimates:
        grouped.setdefault((e.metric, e.average, *e.params.items()), {})[e.model] = e
    for start in range(0, len(models), MODELS_ABREAST):
        together = models[start : start + MODELS_ABREAST]
        yield together, [_of_models(metrics[str(key[0])], by_model, together) for key, by_model in grouped.items()]


def _of_models(metric: MetricSummary, by_model: Mapping[str, Estimate], models: Sequence[ModelSummary]) -> MeasureRow:
    names = [model.name for model in models]
    estimates = tuple(by_model[name] for name in names if name in by_model)
    anyone = next(iter(by_model.values()))
    cells = abreast(by_model, names, whole=metric.is_whole)
    return MeasureRow(metric, anyone.params, anyone.average, estimates, cells)


def _row(measure: MeasureRow) -> Row:
    metric, estimates = measure.metric, measure.estimates
    methods = dict.fromkeys(wording.short_method(e.method) for e in estimates if e.value is not None)
    n = dict.fromkeys(numbers.count(e.n) for e in estimates)
    freedom = dict.fromkeys(str(e.degrees_of_freedom) for e in estimates if e.degrees_of_freedom is not None)
    below = (without_information(estimates), f"Degrees of freedom {' / '.join(freedom)}" if freedom else "")
    return Row((
        (measure.title, *([Aside(f"({measure.options})", "options")] if measure.options else []),
         Aside(wording.definition(metric, measure.params), "definition meaning"),
         *(Aside(text, "definition") for text in below if text)),
        *measure.cells, wording.BETTER[metric.direction], " / ".join(n) or "–", ", ".join(methods) or "–",
    ))


def without_information(estimates: Sequence[Estimate]) -> str:
    """Write the values without information and the skills, models parted by strokes; nothing where there are none."""
    if all(e.no_information is None for e in estimates):
        return ""
    values, skills = (
        " / ".join("–" if value is None else numbers.number(value) for value in column)
        for column in ([e.no_information for e in estimates], [e.skill for e in estimates])
    )
    known = any(e.skill is not None for e in estimates)
    return f"Without information {values}" + (f"; skill {skills}" if known else "")
