"""The card's section on the prevalence: what is declared, what was observed, and measures at either side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.report import wording
from evalpipe.report.page import Number
from evalpipe.report.tables import is_whole, limited, overall, shown

if TYPE_CHECKING:
    from evalpipe.results import Estimate, Prior, Results, Scalar

SAMPLE = "In the sample"
ABREAST = 4
"""The most prevalences in a table; more go to a further one."""


@dataclass(frozen=True, slots=True)
class ShareRow:
    """The share of a level in a dataset, and what is declared."""

    dataset: str
    level: str
    observed: Number
    declared: str


@dataclass(frozen=True, slots=True)
class AtRow:
    """A measure of a model at each prevalence; None where it is not asked for."""

    measure: str
    model: str
    cells: tuple[Number | None, ...]


@dataclass(frozen=True, slots=True)
class AtTable:
    """Measures on a dataset at some prevalences."""

    heads: tuple[str, ...]
    rows: tuple[AtRow, ...]

    @property
    def limited(self) -> bool:
        """Whether a number has an interval."""
        return limited(cell for row in self.rows for cell in row.cells)


@dataclass(frozen=True, slots=True)
class PrevalenceDataset:
    """What there is on one dataset; its figures stand under the anchor."""

    name: str
    anchor: str
    tables: tuple[AtTable, ...]


@dataclass(frozen=True, slots=True)
class PrevalenceView:
    """The whole section."""

    lead: str
    spread: str
    shares: tuple[ShareRow, ...]
    datasets: tuple[PrevalenceDataset, ...]

    @property
    def limited(self) -> bool:
        """Whether a number has an interval."""
        return limited(row.observed for row in self.shares)


def prevalence_view(results: Results) -> PrevalenceView | None:
    """Write the section; None where no prevalence is declared and no measure is asked for at one."""
    if results.prevalence is None and not any("prevalence" in e.params for e in results.rows):
        return None
    names = [d.name for d in results.datasets if overall(results, d.name)]
    return PrevalenceView(
        lead=_lead(results),
        spread=_spread(results),
        shares=tuple(
            ShareRow(share.dataset, share.level, _number(share.value, share.lower, share.upper),
                     _declared(results.prevalence, share.level))
            for share in results.observed
        ),
        datasets=tuple(
            PrevalenceDataset(name, f"prevalence-{place}", _tables(results, name))
            for place, name in enumerate(names, 1)
        ),
    )


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


def _tables(results: Results, dataset: str) -> tuple[AtTable, ...]:
    """Make the tables of measures that are asked for at a prevalence: a column for each, that of the sample first."""
    rows = [e for e in overall(results, dataset) if e.class_ is None]
    asked = {_key(e) for e in rows if "prevalence" in e.params}
    places = dict.fromkeys(e.params["prevalence"] for e in rows if "prevalence" in e.params)
    heads = [SAMPLE] if any(_key(e) in asked and "prevalence" not in e.params for e in rows) else []
    heads += [_head(results, at) for at in places]
    found: dict[tuple[object, ...], dict[str, Estimate]] = {}
    first = list(dict.fromkeys(_key(e)[:-1] for e in rows))
    for e in sorted(rows, key=lambda e: first.index(_key(e)[:-1])):
        if _key(e) in asked:
            at = e.params.get("prevalence")
            found.setdefault(_key(e), {})[SAMPLE if at is None else _head(results, at)] = e
    chunks = [heads[start : start + ABREAST] for start in range(0, len(heads), ABREAST)]
    return tuple(
        AtTable(tuple(chunk), tuple(_row(results, each, chunk) for each in found.values() if set(each) & set(chunk)))
        for chunk in chunks
    )


def _key(e: Estimate) -> tuple[object, ...]:
    own = tuple((name, value) for name, value in e.params.items() if name != "prevalence")
    return e.metric, e.average, own, e.model


def _head(results: Results, at: Scalar) -> str:
    prior = results.prevalence
    known = prior is not None and prior.value is not None and isinstance(at, float | int) and at == prior.value
    if prior is not None and prior.levels is not None and isinstance(at, str):
        known = at == ", ".join(f"{level} {prior.levels[level]:g}" for level in results.levels)
    return f"A{wording.at(at)[1:]}" + (" (declared)" if known else "")


def _row(results: Results, found: dict[str, Estimate], heads: list[str]) -> AtRow:
    metrics, labels = {m.name: m for m in results.metrics}, {model.name: model.label for model in results.models}
    e = next(iter(found.values()))
    own = {name: value for name, value in e.params.items() if name != "prevalence"}
    whole = is_whole(metrics[e.metric])
    weighed = next((each.params for each in found.values() if "prevalence" in each.params), {})
    return AtRow(
        wording.measure(wording.titled(metrics[e.metric].title, weighed), own, e.average), labels[e.model],
        tuple(shown(found[head], whole=whole) if head in found else None for head in heads),
    )
