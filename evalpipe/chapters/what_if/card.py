"""What predicted classes come to: the bars of a thousand rows, and what the reader needs to move the threshold."""

from __future__ import annotations

import json
from statistics import NormalDist
from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.method import Procedure
from evalpipe.card.page import BarPart, Explored, Explorer, StackedBar, StackedBars
from evalpipe.card.palette import colour_index, model_look
from evalpipe.card.wording import names_of, nouns_of
from evalpipe.findings.words import grouped
from evalpipe.words import numbers
from evalpipe.words.spelling import clipped, counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.card.wording import Nouns
    from evalpipe.chapters.what_if.records import GroupCounts, PerThousand, WhatIf
    from evalpipe.results import Results


MOST = 6
"""The most bars that are drawn."""

MOST_VARIANTS = 4
"""The most bars where some of them are of variants, whose names take two lines."""


def glance(results: Results) -> Iterator[StackedBars]:
    """Yield the chart of what happens to 1,000 rows of the first dataset: a bar for each model and variant."""
    rows = [row for row in results.per_thousand if row.dataset == results.per_thousand[0].dataset]
    if not rows:
        return
    if len(rows) > MOST_VARIANTS:
        rows = [row for row in rows if row.variant == "original"] or rows
    names, nouns, model_order = names_of(results), nouns_of(results), [model.name for model in results.models]
    bars = tuple(
        StackedBar(clipped(names.model(row.model, row.variant)), f"{row.model}+{row.variant}",
            model_look(colour_index(model_order.index(row.model), len(model_order)))[0], _parts(nouns, row))
        for row in rows[:MOST])
    other_datasets = len({row.dataset for row in results.per_thousand}) - 1
    variants = sum(row.dataset == rows[0].dataset for row in results.per_thousand) - len(rows)
    left_out = [counted(number, noun) for number, noun in (
        (len(rows) - len(bars), "model"), (variants, "recalibrated variant"), (other_datasets, "dataset")) if number]
    more = f"Not drawn: {' and '.join(left_out)}; see results.json." if left_out else ""
    caption = f"{f'{rows[0].dataset}, ' if other_datasets else ''}{_caption(rows, nouns.event_words)}"
    yield StackedBars(f"What happens to 1,000 {nouns.rows} like these?", caption, bars, nouns.event_words, more)


def _caption(rows: list[PerThousand], events: str) -> str:
    """Return at which threshold and prevalence the bars are drawn."""
    thresholds = {row.threshold for row in rows}
    if thresholds == {None}:
        at = "by the classes that each model predicts"
    elif len(thresholds) > 1:
        at = "each model at its own threshold"
    else:
        at = f"at threshold {numbers.given(rows[0].threshold or 0.0)}"
    return f"{at}, if {round(1000 * rows[0].prevalence):,} in 1,000 are {events}"


def _parts(nouns: Nouns, row: PerThousand) -> tuple[BarPart, ...]:
    """Return the parts of a bar: events found and missed, false alarms, rows left alone and, if any, unclassified."""
    parts = (
        BarPart("found", row.true_positives, "found"), BarPart("missed", row.false_negatives, "missed"),
        BarPart("alarms", row.false_positives, nouns.alarms),
        BarPart("left", row.true_negatives, "correctly left alone"))
    return (*parts, BarPart("none", row.unclassified, "without a class")) if row.unclassified else parts


COUNTS = (("tp", "True positives"), ("fn", "False negatives"), ("fp", "False positives"), ("tn", "True negatives"))
MEASURES = (("sensitivity", "Sensitivity"), ("specificity", "Specificity"), ("ppv", "PPV"), ("npv", "NPV"),
            ("net_benefit", "Net benefit"))
COST = ("cost", "Cost")


def beneath(results: Results) -> Iterator[Explorer]:
    """Yield the sliders of threshold and prevalence, beneath the first screen; nothing without counts to use."""
    if not results.what_if:
        return
    names, model_order = names_of(results), [model.name for model in results.models]
    pairs = dict.fromkeys((row.model, row.variant) for table in results.what_if for row in table.groups)
    keys = {pair: str(number) for number, pair in enumerate(pairs)}
    places = {model: colour_index(index, len(model_order)) for index, model in enumerate(model_order)}
    models = tuple(Explored(key, names.model(model, variant), model_look(places[model]))
                   for (model, variant), key in keys.items())
    columns = (*MEASURES, COST) if results.costs else MEASURES
    groups, titles = [], []
    for table in results.what_if:
        for rows in grouped(table.groups, lambda row: str(row.slice)):
            title = "All rows" if rows[0].slice is None else names.slice(rows[0].slice)
            titles.append(title if len(results.what_if) == 1 else f"{title} of {table.dataset}")
            groups.append(_counts_of_group(results, table, rows, keys))
    limits = (f"With {wording.level(results.intervals.level)} limits: Clopper-Pearson of sensitivity and specificity, "
              "the delta method of the others, at the prevalence that is set.")
    if not all(table.limited for table in results.what_if):
        limits = "Without limits: rows are weighted or clustered, so no closed form holds."
    yield Explorer(_sliders_json(results, groups, keys), tuple(titles), models, COUNTS, columns,
                   f"Move the threshold and the prevalence, or choose a group. {limits}")


def _sliders_json(
    results: Results, groups: list[dict[str, object]], keys: dict[tuple[str, str], str]
) -> str:
    """Return the data of the sliders as JSON, safe inside a script element of the page.

    The sliders start at the threshold of the first model that has one, else at one half. Costs are those of each
    pair of a true and a predicted level, the event first.
    """
    starts = {}
    for table in results.what_if:
        used = [row.threshold for row in results.confusion
                if row.dataset == table.dataset and row.threshold is not None and row.slice is None]
        starts[table.dataset] = table.thresholds.index(next((cut for cut in used if cut in table.thresholds), 0.5))
    places = {dataset.name: place for place, dataset in enumerate(results.datasets, 1)}
    cost_of_pair = {(cost.truth, cost.predicted): cost.cost for cost in results.costs}
    costs = [[cost_of_pair.get((truth, predicted), 0.0) for predicted in results.levels] for truth in results.levels]
    level, prior = results.intervals.level, results.prevalence
    document = {
        "level": level, "z": NormalDist().inv_cdf((1 + level) / 2),
        "limited": all(table.limited for table in results.what_if),
        "declared": None if prior is None else prior.value, "costs": costs if cost_of_pair else None,
        "datasets": {table.dataset: {"thresholds": table.thresholds, "start": starts[table.dataset],
                                     "place": places[table.dataset]}
                     for table in results.what_if},
        "models": {f"{model}+{variant}": key for (model, variant), key in keys.items()}, "groups": groups,
    }
    return json.dumps(document, separators=(",", ":"), ensure_ascii=True).replace("<", "\\u003c")


def _counts_of_group(
    results: Results, table: WhatIf, rows: list[GroupCounts], keys: dict[tuple[str, str], str]
) -> dict[str, object]:
    """Return the counts of each model in a group of rows, at each threshold, and the prevalence to start with."""
    events, others = rows[0].hits[0], rows[0].alarms[0]
    prior = results.prevalence
    share = prior.value if prior is not None and prior.value is not None else events / (events + others)
    return {
        "dataset": table.dataset, "n": {"events": _as_int_if_whole(events), "others": _as_int_if_whole(others)},
        "prevalence": wording.share(share),
        "models": {keys[row.model, row.variant]: [[*map(_as_int_if_whole, row.hits)],
                                                  [*map(_as_int_if_whole, row.alarms)]] for row in rows},
    }


def _as_int_if_whole(value: float) -> float:
    """Return a whole number as an int, which is shorter in JSON; others unchanged."""
    return int(value) if value.is_integer() else value


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield the method note on how the page computes measures at the settings of its sliders."""
    if results.what_if:
        yield Procedure("What if", (
            "The page counts events and non-events at or above each threshold of its slider, from a table that is in "
            "results.json. Sensitivity and specificity have Clopper-Pearson limits; PPV and NPV those of "
            "the delta method on the logit (Mercaldo, Lau & Zhou 2007); net benefit and cost those of the delta "
            "method, with the prevalence taken as known. No correction is made for trying many settings."))
