"""The front matter of a Markdown card: YAML that the Hugging Face Hub reads, with the `model-index` of results."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evalpipe.card.names import names_of

if TYPE_CHECKING:
    from evalpipe.results import Estimate, Results

TASKS = {"binary": "tabular-classification", "multiclass": "tabular-classification",
         "ordinal": "tabular-classification", "regression": "tabular-regression", "count": "tabular-regression"}
"""What the Hub calls the tasks."""

NOT_IN_IDS = re.compile(r"[^\w.-]+", re.ASCII)
"""What the Hub refuses in the id of a dataset."""


def front_matter(results: Results, only: tuple[str, str] | None = None) -> str:
    """Return the front matter between its fences; the fields are those of the Hub's card specification.

    It is of all models, or ``only`` of a model and a variant of it.
    """
    import yaml

    document: dict[str, Any] = {"library_name": "evalpipe", "tags": ["evalpipe", TASKS[results.task]],
                                "pipeline_tag": TASKS[results.task]}
    if results.statement.licence:
        document |= {"license": "other", "license_name": results.statement.licence}
    document["model-index"] = [_entry(results, only)]
    return f"---\n{yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=1000)}---"


def _entry(results: Results, only: tuple[str, str] | None) -> dict[str, Any]:
    """Return the entry of the index: the measures of each model on all rows of each evaluated dataset.

    There is one entry, for readers of the index take the results of all entries for those of one model.
    """
    rows = [row for row in results.rows if row.slice is None and row.class_ is None and row.value is not None and (
        row.variant == "original" if only is None else (row.model, row.variant) == only)]
    several = only is None and len(results.models) != 1
    name = results.title if several else names_of(results).model(*(only or (results.models[0].name,)))
    return {"name": name, "results": [{
        "task": {"type": TASKS[results.task], "name": results.title},
        "dataset": {"type": NOT_IN_IDS.sub("-", dataset), "name": dataset, **_rows(results, dataset)},
        "metrics": [_metric(results, row, several=several) for row in rows if row.dataset == dataset],
    } for dataset in dict.fromkeys(row.dataset for row in rows)]}


def _rows(results: Results, dataset: str) -> dict[str, Any]:
    """Return the fingerprint of the first file of a dataset as its revision; nothing of data held in memory."""
    hashes = [file.sha256 for file in results.inputs if file.dataset == dataset and file.sha256]
    return {"revision": hashes[0]} if hashes else {}


def _metric(results: Results, row: Estimate, *, several: bool) -> dict[str, Any]:
    """Return a measure with its options and, where there are any, its limits."""
    limits = {} if row.lower is None or row.upper is None else {
        "lower": row.lower, "upper": row.upper, "level": row.level, "interval": row.method}
    names = names_of(results)
    measure = names.measure(row.metric, row.params, row.average)
    args = {**({"model": row.model} if several else {}), **row.params,
            **({"average": row.average} if row.average else {}), **limits, "n": row.n}
    return {"type": row.metric, "name": f"{measure}, {names.model(row.model)}" if several else measure,
            "value": row.value, "args": args}
