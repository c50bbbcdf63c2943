"""Estimates as numbers of the card, what its tables have in common, and the row of a table that shows a finding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from evalpipe.base.digests import json_sha256
from evalpipe.base.records import Measured
from evalpipe.card import wording
from evalpipe.card.page import BlockGroup, Group, Link, Number, Row, RowAnchor, Table, Text, numbers_in, plain
from evalpipe.card.wording import names_of
from evalpipe.chapters import functions
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalpipe.card.page import Block, Section
    from evalpipe.chapters.folds.records import FoldSpread
    from evalpipe.results import (
        Comparison,
        Curve,
        DatasetSummary,
        Disparity,
        Estimate,
        MetricSummary,
        Optimism,
        Repeat,
        Results,
        WorstSlice,
    )
    from evalpipe.results.document import Finding


C = TypeVar("C", bound="Curve")
T = TypeVar("T")

MOST_ROWS = 60
"""Rows of the tables that grow with slices times measures; beyond, nobody reads them on a card."""

MODELS_ABREAST = 3
"""Models side by side in one table; more continue in a further table."""

MEASURES_ABREAST = 6
"""Measures side by side in one table; more are shared out evenly among further tables."""


def with_limits(results: Results, rows: Iterable[Row | Group]) -> str:
    """Return ", with 95% intervals" for a caption where a number in the rows has an interval; else an empty text."""
    limits = any(number.interval is not None for row in rows if isinstance(row, Row)
                 for number in numbers_in(row.cells))
    return with_intervals(results, limited=limits)


def same_rows_sentences(results: Results) -> str:
    """Return the sentences that chapters add to a text on differences of models on the same rows, if any."""
    return "".join(sentence for sentences in functions("card", "compared") for sentence in sentences(results))


def with_intervals(results: Results, *, limited: bool) -> str:
    """Return ", with 95% intervals" for a caption if ``limited``, that is if a number has an interval; else ""."""
    return f", with {wording.level(results.intervals.level)} intervals" if limited else ""


def metric_of(results: Results, name: str) -> MetricSummary:
    """Return the summary of a metric of the run, by its name: title, range, direction and so on."""
    return next(metric for metric in results.metrics if metric.name == name)


def better_side(results: Results, metric: str) -> str:
    """Return on which side of an axis the better values lie: " (higher is better)"; empty where neither is better."""
    end = wording.BETTER[metric_of(results, metric).direction]
    return "" if end == "neither" else f" ({wording.better(end)})"


def even_groups(items: Sequence[T], most: int) -> Iterator[Sequence[T]]:
    """Yield items, in order, in groups of at most ``most``, as equal in size as possible."""
    count = -(-len(items) // most)
    for group in range(count):
        yield items[len(items) * group // count : len(items) * (group + 1) // count]


def shown(estimate: Estimate, *, whole: bool = False, least: int = 0, places: int | None = None) -> Number:
    """Return an estimate as a `Number` of the card: value, interval and note; an undefined one says why.

    It has at least ``least`` decimals, or ``places`` where these are given; none where the measure counts
    (``whole``) and all its numbers are integers.
    """
    if estimate.value is None:
        return Number(status_of(estimate))
    note, exact = note_of(estimate), numbers.exact(estimate.value)
    if estimate.lower is None or estimate.upper is None:
        is_count = whole and estimate.value.is_integer()
        text = numbers.number(estimate.value, least) if places is None else numbers.fixed(estimate.value, places)
        return Number(numbers.count(estimate.value) if is_count else text, None, note, exact)
    value, interval = numbers.interval(
        estimate.value, estimate.lower, estimate.upper, whole=whole, least=least, places=places)
    return Number(value, interval, note, exact)


def abreast(
    estimates: Mapping[str, Estimate], models: Iterable[str], *, whole: bool, places: int | None = None
) -> tuple[Number, ...]:
    """Return a measure's estimates by model as numbers with the same decimals, for cells side by side.

    The decimals are ``places``, or the most that any needs; none where the measure counts (``whole``) and all are
    integers.
    """
    row = [estimates.get(model) for model in models]
    least = numbers.most_decimals(map(limited, (e for e in row if e is not None)))
    return tuple(Number("not evaluated") if e is None else shown(e, whole=whole, least=least, places=places)
                 for e in row)


def below(estimates: Iterable[Estimate | None]) -> int:
    """Return how many decimals the estimates in a column of a table share."""
    return numbers.column_decimals(limited(e) for e in estimates if e is not None)


def limited(estimate: Estimate) -> tuple[float | None, float | None, float | None]:
    """Return (value, lower, upper) of an estimate."""
    return estimate.value, estimate.lower, estimate.upper


def signed_number(value: float | None, lower: float | None, upper: float | None, note: str | None = None) -> Number:
    """Return a difference with its sign and its interval; a dash where ``value`` is None."""
    if value is None:
        return Number("–", None, note)
    return Number(*numbers.signed_interval(value, lower, upper), note, numbers.exact(value))


def ranged(
    value: float | None, lower: float | None = None, upper: float | None = None, note: str | None = None,
    least: int = 0, places: int | None = None,
) -> Number:
    """Return a value and its interval, if any; a dash where ``value`` is None.

    There are at least ``least`` decimals, or ``places`` where these are given.
    """
    if value is None:
        return Number("–", None, note)
    if lower is None or upper is None:
        text = numbers.number(value, least) if places is None else numbers.fixed(value, places)
        return Number(text, None, note, numbers.exact(value))
    return Number(*numbers.interval(value, lower, upper, least=least, places=places), note, numbers.exact(value))


def status_of(row: Estimate | Comparison | Disparity | WorstSlice) -> str:
    """Return the status of a row with its reason, such as "undefined: no events"."""
    return f"{row.status}: {row.reason}" if row.reason else row.status


def note_of(row: Estimate | Comparison) -> str | None:
    """Return a remark on an estimate: its status, or its undefined replicates; None where there is none."""
    if row.status != "ok":
        return status_of(row)
    gaps = row.undefined_replicates
    return f"undefined in {numbers.count(gaps)} replicates" if gaps else None


def reason_texts(results: Results, rows: Iterable[Repeat | Optimism | FoldSpread]) -> Iterator[Text]:
    """Yield a text below a table for each reason why values are missing or doubtful, with its measures."""
    names = names_of(results)
    measures: dict[str, list[str]] = {}
    for row in rows:
        if row.reason is not None:
            measures.setdefault(row.reason.rstrip("."), []).append(names.measure_of(row))
    for reason, measure_names in measures.items():
        yield Text(f"{wording.joined(measure_names)}: {reason}.", "small")


def overall(results: Results, dataset: str) -> list[Estimate]:
    """Return a dataset's estimates over all rows with the models' original predictions."""
    return [e for e in results.rows if e.dataset == dataset and e.slice is None and e.variant == "original"]


def curves_of(results: Results, dataset: str, kind: type[C], name: str | None = None) -> Iterator[C]:
    """Yield the curves of a record class on all rows of a dataset, all variants and classes; only ``name`` if given."""
    for curve in results.curves:
        if isinstance(curve, kind) and (curve.dataset, curve.slice) == (dataset, None) and name in (None, curve.curve):
            yield curve


def estimate_of(results: Results, row: Comparison) -> Estimate:
    """Return the estimate that a comparison is about: its model's value of the measure on the same rows."""
    return results.estimate_about[row.about]


def evaluated(results: Results) -> Iterator[tuple[str, DatasetSummary]]:
    """Yield pairs of the anchor of a dataset's section and its summary, for each evaluated dataset."""
    for dataset_number, dataset in enumerate(results.datasets, 1):
        if overall(results, dataset.name):
            yield f"dataset-{dataset_number}", dataset


def labels(results: Results) -> dict[str, str]:
    """Return the labels of the models on the card, by name."""
    return {model.name: model.label for model in results.models}


def key_measures(results: Results) -> tuple[str, ...]:
    """Return the metrics that the summary shows: the usual ones, or the first six where the run has none of those."""
    metrics = [metric.name for metric in results.metrics]
    return tuple(name for name in wording.KEY_MEASURES if name in metrics) or tuple(metrics[:6])


OF_FINDINGS = "measures-of-findings"
"""The section of the measures that only findings use."""

DIGITS = 8
"""Digits of the sha256 in an anchor."""

MOST_LETTERS = 60
"""Letters of a finding in the name of its link."""


def row_anchor(section: str, rows: Iterable[Any], *more: str) -> RowAnchor:
    """Return the anchor of a table's row that shows the numbers of some ``rows`` of the results.

    It is the same in every run. ``section`` is the anchor of the section; ``more`` tells the row from others that
    show the same numbers.
    """
    shown = tuple(Measured(**{name: getattr(row, name) for name in Measured.model_fields if hasattr(row, name)}).about
                  for row in rows)
    return RowAnchor(f"{section}-{json_sha256([shown, more])[:DIGITS]}", shown)


@dataclass(frozen=True, slots=True)
class EvidenceLinks:
    """The titles of sections, and by section and number the anchor of the row that shows it, with what heads it.

    A measure that no table of its section shows stands in that of the measures that only findings use.
    """

    titles: Mapping[str, str] = field(default_factory=dict)
    rows: Mapping[tuple[str, tuple[object, ...]], tuple[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, sections: Iterable[Section]) -> EvidenceLinks:
        """Return the links to all rows with numbers in the tables of some sections."""
        titles: dict[str, str] = {}
        rows: dict[tuple[str, tuple[object, ...]], tuple[str, str]] = {}
        for section in sections:
            titles[section.anchor] = plain(section.title)
            for table in _tables(section.blocks):
                for row in table.rows:
                    if isinstance(row, Row) and row.anchor is not None:
                        head = row.cells[table.heading]
                        name = plain(head[0] if isinstance(head, tuple) else head)
                        for about in row.anchor.numbers:
                            rows.setdefault((section.anchor, about), (row.anchor.id, name))
        return cls(titles, rows)

    def link(self, finding: Finding) -> Link:
        """Return the link to the evidence of a finding: the row of the first of its numbers that a table shows."""
        sections = finding.section, OF_FINDINGS
        section, (anchor, head) = next(
            ((section, self.rows[section, number.about]) for section in sections for number in finding.estimates
             if (section, number.about) in self.rows), (finding.section, (finding.section, "")))
        text = finding.text if len(finding.text) <= MOST_LETTERS else f"{finding.text[:MOST_LETTERS].rstrip()}…"
        where = ", ".join(filter(None, (self.titles.get(section, section), head)))
        return Link("Evidence", anchor, f"Evidence: {text} ({where})")


NO_LINKS = EvidenceLinks()
"""The links of a card without tables: to sections alone."""


def _tables(blocks: Iterable[Block]) -> Iterator[Table]:
    """Yield the tables among blocks, and within these."""
    for block in blocks:
        if isinstance(block, Table):
            yield block
        elif isinstance(block, BlockGroup):
            yield from _tables(block.blocks)
