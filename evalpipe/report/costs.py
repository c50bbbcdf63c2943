"""What the card says of costs and profit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.report.names import names_of
from evalpipe.report.page import Number
from evalpipe.report.tables import limited, overall, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from evalpipe.results import BestProfit, Estimate, Profit, Results, Scalar

    Key = tuple[str, tuple[tuple[str, Scalar], ...]]
    """A measure of cost with its options."""

MEASURES = ("cost", "expected_cost")
TERMS = (
    ("An event contacted brings", "benefit"), ("A row contacted costs", "cost"),
    ("Fixed cost of contacting any", "fixed"),
)
"""What the keys of the spec's profit mean."""


@dataclass(frozen=True, slots=True)
class CostRow:
    """What a row costs under a model, or if one level is always predicted (a reference), by each measure."""

    name: str
    reference: bool
    cells: tuple[Number, ...]


@dataclass(frozen=True, slots=True)
class BestRow:
    """The depth at which a model's profit is largest, and that profit; the last two without intervals."""

    model: str
    depth: Number
    profit: Number
    corrected: str
    per_row: str


@dataclass(frozen=True, slots=True)
class ProfitRow:
    """The profit down to the end of one group."""

    group: str
    best: bool
    contacted: str
    found: str
    profit: Number
    others: tuple[str, ...]
    """What the group adds, random and perfect order, and how often the depth is the best, where that is known."""


@dataclass(frozen=True, slots=True)
class ProfitTable:
    """A model's profit by depth."""

    model: str
    drawn: bool
    """Whether there are replicates, and so limits."""
    rows: tuple[ProfitRow, ...]


@dataclass(frozen=True, slots=True)
class WorthView:
    """Costs and profit on one dataset."""

    dataset: str
    anchor: str
    heads: tuple[str, ...]
    """The measures of cost."""
    costs: tuple[CostRow, ...]
    best: tuple[BestRow, ...]
    profits: tuple[ProfitTable, ...]

    @property
    def limited(self) -> bool:
        """Whether a number has an interval."""
        return limited(cell for row in self.costs for cell in row.cells)

    @property
    def drawn(self) -> bool:
        """Whether there are replicates of the profit."""
        return any(table.drawn for table in self.profits)


@dataclass(frozen=True, slots=True)
class CostsView:
    """The section of costs and profit."""

    named: tuple[tuple[str, str, str], ...]
    """The costs that are named: true level, predicted level, cost."""
    terms: tuple[tuple[str, str], ...]
    """What a contact costs and brings, in words and numbers; none where no profit is declared."""
    groups: str
    datasets: tuple[WorthView, ...]


def costs_view(results: Results) -> CostsView | None:
    """Write what is known of costs and profit; None where neither is declared."""
    if not results.costs and not results.profit:
        return None
    declared = results.spec.get("profit") if results.profit else None
    priced, earning = ([each.dataset for each in table] for table in (results.cost_references, results.profit))
    places = dict.fromkeys([*priced, *earning])
    return CostsView(
        named=tuple((each.truth, each.predicted, numbers.plain(each.cost)) for each in results.costs),
        terms=tuple((said, numbers.plain(declared[key])) for said, key in TERMS) if declared else (),
        groups=str(results.best_profit[0].groups) if results.best_profit else "",
        datasets=tuple(_worth(results, name, place) for place, name in enumerate(places, 1)),
    )


def _worth(results: Results, dataset: str, place: int) -> WorthView:
    found = [e for e in overall(results, dataset) if e.metric in MEASURES and e.class_ is None]
    names = names_of(results)
    known = {_key(e): names.measure(e.metric, e.params) for name in MEASURES for e in found if e.metric == name}
    return WorthView(
        dataset=dataset, anchor=f"costs-{place}", heads=tuple(known.values()) or ("Cost",),
        costs=tuple(_costs(results, dataset, found, known)),
        best=tuple(_bests(results, dataset)), profits=tuple(_profits(results, dataset)),
    )


def _key(e: Estimate) -> Key:
    return e.metric, tuple(e.params.items())


def _costs(
    results: Results, dataset: str, found: list[Estimate], known: Collection[Key]
) -> Iterator[CostRow]:
    """Yield a row for each model that has a cost, then one for each level that could always be predicted."""
    for model in results.models:
        own = {_key(e): e for e in found if e.model == model.name}
        if own:
            cells = (shown(own[key]) if key in own else Number("not evaluated") for key in known)
            yield CostRow(model.label, reference=False, cells=tuple(cells))
    for each in results.cost_references:
        if each.dataset == dataset:
            note = "cheapest without a model" if each.cheapest else None
            cell = Number(numbers.number(each.cost), None, note, numbers.exact(each.cost))
            elsewhere = Number("–")  # a reference is of the rows as they are, not weighed to a prevalence
            weighed = ["prevalence" in dict(key[1]) for key in known] or [False]
            cells = (elsewhere if other else cell for other in weighed)
            yield CostRow(f"Always {each.level}", reference=True, cells=tuple(cells))


def _bests(results: Results, dataset: str) -> Iterator[BestRow]:
    labels = {model.name: model.label for model in results.models}
    for best in results.best_profit:
        if (best.dataset, best.variant) == (dataset, "original"):
            rows = next(_by_depth(results, dataset, best.model))
            yield _best(best, rows, labels[best.model])


def _best(best: BestProfit, rows: list[Profit], label: str) -> BestRow:
    shares = [numbers.percent(rows[k].contacted, rows[-1].contacted)
              for k in (best.group, best.group_lower, best.group_upper) if k is not None]
    depth = Number(shares[0], f"{shares[1]} to {shares[2]}" if len(shares) > 1 else None, None, str(best.group))
    digits = _digits(rows)
    return BestRow(
        model=label, depth=depth, profit=_money(best, digits),
        corrected="–" if best.corrected is None else numbers.fixed(best.corrected, digits),
        per_row=numbers.number(rows[best.group].profit_per_row),
    )


def _digits(rows: list[Profit]) -> int:
    """Choose the decimals of a table of profits by its largest number."""
    largest = max(abs(value) for row in rows for value in (row.profit, row.profit_random, row.profit_wizard))
    return numbers.decimals(largest, None)


def _money(found: Profit | BestProfit, digits: int) -> Number:
    """Write a profit with its limits, where there are any and it is uncertain."""
    value, exact = numbers.fixed(found.profit, digits), numbers.exact(found.profit)
    if found.lower is None or found.upper is None or found.lower == found.upper == found.profit:
        return Number(value, exact=exact)
    return Number(value, f"{numbers.fixed(found.lower, digits)} to {numbers.fixed(found.upper, digits)}", exact=exact)


def _by_depth(results: Results, dataset: str, model: str) -> Iterator[list[Profit]]:
    """Yield the profit of a model by depth, where it has one."""
    rows = [r for r in results.profit if (r.dataset, r.model, r.variant) == (dataset, model, "original")]
    if rows:
        yield rows


def _profits(results: Results, dataset: str) -> Iterator[ProfitTable]:
    for model in results.models:
        for rows in _by_depth(results, dataset, model.name):
            drawn, digits = rows[0].share_best is not None, _digits(rows)
            yield ProfitTable(model.label, drawn, tuple(_row(row, digits) for row in rows))


def _row(row: Profit, digits: int) -> ProfitRow:
    values = (row.incremental, row.profit_random, row.profit_wizard)
    share = () if row.share_best is None else (numbers.percent(row.share_best, 1),)
    return ProfitRow(
        group=str(row.group), best=row.best, contacted=numbers.count(row.contacted), found=numbers.count(row.found),
        profit=_money(row, digits), others=(*(numbers.fixed(value, digits) for value in values), *share),
    )
