"""What the card says of what the rows hold: findings on values that many share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.wording import names_of, nouns_of
from evalpipe.findings import weights
from evalpipe.findings.applies import NO_DATASETS, Unless
from evalpipe.findings.claims import Claim, rule
from evalpipe.findings.words import anchor, finding, on_dataset
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.chapters.contents.records import SharedValue
    from evalpipe.results import Results
    from evalpipe.results.document import Finding

NEVER_HELD = Unless("rows-never-held",
                    by_results=lambda results: any(dataset.cells is not None for dataset in results.datasets))
NO_SCORES = Unless("only-classes", by_results=lambda results: bool(results.levels) and all(
    set(model.columns) <= {"prediction"} for model in results.models))


@rule("fails", "note", unless=(NO_DATASETS, NEVER_HELD, NO_SCORES))
def value_shared(results: Results) -> Iterator[Claim]:
    """Whether many rows share a score or prediction, such as the default of a scoring system, that no others have."""
    for row in results.shared_values:
        yield Claim(row, cut_off if row.at_end else filled_in)


def filled_in(results: Results, rows: Sequence[SharedValue]) -> Iterator[Finding]:
    """Say which value inside the range of the scores many rows have, as a scoring system fills it in."""
    for row in rows:
        text = f"{_shared_sentence(results, row)} Was it filled in where there was no score?"
        yield finding("fails", weights.FILLED_IN, text, anchor(results, row))


def cut_off(results: Results, rows: Sequence[SharedValue]) -> Iterator[Finding]:
    """Say which value many rows have that is the least or the largest."""
    for row in rows:
        yield finding("note", weights.CUT_OFF, _shared_sentence(results, row), anchor(results, row))


def _shared_sentence(results: Results, row: SharedValue) -> str:
    """Return the sentence on how many rows share which value, and how many the next one."""
    model = next(model for model in results.models if model.name == row.model)
    is_one = "probability" in model.columns or model.scale is not None
    what = "probability" if is_one else "score" if "score" in model.columns else "prediction"
    events = "" if row.events is None else f" Of these {numbers.count(row.events)} are {nouns_of(results).events}."
    value = "probabilities" if row.value is None else f"{what}, {numbers.plain(row.value)},"
    return (f"{names_of(results).model(row.model)} gives the same {value} to {numbers.count(row.rows)} of "
            f"{numbers.count(row.n)} rows{on_dataset(results, row.dataset)} ({numbers.percent(row.rows, row.n)}), and "
            f"no other to more than {numbers.count(row.next_rows)}.{events}")
