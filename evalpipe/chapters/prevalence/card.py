"""The card's section on the prevalence: what is declared, what was observed, and measures at either side by side."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.page import Column, Figures, Heading, Row, Section, Table, Text
from evalpipe.card.tables import evaluated, labels, overall, ranged, shown, with_limits
from evalpipe.chapters.prevalence.figures import prevalence_figures
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from evalpipe.card.page import Block
    from evalpipe.chapters.prevalence.records import Prior
    from evalpipe.results import Estimate, Results

    Measure = tuple[str, str | None, tuple[tuple[str, object], ...], str]
    """A metric, its average, its options but for the prevalence, and a model."""

SAMPLE = "In the sample"
MOST_LEVELS = 6
"""The levels whose shares are listed at the head of the card; of more the section on the prevalence lists them."""

ABREAST = 4
"""The most prevalences in a table; more go to a further one."""

WEIGHED = (
    "Measures at a prevalence reweight each class to its share. This is right where only the mix of the classes "
    "differs, and wrong where the classes themselves differ."
)
DRAWN = (
    "Limits at the declared prevalence include both the sampling error and the uncertainty of the prior: each "
    "bootstrap replicate draws its own prevalence."
)


def outcome(results: Results) -> Iterator[tuple[str, str]]:
    """Say which prevalence is declared; nothing of an outcome without levels."""
    prior = results.prevalence
    if prior is not None:
        stated = "stated" if prior.dataset is None else "estimated"
        shares = _of_event(prior) if prior.levels is None else f"{stated} for each of {len(prior.levels)} levels" if (
            len(prior.levels) > MOST_LEVELS) else ", ".join(
            f"{level}: {wording.share(prior.levels[level])}" for level in results.levels)
        yield "Declared prevalence", f"{shares} ({f'source: {prior.source}' if prior.source else 'source not stated'})"
    elif results.levels:
        yield "Declared prevalence", "not declared"
    judged = [dataset.name for _, dataset in evaluated(results)]
    observed = [f"{wording.observed_share(share.value, share.lower, share.upper)} in {share.dataset}"
                for share in results.observed
                if share.dataset in judged and results.event is not None and share.level == results.event]
    if observed:
        yield "Observed prevalence", "; ".join(observed)


def sections(results: Results) -> Iterator[Section]:
    """Write the section; none where no prevalence is declared and no measure is asked for at one."""
    prior = results.prevalence
    if prior is None and not any("prevalence" in e.params for e in results.rows):
        return
    drawn = prior is not None and prior.level is not None and any(e.lower is not None for e in results.rows)
    lead = f"{_lead(results)}{f' {DRAWN}' if drawn else ''} {WEIGHED}"
    datasets = [
        block for place, (_, dataset) in enumerate(evaluated(results))
        for block in _dataset(results, dataset.name, first=place == 0)
    ]
    yield Section("prevalence", "Prevalence", (Text(lead, "lead"), _observed(results), *datasets),
                  part="decisions")


def _lead(results: Results) -> str:
    """Say which prevalence is declared, and where it comes from."""
    prior = results.prevalence
    if prior is None:
        return "No prevalence is declared for where the models will be used."
    source = f"Source: {prior.source.rstrip('.')}." if prior.source else "Its source is not stated."
    limits = _limits_of(results, prior)
    if prior.levels is None:
        verb = "is taken to be" if prior.beta is None or prior.dataset is not None else "is"
        return (f"Where the models will be used, the share of {results.event} {verb} {_of_event(prior)}. "
                f"{source}{limits}")
    shares = ", ".join(f"{level} {_of_level(prior, level)}" for level in results.levels)
    estimated = f", {_estimated(prior)}" if prior.dataset is not None else ""
    return (f"Where the models will be used, the shares of the levels are taken to be: {shares}{estimated}. "
            f"{source}{limits}")


def _estimated(prior: Prior) -> str:
    """Say from which rows a prevalence is estimated."""
    return f"estimated from the {numbers.count(prior.rows or 0)} rows of {prior.dataset}"


def _limits_of(results: Results, prior: Prior) -> str:
    """Say how the limits of an estimated prevalence are made; nothing of a stated one."""
    if prior.dataset is None or prior.level is None:
        return ""
    kind = f"Beta({', '.join(map(numbers.number, prior.beta))})" if prior.beta is not None else "Dirichlet"
    unlike = results.weight is not None and results.weight["kind"] == "importance"
    clustered = any(dataset.clusters is not None for dataset in results.datasets)
    of = "as many independent rows of equal weight as leave it so uncertain" if unlike or clustered else (
        "the rows of each level")
    return (f" Its {wording.level(prior.level)} limits are those of a {kind} distribution, whose parameters are "
            f"{of}.")


def _of_event(prior: Prior) -> str:
    """Write the declared prevalence of the event."""
    mean = wording.share(prior.value or 0.0)
    if prior.dataset is not None:
        return f"{_of_level(prior, next(iter(prior.limits)))}, {_estimated(prior)}"
    if prior.beta is None:
        return mean
    low, high = _limits(prior.value or 0.0, *next(iter(prior.limits.values())))
    parameters, level = ", ".join(map(numbers.plain, prior.beta)), wording.level(prior.level or 0.0)
    return f"uncertain: a Beta({parameters}) distribution with mean {mean}, {level} of it between {low} and {high}"


def _of_level(prior: Prior, level: str) -> str:
    """Write the declared prevalence of a level, with its limits where it is uncertain."""
    share = (prior.value or 0.0) if prior.levels is None else prior.levels[level]
    if level not in prior.limits:
        return wording.share(share)
    return f"{wording.share(share)} ({numbers.ranged(*_limits(share, *prior.limits[level]))})"


def _limits(share: float, lower: float, upper: float) -> tuple[str, str]:
    """Write the limits of an uncertain prevalence, with at least the decimals of the prevalence."""
    digits = max(numbers.decimals(share), numbers.decimals(share, lower, upper))
    return numbers.fixed(lower, digits), numbers.fixed(upper, digits)


def _observed(results: Results) -> Table:
    """Write the share of the event, or of each level, in each dataset beside the declared one."""
    prior = results.prevalence
    rows = tuple(
        Row((share.dataset, share.level, ranged(share.value, share.lower, share.upper, least=numbers.USUAL_DIGITS),
             "–" if prior is None else _of_level(prior, share.level)))
        for share in results.observed)
    columns = (Column("Dataset"), Column("Level"), Column("Observed", "num"), Column("Declared", "num"))
    return Table(f"Observed and declared prevalence{with_limits(results, rows)}", columns, rows)


def _dataset(results: Results, dataset: str, *, first: bool) -> Iterator[Block]:
    """Write what there is on a dataset; nothing where that is neither a table nor a figure."""
    tables = list(_tables(results, dataset))
    if tables:
        yield Heading(dataset)
        yield from tables
    yield Figures(partial(prevalence_figures, results, dataset, first=first),
                  above=() if tables else (Heading(dataset),))


def _tables(results: Results, dataset: str) -> Iterator[Table]:
    """Write the measures that are asked for at a prevalence, a column for each prevalence, that of the sample first."""
    measures: dict[Measure, dict[str, Estimate]] = {}
    estimates = [e for e in overall(results, dataset) if e.class_ is None]
    for e in estimates:
        measures.setdefault(_measure(e), {})[_head(results, e)] = e
    asked = {measure: by_head for measure, by_head in measures.items() if set(by_head) != {SAMPLE}}
    order = list(dict.fromkeys(measure[:-1] for measure in asked))
    lines = [asked[measure] for measure in sorted(asked, key=lambda measure: order.index(measure[:-1]))]
    heads = dict.fromkeys(_head(results, e) for e in estimates if _measure(e) in asked)
    ordered = sorted(heads, key=lambda head: head != SAMPLE)
    for start in range(0, len(ordered), ABREAST):
        abreast = ordered[start : start + ABREAST]
        rows = tuple(_row(results, by_head, abreast) for by_head in lines if by_head.keys() & set(abreast))
        columns = (Column("Measure"), Column("Model", shown=len(results.models) > 1),
                   *(Column(head, "num") for head in abreast))
        yield Table(f"Measures by prevalence on {dataset}{with_limits(results, rows)}", columns, rows,
                    rest="estimates.csv")


def _measure(e: Estimate) -> Measure:
    options = tuple((name, value) for name, value in e.params.items() if name != "prevalence")
    return e.metric, e.average, options, e.model


def _head(results: Results, e: Estimate) -> str:
    """Name the prevalence that an estimate is of, and whether it is the declared one."""
    at, prior = e.params.get("prevalence"), results.prevalence
    if at is None:
        return SAMPLE
    declared = None if prior is None else prior.value if prior.levels is None else ", ".join(
        f"{level} {prior.levels[level]:g}" for level in results.levels)
    return f"A{wording.at(at)[1:]}{' (declared)' if at == declared else ''}"


def _row(results: Results, by_head: Mapping[str, Estimate], heads: Iterable[str]) -> Row:
    """Write a measure of a model at each prevalence; a dash where it is not asked for."""
    e = next(e for e in by_head.values() if "prevalence" in e.params)
    (metric,) = (metric for metric in results.metrics if metric.name == e.metric)
    options = {name: value for name, value in e.params.items() if name != "prevalence"}
    title = wording.measure(wording.titled(metric.title, e.params), options, e.average)
    return Row((title, labels(results)[e.model], *(
        shown(by_head[head], whole=metric.is_whole) if head in by_head else "–" for head in heads)))
