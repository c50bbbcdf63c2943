"""The seven steps of a run, in one direction: each takes what the step before it returned."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import date

    import polars as pl

    from evalpipe.chapters.trend.compute import EarlierNight
    from evalpipe.data.sample import CandidateRows, Sample
    from evalpipe.engine.evaluate import Evaluation
    from evalpipe.errors import Problem
    from evalpipe.ledger.entries import Row
    from evalpipe.ledger.store import Ledger
    from evalpipe.plan.plan import Plan
    from evalpipe.results import FailOn, Results, RowFile
    from evalpipe.results.comments import Comment
    from evalpipe.results.observed import EarlierRun, NoEarlier
    from evalpipe.results.signatures import Signature
    from evalpipe.runs.record import Recorder
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.spec import Spec
    from evalpipe.streams.work import Work
    from evalpipe.templating.files import Templates

    EarlierRuns: TypeAlias = Mapping[int, EarlierRun | NoEarlier]
    Source: TypeAlias = str | os.PathLike[str] | Mapping[str, object] | Spec

STEPS = ("read the spec", "plan", "read the data", "evaluate", "results", "card", "record")


class Progress:
    """A listener to the progress of a run that does nothing; subclasses override the events they report."""

    def step(self, number: int, title: str) -> None:
        """Called when step ``number`` (1 to 7), with this title, begins."""

    def expect(self, replicates: int) -> None:
        """Called before step 4 with the number of replicates that it will draw."""

    def advance(self, replicates: int) -> None:
        """Called in step 4 with the number of replicates done since the previous call."""

    def expect_parts(self, dataset: str, parts: int, cached: int, why: str) -> None:
        """Called before a dataset is read in parts: their number, how many are cached, why others are read."""

    def part_read(self) -> None:
        """Count a part of a dataset as read."""

    def changed(self, reasons: Sequence[str]) -> None:
        """Called with ``if_changed``: the reasons to run again; empty where nothing has changed and the run ends."""

    def signatures_moved(self, file: str) -> None:
        """Called when signatures of other results were moved to ``file`` in the output folder."""

    def comments_moved(self, file: str) -> None:
        """Called when comments on other results were moved to ``file`` in the output folder."""

    def letters_without_font(self, letters: Sequence[str]) -> None:
        """Called with the letters for which the PDF shows boxes, as no installed font has them."""

    def no_pdf(self, problem: Problem) -> None:
        """Called where a library is missing, and no PDF is made as the spec does not ask for one by name."""


class _StepClock:
    """Announces each step, and measures the ``durations`` of steps in seconds, by title."""

    def __init__(self, progress: Progress) -> None:
        """Announce steps to ``progress``; none has begun."""
        self.progress = progress
        self.durations: dict[str, float] = {}
        self._started = time.perf_counter()

    def begin(self, number: int) -> None:
        """Announce step ``number`` (1 to 7), and note the duration of the step before it."""
        now = time.perf_counter()
        if self.durations:
            self.durations[next(reversed(self.durations))] = round(now - self._started, 4)
        self._started = now
        self.progress.step(number, STEPS[number - 1])
        self.durations[STEPS[number - 1]] = 0.0


def load(
    source: Source, overrides: Sequence[str] = (), environment: Mapping[str, str] | None = None,
    as_of: str | date | None = None,
) -> Spec:
    """Return the spec in a file or a mapping, checked (step 1); raises SpecError with every fault.

    ``source`` is a path, a mapping or a `Spec`; ``overrides`` are ``"a.b=c"`` texts; ``environment`` is where files
    refer to with ``${env:NAME}``, that of the process where None; ``as_of`` is the day that the card is about, in
    place of the spec's.
    """
    from evalpipe.spec.load import load as load_spec

    return load_spec(source, overrides, environment, as_of=as_of)


def load_with_files(
    source: Source, overrides: Sequence[str] = (), environment: Mapping[str, str] | None = None,
    as_of: str | date | None = None, frames: Mapping[str, pl.DataFrame] | None = None,
) -> Spec:
    """Return a spec as `load` does, but where it is wrong the SpecError also reports each missing data file."""
    from evalpipe.spec.load import load as load_spec

    def missing_files(draft: Draft) -> Iterator[Problem]:
        """Yield a problem for each file that a spec, right or wrong, names and that is not there."""
        from evalpipe.data.files import Found, find
        from evalpipe.plan.sources import named_files

        for source_in_files in named_files(draft, frames or {}):
            files = find(draft.tree.origin, source_in_files)
            if not isinstance(files, Found):
                yield files

    return load_spec(source, overrides, environment, as_of=as_of, more_checks=missing_files)


def plan(
    source: Source, overrides: Sequence[str] = (), frames: Mapping[str, pl.DataFrame] | None = None,
    as_of: str | date | None = None,
) -> Plan:
    """Plan an evaluation (steps 1 and 2) from the spec and the columns of the data.

    ``frames`` are datasets in memory, by name. Raises SpecError or DataError with every fault.
    """
    return _planned(load_with_files(source, overrides, as_of=as_of, frames=frames), frames)[0]


def run(
    source: Source, *, out: str | os.PathLike[str] | None = None, overrides: Sequence[str] = (),
    frames: Mapping[str, pl.DataFrame] | None = None, progress: Progress | None = None, fail_on: FailOn = "fail",
    cache: bool = True, as_of: str | date | None = None, key: str | os.PathLike[str] | Literal[False] | None = None,
    if_changed: bool = False,
) -> Results:
    """Run the whole evaluation and return its results; with ``out``, also write the output folder and the ledger.

    ``as_of`` is the day that the card is about, in place of the spec's; ``key`` the PEM file of a key that signs the
    manifest, in place of that of the environment. With ``if_changed``, a run whose output would be that in ``out`` is
    left out, and the results there are returned. A run that does not hold by ``fail_on`` does not become the reference
    of gates `against: last`. Where files are read part by part, what each part comes to is kept beside ``out``, but not
    without ``cache``. Raises SpecError (spec), DataError (data) or UsageError (output folder, ledger, key, library);
    earlier output is replaced only when everything is done. Signatures and comments of the same results stay; others
    are moved.
    """
    clock = _StepClock(progress or Progress())
    clock.begin(1)
    spec = load_with_files(source, overrides, as_of=as_of, frames=frames)
    with _locked_output_folder(out, key, spec) as folder:
        if if_changed and folder is not None:
            unchanged = _unchanged_results(spec, folder, fail_on, clock.progress)
            if unchanged is not None:
                return unchanged
        return _run_from_plan(spec, frames, folder, clock, fail_on, cache=cache)


def run_again(
    source: Source, out: str | os.PathLike[str], before: Results | None, *, overrides: Sequence[str] = (),
    as_of: str | None = None, evidence: Sequence[Row] = (), progress: Progress | None = None,
) -> Results:
    """Repeat a run, to compare it with its results ``before``: its earlier nightly runs are those in them.

    The ledger may have others by now. ``evidence`` are its rows of evidence of earlier nights on gates `on: sequence`.
    The run is recorded in the ledger beside ``out``, is not signed, and keeps no cache. Without ``before`` there are no
    earlier nights.
    """
    clock = _StepClock(progress or Progress())
    clock.begin(1)
    spec = load(source, [*overrides, "ledger=true"], as_of=as_of)
    with _locked_output_folder(out, key=False, spec=spec) as folder:
        return _run_from_plan(spec, None, folder, clock, "fail", cache=False, before=before, evidence=evidence)


def abandon(folder: Path | None) -> None:
    """Clean up in a process that ends in the middle of a run: restore the standard error, remove temporary files.

    ``folder`` is the output folder that the run has locked, None where it has none.
    """
    from evalpipe.data.formats import restore_stderr
    from evalpipe.runs.record import abandon as abandon_folder
    from evalpipe.streams.cache import cache_folder, sweep

    restore_stderr()
    if folder is not None:
        sweep(cache_folder(folder))
        abandon_folder(folder)


def _run_from_plan(
    spec: Spec, frames: Mapping[str, pl.DataFrame] | None, folder: Recorder | None, clock: _StepClock, fail_on: FailOn,
    *, cache: bool, before: Results | None = None, evidence: Sequence[Row] | None = None,
) -> Results:
    """Run steps 2 (plan) to 7 (record); ``before`` and ``evidence`` stand in for earlier nightly runs of the ledger."""
    from evalpipe.base.heap import trim
    from evalpipe.chapters.gates.compute import judged
    from evalpipe.chapters.gates.earlier_runs import look_back
    from evalpipe.chapters.prevalence.compute import with_prevalence
    from evalpipe.chapters.standards.compute import with_standards
    from evalpipe.chapters.statement.compute import check_references
    from evalpipe.chapters.trend.compute import with_trend
    from evalpipe.engine.evaluate import evaluate, gather
    from evalpipe.findings import with_check_gates_judged, with_findings
    from evalpipe.ledger.history import earlier_evidence, nights_with_reference, open_ledger

    clock.begin(2)
    planned, resolved_spec = _planned(spec, frames)

    clock.begin(3)
    work = _part_reader(spec, planned, folder, clock.progress, cached=cache and not planned.streaming.all_scores)
    # The ledger may be out of reach, and a format impossible to make here: known before anything is computed.
    ledger = None if folder is None else open_ledger(planned.ledger, folder.out)
    nights = _nights_of_trend(planned, ledger, before)
    evidence = earlier_evidence(planned, ledger) if evidence is None else evidence
    reference_nights = None if folder is None else nights_with_reference(ledger, planned, folder.out)
    samples, candidates = read_all(planned, frames, work)
    in_memory = _plan_in_memory(planned, samples)
    if in_memory is not None:
        planned, samples = in_memory, ()  # so that the scores that were kept are not held beside the rows
        samples, candidates = read_all(planned, frames, work)
    planned = with_prevalence(planned, samples)
    check_references(planned, samples)
    no_pdf: Problem | None = None
    if folder is None or reference_nights is None:
        earlier_runs = look_back(planned, samples)
    else:
        earlier_runs = look_back(planned, samples, folder.out, folder.shown, reference_nights)
        no_pdf = _why_no_pdf(spec, planned)

    clock.begin(4)
    clock.progress.expect(planned.replicates * sum(sample.role == "evaluate" for sample in samples))
    evaluation = evaluate(planned, samples, clock.progress.advance, candidates)

    clock.begin(5)
    row_file = _row_file(planned, evaluation, folder)
    results = with_trend(planned, gather(planned, samples, evaluation, resolved_spec, row_file), nights)
    del samples, evaluation  # what renders the card may have their memory
    if planned.streaming.streamed:
        trim()
    results = with_standards(planned, judged(planned, results, earlier_runs, evidence))
    results = with_check_gates_judged(with_findings(_with_changes_since(results, ledger, folder, before)))
    if folder is not None:
        references = _reference_files(results, earlier_runs, folder, fail_on)
        cluster = {} if planned.dask is None else {"dask": planned.dask, "bytes_sent": work.sent}
        parts_read = {"parts": {"read": work.read, "cached": work.cached, **cluster}}
        _render_and_record(folder, spec, results, references, clock, parts_read if planned.streaming.streamed else {},
                           ledger, no_pdf)
    return results


def _why_no_pdf(spec: Spec, planned: Plan) -> Problem | None:
    """Return why no PDF can be made, which the spec does not ask for by name; raises UsageError for all else."""
    from evalpipe.card import check_renderable
    from evalpipe.chapters.appearance.plan import appearance_plan

    return check_renderable(planned.formats, planned.part(appearance_plan).templates,
                            requested="formats" in spec.report.model_fields_set)


def _unchanged_results(spec: Spec, folder: Recorder, fail_on: FailOn, progress: Progress) -> Results | None:
    """Return the results in the output folder where a run would write the same again; None, and report why, else."""
    from evalpipe.ledger.history import open_ledger
    from evalpipe.ledger.since_last_run import changes
    from evalpipe.plan.resolve import ledger_named

    results, reasons = changes(spec, folder.out, fail_on, folder.by)
    progress.changed(reasons)
    if reasons:
        return None
    open_ledger(ledger_named(spec), folder.out)  # records results that a killed run did not
    return results


def _planned(spec: Spec, frames: Mapping[str, pl.DataFrame] | None) -> tuple[Plan, dict[str, object]]:
    """Return the plan, and the spec with every default; raises SpecError for a gate on a check that cannot apply."""
    from evalpipe.data.catalog import look
    from evalpipe.plan.resolve import plan as make_plan
    from evalpipe.plan.sources import sources
    from evalpipe.spec.schema import resolved

    resolved_spec = resolved(spec)
    if any(gate.check is not None for gate in spec.gates or ()):
        from evalpipe.errors import SpecError
        from evalpipe.findings import not_applicable

        problems = list(not_applicable(resolved_spec, spec.origin))
        if problems:
            raise SpecError(*problems)
    return make_plan(spec, look(sources(spec), frames)), resolved_spec


def _part_reader(spec: Spec, planned: Plan, folder: Recorder | None, progress: Progress, *, cached: bool) -> Work:
    """Return how to read files part by part: the folder of the cache, if any, and one for temporary files.

    ``cached`` says whether the parts that were read are kept for later runs.
    """
    from evalpipe.spec.load import to_text
    from evalpipe.streams.work import Work

    cache: Path | None = None
    if folder is not None:
        from evalpipe.streams.cache import cache_folder, sweep

        cache = cache_folder(folder.out)
        sweep(cache)
    avoids_cache = planned.streaming.streamed and not cached  # the cache's folder may be what cannot be written
    scratch = folder.fresh if folder is not None and avoids_cache else cache
    spec_of_workers = "" if planned.dask is None else to_text(spec)
    return Work(cache if cached else None, progress, spec_of_workers, scratch)


def _plan_in_memory(planned: Plan, samples: Sequence[Sample]) -> Plan | None:
    """Return the plan with all rows in memory where cells of the grid would tell too little of them; else None."""
    from evalpipe.engine.coarsening import fullest_cells
    from evalpipe.plan.memory import plan_in_memory
    from evalpipe.plan.resolve import with_further_columns

    crowded = [pair for sample in samples if sample.role == "evaluate" for pair in fullest_cells(sample).items()]
    in_memory = plan_in_memory(planned, *max(crowded, key=lambda pair: pair[1])) if crowded else None
    return None if in_memory is None else with_further_columns(in_memory)


def _row_file(planned: Plan, evaluation: Evaluation, folder: Recorder | None) -> RowFile | None:
    """Write the row-level file into the new folder, and return its record with its sha256; None where there is none."""
    from evalpipe.chapters.row_file.plan import row_file_plan

    form = planned.part(row_file_plan)
    if form is None or folder is None:
        return None
    from evalpipe.chapters.row_file.compute import columns_of, frames, schema
    from evalpipe.results import RowFile
    from evalpipe.runs.record import write_rows

    file = f"rows.{form}"
    with folder.refused:
        sha256, lines = write_rows(frames(planned, evaluation.samples), schema(planned), folder.fresh / file, form)
    return RowFile(file=file, sha256=sha256, rows=lines, id=planned.id, columns=list(columns_of(planned)))


def _with_changes_since(
    results: Results, ledger: Ledger | None, folder: Recorder | None, before: Results | None
) -> Results:
    """Return results with the differences from the previous run, and warnings about the ledger.

    Results ``before``, of a run that is repeated, supply both in place of the ledger.
    """
    from evalpipe.ledger.history import since_run_before, warnings_of_ledger
    from evalpipe.results.document import OF_LEDGER

    if before is not None:
        since, warnings = before.since, [warning for warning in before.warnings if warning.code in OF_LEDGER]
    elif ledger is not None and folder is not None:
        since = since_run_before(ledger, results, folder.out)
        warnings = warnings_of_ledger(ledger, results, folder.out)
    else:
        return results
    return results.model_copy(update={"since": since, "warnings": [*results.warnings, *warnings]})


def _reference_files(
    results: Results, earlier_runs: EarlierRuns, folder: Recorder, fail_on: FailOn
) -> dict[str, bytes] | None:
    """Return the files, by name, of the reference of gates `against: last`; None where they stay as they are."""
    from evalpipe.base.formats import REFERENCE
    from evalpipe.results.observed import EarlierRun
    from evalpipe.runs.references import may_be_reference, next_references

    gate_index = next((gate.gate - 1 for gate in results.gates if gate.against == "last"), None)
    if gate_index is None:  # one of several such gates will do: they all have the same reference
        return None
    run = EarlierRun(results, REFERENCE, results.to_json().encode())
    return next_references(run, earlier_runs[gate_index], folder.out, fit=may_be_reference(results, fail_on))


def _render_and_record(
    folder: Recorder, spec: Spec, results: Results, references: Mapping[str, bytes] | None, clock: _StepClock,
    parts_read: Mapping[str, object], ledger: Ledger | None, no_pdf: Problem | None,
) -> None:
    """Render the card (6), write the output folder and record the run (7); signatures and comments on it stay.

    ``no_pdf`` says why there is no PDF, where it is left out.
    """
    from evalpipe.base.formats import REFERENCE, REFERENCE_BEFORE
    from evalpipe.ledger.history import record_in_ledger
    from evalpipe.results.comments import COMMENT_LIST
    from evalpipe.results.signatures import SIGNATURE_LIST
    from evalpipe.runs.folder import RunFolder
    from evalpipe.runs.record import manifest_of, start_of_paths

    clock.begin(6)
    # The files of signatures and comments are part of this run, or, of other results, moved to other names beside it.
    before, evidence = RunFolder(folder.out), results.evidence_sha256
    signatures, signature_files, moved = before.records_after_run(SIGNATURE_LIST, evidence)
    comments, comment_files, moved_comments = before.records_after_run(COMMENT_LIST, evidence)
    # In memory: a card that fails leaves the earlier folder as it was.
    formats = [name for name in spec.report.formats if no_pdf is None or name != "pdf"]
    files = _rendered(results, formats, signatures, on_letters_without_font=clock.progress.letters_without_font,
                      comments=comments)
    clock.begin(7)
    run_facts = {"seconds_by_step": clock.durations, **parts_read, "inputs_from": start_of_paths(spec, folder.out)}
    same_signed, other_signed = (signature_files, {}) if moved is None else ({}, signature_files)
    same_comments, other_comments = (comment_files, {}) if moved_comments is None else ({}, comment_files)
    files |= {**same_signed, **same_comments, **(references or {})}
    replaced = () if references is None else (REFERENCE, REFERENCE_BEFORE)
    folder.write(results, files, {**other_signed, **other_comments}, run_facts, manifest_of(spec, results), replaced)
    if ledger is not None:
        record_in_ledger(ledger, results, folder.out, folder.shown)
    if moved is not None:
        clock.progress.signatures_moved(moved)
    if moved_comments is not None:
        clock.progress.comments_moved(moved_comments)
    if no_pdf is not None:
        clock.progress.no_pdf(no_pdf)


def _nights_of_trend(planned: Plan, ledger: Ledger | None, before: Results | None) -> Sequence[EarlierNight] | None:
    """Return the earlier nights of the trend, from results ``before`` or the ledger; None without a trend or ledger."""
    from evalpipe.chapters.trend.compute import nights_of_trend
    from evalpipe.chapters.trend.plan import trend_plan
    from evalpipe.ledger.history import earlier_nights

    if before is not None:
        return nights_of_trend(before.trend)
    if planned.part(trend_plan) is None or ledger is None:
        return None
    return earlier_nights(planned, ledger)


def _locked_output_folder(
    out: str | os.PathLike[str] | None, key: str | os.PathLike[str] | Literal[False] | None, spec: Spec
) -> AbstractContextManager[Recorder | None]:
    """Return a context with the locked output folder and the signer of ``key``; with None where ``out`` is None."""
    if out is None:
        return nullcontext()
    from evalpipe.base.ed25519 import signer
    from evalpipe.runs.record import Recorder, commit_of

    return Recorder(out, signer(key), commit_of(spec.origin.path))


def render(
    results: Results | str | os.PathLike[str], formats: Sequence[str] | None = None, *,
    template: str | os.PathLike[str] | Literal[False] | None = None,
) -> dict[str, bytes]:
    """Render the card of ``results`` (or of an output folder, with its signatures and comments) again: files by name.

    ``formats`` are names of `evalpipe.base.formats`; by default those of the spec. ``template`` is a folder of
    templates for the page and the PDF, or False for evalpipe's own; by default those of the spec.
    Raises DataError for a folder without results, or with signatures or comments of other results; UsageError for
    another format, for one that holds the verdicts of gates where there are none, or for a template that is refused.
    """
    from evalpipe.base.formats import FORMATS
    from evalpipe.errors import UsageError
    from evalpipe.results import Results
    from evalpipe.runs.folder import RunFolder

    folder: RunFolder | None = None
    if not isinstance(results, Results):
        folder = RunFolder(results)
        results = folder.results
    refused = [entry.file for name, entry in FORMATS.items() if name in (formats or ()) and entry.needs_verdicts]
    if refused and not results.judged:
        hint = "add 'gates: […]' to the spec, or 'require' to a standard"
        raise UsageError.of("no-gates", f"there is no {refused[0]} without gates", hint=hint)
    signatures, comments = ((), ()) if folder is None else (folder.signatures, folder.comments)
    return _rendered(results, formats, signatures, templates_from(template), comments=comments)


def templates_from(template: str | os.PathLike[str] | Literal[False] | None) -> Templates | None:
    """Return the templates in a folder, evalpipe's own for False; None, for those in the results, for None."""
    from evalpipe.card.edition import PLAIN, templates_in_folder

    if template is None:
        return None
    return PLAIN if template is False else templates_in_folder(template)


def _rendered(
    results: Results, formats: Sequence[str] | None, signatures: tuple[Signature, ...],
    templates: Templates | None = None, on_letters_without_font: Callable[[list[str]], None] | None = None,
    comments: tuple[Comment, ...] = (),
) -> dict[str, bytes]:
    """Render the card in ``formats``, by default those of the spec; return bytes by file name."""
    from evalpipe.card import render as render_card

    chosen_formats = results.spec.get("report", {}).get("formats", ()) if formats is None else formats
    return render_card(results, chosen_formats, signatures, templates, on_letters_without_font, comments)


def read_all(
    plan: Plan, frames: Mapping[str, pl.DataFrame] | None = None, work: Work | None = None
) -> tuple[tuple[Sample, ...], CandidateRows | None]:
    """Return a sample for each dataset, and the candidates; ``frames`` are datasets in memory, by name.

    ``work`` says how to read datasets part by part, and counts the parts. Raises DataError with every problem of
    datasets and candidates.
    """
    from evalpipe.data.candidates import read_candidates
    from evalpipe.data.query_rows import stored_queries
    from evalpipe.data.read import read
    from evalpipe.errors import DataError
    from evalpipe.streams.work import Work

    samples: tuple[Sample, ...] = ()
    candidates: CandidateRows | None = None
    problems: list[Problem] = []
    parts = work or Work()
    try:
        with stored_queries(plan, parts.scratch) as stored_plan:
            if plan.datasets and plan.streaming.streamed:
                from evalpipe.streams.read import read_streamed

                samples = read_streamed(stored_plan, parts)
            elif plan.datasets:
                samples = read(stored_plan, frames)
    except DataError as error:
        problems += error.problems
    try:
        candidates = read_candidates(plan)
    except DataError as error:
        problems += error.problems
    if problems:
        raise DataError(*problems)
    return samples, candidates
