"""What the card says of costs and profit: the section, the figure of profit by depth, and what is found."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.figures.axes import HALVES, Axis, ticks_between, unit_axis
from evalpipe.card.figures.context import context_of
from evalpipe.card.figures.curves import Band, CurveLayers, Frame, ModelCurve, Reference, draw_curves, shared_sentence
from evalpipe.card.figures.panel import DASHES
from evalpipe.card.figures.svg import Clauses, drawing
from evalpipe.card.page import Aside, Column, Facts, Figures, Heading, Number, Row, Section, Table, Text
from evalpipe.card.tables import below, labels, overall, ranged, shown, with_limits
from evalpipe.card.wording import joined, names_of
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, p_beyond, rule, unless_key
from evalpipe.findings.margins import against_margin, margin_of
from evalpipe.findings.words import by_dataset, finding, measures, values_of, with_verb
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.figures.cells import Box
    from evalpipe.card.figures.panel import Panel
    from evalpipe.card.figures.svg import Drawing, Series
    from evalpipe.card.page import Block
    from evalpipe.chapters.costs.records import BestProfit, CostReference, Profit
    from evalpipe.results import Estimate, Results
    from evalpipe.results.document import Finding


MEASURES = ("cost", "expected_cost")
"""The metrics that stand beside the costs of predicting one level for all rows."""

MOST_LEVELS = 6
"""The most levels whose costs are written as a matrix."""

TERMS = (
    ("An event contacted brings", "benefit"), ("A row contacted costs", "cost"),
    ("Fixed cost of contacting any", "fixed"),
)
"""What the keys of the spec's `profit` mean."""

REFERENCES = (
    "The last rows of a table predict one level for all rows. A model that costs more than the cheapest of them is "
    "worse than no model, at these costs."
)


def sections(results: Results) -> Iterator[Section]:
    """Yield the section on costs and profit; none where the spec declares neither."""
    if results.costs or results.profit:
        yield Section("costs", "Costs and profit", (*_cost_blocks(results), *_profit_blocks(results)), part="decisions")


def _cost_blocks(results: Results) -> Iterator[Block]:
    """Yield the named costs, and what a row of each dataset costs; nothing where no costs are named.

    Costs are a matrix of true and predicted levels; of more than `MOST_LEVELS` levels, a list.
    """
    if not results.costs:
        return
    yield Heading("Costs")
    yield Text("Cost of a row by its true and its predicted level. Pairs that are not named cost 0.", "lead")
    if len(results.levels) > MOST_LEVELS:
        columns = [Column("True level"), Column("Predicted level"), Column("Cost", "num")]
        rows = [Row((cost_row.truth, cost_row.predicted, numbers.plain(cost_row.cost))) for cost_row in results.costs]
    else:
        costs = {(cost_row.truth, cost_row.predicted): cost_row.cost for cost_row in results.costs}
        columns = [Column("True level"), *(Column(level, "num", over="Predicted level") for level in results.levels)]
        rows = [Row((truth, *(numbers.plain(costs.get((truth, predicted), 0)) for predicted in results.levels)))
                for truth in results.levels]
    yield Table("Named costs", tuple(columns), tuple(rows))
    for dataset in dict.fromkeys(reference.dataset for reference in results.cost_references):
        yield _cost_table(results, dataset)
    yield Text(REFERENCES, "small")


def _cost_table(results: Results, dataset: str) -> Table:
    """Return the table of the mean cost of a row: under each model, then with each level predicted for all rows."""
    names = names_of(results)
    estimates = [e for e in overall(results, dataset) if e.metric in MEASURES and e.class_ is None]
    by_measure: dict[str, dict[str, Estimate]] = {}
    for e in sorted(estimates, key=lambda e: MEASURES.index(e.metric)):
        by_measure.setdefault(names.measure(e.metric, e.params), {})[e.model] = e
    references = [reference for reference in results.cost_references if reference.dataset == dataset]
    # Costs of all kinds stand beside one another, so they share their decimals.
    places = max((below(by_model.values()) for by_model in by_measure.values()), default=numbers.column_decimals(
        (reference.cost, None, None) for reference in references))
    rows = [
        Row((model.label, *(shown(by_model[model.name], places=places) if model.name in by_model else Number(
            "not evaluated") for by_model in by_measure.values())))
        for model in results.models if any(model.name in by_model for by_model in by_measure.values())
    ]
    # A reference is of the rows as they are, not reweighted to a prevalence.
    reweighted = [
        any("prevalence" in e.params for e in by_model.values()) for by_model in by_measure.values()] or [False]
    for reference in references:
        note = "cheapest without a model" if reference.cheapest else None
        cost = ranged(reference.cost, note=note, places=places)
        rows.append(Row((f"Always {reference.level}", *("–" if other_mix else cost for other_mix in reweighted))))
    columns = (Column("Predictions"), *(Column(measure, "num") for measure in by_measure or ("Cost",)))
    return Table(f"Cost of a row of {dataset}{with_limits(results, rows)}", columns, tuple(rows))


def _profit_blocks(results: Results) -> Iterator[Block]:
    """Yield the blocks on profit: the terms of the campaign, then figures and tables for each dataset."""
    if not results.profit:
        return
    yield Heading("Profit")
    yield Text(
        f"Rows are ranked by score, highest first, cut into {results.best_profit[0].groups} groups and contacted from "
        "the top; tied rows are divided in proportion. Random and perfect order contact the same number of rows.",
        "lead")
    yield Facts(tuple((term, numbers.plain(results.spec["profit"][key])) for term, key in TERMS))
    for dataset in dict.fromkeys(row.dataset for row in results.profit):
        profits = profits_by_depth(results, dataset)
        drawn = any(rows[0].share_best is not None for rows in profits.values())
        replicates = (
            " Corrected: the largest profit minus its optimism, the mean excess of what bootstrap replicates earn at "
            "their own best depth over what the data earn there (Efron 1983). Limits are "
            f"{wording.level(results.intervals.level)} percentile limits from the replicates, each of as many rows as "
            "the data. Below, “best in” is the share of the replicates in which a depth is the best.") if drawn else ""
        yield Figures(partial(profit_figures, results, dataset))
        yield _largest_profits(results, dataset, profits, drawn=drawn)
        yield Text(f"The largest profit is optimistic{', and so are its limits' if drawn else ''}: the depth is chosen "
                   f"and judged on the same rows.{replicates} Profit per row: over all rows, contacted or not.",
                   "small")
        for model, rows in profits.items():
            yield _depth_table(f"{labels(results)[model]}: profit by depth on {dataset}", rows)


def _largest_profits(results: Results, dataset: str, profits: dict[str, list[Profit]], *, drawn: bool) -> Table:
    """Return the table of the depth at which the profit of each model is largest, and that profit.

    ``profits`` are by model and depth; ``drawn`` says whether bootstrap replicates give limits and a correction.
    """
    bests = {(best.dataset, best.model, best.variant): best for best in results.best_profit}
    columns = (Column("Model"), Column("Rows to contact", "num"), Column("Profit", "num"),
               Column("Corrected", "num", shown=drawn), Column("Profit per row", "num"))
    cells = []
    for model, rows in profits.items():
        best, digits = bests[dataset, model, "original"], _digits(rows)
        share, *limits = (numbers.percent(rows[group].contacted, rows[-1].contacted)
                          for group in (best.group, best.group_lower, best.group_upper) if group is not None)
        cells.append(Row((
            labels(results)[model], Number(share, numbers.ranged(*limits) if limits else None, None, str(best.group)),
            _profit_number(best, digits),
            "–" if best.corrected is None else numbers.fixed(best.corrected, digits),
            numbers.number(rows[best.group].profit_per_row))))
    return Table(f"Largest profit on {dataset}", columns, tuple(cells))


def _depth_table(caption: str, rows: list[Profit]) -> Table:
    """Return the table of a model's profit after each group of rows contacted, highest scores first."""
    drawn, digits = rows[0].share_best is not None, _digits(rows)
    heads = ("Rows so far", "Events so far", "Profit", "Group adds", "At random", "Perfect")
    columns = (Column("Groups"), *(Column(head, "num") for head in heads), Column("Best in", "num", shown=drawn))
    return Table(caption, columns, tuple(
        Row((
            (str(row.group), Aside("best", "options")) if row.best else str(row.group),
            numbers.count(row.contacted), numbers.count(row.found), _profit_number(row, digits),
            *(numbers.fixed(value, digits) for value in (row.incremental, row.profit_random, row.profit_wizard)),
            "–" if row.share_best is None else numbers.percent(row.share_best, 1),
        ))
        for row in rows))


def _digits(rows: list[Profit]) -> int:
    """Return how many decimals the profits of a table are shown with, by the largest of them."""
    largest = max(abs(value) for row in rows for value in (row.profit, row.profit_random, row.profit_wizard))
    return numbers.decimals(largest)


def _profit_number(row: Profit | BestProfit, digits: int) -> Number:
    """Return a profit as a number of the card, with its limits if it has any and is uncertain."""
    value, exact = numbers.fixed(row.profit, digits), numbers.exact(row.profit)
    if row.lower is None or row.upper is None or row.lower == row.upper == row.profit:
        return Number(value, exact=exact)
    limits = numbers.ranged(*(numbers.fixed(limit, digits) for limit in (row.lower, row.upper)))
    return Number(value, limits, exact=exact)


def profits_by_depth(results: Results, dataset: str) -> dict[str, list[Profit]]:
    """Return the profits on a dataset of each original model, by depth; models without any are left out."""
    rows = [row for row in results.profit if (row.dataset, row.variant) == (dataset, "original")]
    profits = {model.name: [row for row in rows if row.model == model.name] for model in results.models}
    return {model: of_model for model, of_model in profits.items() if of_model}


def profit_figures(results: Results, dataset: str) -> tuple[Drawing, ...]:
    """Return the figure of the profit of all models by the share of rows contacted, with random and perfect order."""
    context, profits = context_of(results, dataset), profits_by_depth(results, dataset)
    pairs = [(series, profits[series.name]) for series in context.series if series.name in profits]
    banded = all(row.lower is not None for _, rows in pairs for row in rows)

    def ring(panel: Panel, series: Series, _: Sequence[Box]) -> Sequence[Box]:
        """Mark the largest profit of a model; return the box of the mark, which labels keep clear of."""
        rows = profits[series.name]
        best = next(k for k, row in enumerate(rows) if row.best)
        x, y = _shares(rows)[best], rows[best].profit
        panel.marks([x], [y], series.ink, series.marker, size=5.5, kind="ring")
        left, top = panel.across(x), panel.down(y)
        return ((left - 8, top - 8, left + 8, top + 8),)

    caption = (
        "Profit by the share of rows contacted, highest scores first. Ring: the largest profit, which is optimistic "
        "because the depth is chosen and judged on the same rows."
        + (f" {context.level} interval at each point." if banded else ""))
    sentences = []
    for series, rows in pairs:
        best = next(row for row in rows if row.best)
        most, share = numbers.number(best.profit) if best.contacted else 0, numbers.percent(
            best.contacted, rows[-1].contacted)
        sentences.append(f"{series.label}: largest profit {most} at {share} of the rows")
    rows = pairs[0][1]
    references = (Reference("Perfect ranking", _shares(rows), [row.profit_wizard for row in rows], DASHES),
                  Reference("Random order", _shares(rows), [row.profit_random for row in rows]))
    curves = [ModelCurve(series, _shares(rows), [row.profit for row in rows]) for series, rows in pairs]
    layers = CurveLayers(bands={name: Band(
        _shares(rows), [row.lower or 0.0 for row in rows], [row.upper or 0.0 for row in rows])
        for name, rows in profits.items()} if banded else {}, over=ring)
    caption += shared_sentence([series for series, _ in pairs], layers)
    sheets = draw_curves(_profit_frame([row for _, rows in pairs for row in rows]), curves, references,
                         layers)
    alt = f"Profit on {dataset}. " + " ".join(f"{sentence}." for sentence in sentences)
    return (drawing(f"d{context.place}-profit", "Profit", (Clauses(tuple(sentences)), caption, alt), sheets),)


def _profit_frame(rows: Sequence[Profit]) -> Frame:
    """Return the axes and sizes of the profit figure; the axis of profit holds every profit and its limits."""
    ends = [end for row in rows for end in (row.profit, row.profit_wizard, row.profit_random, row.lower, row.upper)
            if end is not None]
    low, high = min(ends), max(ends)
    room = 0.05 * (high - low) or 1.0
    ticks = tuple((value, _short_number(value)) for value, _ in ticks_between(low - room, high + room))
    y, name = Axis("Profit", low - room, high + room, ticks), "Share of rows contacted, highest scores first"
    return Frame(unit_axis(name), y, (unit_axis(name, HALVES), y), 230, 120)


def _shares(rows: Sequence[Profit]) -> list[float]:
    """Return the share of the rows that are contacted at each depth."""
    return [row.contacted / rows[-1].contacted for row in rows]


def _short_number(value: float) -> str:
    """Return a number of an axis as text; large ones in millions or billions."""
    for unit, name in ((1e9, " bn"), (1e6, " m")):
        if abs(value) >= unit:
            return numbers.plain(round(value / unit, 3)) + name
    return numbers.fixed(value, 0) if float(value).is_integer() else numbers.plain(round(value, 6))


@rule("fails", "undecided", "note", "passes", unless=(unless_key("no-costs", "costs"),), claims_all=True)
def cheaper_than_one_level(results: Results) -> Iterator[Claim]:
    """Whether predictions cost less than always predicting the cheapest level, on the same rows."""
    free = {level.dataset for level in _free_levels(results)}  # nothing is cheaper, whatever the data
    for row in (row for row in measures(results, "cost_saved") if row.dataset not in free):
        cheapest = next((cost.cost for cost in results.cost_references
                         if cost.cheapest and cost.dataset == row.dataset), 0.0)
        if (row.value or 0) > 0:
            yield Claim(row, cheaper, p_beyond(row, 0), undecided)
        else:
            yield from against_margin(row, 0, margin_of(results, "skill") * (cheapest or 0.0), dearer, undecided,
                                      undecided)


@rule("fails", unless=(unless_key("no-costs", "costs"),))
def free_level(results: Results) -> Iterator[Claim]:
    """Whether the cost table lets one level be predicted always without any cost."""
    yield from (Claim(row, costs_nothing) for row in _free_levels(results))


def _free_levels(results: Results) -> list[CostReference]:
    """Return the levels that cost nothing if predicted for every row; none where any cost is negative."""
    return [row for row in results.cost_references if row.cost == 0 and all(cost.cost >= 0 for cost in results.costs)]


def costs_nothing(_: Results, rows: Sequence[CostReference]) -> Iterator[Finding]:
    """Yield the finding that names the levels that cost nothing if predicted for all, so no model can save anything."""
    levels = joined([f"'{level}'" for level in dict.fromkeys(row.level for row in rows)], "or")
    text = (f"By the cost table, always predicting {levels} costs nothing, so no model can cost less. Check that it "
            "names the cost of each kind of error.")
    yield finding("fails", weights.WORSE_THAN_TRIVIAL, text, "costs")


def dearer(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Yield findings on models that cost more than always predicting one level, and by how much."""
    for group in by_dataset([_as_additional_cost(row) for row in rows]):
        text = (f"{with_verb(results, group, 'costs', 'cost')} more than "
                f"{_one_level_for_all(results, group)}: by {values_of(results, group)}.")
        yield finding("fails", weights.WORSE_THAN_TRIVIAL, text, "costs", group)


def cheaper(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Yield findings on models that cost less than always predicting one level, and by how much."""
    for group in by_dataset(rows):
        text = (f"{with_verb(results, group, 'costs', 'cost')} less than "
                f"{_one_level_for_all(results, group)}: by {values_of(results, group)}.")
        yield finding("passes", weights.BETTER_THAN_TRIVIAL, text, "costs", group)


def undecided(results: Results, rows: Sequence[Estimate]) -> Iterator[Finding]:
    """Yield findings on models of which these data do not decide whether they cost less than predicting one level."""
    for group in by_dataset(rows):
        cost = "; ".join(_cost_text(row) for row in group)
        text = (f"These data do not decide whether {with_verb(results, group, 'costs', 'cost')} more or less than "
                f"{_one_level_for_all(results, group)}: {cost}.")
        yield finding("undecided", weights.TRIVIAL_OPEN, text, "costs", group)


def _cost_text(row: Estimate) -> str:
    """Return the cost of a model against the cheapest constant prediction: "0.2 more per row (from 0.2 less to …)"."""
    more = _as_additional_cost(row)
    digits = numbers.decimals(more.value or 0.0, more.lower, more.upper)
    value, *ends = (f"{numbers.fixed(abs(end), digits)} {'less' if end < 0 else 'more'}"
                    for end in (more.value or 0.0, more.lower, more.upper) if end is not None)
    return f"{value} per row{f' (from {ends[0]} to {ends[1]})' if len(ends) == 2 else ''}"


def _as_additional_cost(row: Estimate) -> Estimate:
    """Return an estimate of the cost saved as one of the additional cost, with the opposite sign."""
    value, lower, upper = (None if number is None else -number for number in (row.value, row.upper, row.lower))
    return row.model_copy(update={"value": value, "lower": lower, "upper": upper})


def _one_level_for_all(results: Results, rows: Sequence[Estimate]) -> str:
    """Return the cheapest constant prediction as text, such as "always predicting 'no' (0.62 per row)"."""
    dataset = rows[0].dataset
    cheapest = (row for row in results.cost_references if row.cheapest and row.dataset == dataset)
    return joined([f"always predicting '{row.level}' ({numbers.number(row.cost) if row.cost else 0} per row)"
                   for row in cheapest])
