"""What the card says of measures over folds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.method import Procedure
from evalpipe.card.page import Column, Number, Row, Section, Table, Text
from evalpipe.card.tables import reasons_below, shown
from evalpipe.card.wording import names_of
from evalpipe.chapters.repeats.card import spread_text
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.page import Block, Cell
    from evalpipe.chapters.folds.records import FoldSpread
    from evalpipe.results import Estimate, Results

LEAD = (
    "Every row was predicted by a fit that had not seen its fold, as the spec states. Mean, standard deviation (SD) "
    "and standard error (SE) are over the values of the folds, each fold once. The value of all rows pools the "
    "predictions of all folds and has the interval."
)
READ = (
    "SE: the SD over the root of the number of folds. It takes the folds as independent, which they are not, for their "
    "fits share rows of the training; it is usually too small. There is no unbiased estimate of the variance of k-fold "
    "cross-validation (Bengio & Grandvalet 2004)."
)
COLUMNS = (
    Column("Measure", style="what"), Column("All rows", "num"), Column("Mean of folds", "num"), Column("SD", "num"),
    Column("SE", "num"), Column("Folds", "num"), Column("Lowest fold", "num"), Column("Highest fold", "num"),
)


def sections(results: Results) -> Iterator[Section]:
    """Write the section, with a table for each model and variant on each dataset that has folds."""
    tables: dict[tuple[str, str, str], list[FoldSpread]] = {}
    for row in results.folds:
        tables.setdefault((row.dataset, row.model, row.variant), []).append(row)
    if tables:
        blocks = [block for rows in tables.values() for block in _of_model(results, rows)]
        yield Section("folds", "Folds", (Text(LEAD, "lead"), *blocks, Text(READ, "small")), part="comparison")


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield how measures over folds were taken."""
    if results.folds:
        yield Procedure("Folds", (
            "A measure is taken in each fold as in a slice, and mean and standard deviation are those of these values. "
            "Folds without a value are left out and counted. The mean over folds is not the value of all rows where a "
            "measure is no mean over rows, such as the area under the ROC curve, or where folds differ in size."),
            "Bengio, Y. & Grandvalet, Y. (2004). No unbiased estimator of the variance of k-fold cross-validation. "
            "Journal of Machine Learning Research 5, 1089–1105.")


def _of_model(results: Results, rows: Sequence[FoldSpread]) -> Iterator[Block]:
    first, name = rows[0], names_of(results).model(rows[0].model, rows[0].variant)
    fewest, most = numbers.count(min(first.sizes)), numbers.count(max(first.sizes))
    sizes = most if fewest == most else numbers.ranged(fewest, most)
    pooled = {_about(e): e for e in results.rows if e.slice is None}
    limited = any(pooled[_about(row)].lower is not None for row in rows)
    level = f", with {wording.level(results.intervals.level)} intervals of all rows" if limited else ""
    yield Table(f"{name} on {first.dataset}: {len(first.folds)} folds of {sizes} rows{level}", COLUMNS,
                tuple(_row(results, row, pooled[_about(row)]) for row in rows), stacked=True)
    yield from reasons_below(results, rows)


def _about(row: FoldSpread | Estimate) -> tuple[object, ...]:
    return row.dataset, row.model, row.variant, row.metric, str(row.params), row.average, row.class_


def _row(results: Results, row: FoldSpread, pooled: Estimate) -> Row:
    whole = next(metric.is_whole for metric in results.metrics if metric.name == row.metric)
    measure = names_of(results).measure(row.metric, row.params, row.average, row.class_)
    counted = str(row.used) if row.used == len(row.folds) else f"{row.used} of {len(row.folds)}"
    if row.mean is None or row.sd is None or row.standard_error is None:
        return Row((measure, shown(pooled, whole=whole), Number(row.status), "–", "–", counted, "–", "–"))
    digits = min(numbers.significant(row.sd, 2), numbers.MOST_DECIMALS) if row.sd else numbers.USUAL_DIGITS
    spreads = (Number(spread_text(spread), None, None, numbers.exact(spread))
               for spread in (row.sd, row.standard_error))
    return Row((
        measure, shown(pooled, whole=whole),
        Number(numbers.fixed(row.mean, digits), None, None, numbers.exact(row.mean)), *spreads, counted,
        _end(row, row.lowest, digits), _end(row, row.highest, digits)))


def _end(row: FoldSpread, value: float | None, digits: int) -> Cell:
    """Write the lowest or the highest value, with the fold that has it, of several the first."""
    if value is None:
        return "–"
    label = row.folds[row.values.index(value)]
    fold = f"fold {label}" if label.isdigit() else wording.group(label)
    return Number(numbers.fixed(value, digits), None, fold, numbers.exact(value))
