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
    """Yield a warning for each model, dataset and gate of an earlier run in the ledger that ``results`` lack.

    A model goes on under its new name. A gate is the same one where its name is, or its measure and the keys of its
    limits; it is gone from a model or a dataset, too, that it no longer judges.
    """
    day = run["as_of"]
    new_name_of = {former_name: name for name, former_name in results.renamed.items()}
    rows = [*run["estimates"], *(verdict["subject"] for verdict in run["verdicts"])]
    # A gate on a check is of no model and no dataset.
    models, datasets = (dict.fromkeys(row[key] for row in rows if row[key]) for key in ("model", "dataset"))
    model_names = {model.name for model in results.models}
    gone_models = [model for model in models if new_name_of.get(model, model) not in model_names]
    gone_datasets = [name for name in datasets if name not in {dataset.name for dataset in results.datasets}]
    for model in gone_models:
        yield Warned.of("model-gone", as_of=day, model=model)
    for dataset in gone_datasets:
        yield Warned.of("dataset-gone", as_of=day, dataset=dataset)
    current_verdicts = verdict_rows(results)
    current_labels = {label for row in current_verdicts for label in _gate_labels(row)}
    judged = {(label, *_model_and_dataset(row, {})) for row in current_verdicts for label in _gate_labels(row)}
    gone_subjects = (*gone_models, *gone_datasets)
    gates = (_lost_gate(row, current_labels, judged, new_name_of, gone_subjects) for row in run["verdicts"])
    for gate in dict.fromkeys(gates):
        if gate is not None:
            yield Warned.of("gate-gone", as_of=day, gate=gate)


def unknown_names(ledger: Ledger, results: Results) -> Iterator[Warned]:
    """Yield a warning for each former name of a model, by the spec, that no earlier run has: it may be misspelt."""
    for name, former_name in results.renamed.items():
        if not has_model(ledger, results.name, former_name, results.as_of):
            yield Warned.of("unknown-was", was=former_name, model=name)


def _lost_gate(
    row: Row, current_labels: set[str], judged: set[tuple[str, str, str]], new_name_of: dict[str, str],
    gone_subjects: tuple[str, ...],
) -> str | None:
    """Return the name of a gate that is gone, or no longer judges a model or a dataset; None where neither is so.

    ``row`` is its earlier verdict. Nothing is said of a gate that is gone with its model or dataset.
    """
    labels, (model, dataset) = _gate_labels(row), _model_and_dataset(row, new_name_of)
    if not current_labels.intersection(labels):
        return quoted(labels[0])
    still_judged = any((label, model, dataset) in judged for label in labels)
    if still_judged or {row["subject"]["model"], dataset}.intersection(gone_subjects):
        return None
    return f"{quoted(labels[0])} on the model {quoted(model)} and the dataset {quoted(dataset)}"


def _gate_labels(row: Row) -> list[str]:
    """Return the labels that identify a gate: its name, if it has one, and its measure with the keys of its limits."""
    subject: dict[str, Any] = row["subject"]
    options = [f"{key} {value}" for key, value in sorted(subject["params"].items())]
    check = subject.get("check")
    measure = subject["metric"] or (f"check {check}" if check else f"desirability {subject['desirability']}")
    average = [] if subject["average"] is None else [subject["average"]]
    label = " ".join([measure, *options, *average, *sorted(row["limit"])])
    return [label] if row["name"] is None else [row["name"], label]


def _model_and_dataset(row: Row, new_name_of: dict[str, str]) -> tuple[str, str]:
    """Return the model, under its name of now, and the dataset of a verdict."""
    model, dataset = row["subject"]["model"], row["subject"]["dataset"]
    return new_name_of.get(model, model), dataset
