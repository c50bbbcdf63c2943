"""What a run computes that items of standards ask for: when it is there, and in which section of the card."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalpipe.card.statements import PLACES
from evalpipe.words.card_fields import FIELDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evalpipe.results import Results

FIRST_SCREEN = "verdict"
"""The anchor of what stands on the first screen."""


class Evidence(NamedTuple):
    """Something computed: its title, and the function that returns the anchor of its section; None where it is not."""

    title: str
    where: Callable[[Results], str | None]


def _fixed_anchor(anchor: str) -> Callable[[Results], str]:
    """Return a function of results that returns this anchor: of evidence that every card has."""
    return lambda _: anchor


def _anchor_where(anchor: str, is_there: Callable[[Results], object]) -> Callable[[Results], str | None]:
    """Return a function of results that returns the anchor where ``is_there(results)`` is true, else None."""
    return lambda results: anchor if is_there(results) else None


def _anchor_of_first(prefix: str, datasets: Callable[[Results], Iterator[str]]) -> Callable[[Results], str | None]:
    """Return a function of results that returns the anchor of the first dataset's section, None without any.

    ``datasets`` yields names of datasets from results. The anchor is the prefix and the number of the dataset.
    """
    def anchor(results: Results) -> str | None:
        places = {dataset.name: place for place, dataset in enumerate(results.datasets, 1)}
        first = next(datasets(results), None)
        return None if first is None else f"{prefix}-{places[first]}"

    return anchor


def _datasets_with_curve(*names: str) -> Callable[[Results], Iterator[str]]:
    """Return a function of results that yields the datasets with a curve whose name begins with one of these."""
    return lambda results: (curve.dataset for curve in results.curves
                            if curve.slice is None and curve.curve.startswith(names))


def _has_intervals_of_slices(columns: int) -> Callable[[Results], bool]:
    """Return a predicate on results: whether a slice by at least so many ``columns`` has an interval."""
    return lambda results: any(
        row.slice is not None and len(row.slice) >= columns and row.lower is not None for row in results.rows)


def _datasets_with_values(results: Results) -> Iterator[str]:
    """Yield the dataset of each defined value over all rows."""
    return (row.dataset for row in results.rows if row.slice is None and row.value is not None)


def _datasets_with_intervals(results: Results) -> Iterator[str]:
    """Yield the dataset of each interval over all rows."""
    return (row.dataset for row in results.rows if row.slice is None and row.lower is not None)


EVIDENCE: dict[str, Evidence] = {
    "title": Evidence("Title and outcome", _fixed_anchor(FIRST_SCREEN)),
    "dated": Evidence("Day that the card is about", _anchor_where(FIRST_SCREEN, lambda results: results.as_of)),
    "values": Evidence("Values of the measures", _anchor_of_first("dataset", _datasets_with_values)),
    "intervals": Evidence("Intervals of the measures", _anchor_of_first("dataset", _datasets_with_intervals)),
    "definitions": Evidence("Definitions of the measures", _fixed_anchor("definitions")),
    "interval_methods": Evidence("Methods of the intervals", _anchor_where(
        "method", lambda results: any(_datasets_with_intervals(results)))),
    "confusion": Evidence("Confusion matrix", _anchor_of_first("decisions", lambda results: (
        matrix.dataset for matrix in results.confusion if matrix.slice is None))),
    "calibration": Evidence("Calibration", _anchor_of_first("calibration", _datasets_with_curve("calibration_"))),
    "residuals": Evidence("Residuals", _anchor_of_first("calibration", _datasets_with_curve("residual_predicted"))),
    "recalibration": Evidence("Recalibration", _anchor_of_first("recalibration", lambda results: (
        applied.dataset for record in results.recalibration for applied in record.applied))),
    "slices": Evidence("Results by group", _anchor_where("slices", _has_intervals_of_slices(1))),
    "intersections": Evidence("Results by combined groups", _anchor_where("slices", _has_intervals_of_slices(2))),
    "comparison": Evidence("Comparison of models", _anchor_where("comparison-1", lambda results: any(
        row.model != row.baseline and row.baseline_dataset is None for row in results.comparisons))),
    "reference_rates": Evidence("Comparison with reference rates", _anchor_where(
        "reference-rates", lambda results: results.reference_rates)),
    "gates": Evidence("Limits to keep", _anchor_where("gates", lambda results: results.gates)),
    "earlier_runs": Evidence("Comparison with earlier runs", _anchor_where("gates", lambda results: any(
        gate.against_sha256 is not None for gate in results.gates))),
    "decision_rule": Evidence("Rule of decision", _anchor_where("models", lambda results: any(
        model.threshold is not None or model.threshold_rule is not None for model in results.models))),
    "equivocal": Evidence("Equivocal zone", _anchor_where("models", lambda results: any(
        model.equivocal is not None for model in results.models))),
    "row_flow": Evidence("Flow of the rows", _fixed_anchor("data")),
    "roles": Evidence("Roles of the datasets", _anchor_where("datasets", lambda results: results.datasets)),
    "leakage_check": Evidence("Check that no evaluated row was trained on", _anchor_where(
        "findings", lambda results: any(dataset.compared for dataset in results.datasets))),
    "level_counts": Evidence("Frequency of the outcome", _anchor_where("datasets", lambda results: results.datasets)),
    "drift": Evidence("Outcome in evaluated and other data", _anchor_where(
        "datasets", lambda results: any(dataset.role != "evaluate" for dataset in results.datasets))),
    "data_files": Evidence("Files of the data, with their sha256", _anchor_where(
        "provenance", lambda results: all(file.sha256 is not None for file in results.inputs))),
    "findings": Evidence("Findings", _fixed_anchor("findings")),
    "software": Evidence("Version of the software", _fixed_anchor("provenance")),
    "reproduction": Evidence("Spec, and how to reproduce", _fixed_anchor("provenance")),
}
"""Everything computed that an item may need, by name."""


def answering_anchor(results: Results, name: str) -> str | None:
    """Return the anchor of the section with what an item asks for, such as ``card.risks``; None without one."""
    kind, _, key = name.partition(".")
    if kind == "evidence":
        return EVIDENCE[key].where(results)
    return field_anchor(key) if getattr(results.statement, key) else None


def field_anchor(field: str) -> str:
    """Return the anchor of the section of the card that shows a stated field, such as ``risks``."""
    if field in FIELDS:
        return PLACES[FIELDS[field].section].anchor
    return "changes" if field == "changes" else PLACES["use"].anchor
