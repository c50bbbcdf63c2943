"""The equivocal zone in words: which rows have no predicted class, how many they are, and what that means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe import numbers

if TYPE_CHECKING:
    from evalpipe.results import Confusion, ModelSummary, Results, Zone

RATE = "reportable_rate"


def reach(zone: Zone) -> str:
    """Say where a zone lies, as in "from 0.45 to 0.55"."""
    if zone.min_probability is not None:
        return f"below {numbers.plain(zone.min_probability)}"
    if zone.low is None or zone.high is None:
        below, above = (numbers.plain(side or 0.0) for side in (zone.below, zone.above))
        return f"from {below} under the threshold to {above} over it"
    if zone.low == zone.high:
        return f"exactly {numbers.plain(zone.low)}"
    return f"from {numbers.plain(zone.low)} to {numbers.plain(zone.high)}"


def sentence(found: Confusion, called: str, rate: str | None, *, weighted: bool) -> str | None:
    """Say which rows of a confusion matrix are in no cell, and how many; None where there is no zone.

    ``called`` is what the threshold is set on, ``rate`` the reportable rate with its interval.
    """
    if found.zone is None:
        return None
    many = found.zone.min_probability is not None
    ends = "" if many or found.zone.low == found.zone.high else ", both ends included"
    what = "highest probability" if many else called
    count = numbers.count(found.equivocal)
    rows = f"total weight {count}" if weighted else "1 row" if count == "1" else f"{count} rows"
    share = f" Reportable rate {rate}." if rate else ""
    return f"No level is predicted in the equivocal zone, {what} {reach(found.zone)}{ends}: {rows}.{share}"


def note(results: Results, dataset: str) -> str | None:
    """Say what measures of predicted classes are of, where a model of a dataset has a zone."""
    if not any(found.zone for found in results.confusion if found.dataset == dataset):
        return None
    return (
        "There is an equivocal zone. Measures of predicted classes are of the reportable rows alone, those outside the "
        "zone, as their n says, and tend to look better the wider the zone is: read them beside the reportable rate. "
        "Measures of probabilities and of ranking are of all rows."
    )


def compared(results: Results) -> str:
    """Say which rows differences of measures of predicted classes are of; empty without a zone."""
    if not any(found.zone for found in results.confusion):
        return ""
    return " Measures of predicted classes are compared as they stand, either side on its own reportable rows."


def facts(model: ModelSummary) -> tuple[tuple[str, str], ...]:
    """Say where a model's zone lies; nothing of a model without one."""
    if model.equivocal is None:
        return ()
    what = "highest probability " if model.equivocal.min_probability is not None else ""
    return (("Equivocal zone", f"{what}{reach(model.equivocal)}"),)


def markers(results: Results, dataset: str) -> str:
    """Say, for the caption of a curve, that points of predicted classes are not of all rows; empty without a zone."""
    zones = any(found.zone for found in results.confusion if found.dataset == dataset and found.variant == "original")
    return " Markers are of the reportable rows, the curves of all, so that they may lie apart." if zones else ""
