"""What the card says of measures over folds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.method import Procedure
from evalpipe.card.page import Column, Number, Row, Section, Table, Text
from evalpipe.card.tables import metric_of, reason_texts, shown, with_intervals
from evalpipe.card.wording import names_of
from evalpipe.chapters.repeats.card import spread_text
from evalpipe.findings.words import grouped
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.page import Block, Cell
    from evalpipe.chapters.folds.records import FoldSpread
    from evalpipe.results import Results

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
    """Yield the section, with a table for each model and variant on each dataset that has folds."""
    blocks = [block for rows in grouped(results.folds, lambda row: (row.dataset, row.model, row.variant))
              for block in _blocks_of_model(results, rows)]
    if blocks:
        yield Section("folds", "Folds", (Text(LEAD, "lead"), *blocks, Text(READ, "small")), part="comparison")


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield how measures over folds were computed."""
    if results.folds:
        yield Procedure("Folds", (
            "A measure is taken in each fold as in a slice, and mean and standard deviation are those of these values. "
            "Folds without a value are left out and counted. The mean over folds is not the value of all rows where a "
            "measure is no mean over rows, such as the area under the ROC curve, or where folds differ in size."),
            "Bengio, Y. & Grandvalet, Y. (2004). No unbiased estimator of the variance of k-fold cross-validation. "
            "Journal of Machine Learning Research 5, 1089–1105.")


def _blocks_of_model(results: Results, rows: Sequence[FoldSpread]) -> Iterator[Block]:
    """Yield the table of the spread over folds of each measure of a model, beside its value on all rows."""
    first, names = rows[0], names_of(results)
    fewest, most = numbers.count(min(first.sizes)), numbers.count(max(first.sizes))
    sizes = most if fewest == most else numbers.ranged(fewest, most)
    cells, has_limits = [], False
    for row in rows:
        pooled = next(e for e in results.rows if e.slice is None and (
            e.dataset, e.model, e.variant, e.metric, e.params, e.average, e.class_) == (
            row.dataset, row.model, row.variant, row.metric, row.params, row.average, row.class_))
        has_limits = has_limits or pooled.lower is not None
        cells.append(Row((names.measure_of(row),
                          shown(pooled, whole=metric_of(results, row.metric).is_whole), *_spread_cells(row))))
    level = f"{with_intervals(results, limited=True)} of all rows" if has_limits else ""
    yield Table(f"{names.model_of(first)} on {first.dataset}: {len(first.folds)} folds of {sizes} "
                f"rows{level}", COLUMNS, tuple(cells), stacked=True)
    yield from reason_texts(results, rows)


def _spread_cells(row: FoldSpread) -> Iterator[Cell]:
    """Yield mean, SD and SE over folds, the number of folds, and the lowest and the highest value with its fold."""
    counted = str(row.used) if row.used == len(row.folds) else f"{row.used} of {len(row.folds)}"
    if row.mean is None or row.sd is None or row.standard_error is None:
        yield from (Number(row.status), "–", "–", counted, "–", "–")
        return
    digits = min(numbers.significant(row.sd, 2), numbers.MOST_DECIMALS) if row.sd else numbers.USUAL_DIGITS
    yield Number(numbers.fixed(row.mean, digits), None, None, numbers.exact(row.mean))
    for spread in (row.sd, row.standard_error):
        yield Number(spread_text(spread), None, None, numbers.exact(spread))
    yield counted
    for value in (row.lowest, row.highest):
        if value is None:
            yield "–"
        else:
            label = row.folds[row.values.index(value)]
            fold = f"fold {label}" if label.isdigit() else wording.slice_value_text(label)
            yield Number(numbers.fixed(value, digits), None, fold, numbers.exact(value))
