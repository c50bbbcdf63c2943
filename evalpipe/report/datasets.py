"""What the card says of each dataset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.report import equivocal, wording
from evalpipe.report.classes import ClassTable, class_tables
from evalpipe.report.residuals import ResidualTable, residual_tables
from evalpipe.report.tables import (
    ConfusionTable,
    GainTable,
    MetricTable,
    confusion_tables,
    gain_tables,
    key_measures,
    metric_tables,
    overall,
)

if TYPE_CHECKING:
    from evalpipe.results import DatasetSummary, Matched, Results

Facts = tuple[tuple[str, str], ...]
"""Terms and what they are, in the order they are shown."""

SPREAD = (
    ("Mean", "mean"), ("Standard deviation", "sd"), ("Minimum", "min"), ("Lower quartile", "lower_quartile"),
    ("Median", "median"), ("Upper quartile", "upper_quartile"), ("Maximum", "max"),
)


@dataclass(frozen=True, slots=True)
class LevelRow:
    """A level of the outcome in a dataset: its rows, their weight, its share of the weight and its declared prior."""

    level: str
    rows: str
    weight: str
    share: str
    prior: str | None


@dataclass(frozen=True, slots=True)
class DatasetView:
    """What the card says of one dataset; tables are empty for a dataset that is not evaluated."""

    name: str
    anchor: str
    evaluated: bool
    aside: str
    """What a dataset that is not evaluated is for; empty for one that is."""
    support: Facts
    facts: Facts
    levels: tuple[LevelRow, ...]
    summary: tuple[MetricTable, ...]
    metrics: tuple[MetricTable, ...]
    equivocal: str | None
    """What measures of predicted classes are of, where there is an equivocal zone."""
    classes: tuple[ClassTable, ...]
    confusions: tuple[ConfusionTable, ...]
    gains: tuple[GainTable, ...]
    residuals: tuple[ResidualTable, ...]


def dataset_view(results: Results, dataset: DatasetSummary, place: int) -> DatasetView:
    """Write what is known of a dataset, and its results where it was evaluated."""
    evaluated = bool(overall(results, dataset.name))
    return DatasetView(
        name=dataset.name,
        anchor=f"dataset-{place}",
        evaluated=evaluated,
        aside="" if evaluated else wording.ASIDES.get(dataset.role, "not evaluated"),
        support=_support(results, dataset),
        facts=_facts(results, dataset),
        levels=_levels(results, dataset),
        summary=metric_tables(results, dataset.name, key_measures(results)) if evaluated else (),
        metrics=metric_tables(results, dataset.name) if evaluated else (),
        equivocal=equivocal.note(results, dataset.name),
        classes=class_tables(results, dataset.name) if evaluated else (),
        confusions=confusion_tables(results, dataset.name) if evaluated else (),
        gains=gain_tables(results, dataset.name) if evaluated else (),
        residuals=residual_tables(results, dataset.name) if evaluated else (),
    )


def _levels(results: Results, dataset: DatasetSummary) -> tuple[LevelRow, ...]:
    priors = results.prevalence.levels or {} if results.prevalence is not None else {}
    return tuple(
        LevelRow(
            level.level, numbers.count(level.rows), numbers.count(level.weight),
            numbers.percent(level.weight, dataset.total_weight),
            numbers.percent(priors[level.level], 1) if level.level in priors else None,
        )
        for level in dataset.levels
    )


def _support(results: Results, dataset: DatasetSummary) -> Facts:
    """Say in a few figures what the dataset's results rest on."""
    n = ("n", numbers.count(dataset.n))
    if dataset.events is not None:
        return (n, ("Events", numbers.count(dataset.events)), ("Observed prevalence", _prevalence(results, dataset)))
    if dataset.levels:
        rows = sorted(dataset.levels, key=lambda level: level.weight)
        occur = sum(1 for level in rows if level.rows)
        whole = dataset.total_weight
        ends = [f"{level.level}, {numbers.percent(level.weight, whole)}" for level in (rows[-1], rows[0])]
        return (n, ("Levels that occur", f"{occur} of {len(rows)}"), ("Largest", ends[0]), ("Smallest", ends[1]))
    return (n, *((head, _number(dataset.outcome[key])) for head, key in SPREAD[:2] if key in dataset.outcome))


def _number(value: float) -> str:
    return numbers.count(value) if value.is_integer() else numbers.number(value)


def _prevalence(results: Results, dataset: DatasetSummary) -> str:
    if dataset.prevalence is None:
        return "undefined: no rows"
    return numbers.number(dataset.prevalence) + (" (weighted)" if results.weight is not None else "")


def _unknown(dataset: DatasetSummary) -> str:
    """Say for how many rows a condition is unknown, as a value is missing."""
    return f", {numbers.count(dataset.unknown_where)} of them for a missing value" if dataset.unknown_where else ""


def _facts(results: Results, dataset: DatasetSummary) -> Facts:
    weighted = results.weight is not None
    facts = [
        ("Rows in the files", numbers.count(dataset.rows)),
        ("Rows left out by the condition", numbers.count(dataset.excluded_where) + _unknown(dataset)),
        ("Condition", dataset.where or "none"),
        ("Observations used (n)", numbers.count(dataset.n)),
    ]
    if dataset.events is not None:
        facts += [("Events", numbers.count(dataset.events)), ("Observed prevalence", _prevalence(results, dataset))]
    if dataset.clusters is not None:
        facts.append(("Clusters of rows", numbers.count(dataset.clusters)))
    unit = f" ({results.unit})" if results.unit else ""
    facts += [(f"{head}{unit}", _number(dataset.outcome[key])) for head, key in SPREAD if key in dataset.outcome]
    if dataset.total_exposure is not None and dataset.rate is not None:
        facts += _exposed(results, dataset.total_exposure, dataset.rate)
    if weighted:
        facts.insert(3, ("Rows left out for weight zero", numbers.count(dataset.excluded_zero_weight)))
        facts.append(("Total weight", numbers.count(dataset.total_weight)))
    if dataset.excluded_incomplete:
        lacking = ", ".join(f"{labels(results)[model]} lacks {numbers.count(count)}"
                            for model, count in dataset.lacking_predictions.items())
        facts.insert(3, ("Rows left out for want of a prediction",
                         f"{numbers.count(dataset.excluded_incomplete)}, for every model ({lacking})"))
    return (*facts, *_matched(results, dataset))


def _exposed(results: Results, total: float, rate: float) -> list[tuple[str, str]]:
    """Say how large the exposure is, and how much was counted in a unit of it."""
    unit = (results.exposure or {}).get("unit")
    return [(f"Total exposure{f' ({unit})' if unit else ''}", _number(total)),
            (f"Overall rate ({results.unit or 'count'} / {unit or 'exposure'})", numbers.number(rate))]


def labels(results: Results) -> dict[str, str]:
    """Return what models are called on the card, by name."""
    return {model.name: model.label for model in results.models}


def _matched(results: Results, dataset: DatasetSummary) -> Facts:
    """Say how predictions in files of their own were matched to the rows; models matched alike together."""
    alike: dict[str, list[str]] = {}
    for match in dataset.matched:
        alike.setdefault(_how(match), []).append(labels(results)[match.model])
    return tuple((f"File of predictions of {', '.join(models)}", how) for how, models in alike.items())


def _how(match: Matched) -> str:
    if match.by == "id":
        return "rows matched by id"
    if not match.agree:
        return "rows matched by position; no shared column shows that they are the same rows"
    columns = "1 shared column agrees" if len(match.agree) == 1 else f"{len(match.agree)} shared columns agree"
    return f"rows matched by position; {columns} in every row ({', '.join(match.agree)})"
