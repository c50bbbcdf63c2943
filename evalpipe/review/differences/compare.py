"""The comparison of two runs, put together from its parts, and the one sentence that it comes to."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalpipe.errors import EvalpipeError, Problem, UsageError
from evalpipe.review.differences.changes import (
    count_restated,
    estimate_changes,
    finding_changes,
    finding_pairs,
    gate_changes,
    gate_pairs,
    input_changes,
    number_changes,
    part_changes,
    spec_changes,
    subject_changes,
    text_of,
    version_changes,
)
from evalpipe.review.differences.records import (
    ComparedRun,
    Difference,
    GivenTolerance,
    PairedDifference,
    Tolerance,
    Unpaired,
)
from evalpipe.runs.folder import RunFolder
from evalpipe.tasks import NUMBERS, SCORES
from evalpipe.words.spelling import closest, counted, listed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    import polars as pl

    from evalpipe.results import Results
    from evalpipe.review.differences.records import Ignorable, NumberChange, Run


EXACT = Tolerance()


def compare(
    a: Run, b: Run, tolerance: Tolerance = EXACT, ignored: Collection[Ignorable] = (), *, paired: bool = True
) -> Difference:
    """Return the differences of two runs, of numbers only those beyond ``tolerance``, with a verdict in a sentence.

    What is ``ignored`` is reported but does not count. Where both runs have their row-level files, estimates that
    differ are also compared ``paired``, on the same rows. A model that the spec of a run calls by another name than
    the other run is compared under its new name. Raises UsageError for the tolerance of a metric that neither run has.
    """
    check_metrics(tolerance, a, b)
    a, b = a.under_new_names(b.results.renamed), b.under_new_names(a.results.renamed)
    unchanged = _without_changes(a, b, tolerance, ignored)
    if a.results.evidence_sha256 == b.results.evidence_sha256:
        return unchanged.model_copy(update={
            "identical": True, "verdict": "The results are the same, byte for byte."})
    gates, findings = gate_pairs(a.results, b.results), finding_pairs(a.results, b.results)
    estimates, counts = estimate_changes(a.results, b.results, tolerance)
    left, right = a.results.desirability, b.results.desirability
    gate_count = sum(first is not None and second is not None for first, second in gates)
    difference = unchanged.model_copy(update={
        "counts": counts.model_copy(update={"gates": gate_count, "restated": count_restated(findings)}),
        "gates": gate_changes((a.results, b.results), gates),
        "subjects": subject_changes(a.results, b.results),
        "estimates": estimates,
        "thresholds": number_changes("threshold", a.results.thresholds, b.results.thresholds, tolerance),
        "desirability": [*number_changes("desirability", left.overall, right.overall, tolerance),
                         *number_changes("desirability", left.individual, right.individual, tolerance)],
        "findings": finding_changes(findings),
        "spec": spec_changes(a.results.spec, b.results.spec),
        "data": input_changes(a.results, b.results),
        "versions": version_changes(a.versions, b.versions),
        "other": part_changes(a.results, b.results, gates, findings, tolerance),
    })
    return with_verdict(with_paired(difference, a, b) if paired else difference)


def check_metrics(tolerance: Tolerance, a: Run, b: Run) -> None:
    """Raise UsageError with every metric that has a tolerance of its own but no estimate in either run."""
    metric_names = sorted({row.metric for run in (a, b) for row in run.results.rows})
    problems = []
    for name in tolerance.by_metric:
        if name not in metric_names:
            near = closest(name, metric_names)
            hint = f"did you mean '{near}'?" if near else f"the runs have {listed(metric_names, 'and')}"
            problems.append(Problem("unknown-metric", f"neither run has an estimate of '{name}'", hint=hint))
    if problems:
        raise UsageError(*problems)


def _without_changes(a: Run, b: Run, tolerance: Tolerance, ignored: Collection[Ignorable]) -> Difference:
    """Return a comparison with its two runs and the tolerance, and no differences yet."""
    given = GivenTolerance(
        absolute=tolerance.absolute, relative=tolerance.relative, by_metric=dict(tolerance.by_metric))
    return Difference(verdict="", same=True, identical=False, a=_compared_run(a), b=_compared_run(b), tolerance=given,
                      ignored=sorted(set(ignored)))


def _compared_run(run: Run) -> ComparedRun:
    """Return the record of a run by which a reader of the comparison tells it from the other."""
    results = run.results
    return ComparedRun(
        source=run.source, name=results.name, as_of=results.as_of, evalpipe_version=results.evalpipe_version,
        spec_sha256=results.spec_sha256, evidence_sha256=results.evidence_sha256)


BEFORE = {"pass": "held", "skipped": "was skipped", "inconclusive": "was inconclusive",
          "warn": "failed with severity warn", "fail": "failed"}
"""What became of a gate in the first run."""

NOW = {"pass": ("holds", "hold"), "skipped": ("is skipped", "are skipped"),
       "inconclusive": ("is inconclusive", "are inconclusive"),
       "warn": ("fails with severity warn", "fail with severity warn"), "fail": ("fails", "fail")}
"""What becomes of a gate, and of several, in the second run."""

MOST_CLAUSES = 4
"""The clauses of the sentence; what is beyond them stands below it."""


def with_verdict(difference: Difference) -> Difference:
    """Return the comparison with its verdict in one sentence, and with whether all that counts is the same."""
    counted_clauses = list(_counted_clauses(difference))
    if not counted_clauses:
        within = "" if _is_exact(difference) else " within the tolerance"
        ignored_clauses = list(_counted_clauses(difference.model_copy(update={"ignored": []})))
        not_counted = f"; not counted: {', '.join(ignored_clauses)}" if ignored_clauses else ""
        verdict = f"The results are the same{within}{not_counted}."
        return difference.model_copy(update={"same": True, "verdict": verdict})
    # What is said of estimates and gates comes first, and not again where it counts.
    clauses = [_estimate_clause(difference), *_gate_clauses(difference), *counted_clauses]
    text = "; ".join([*dict.fromkeys(filter(None, clauses))][:MOST_CLAUSES])
    return difference.model_copy(update={"same": False, "verdict": f"{text[:1].upper()}{text[1:]}."})


def _is_exact(difference: Difference) -> bool:
    """Tell whether every difference counts, however small."""
    tolerance = difference.tolerance
    return not (tolerance.absolute or tolerance.relative or any(tolerance.by_metric.values()))


def _estimate_clause(difference: Difference) -> str:
    """Return the clause that counts estimates: "2 of 84 estimates differ by more than the tolerance"."""
    counts = difference.counts
    if not counts.estimates:
        return ""
    beyond = "" if _is_exact(difference) else " by more than the tolerance"
    if not counts.differ:
        return f"none of {counted(counts.estimates, 'estimate')} differs{beyond}"
    return f"{counts.differ:,} of {counted(counts.estimates, 'estimate')} {_verb(counts.differ, 'differ')}{beyond}"


def _verb(count: int, plural: str) -> str:
    """Return the verb, given as plural ("differ"), in the number for ``count`` things: "differs" or "differ"."""
    return f"{plural}s" if count == 1 else plural


def _is_or_are(count: int) -> str:
    return "is" if count == 1 else "are"


def _gate_clauses(difference: Difference) -> Iterator[str]:
    """Yield a clause for each change of verdict, the worst turns first, such as "1 gate that held fails now"."""
    turns: Counter[tuple[str, ...]] = Counter()
    for change in difference.gates:
        turn = tuple("" if side is None else side.kind for side in (change.a, change.b))
        turns[turn if turn[0] != turn[1] else ("", "")] += 1
    for (before, now), count in turns.items():
        if before and now and before != now:
            yield f"{counted(count, 'gate')} that {_was(before, count)} {NOW[now][count > 1]} now"
        elif before and not now:
            yield f"{counted(count, 'gate')} that {_was(before, count)} {_is_or_are(count)} gone"
        elif now and not before:
            yield f"{counted(count, 'new gate')} {NOW[now][count > 1]}"
        else:
            yield f"{counted(count, 'gate')} {'has another limit' if count == 1 else 'have other limits'}"


def _was(kind: str, count: int) -> str:
    """Return what became of ``count`` gates in the first run, as a clause: "was skipped", "were skipped"."""
    return BEFORE[kind].replace("was ", "were ") if count > 1 else BEFORE[kind]


def _counted_clauses(difference: Difference) -> Iterator[str]:
    """Yield a clause for each kind of difference that counts; nothing where none does."""
    counts, ignored = difference.counts, difference.ignored
    if counts.differ:
        yield _estimate_clause(difference)
    yield from _gate_clauses(difference)
    for count, run in ((counts.only_a, "A"), (counts.only_b, "B")):
        if count:
            yield f"{counted(count, 'estimate')} {_is_or_are(count)} in {run} alone"
    yield from _number_clauses(difference)
    if difference.findings and "findings" not in ignored:
        yield f"{counted(len(difference.findings), 'finding')} {_verb(len(difference.findings), 'differ')}"
    parts = (("spec", difference.spec, "key of the spec"), ("data", difference.data, "file of data"))
    inputs = [counted(len(rows), what) for part, rows, what in parts if rows and part not in ignored]
    if inputs:
        is_one = len(inputs) == 1 and inputs[0].startswith("1 ")
        yield f"{' and '.join(inputs)} {'differs' if is_one else 'differ'}"
    if difference.subjects:
        count = len(difference.subjects)
        subjects = "dataset, model or metric" if count == 1 else "datasets, models or metrics"
        yield f"{count:,} {subjects} {_is_or_are(count)} in one run alone"
    if difference.other and "other" not in ignored:
        count = len(difference.other)
        yield f"{counted(count, 'further part')} of the results {_verb(count, 'differ')}"


def _number_clauses(difference: Difference) -> Iterator[str]:
    """Yield clauses that count differing thresholds and desirabilities, and estimates with only other intervals."""
    count = difference.counts.intervals_alone
    if count and "intervals" not in difference.ignored:
        yield f"{counted(count, 'estimate')} {_verb(count, 'differ')} in the interval or its details alone"
    for what, changes in (("threshold", difference.thresholds), ("desirability", difference.desirability)):
        rows = sum(not (change.counted_alone and "intervals" in difference.ignored) for change in changes)
        if rows:
            yield f"{counted(rows, what)} {_verb(rows, 'differ')}"


if TYPE_CHECKING:
    Subset = tuple[str | None, str, str]  # a dataset, a model and its variant

PROBABILITY = "probability of "
"""What the names of columns of several levels' probabilities begin with."""

KINDS = {"text": "String", "number": "Float64", "whole number": "Int64", "true or false": "Boolean"}
"""The types of columns, as polars calls them."""

PREDICTIONS = {"probability": "probability", "predicted": "prediction", "prediction": "prediction"}
"""The columns of predictions, and the keys of a model in a spec."""

SHARED = ("id", "truth", "weight", "exposure")
"""The columns that say the same of a row in both files."""


class RefusedError(Exception):
    """The rows of two runs cannot be set side by side; ``{first}`` and ``{second}`` in the text are the runs."""


def refusal(difference: Difference, a: Run, b: Run) -> str | None:
    """Return the reason why no numbers of two runs can be compared row by row; None where they can be."""
    have_sha256 = all(file.sha256 is not None for file in a.results.inputs)  # data held in memory have none
    if have_sha256 and not difference.spec and not difference.data:
        return ("both runs evaluated the same files by the same spec, so the rows are not the reason: "
                "evalpipe, its libraries or the machine are")
    reasons = (_run_refusal(name, run) for name, run in (("A", a), ("B", b)))
    why = next((reason for reason in reasons if reason is not None), None)
    if why is None and _outcome(a.results) != _outcome(b.results):
        return "the runs have other outcomes or weights"
    return why


def _run_refusal(name: str, run: Run) -> str | None:
    """Return the reason why run ``name`` ("A" or "B") has no rows to compare with another run; None where it has."""
    file = run.results.row_file
    if file is None:
        return f"run {name} has no row-level file, which 'report: {{rows: parquet}}' in its spec lets it write"
    if run.results.spec.get("cluster") is not None:
        return f"run {name} resamples clusters, and the row-level file does not say which rows belong together"
    if (run.results.spec.get("intervals") or {}).get("method") == "none":
        return f"run {name} has no intervals"
    sha256 = None if run.folder is None else RunFolder(run.folder).sha256_if_readable(_row_file_path(run).name)
    if sha256 is None:
        return f"{file.file} of run {name} is not beside its results"
    return None if sha256 == file.sha256 else f"{file.file} of run {name} was changed after the run"


def _outcome(results: Results) -> tuple[object, ...]:
    """Return what two runs must share to be compared row by row: task, event, levels, kind of weight."""
    weight = results.weight and results.weight.get("kind")
    return results.task, results.event, results.levels, weight


def _row_file_path(run: Run) -> Path:
    """Return where the row-level file of a run has to be, whether or not it is there."""
    # A name in results may be of anyone's making: it is looked for beside them and nowhere else.
    name = Path(run.results.row_file.file).name if run.results.row_file is not None else ""
    return (run.folder or Path()) / name


def joined_rows(first: Run, second: Run, subset: Subset) -> pl.DataFrame:
    """Return the rows of a subset (a dataset, a model and its variant) with the predictions of both runs, sorted by id.

    The columns are truth, weight and exposure where there are any, and the predictions behind "first." and "second.".
    Raises RefusedError where the rows are not the same.
    """
    _check_ids_comparable(first.results, second.results, subset[0])
    left, right = (_rows(run, subset) for run in (first, second))
    for name, rows in (("{first}", left), ("{second}", right)):
        if rows["id"].null_count() or rows["id"].n_unique() != rows.height:
            raise RefusedError(f"ids occur more than once in run {name}")
    left, right = left.sort("id"), right.sort("id")
    if not left["id"].equals(right["id"]):
        unshared_count = len(set(left["id"]) ^ set(right["id"]))
        ids = "id is" if unshared_count == 1 else "ids are"
        raise RefusedError(f"the rows are not the same: {unshared_count:,} {ids} in one run alone")
    shared_columns = [name for name in SHARED if name != "id" and name in left.columns and name in right.columns]
    for name in shared_columns:
        if not left[name].equals(right[name]):
            raise RefusedError(f"rows of one id differ in '{name}'")
    return _side_by_side(left, right, shared_columns)


def _check_ids_comparable(first: Results, second: Results, dataset: str | None) -> None:
    """Raise RefusedError where the same row ids may stand for different rows of a dataset in the two runs."""
    ids = [results.row_file.id for results in (first, second) if results.row_file is not None]
    if ids == [None, None]:
        files = [sorted((str(file.sha256), file.rows) for file in results.inputs if file.dataset == dataset)
                 for results in (first, second)]
        if files[0] != files[1]:
            raise RefusedError("the spec names no 'id', and rows of other files are not known by their numbers")
    elif ids[0] != ids[1]:
        raise RefusedError("the runs name rows by other columns")


def _rows(run: Run, subset: Subset) -> pl.DataFrame:
    """Return the rows of a subset from the row-level file of a run; raises RefusedError where it cannot be read."""
    import polars as pl

    file = run.results.row_file
    columns = {} if file is None else {column.name: getattr(pl, KINDS[column.type]) for column in file.columns}
    path = _row_file_path(run)
    try:
        lines = pl.scan_csv(path, schema=pl.Schema(columns), glob=False) if path.suffix == ".csv" else pl.scan_parquet(
            path, glob=False)
        dataset, model, variant = subset
        rows = lines.filter(
            pl.col("dataset") == dataset, pl.col("model") == run.former_names.get(model, model),
            pl.col("variant") == variant).collect()
        of_all = ["id"] if run.results.task in SCORES else ["id", "truth"]
        return rows.select(*of_all, pl.exclude(of_all))  # raises where it lacks one of them
    except (pl.exceptions.PolarsError, OSError) as error:
        raise RefusedError(f"{path.name} cannot be read: {error}".replace("{", "(").replace("}", ")")) from None


def _side_by_side(left: pl.DataFrame, right: pl.DataFrame, shared_columns: list[str]) -> pl.DataFrame:
    """Return one table of ``shared_columns`` that are not empty, and the predictions of both as "first.…", "second.…".

    A score counts where the probability has gaps, for only columns without gaps can be evaluated.
    """
    import polars as pl

    columns = [left[name] for name in shared_columns if left[name].null_count() < left.height]
    for model, rows in (("first", left), ("second", right)):
        complete = {name for name in rows.columns if rows[name].null_count() == 0}
        score = {"score": "score"} if "score" in rows.columns and "probability" not in complete else {}
        key_of_column = PREDICTIONS | score | {name: name for name in rows.columns if name.startswith(PROBABILITY)}
        columns += [rows[name].alias(f"{model}.{key}") for name, key in key_of_column.items() if name in complete]
    return pl.DataFrame(columns)


IN_SLICES = "the row-level file does not say which slice a row is in"
OTHER_VALUES = "the rows do not give the values of the runs, so something else than the predictions is in them"
INTERVALS = ("level", "method", "replicates", "stratify", "resampling")
"""What the paired intervals take over from the spec of the runs."""


def with_paired(difference: Difference, a: Run, b: Run) -> Difference:
    """Return a comparison with the paired difference of each estimate whose value differs, or why there is none."""
    changed_values = [change for change in difference.estimates
                      if change.difference is not None and "value" in change.differs_in]
    if not changed_values:
        return difference
    why_not = refusal(difference, a, b)
    if why_not is not None:
        return difference.model_copy(update={"unpaired": [Unpaired(reason=why_not)]})
    unpaired = [Unpaired(slices=True, reason=IN_SLICES)] if any(change.slice for change in changed_values) else []
    paired_by_id: dict[int, PairedDifference] = {}
    changes_by_subset: dict[Subset, list[NumberChange]] = {}
    for change in changed_values:
        if change.slice is None:
            changes_by_subset.setdefault((change.dataset, change.model, change.variant), []).append(change)
    for subset, changes in changes_by_subset.items():
        unpaired += _pair(a, b, subset, changes, paired_by_id)
    estimates = [change.model_copy(update={"paired": paired_by_id.get(id(change))}) for change in difference.estimates]
    return difference.model_copy(update={"estimates": estimates, "unpaired": unpaired})


def _pair(
    a: Run, b: Run, subset: Subset, changes: Sequence[NumberChange], paired_by_id: dict[int, PairedDifference]
) -> Iterator[Unpaired]:
    """Add the paired differences of a subset to ``paired_by_id``, by the change's `id`; yield why others have none."""
    dataset, model, variant = subset
    subset_fields = {"dataset": dataset, "model": model, "variant": variant}
    # Draws depend on the order of the columns, so the two are always set side by side in one order.
    swapped = _run_order_key(b.results) < _run_order_key(a.results)
    first, second = (b, a) if swapped else (a, b)
    try:
        rows = joined_rows(first, second, subset)
    except RefusedError as why:
        names = ("B", "A") if swapped else ("A", "B")
        yield Unpaired.model_validate(subset_fields | {"reason": str(why).format(first=names[0], second=names[1])})
        return
    compared, refused = _evaluate_measures(first.results, rows, _entries(first.results, changes))
    reasons: dict[str, list[str]] = {}
    for change in changes:
        paired = refused.get(str(change.metric)) or _paired_difference(compared, change, swapped=swapped)
        if isinstance(paired, PairedDifference):
            paired_by_id[id(change)] = paired
        else:
            reasons.setdefault(paired, []).append(str(change.metric))
    for reason, metrics in reasons.items():
        yield Unpaired.model_validate(subset_fields | {"metrics": [*dict.fromkeys(metrics)], "reason": reason})


def _run_order_key(results: Results) -> tuple[str, str, str]:
    """Return a key that decides which of two runs is "first": their day, spec and files.

    No computed number is in it, as the last digits of one may depend on the processor. Only runs on data held in memory
    can have equal keys: runs of the same files and spec are not compared row by row.
    """
    files = sorted((file.dataset, file.sha256 or "") for file in results.inputs)
    return results.as_of or "", text_of(results.spec), text_of(files)


def _entries(run: Results, changes: Sequence[NumberChange]) -> dict[str, list[Any]]:
    """Return the spec's entries for each metric that differs, by metric; its bare name where the spec lists none."""
    entries: dict[str, list[Any]] = {str(change.metric): [] for change in changes}
    for entry in run.spec.get("metrics") or ():
        name = entry if isinstance(entry, str) else entry.get("metric") or entry.get("name")
        if name in entries:
            entries[name].append(_set_keys(entry) if isinstance(entry, dict) else entry)
    return {name: asked or [name] for name, asked in entries.items()}


def _evaluate_measures(
    run: Results, rows: pl.DataFrame, entries: dict[str, list[Any]]
) -> tuple[list[Results], dict[str, str]]:
    """Evaluate all measures at once, or one by one if that fails; return results, and reasons of failure by metric."""
    try:
        return [_evaluate_both(run, rows, [entry for asked in entries.values() for entry in asked])], {}
    except EvalpipeError:
        results, refused = [], {}
    for name, asked in entries.items():
        try:
            results.append(_evaluate_both(run, rows, asked))
        except EvalpipeError as error:
            refused[name] = f"it cannot be computed from the rows: {error.problems[0].message}"
    return results, refused


def _evaluate_both(run: Results, rows: pl.DataFrame, metrics: list[Any]) -> Results:
    """Evaluate the models "first" and "second" on the joined rows, by the spec of one of the two runs.

    Raises EvalpipeError where the rows do not suffice.
    """
    from evalpipe.run import run as evaluate

    spec, columns = run.spec, set(rows.columns)
    metrics_text = text_of(metrics)
    outcome = {"column": "truth"} if run.task in NUMBERS else {
        "column": "truth", "levels": run.levels, **({"event": run.event} if run.task == "binary" else {})}
    # Rows are items, whose epochs are not in them: without a range, no measure of epochs takes means for successes.
    what = {"score": {"better": spec["score"]["better"]}} if run.task in SCORES else {"outcome": outcome}
    paired_spec: dict[str, Any] = {
        "evalpipe": 1, "name": "paired", "task": run.task, "seed": spec.get("seed", 0), **what,
        "datasets": {"rows": {"path": "memory"}}, "metrics": metrics, "compare": {"baseline": "first"},
        "models": {model: _model_columns(model, run, columns) for model in ("first", "second")},
        "intervals": {key: value for key, value in _set_keys(spec.get("intervals") or {}).items() if key in INTERVALS},
        "report": {"formats": []},
    }
    if "weight" in columns:
        paired_spec["weight"] = _set_keys(spec.get("weight") or {}) | {"column": "weight"}
    if "exposure" in columns:
        paired_spec["exposure"] = "exposure"
    # A spec is refused that declares a prevalence or costs which no measure uses.
    if spec.get("prevalence") is not None and any(name in metrics_text for name in ("ppv", "npv", "prevalence")):
        prior = run.prevalence
        if prior is None or prior.dataset is None:
            paired_spec["prevalence"] = _set_keys(spec["prevalence"])
        else:
            paired_spec["prevalence"] = {"beta": prior.beta} if prior.dirichlet is None else {
                "dirichlet": prior.dirichlet}
    if spec.get("costs") is not None and "cost" in metrics_text:
        paired_spec["costs"] = [_set_keys(cost) for cost in spec["costs"]]
    return evaluate(paired_spec, frames={"rows": rows})


def _set_keys(part: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in part.items() if value is not None}


def _model_columns(model: str, run: Results, columns: set[str]) -> dict[str, Any]:
    """Return the spec's entry of ``model`` ("first" or "second"): its columns of the joined rows, by kind.

    Of several levels, "probabilities" is a mapping of level to column.
    """
    kinds = ("probability", "score", "prediction")
    keys: dict[str, Any] = {kind: f"{model}.{kind}" for kind in kinds if f"{model}.{kind}" in columns}
    if run.levels and f"{model}.{PROBABILITY}{run.levels[0]}" in columns:
        keys["probabilities"] = {level: f"{model}.{PROBABILITY}{level}" for level in run.levels}
    return keys


def _paired_difference(compared: Sequence[Results], change: NumberChange, *, swapped: bool) -> PairedDifference | str:
    """Return the paired difference, B minus A, of an estimate; a reason where the rows do not give the runs' values.

    ``compared`` are evaluations of the models "first" and "second", which are B and A where ``swapped``.
    """
    measure, sides = _measure_key(change), (change.b, change.a) if swapped else (change.a, change.b)
    for results in compared:
        value_of_model = {row.model: row.value for row in results.rows if measure == _measure_key(row)}
        row = next((row for row in results.comparisons if measure == _measure_key(row)), None)
        if row is None:
            continue
        for model, side in zip(("first", "second"), sides, strict=True):
            value, stated = value_of_model.get(model), None if side is None else side.value
            if value is None or stated is None or not math.isclose(value, stated, rel_tol=1e-9, abs_tol=1e-12):
                return OTHER_VALUES
        difference, lower, upper = row.difference, row.lower, row.upper
        if swapped:
            difference, lower, upper = _negative(difference), _negative(upper), _negative(lower)
        return PairedDifference(
            difference=difference, lower=lower, upper=upper, level=row.level, method=row.method, p_value=row.p_value,
            n=row.n, status=row.status, reason=row.reason)
    return OTHER_VALUES


def _measure_key(row: Any) -> str:
    return text_of([row.metric, row.params, row.average, row.class_])


def _negative(value: float | None) -> float | None:
    """Return the negative of a value, None for None; 0 stays 0 without a sign."""
    return None if value is None else 0.0 - value  # so that 0 stays 0 and gets no sign
