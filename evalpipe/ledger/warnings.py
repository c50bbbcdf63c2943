"""What the run before had, by the ledger, and this one has not: models, datasets and gates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalpipe.ledger.entries import verdict_rows
from evalpipe.ledger.nights import has_model
from evalpipe.results import Warned
from evalpipe.words.spelling import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.ledger.entries import Row
    from evalpipe.ledger.store import Ledger
    from evalpipe.results import Results


def gone(run: Row, results: Results) -> Iterator[Warned]:
    """Warn of each model, dataset and gate of an earlier run of the ledger that ``results`` have no more.

    A model goes on under its new name. A gate is the same one where its name is, or its measure and the keys of its
    limits; it is gone from a model or a dataset, too, that it no longer judges.
    """
    day = run["as_of"]
    names = {was: name for name, was in results.renamed.items()}
    rows = [*run["estimates"], *(verdict["subject"] for verdict in run["verdicts"])]
    models, datasets = (dict.fromkeys(row[key] for row in rows) for key in ("model", "dataset"))
    lost = [model for model in models if names.get(model, model) not in {model.name for model in results.models}]
    missing = [name for name in datasets if name not in {dataset.name for dataset in results.datasets}]
    for model in lost:
        yield Warned.of("model-gone", as_of=day, model=model)
    for dataset in missing:
        yield Warned.of("dataset-gone", as_of=day, dataset=dataset)
    now = verdict_rows(results)
    known = {label for row in now for label in _gate_labels(row)}
    judged = {(label, *_model_and_dataset(row, {})) for row in now for label in _gate_labels(row)}
    for gate in dict.fromkeys(_lost_gate(row, known, judged, names, (*lost, *missing)) for row in run["verdicts"]):
        if gate is not None:
            yield Warned.of("gate-gone", as_of=day, gate=gate)


def unknown_names(ledger: Ledger, results: Results) -> Iterator[Warned]:
    """Warn of each former name of a model that no earlier run in the ledger has; raises UsageError as `has_model`."""
    for name, was in results.renamed.items():
        if not has_model(ledger, results.name, was, results.as_of):
            yield Warned.of("unknown-was", was=was, model=name)


def _lost_gate(
    row: Row, known: set[str], judged: set[tuple[str, str, str]], names: dict[str, str], lost: tuple[str, ...]
) -> str | None:
    """Name a gate that is gone, or gone from where it was; None of one that is there, or that went with its model."""
    labels, (model, dataset) = _gate_labels(row), _model_and_dataset(row, names)
    if not known.intersection(labels):
        return quoted(labels[0])
    there = any((label, model, dataset) in judged for label in labels)
    if there or {row["subject"]["model"], dataset}.intersection(lost):
        return None
    return f"{quoted(labels[0])} on the model {quoted(model)} and the dataset {quoted(dataset)}"


def _gate_labels(row: Row) -> list[str]:
    """Return what a gate is called: its name, if it has one, and its measure with the keys of its limits."""
    subject: dict[str, Any] = row["subject"]
    options = [f"{key} {value}" for key, value in sorted(subject["params"].items())]
    measure = subject["metric"] or f"desirability {subject['desirability']}"
    average = [] if subject["average"] is None else [subject["average"]]
    label = " ".join([measure, *options, *average, *sorted(row["limit"])])
    return [label] if row["name"] is None else [row["name"], label]


def _model_and_dataset(row: Row, names: dict[str, str]) -> tuple[str, str]:
    """Return the model, as it is called now, and the dataset of a verdict."""
    return names.get(row["subject"]["model"], row["subject"]["model"]), row["subject"]["dataset"]
