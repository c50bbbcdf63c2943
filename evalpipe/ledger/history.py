"""Step 3: the ledger that a run is recorded in, and what it holds of the nights before.

All that reads a ledger raises UsageError where it cannot be read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from evalpipe.base.formats import RESULTS
from evalpipe.chapters import functions
from evalpipe.chapters.trend.compute import EarlierNight
from evalpipe.chapters.trend.plan import trend_plan
from evalpipe.errors import UsageError
from evalpipe.ledger.entries import LedgerPlace, verdict_rows
from evalpipe.plan.resolve import ledger_named
from evalpipe.results import Warned
from evalpipe.runs.folder import NO_NIGHTS, EarlierNights, Night, RunFolder
from evalpipe.words.spelling import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from evalpipe.base.databases import DatabaseUri
    from evalpipe.chapters.trend.records import Since
    from evalpipe.ledger.entries import Row
    from evalpipe.ledger.store import Ledger
    from evalpipe.plan.plan import Plan
    from evalpipe.results import Results
    from evalpipe.spec.spec import Spec


def open_ledger(named: DatabaseUri | bool, out: Path) -> Ledger | None:  # noqa: FBT001 - as a plan has it
    """Return the ledger of an output folder, opened for writing; None where the plan has no ledger.

    ``named`` is the plan's ledger, as of `LedgerPlace.named`. Results in the folder that the ledger lacks, of a run
    that was killed before it could record them, are recorded. Raises UsageError where the ledger cannot be used.
    """
    place = LedgerPlace.named(named, out)
    if place is None:
        return None
    from evalpipe.ledger.store import Ledger

    ledger = Ledger.open(place)
    ledger.catch_up(out)
    return ledger


def ledger_to_read(spec: Spec, out: Path) -> Ledger | None:
    """Open the ledger of an output folder for reading; None where the spec has none."""
    from evalpipe.ledger.store import Ledger

    place = LedgerPlace.named(ledger_named(spec), out)
    return None if place is None else Ledger.read(place)


def record_in_ledger(ledger: Ledger, results: Results, out: Path, shown_folder: str) -> None:
    """Record the results of a run in the ledger; a failure raises UsageError, which says that the output is complete.

    ``out`` is the output folder, which messages call ``shown_folder``.
    """
    try:
        ledger.record(results, out)
    except UsageError as error:
        note = f"the new output in '{shown_folder}' is complete; the next run to it is recorded with this one"
        raise UsageError(*(replace(problem, notes=(*problem.notes, note)) for problem in error.problems)) from None


def earlier_nights(plan: Plan, ledger: Ledger) -> tuple[EarlierNight, ...]:
    """Return the earlier nightly runs that the trend of a plan charts, the oldest first; none without a trend or a day.

    Raises UsageError where the ledger cannot be read.
    """
    trend = plan.part(trend_plan)
    if trend is None or plan.as_of is None:
        return ()
    from evalpipe.ledger.nights import estimates_of, under_new_names, unsettled_of

    period = None if trend.control is None else trend.control.period
    runs = runs_charted(ledger, plan.name, plan.as_of, trend.nights, period, plan.renamed)
    numbers = [run["run"] for run in runs]
    estimates, unsettled = estimates_of(ledger, numbers, trend.metrics), unsettled_of(ledger, numbers)
    return tuple(
        EarlierNight.of_ledger(run, under_new_names(estimates[run["run"]], run["names"]), unsettled.get(run["run"]))
        for run in runs)


def _looks_back(plan: Plan, what: Literal["evidence", "reference"]) -> bool:
    return any(what in looks_back(plan) for looks_back in functions("plan", "looks_back"))


def nights_with_reference(ledger: Ledger | None, plan: Plan, out: Path) -> EarlierNights:
    """Return the earlier nightly runs whose folders may hold a reference for the plan's gates.

    ``out`` is the output folder. There are none where nothing is compared with a reference, or there is no ledger.
    """
    return NO_NIGHTS if ledger is None or not _looks_back(plan, "reference") else recorded_nights(ledger, plan, out)


def recorded_nights(ledger: Ledger, of: Plan | Results, out: Path) -> EarlierNights:
    """Return the nightly runs before the day ``of`` a plan or results, none without a day, and all runs of ``out``."""
    from evalpipe.ledger.nights import names_now, nights, runs_in

    folder_runs = runs_in(ledger, out)
    runs = folder_runs if of.as_of is None else nights(ledger, of.name, of.as_of, forgotten=True)
    names = {run["results_sha256"]: now for run, now in zip(runs, names_now(runs, of.renamed), strict=True)}
    earlier = () if of.as_of is None else tuple(
        Night(ledger.place.path_of(run["folder"]), run["results_sha256"]) for run in reversed(runs))
    return EarlierNights(earlier, frozenset(run["results_sha256"] for run in folder_runs), names)


def reference_in_ledger(spec: Spec, sha256: str, out: Path) -> Path | None:
    """Return the path of results with a sha256, by the ledger of folder ``out``; None where no run has them now."""
    from evalpipe.ledger.nights import nights

    ledger = ledger_to_read(spec, out)
    if ledger is None:
        return None
    runs = [run for run in nights(ledger, spec.name, forgotten=True) if run["results_sha256"] == sha256]
    folders = [RunFolder(ledger.place.path_of(run["folder"])) for run in runs]
    return next((folder.results_file for folder in folders if folder.sha256_if_readable(RESULTS) == sha256), None)


def earlier_evidence(plan: Plan, ledger: Ledger | None) -> list[Row]:
    """Return the rows of evidence of earlier nightly runs, where a chapter reads it; empty without a day.

    Raises UsageError where the ledger cannot be read.
    """
    if ledger is None or plan.as_of is None or not _looks_back(plan, "evidence"):
        return []
    from evalpipe.ledger.nights import evidence_before

    return evidence_before(ledger, plan.name, plan.as_of)


def evidence_again(spec: Spec, out: Path) -> list[Row]:
    """Return the rows of evidence of earlier nightly runs for gates `on: sequence`, to repeat the run in ``out``."""
    from evalpipe.ledger.nights import evidence_before

    if spec.as_of is None or all(gate.on != "sequence" for gate in spec.gates or ()):
        return []
    ledger = ledger_to_read(spec, out)
    return [] if ledger is None else evidence_before(ledger, spec.name, spec.as_of)


def runs_charted(
    ledger: Ledger, name: str, as_of: str, count: int, period: tuple[str, str] | None, renamed: Mapping[str, str],
    charted: Mapping[str, str] | None = None,
) -> list[Row]:
    """Return the runs that a trend charts, the oldest first: the ``count`` newest before a day, and a ``period``'s.

    ``renamed`` maps models to their former names. Each run gets ``names``, which maps names of models in it to those
    of now. Of the nights that `evalpipe gc` has forgotten only those are returned that were ``charted`` before: the
    sha256 of their results by day.
    """
    from evalpipe.ledger.nights import names_now, nights

    dated_runs = [night for night in nights(ledger, name, as_of, forgotten=True)
                  if not night["forgotten"] or (charted or {}).get(night["as_of"]) == night["results_sha256"]]
    first, last = period or ("", "")
    return [{**run, "names": names}
            for number, (run, names) in enumerate(zip(dated_runs, names_now(dated_runs, renamed), strict=True), 1)
            if number > len(dated_runs) - count or first <= run["as_of"] <= last]


def previous_run(ledger: Ledger, results: Results, out: Path, *, forgotten: bool = False) -> Row | None:
    """Return the run before that of ``results``, to tell what has changed; None without any.

    That is the latest night before its day or, without a day, the last run of the output folder ``out`` that was of
    another spec or other data: so the same inputs are compared with the same run, however often they are run. Data in
    memory are others where the numbers are. With ``forgotten`` it may be a night of which `evalpipe gc` has forgotten
    all runs.
    """
    from evalpipe.ledger.entries import estimate_rows, inputs_sha256
    from evalpipe.ledger.nights import nights, runs_in

    if results.as_of is not None:
        return next(iter(nights(ledger, results.name, results.as_of, last=1, forgotten=forgotten)), None)
    spec_and_data = results.spec_sha256, inputs_sha256(results)
    for run in reversed(runs_in(ledger, out)):
        if (run["spec_sha256"], run["inputs_sha256"]) != spec_and_data:
            return run
        if run["inputs_sha256"] is None and not run["forgotten"]:
            numbers = [{key: value for key, value in row.items() if key != "place"} for row in estimate_rows(results)]
            if ledger.with_numbers([run])[0]["estimates"] != numbers:
                return run
    return None


def since_run_before(ledger: Ledger, results: Results, out: Path) -> Since | None:
    """Return the differences of ``results`` from the run before them; None where there is no such run."""
    from evalpipe.chapters.trend.compute import compared_with_run_before
    from evalpipe.ledger.entries import run_row
    from evalpipe.ledger.nights import estimates_of, facts_of, names_now, under_new_names

    before = previous_run(ledger, results, out)
    if before is None or before["forgotten"]:
        return None
    run = before["run"]
    (names,) = names_now([before], results.renamed)
    estimates = under_new_names(estimates_of(ledger, [run])[run], names)
    return compared_with_run_before(results, run_row(results), before | {"facts": facts_of(ledger, run)}, estimates)


def warnings_of_ledger(ledger: Ledger, results: Results, out: Path) -> list[Warned]:
    """Return warnings of what the run before had and ``results`` lack, and of former names that no earlier run has."""
    before = previous_run(ledger, results, out)
    runs = [] if before is None else ledger.with_numbers([before])
    return [*(warning for run in runs for warning in gone(run, results)), *unknown_names(ledger, results)]


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
    from evalpipe.ledger.nights import has_model

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
    """Return the current name of the model that a verdict is on, and its dataset."""
    model, dataset = row["subject"]["model"], row["subject"]["dataset"]
    return new_name_of.get(model, model), dataset
