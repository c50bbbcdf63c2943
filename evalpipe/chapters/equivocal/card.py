"""The equivocal zone in words: which rows have no predicted class, how many they are, and what that means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.tables import overall, shown
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, Unless, p_beyond, rule
from evalpipe.findings.words import anchor, finding, measures, values_of, with_verb
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.chapters.equivocal.records import Zone
    from evalpipe.results import Confusion, Estimate, ModelSummary, Results
    from evalpipe.results.document import Finding


COMPARED = " Measures of predicted classes compare each side on its own reportable rows."
MARKED = " Markers use the reportable rows and curves use all rows, so a marker may lie off its curve."
READ = (
    "Rows in the equivocal zone have no predicted class. Measures of predicted classes use only the other, "
    "reportable rows, as their n says. They tend to look better the wider the zone is: read them with the reportable "
    "rate. Measures of probabilities and of ranking use all rows."
)


def facts(_: Results, model: ModelSummary) -> Iterator[tuple[str, str]]:
    """Yield the term and the text on a model's equivocal zone; nothing for a model without one."""
    if model.equivocal is not None:
        what = "highest probability " if model.equivocal.min_probability is not None else ""
        yield "Equivocal zone", f"{what}{reach(model.equivocal)}"


def reading(results: Results, dataset: str) -> Iterator[str]:
    """Yield how to read measures of predicted classes, where a model of a dataset has a zone."""
    if any(confusion.zone for confusion in results.confusion if confusion.dataset == dataset):
        yield READ


def matrix(results: Results, confusion: Confusion, ruled_by: str) -> Iterator[str]:
    """Yield which rows of a confusion matrix are in no cell, and how many; ``ruled_by`` names the thresholded value."""
    if confusion.zone is None:
        return
    by_highest = confusion.zone.min_probability is not None
    ends = "" if by_highest or confusion.zone.low == confusion.zone.high else ", both ends included"
    judged = "highest probability" if by_highest else ruled_by
    count, rate = numbers.count(confusion.equivocal), next(
        (shown(row).text for row in overall(results, confusion.dataset) if "prevalence" not in row.params
         and (row.metric, row.model) == ("reportable_rate", confusion.model)), None)
    weighted = results.weight is not None
    rows = f"total weight {count}" if weighted else "1 row" if count == "1" else f"{count} rows"
    share = f" Reportable rate {rate}." if rate else ""
    yield f"No level is predicted in the equivocal zone, {judged} {reach(confusion.zone)}{ends}: {rows}.{share}"


def markers(results: Results, dataset: str) -> Iterator[str]:
    """Yield the note for captions of curves that markers use reportable rows alone, where a model has a zone."""
    originals = [c for c in results.confusion if c.dataset == dataset and c.variant == "original"]
    if any(confusion.zone for confusion in originals):
        yield MARKED


def compared(results: Results) -> Iterator[str]:
    """Yield the note that differences of predicted classes use each side's reportable rows, where there is a zone."""
    if any(confusion.zone for confusion in results.confusion):
        yield COMPARED


def reach(zone: Zone) -> str:
    """Return the range of an equivocal zone as text, such as "from 0.45 to 0.55"."""
    if zone.min_probability is not None:
        return f"below {numbers.plain(zone.min_probability)}"
    if zone.low is None or zone.high is None:
        below, above = (numbers.plain(side or 0.0) for side in (zone.below, zone.above))
        return f"from {below} under the threshold to {above} over it"
    if zone.low == zone.high:
        return f"exactly {numbers.plain(zone.low)}"
    return f"from {numbers.plain(zone.low)} to {numbers.plain(zone.high)}"


HALF = 0.5


NO_ZONE = Unless("no-zone", lambda spec: not any(
    part.get("equivocal") for part in (spec, *(spec.get("models") or {}).values())))


@rule("fails", "note", unless=(NO_ZONE,))
def rows_without_class(results: Results) -> Iterator[Claim]:
    """Whether most rows get a class despite the equivocal zone."""
    for row in measures(results, "reportable_rate"):
        if (row.value or 0) < HALF:
            yield Claim(row, most_without, p_beyond(row, HALF), some_without)
        elif (row.value or 0) < 1:
            yield Claim(row, some_without)


def most_without(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Yield the finding that most rows get no class."""
    text = (f"{with_verb(results, rows, 'gives', 'give')} no class to most rows: they are in "
            f"the equivocal zone. Share with a class {values_of(results, rows)}.")
    yield finding("fails", weights.NO_CLASS, text, anchor(results, rows[0]), rows)


def some_without(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Yield the finding on which share of the rows has a class."""
    text = (f"{with_verb(results, rows, 'gives', 'give')} no class to rows in the equivocal "
            f"zone. Share with a class {values_of(results, rows)}.")
    yield finding("note", weights.SOME_WITHOUT_CLASS, text, anchor(results, rows[0]), rows)
