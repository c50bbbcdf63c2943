"""What the page needs to let its reader move the threshold and the prevalence, in every group."""

from __future__ import annotations

import json
from statistics import NormalDist
from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.method import Procedure
from evalpipe.card.page import Explored, Explorer
from evalpipe.card.palette import look_of
from evalpipe.card.wording import names_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.chapters.what_if.records import GroupCounts, WhatIf
    from evalpipe.results import Results

COUNTS = (("tp", "True positives"), ("fn", "False negatives"), ("fp", "False positives"), ("tn", "True negatives"))
MEASURES = (("sensitivity", "Sensitivity"), ("specificity", "Specificity"), ("ppv", "PPV"), ("npv", "NPV"),
            ("net_benefit", "Net benefit"))
COST = ("cost", "Cost")


def beneath(results: Results) -> Iterator[Explorer]:
    """Write the explorer that stands beneath the first screen; nothing where there are no counts by threshold."""
    if not results.what_if:
        return
    keys = _keys(results)
    looks = [model.name for model in results.models]
    names = names_of(results)
    models = tuple(
        Explored(key, names.model(model, variant), look_of(looks.index(model)))
        for (model, variant), key in keys.items())
    columns = (*MEASURES, COST) if results.costs else MEASURES
    groups = [(table, scope) for table in results.what_if for scope in _scopes(table)]
    yield Explorer(_json(results, groups), tuple(_name(results, *group) for group in groups), models, COUNTS, columns,
                   _said(results))


def _keys(results: Results) -> dict[tuple[str, str], str]:
    """Return a short key for each model and variant, in the order of the results."""
    pairs = dict.fromkeys((row.model, row.variant) for table in results.what_if for row in table.groups)
    return {pair: str(place) for place, pair in enumerate(pairs)}


def _scopes(table: WhatIf) -> Iterator[list[GroupCounts]]:
    """Yield the counts of all models in one group after the other."""
    groups: dict[str, list[GroupCounts]] = {}
    for row in table.groups:
        groups.setdefault(str(row.slice), []).append(row)
    yield from groups.values()


def _name(results: Results, table: WhatIf, rows: list[GroupCounts]) -> str:
    """Name a group of rows, with its dataset where there are several."""
    scope = "All rows" if rows[0].slice is None else names_of(results).slice(rows[0].slice)
    return scope if len(results.what_if) == 1 else f"{scope} of {table.dataset}"


def _json(results: Results, groups: list[tuple[WhatIf, list[GroupCounts]]]) -> str:
    """Return the data of the sliders as JSON that cannot end the element it stands in."""
    level, prior, keys = results.intervals.level, results.prevalence, _keys(results)
    document = {
        "level": level, "z": NormalDist().inv_cdf((1 + level) / 2),
        "limited": all(table.limited for table in results.what_if),
        "declared": None if prior is None else prior.value, "costs": _costs(results),
        "datasets": {table.dataset: {"thresholds": table.thresholds, "start": _start(results, table)}
                     for table in results.what_if},
        "groups": [_group(results, table, rows, keys) for table, rows in groups],
    }
    return json.dumps(document, separators=(",", ":"), ensure_ascii=True).replace("<", "\\u003c")


def _group(
    results: Results, table: WhatIf, rows: list[GroupCounts], keys: dict[tuple[str, str], str]
) -> dict[str, object]:
    events, others = rows[0].hits[0], rows[0].alarms[0]
    prior = results.prevalence
    share = prior.value if prior is not None and prior.value is not None else events / (events + others)
    return {
        "dataset": table.dataset, "n": {"events": _whole(events), "others": _whole(others)},
        "prevalence": wording.share(share),
        "models": {keys[row.model, row.variant]: [[_whole(x) for x in row.hits], [_whole(x) for x in row.alarms]]
                   for row in rows},
    }


def _whole(value: float) -> float:
    """Return a whole number as such, which is shorter in JSON."""
    return int(value) if value.is_integer() else value


def _costs(results: Results) -> list[list[float]] | None:
    """Return the cost of each pair of a true and a predicted level, the event first; None where none is named."""
    if not results.costs:
        return None
    named = {(cost.truth, cost.predicted): cost.cost for cost in results.costs}
    return [[named.get((truth, predicted), 0.0) for predicted in results.levels] for truth in results.levels]


def _start(results: Results, table: WhatIf) -> int:
    """Return the place of the threshold in use: that of the first model that has one, else one half."""
    used = [row.threshold for row in results.confusion
            if row.dataset == table.dataset and row.threshold is not None and row.slice is None]
    return table.thresholds.index(next((cut for cut in used if cut in table.thresholds), 0.5))


def _said(results: Results) -> str:
    """Say what the sliders change, and what limits are shown."""
    limits = (f"With {wording.level(results.intervals.level)} limits: Clopper-Pearson of sensitivity and specificity, "
              "the delta method of the others, at the prevalence that is set.")
    if not all(table.limited for table in results.what_if):
        limits = "Without limits: rows are weighted or clustered, so no closed form holds."
    return f"Move the threshold and the prevalence, or choose a group. {limits}"


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield how the page computes what its reader asks for."""
    if results.what_if:
        yield Procedure("What if", (
            "The page counts events and non-events at or above each threshold of its slider, from a table that is in "
            "results.json. Sensitivity and specificity have Clopper-Pearson limits; PPV and NPV those of "
            "the delta method on the logit (Mercaldo, Lau & Zhou 2007); net benefit and cost those of the delta "
            "method, with the prevalence taken as known. No correction is made for trying many settings."))
