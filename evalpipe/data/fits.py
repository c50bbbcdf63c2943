"""Several fits of one model: a pattern under ``predictions``, each of whose files holds the predictions of one fit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evalpipe.errors import Problem
from evalpipe.plan.sources import FitSource

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.base.origin import Origin
    from evalpipe.data.table import DataTable
    from evalpipe.plan.sources import Sources

FEWEST = 2
"""The fewest fits that have a spread."""


def split(table: DataTable, kind: type[FitSource] = FitSource) -> tuple[DataTable, ...]:
    """Return a table for each file of a pattern, in the order of their names; ``kind`` says of which fits."""
    from evalpipe.data.formats import rows

    named = table.named
    return tuple(
        replace(table, named=kind(named.dataset, named.model, shown, named.loc, named.csv),
                files=((path, shown),), rows=rows(path, table.format, named.csv))
        for path, shown in table.files)


def single(places: Origin, table: DataTable) -> Problem:
    """Report a pattern that a single file matches."""
    named, file = table.named, table.files[0][1]
    message = (f"{named.path} matches 1 file, {file}, but a pattern under 'predictions' names several fits of the "
               f"model '{named.model}', at least {FEWEST}")
    hint = "check the pattern; or name the file itself, or a folder where its files hold the rows of one fit"
    if "optimism" in named.loc:
        message = (f"{named.path} is 1 file, {file}, but the optimism of model '{named.model}' is a mean over several "
                   f"bootstrap fits, at least {FEWEST}")
        hint = "name a pattern or a folder with a file for each bootstrap fit"
    return Problem("single-fit", message, places.place(*named.loc), hint)


def uneven(sources: Sources, refits: Mapping[tuple[str, str], tuple[DataTable, ...]]) -> Iterator[Problem]:
    """Report models with another number of fits for one dataset than for another: fits go by the order of names."""
    models = dict.fromkeys(model for _, model in refits)
    for model in models:
        named = {name: declared.predictions[model].loc for name, declared in sources.datasets.items()
                 if model in declared.predictions}
        counts = {name: 1 + len(refits.get((name, model), ())) for name in named}
        if len(set(counts.values())) > 1:
            listed = ", ".join(f"{count} for '{name}'" for name, count in counts.items())
            message = f"the model '{model}' has not as many fits for each dataset: {listed}"
            hint = "give the predictions of the same fits for every dataset, in files whose names sort alike"
            yield Problem("uneven-fits", message, sources.places.place(*next(iter(named.values()))), hint)
