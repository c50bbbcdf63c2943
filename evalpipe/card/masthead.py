"""What stands above the contents of the card: its title, the verdict of the gates, and what was evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.card.data import SHORT_HASH, fingerprint, support
from evalpipe.card.method import weighting
from evalpipe.card.page import Aside, Code, Column, Facts, Row, Table, Text
from evalpipe.card.tables import evaluated
from evalpipe.chapters import functions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.card.page import Block, Section
    from evalpipe.results import Results
MOST_INPUTS = 12
"""Files of a dataset whose fingerprints stand at the head of the card; all stand at its end."""


def masthead(results: Results) -> Iterator[Block | Section]:
    """Write what follows the title."""
    yield Text((f"{results.name} · spec ", short_spec(results), f" · evalpipe {results.evalpipe_version}"), "name")
    for write in functions("card", "masthead"):
        yield from write(results)
    yield Facts(facts(results))
    yield _evaluated(results)


def short_spec(results: Results) -> Code:
    """Write the fingerprint of the resolved spec, shortened."""
    return Code(results.spec_sha256[:SHORT_HASH], results.spec_sha256, "hash")


def subject(results: Results) -> str:
    """Say what is predicted."""
    if results.event is not None:
        return f"event: {results.event}"
    if results.levels:
        return f"levels: {', '.join(results.levels)}"
    return f"outcome: {results.task}" + (f" in {results.unit}" if results.unit else "")


def facts(results: Results) -> tuple[tuple[str, str], ...]:
    """Say what was evaluated, and how rows count."""
    models = ("Models", ", ".join(model.label for model in results.models))
    weights = ("Case weights", weighting(results))
    return (("Task", f"{results.task} outcome"), *_outcome(results), models, weights, *_exposure(results))


def _outcome(results: Results) -> Iterator[tuple[str, str]]:
    """Say what the outcome is."""
    if not results.levels:
        yield "Unit", results.unit or "not stated"
    elif results.event is None:
        yield f"Levels{' in ascending order' if results.task == 'ordinal' else ''}", ", ".join(results.levels)
    else:
        yield "Event", results.event
        yield "Other level", results.other or "–"
    yield from (fact for facts in functions("card", "outcome") for fact in facts(results))


def _exposure(results: Results) -> Iterator[tuple[str, str]]:
    """Say what counts were counted in; nothing where no exposure is declared."""
    if results.exposure is not None:
        unit = results.exposure.get("unit")
        yield "Exposure", (f"column {results.exposure['column']}{f', in {unit}' if unit else ''}; the expected count "
                           "of a row is of its whole exposure")


def _evaluated(results: Results) -> Table:
    datasets = [dataset for _, dataset in evaluated(results)]
    heads = [head for head, _ in support(results, datasets[0])]
    columns = (Column("Dataset"), *(Column(head, "num") for head in heads), Column("Input (sha256)"))
    return Table("What was evaluated", columns, tuple(
        Row((dataset.name, *(text for _, text in support(results, dataset)), _inputs(results, dataset.name)))
        for dataset in datasets), "")


def _inputs(results: Results, dataset: str) -> tuple[Aside, ...]:
    """Write the fingerprints of the files of a dataset; of many the first ones."""
    files = [file for file in results.inputs if file.dataset == dataset]
    more = [Aside(f"and {numbers.count(len(files) - MOST_INPUTS)} more", "more")] if len(files) > MOST_INPUTS else []
    return (*(Aside(fingerprint(file)) for file in files[:MOST_INPUTS]), *more)
