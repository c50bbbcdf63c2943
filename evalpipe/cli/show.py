"""`evalpipe show`: an estimate, and all that it was made from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from evalpipe.words.spelling import printable

if TYPE_CHECKING:
    from evalpipe.card.addresses import Addresses


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
    from evalpipe.card.addresses import Addresses
    from evalpipe.runs.folder import RunFolder

    run = RunFolder.named(folder)
    addresses = Addresses(run.results)
    if estimate is None:
        _print_addresses(addresses, form)
        return
    from evalpipe.cli.trace import facts, trace

    row = addresses.find(estimate)
    document = trace(run.results, row, addresses.of(row), run)
    if form == "json":
        click.echo(json.dumps(document, indent=1, ensure_ascii=False))
        return
    terms_and_texts = list(facts(run.results, row, document))
    width = max(len(term) for term, _ in terms_and_texts)
    lines = [document["address"], "", *(f"{term:<{width}}  {text}" for term, text in terms_and_texts)]
    click.echo("\n".join(map(printable, lines)))


def _print_addresses(addresses: Addresses, form: str) -> None:
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
