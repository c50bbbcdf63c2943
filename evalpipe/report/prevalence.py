"""The card's section on the prevalence: what is declared, what was observed, and measures at either side by side."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.report import wording
from evalpipe.report.figures import prevalence_drawings
from evalpipe.report.page import Column, Figures, Heading, Number, Row, Section, Table, Text
from evalpipe.report.tables import evaluated, is_whole, labels, overall, shown, with_limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from evalpipe.report.page import Block
    from evalpipe.results import Estimate, Prior, Results, Scalar

SAMPLE = "In the sample"
ABREAST = 4
"""The most prevalences in a table; more go to a further one."""


WEIGHED = (
    "At a prevalence, each class of the rows is weighed to have its share. That is right where only the mix of the "
    "classes differs, and wrong where the classes themselves look different."
)


def sections(results: Results) -> Iterator[Section]:
    """Write the section; none where no prevalence is declared and no measure is asked for at one."""
    if results.prevalence is None and not any("prevalence" in e.params for e in results.rows):
        return
    lead = " ".join(filter(None, (_lead(results), _spread(results), WEIGHED)))
    datasets = [
        block for place, (_, dataset) in enumerate(evaluated(results))
        for block in _dataset(results, dataset.name, first=place == 0)
    ]
    yield Section("prevalence", "Prevalence", (Text(lead, "lead"), _shares(results), *datasets))


def _shares(results: Results) -> Table:
    rows = tuple(
        Row((share.dataset, share.level, _number(share.value, share.lower, share.upper),
             _declared(results.prevalence, share.level)))
        for share in results.observed)
    columns = (Column("Dataset"), Column("Level"), Column("Observed", "num"), Column("Declared", "num"))
    return Table(f"Observed and declared prevalence{with_limits(results, rows)}", columns, rows)


def _dataset(results: Results, dataset: str, *, first: bool) -> Iterator[Block]:
    """Write what there is on a dataset; nothing where that is neither a table nor a figure."""
    tables = list(_tables(results, dataset))
    if tables:
        yield Heading(dataset)
        yield from tables
    yield Figures(partial(prevalence_drawings, results, dataset, first=first),
                  above=() if tables else (Heading(dataset),))


def _lead(results: Results) -> str:
    prior = results.prevalence
    if prior is None:
        return "No prevalence is declared for where the models will be used."
    source = f"Source: {prior.source.rstrip('.')}." if prior.source else "Its source is not stated."
    if prior.value is not None:
        verb = "is taken to be" if prior.beta is None else "is"
        return f"Where the models will be used, the share of {results.event} {verb} {said(prior)}. {source}"
    whole = ", ".join(f"{level} {_declared(prior, level)}" for level in results.levels)
    return f"Where the models will be used, the shares of the levels are taken to be: {whole}. {source}"


def said(prior: Prior) -> str:
    """Write a declared prevalence of the event."""
    if prior.beta is None:
        return wording.share(prior.value or 0.0)
    (lower, upper), level = next(iter(prior.limits.values())), wording.level(prior.level or 0.0)
    _, limits = numbers.interval(prior.value or 0.0, lower, upper)
    shape, mean = ", ".join(map(numbers.plain, prior.beta)), wording.share(prior.value or 0.0)
    return f"uncertain: a Beta({shape}) distribution with mean {mean}, {level} of it from {limits}"


def _spread(results: Results) -> str:
    """Say what the limits of measures at the declared prevalence hold."""
    prior = results.prevalence
    uncertain = prior is not None and prior.level is not None
    if uncertain and any(e.lower is not None for e in results.rows):
        return ("Limits at the declared prevalence hold both the sampling error and the spread of the prior, of which "
                "every bootstrap replicate draws its own.")
    return ""


def _declared(prior: Prior | None, level: str) -> str:
    if prior is None:
        return "–"
    value = prior.value if prior.levels is None else prior.levels[level]
    if value is None:
        return "–"
    if level not in prior.limits:
        return wording.share(value)
    _, limits = numbers.interval(value, *prior.limits[level])
    return f"{wording.share(value)} ({limits})"


def _number(value: float, lower: float | None, upper: float | None) -> Number:
    if lower is None or upper is None:
        return Number(numbers.number(value), None, None, numbers.exact(value))
    text, limits = numbers.interval(value, lower, upper)
    return Number(text, limits, None, numbers.exact(value))


def _tables(results: Results, dataset: str) -> Iterator[Table]:
    """Make the tables of measures that are asked for at a prevalence: a column for each, that of the sample first."""
    estimates = [e for e in overall(results, dataset) if e.class_ is None]
    asked = {_key(e) for e in estimates if "prevalence" in e.params}
    places = dict.fromkeys(e.params["prevalence"] for e in estimates if "prevalence" in e.params)
    heads = [SAMPLE] if any(_key(e) in asked and "prevalence" not in e.params for e in estimates) else []
    heads += [_head(results, at) for at in places]
    by_measure: dict[tuple[object, ...], dict[str, Estimate]] = {}
    order = list(dict.fromkeys(_key(e)[:-1] for e in estimates))
    for e in sorted(estimates, key=lambda e: order.index(_key(e)[:-1])):
        if _key(e) in asked:
            at = e.params.get("prevalence")
            by_measure.setdefault(_key(e), {})[SAMPLE if at is None else _head(results, at)] = e
    for start in range(0, len(heads), ABREAST):
        abreast = heads[start : start + ABREAST]
        rows = tuple(_row(results, row, abreast) for row in by_measure.values() if set(row) & set(abreast))
        columns = (Column("Measure"), Column("Model", shown=len(results.models) > 1),
                   *(Column(head, "num") for head in abreast))
        yield Table(f"Measures by prevalence on {dataset}{with_limits(results, rows)}", columns, rows,
                    rest="estimates.csv")


def _key(e: Estimate) -> tuple[object, ...]:
    own = tuple((name, value) for name, value in e.params.items() if name != "prevalence")
    return e.metric, e.average, own, e.model


def _head(results: Results, at: Scalar) -> str:
    prior = results.prevalence
    known = prior is not None and prior.value is not None and isinstance(at, float | int) and at == prior.value
    if prior is not None and prior.levels is not None and isinstance(at, str):
        known = at == ", ".join(f"{level} {prior.levels[level]:g}" for level in results.levels)
    return f"A{wording.at(at)[1:]}" + (" (declared)" if known else "")


def _row(results: Results, estimates: Mapping[str, Estimate], heads: Iterable[str]) -> Row:
    """Write a measure of a model at each prevalence; a dash where it is not asked for."""
    metrics = {metric.name: metric for metric in results.metrics}
    e = next(iter(estimates.values()))
    own = {name: value for name, value in e.params.items() if name != "prevalence"}
    whole = is_whole(metrics[e.metric])
    weighed = next((each.params for each in estimates.values() if "prevalence" in each.params), {})
    return Row((
        wording.measure(wording.titled(metrics[e.metric].title, weighed), own, e.average), labels(results)[e.model],
        *(shown(estimates[head], whole=whole) if head in estimates else "–" for head in heads),
    ))
