"""`evalpipe show`: an estimate, and all that it was made from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from evalpipe.words.spelling import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.card.addresses import Addresses
    from evalpipe.results import Estimate, Results

    Fact = tuple[str, str]

Document = dict[str, Any]


@click.command(short_help="Trace an estimate to its inputs.")
@click.argument("folder", metavar="DIR", type=click.Path())
@click.argument("estimate", metavar="[ESTIMATE]", required=False)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def show(folder: str, estimate: str | None, form: str) -> None:
    """Print an estimate in the output folder DIR, and all that it was made from.

    That is its rows, files with their sha256, columns, slice, threshold, prevalence, interval, seed and versions, and
    what its measure means. Without ESTIMATE, print the address of every estimate with its value.

    \b
    evalpipe show DIR roc_auc                      where there is one model
    evalpipe show DIR roc_auc@naive_bayes          its original predictions, on all rows
    evalpipe show DIR roc_auc@season=a             in a slice
    evalpipe show DIR test/naive_bayes/isotonic/overall/roc_auc

    An ESTIMATE is its measure and what tells it from others, in any order, with @ or / between: dataset, model,
    variant, slice, options, average, class. A part with one of these signs stands in double quotes. The exit code is 2
    where it is no estimate's, or that of several, which are listed; 3 where DIR holds no results.
    """
    show_estimate(folder, estimate, form)


def show_estimate(folder: str, address: str | None, form: str) -> None:
    """Print an estimate and what it was made from, or the addresses of all."""
    from evalpipe.card.addresses import Addresses
    from evalpipe.runs.folder import RunFolder

    run = RunFolder.named(folder)
    addresses = Addresses(run.results)
    if address is None:
        _list(addresses, form)
        return
    from evalpipe.cli.trace import trace

    estimate = addresses.find(address)
    document = trace(run.results, estimate, addresses.of(estimate), run)
    if form == "json":
        click.echo(json.dumps(document, indent=1, ensure_ascii=False))
        return
    facts = list(_facts(run.results, estimate, document))
    width = max(len(term) for term, _ in facts)
    lines = [document["address"], "", *(f"{term:<{width}}  {text}" for term, text in facts)]
    click.echo("\n".join(map(printable, lines)))


def _list(addresses: Addresses, form: str) -> None:
    """Print the address of every estimate with its value and limits."""
    from evalpipe.card.tables import shown

    if form == "json":
        rows = [{"address": addresses.of(row), "value": row.value, "lower": row.lower, "upper": row.upper,
                 "status": row.status} for row in addresses.estimates]
        click.echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    lines = [(printable(addresses.of(row)), shown(row).text) for row in addresses.estimates]
    if not lines:
        click.echo("there are no estimates: the results are of candidates alone")
        return
    width = max(len(address) for address, _ in lines)
    for address, text in lines:
        click.echo(f"{address:<{width}}  {text}")


def _facts(results: Results, own: Estimate, document: Document) -> Iterator[Fact]:
    """Yield what is known of an estimate, a line a fact."""
    yield from _number(results, own)
    yield from _interval(own, document["interval"])
    yield from _support(results, own, document)
    yield from _rule(document)
    for file in document["inputs"]:
        where, used = file["path"] or "held in memory", f"{file['rows']:,} rows, {file['used_rows']:,} used"
        yield "file", f"{where} ({file['dataset']}): {used}, sha256 {file['sha256'] or 'none'}"
    yield from _origin(results, document)


def _number(results: Results, own: Estimate) -> Iterator[Fact]:
    """Yield the number and its measure."""
    from evalpipe.card.tables import note_of, shown
    from evalpipe.card.wording import BETTER_SENTENCES, definition, measure, undefined
    from evalpipe.words import numbers

    metric = next(metric for metric in results.metrics if metric.name == own.metric)
    yield "measure", measure(metric.title, own.params, own.average)
    yield "value", shown(own, whole=metric.is_whole).text
    if own.value is not None:
        limits = "" if own.lower is None or own.upper is None else (
            f" ({numbers.exact(own.lower)} to {numbers.exact(own.upper)})")
        yield "exactly", f"{numbers.exact(own.value)}{limits}"
    note = note_of(own)
    yield from [("status", note)] if note and own.value is not None else []
    if own.no_information is not None:
        skill = "" if own.skill is None else f", skill {numbers.number(own.skill)}"
        yield "by chance", f"{numbers.number(own.no_information)}{skill}"
    yield "definition", definition(metric, own.params)
    if metric.formula:
        yield "formula", metric.formula
    if metric.expression is not None:
        yield "expression", metric.expression
    yield "range", f"{numbers.bounds(*metric.range)}. {BETTER_SENTENCES[metric.direction]} {undefined(metric)}"
    yield "reference", metric.reference or "none"


def _interval(own: Estimate, interval: Document) -> Iterator[Fact]:
    """Yield how the interval was made, and what was drawn."""
    from evalpipe.card.method import DRAW_MODES
    from evalpipe.card.wording import level
    from evalpipe.card.wording import reason as planned
    from evalpipe.words import numbers

    reason = interval["reason"] or (interval["planned"] and f"planned was {planned(interval['planned'])}")
    why = f": {reason}" if reason else ""
    yield "interval", f"{level(own.level)}, {interval['title']}{why}" if own.level is not None else (
        f"none{why}")
    if interval["seed"] is not None:
        yield "replicates", f"{interval['replicates']:,}, {interval['resampling']}, seed {interval['seed']}"
        drawn = interval["drawn"]
        if drawn:
            yield "drawn", f"{DRAW_MODES[drawn['mode']]}, {drawn['units']:,} units: {drawn['reason']}"
    if own.monte_carlo_error is not None:
        yield "Monte-Carlo error", f"{numbers.number(own.monte_carlo_error)} of the limits"
    yield "error bound", "none: no grid of scores was used" if own.error_bound is None else (
        f"{numbers.exact(own.error_bound)}: scores were counted in the cells of a grid")


def _support(results: Results, own: Estimate, document: Document) -> Iterator[Fact]:
    """Yield the rows and columns that it was computed from."""
    from evalpipe.card.wording import names_of

    names, dataset = names_of(results), document["dataset"]
    those = "events" if own.class_ is None else f"of class {own.class_}"
    events = "" if own.events is None else f", {own.events:,} of them {those}"
    yield "n", f"{own.n:,} in its own denominator{events}"
    yield "dataset", f"{own.dataset}: {dataset['rows']:,} rows read, {dataset['n']:,} observations used" + (
        f", where {dataset['where']}" if dataset["where"] else "")
    yield "slice", "all rows" if own.slice is None else names.slice(own.slice)
    yield "model", f"{names.model(own.model)} ({own.model}), {own.variant} predictions"
    by_kind = (f"{kind} {', '.join(columns)}" for kind, columns in document["columns"].items())
    yield "columns", "; ".join(by_kind)


def _rule(document: Document) -> Iterator[Fact]:
    """Yield the threshold, the prevalence and the recalibration that it was taken with."""
    from evalpipe.words import numbers

    cut, at, fit = (document[key] for key in ("threshold", "prevalence", "recalibration"))
    if cut is not None:
        ends = [numbers.exact(value) for value in (min(cut["cuts"]), max(cut["cuts"]))] if cut["cuts"] else []
        value = f"{' to '.join(ends)} by fold" if ends else numbers.exact(cut["value"])
        rule = "as the spec gives it" if cut["rule"] == "fixed" else cut["rule"]
        on = "" if cut["chosen_on"] is None else f", chosen on {cut['chosen_on']}"
        folds = "" if cut["folds"] is None else f", cross-fitted in {cut['folds']} folds"
        yield "threshold", f"{value}: {rule}{on}{folds}"
    if at is not None:
        source = f" ({at['source']})" if at["source"] else ""
        share = numbers.given(at["value"]) if isinstance(at["value"], int | float) else at["value"]
        yield "prevalence", f"{'' if share is None else f'{share}, '}that of {at['of']}{source}"
    if fit is not None:
        folds = "" if fit["folds"] is None else f", cross-fitted in {fit['folds']} folds"
        yield "recalibration", f"{fit['method']}, fitted on {fit['n']:,} observations of {fit['fitted_on']}{folds}"


def _origin(results: Results, document: Document) -> Iterator[Fact]:
    """Yield the spec, the day, the versions and the bytes that it stands in."""
    asked = document["spec_key"] or "does not ask for it: findings rest on it"
    yield "spec", f"{results.name}, {asked}, sha256 {document['spec_sha256']}"
    yield "as of", document["as_of"] or "no day is stated"
    versions = document["versions"]
    libraries = ", ".join(f"{name} {version}" for name, version in (versions["libraries"] or {}).items())
    unknown = "run.json is not here, or is of other results, so libraries are not known"
    yield "versions", f"evalpipe {versions['evalpipe']}; {libraries or unknown}"
    if versions["git"] is not None:
        changed = {True: ", and files are changed since", False: ", and no file is changed since"}.get(
            versions["git"]["dirty"], "; whether files are changed since is not known")
        yield "commit", f"{versions['git']['commit']}{changed}"
    yield "results.json", f"sha256 {document['evidence_sha256']}"
