"""The comparison of two runs, put together from its parts, and the one sentence that it comes to."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from evalpipe.errors import Problem, UsageError
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
    version_changes,
)
from evalpipe.review.differences.records import ComparedRun, Difference, GivenTolerance, Tolerance
from evalpipe.words.spelling import closest, listed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from evalpipe.review.differences.records import GateChange, Ignorable, Run


EXACT = Tolerance()


def compare(
    a: Run, b: Run, tolerance: Tolerance = EXACT, ignored: Collection[Ignorable] = (), *, paired: bool = True
) -> Difference:
    """Compare two runs. Numbers count as different beyond the ``tolerance``; what is ``ignored`` is told, not counted.

    Where both runs have their row-level files, estimates that differ are also compared ``paired``, on the same rows. A
    model that the spec of one run calls by another name than the other run is compared under its new name.
    Raises UsageError for the tolerance of a metric that neither run has.
    """
    check_metrics(tolerance, a, b)
    a, b = a.under_new_names(b.results.renamed), b.under_new_names(a.results.renamed)
    if a.results.evidence_sha256 == b.results.evidence_sha256:
        update = {"identical": True, "verdict": "The results are the same, byte for byte."}
        return _without_changes(a, b, tolerance, ignored).model_copy(update=update)
    difference = _with_changes(a, b, tolerance, ignored)
    if paired:
        from evalpipe.review.differences.paired import with_paired

        difference = with_paired(difference, a, b)
    return with_verdict(difference)


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


def _with_changes(a: Run, b: Run, tolerance: Tolerance, ignored: Collection[Ignorable]) -> Difference:
    """Return a comparison with all differences, still without paired differences and verdict."""
    gates, findings = gate_pairs(a.results, b.results), finding_pairs(a.results, b.results)
    estimates, counts = estimate_changes(a.results, b.results, tolerance)
    left, right = a.results.desirability, b.results.desirability
    gate_count = sum(first is not None and second is not None for first, second in gates)
    return _without_changes(a, b, tolerance, ignored).model_copy(update={
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
        return difference.model_copy(update={"same": True, "verdict": _same_text(difference)})
    # What is said of estimates and gates comes first, and not again where it counts.
    clauses = [_estimate_clause(difference), *_gate_clauses(difference), *counted_clauses]
    text = "; ".join([*dict.fromkeys(filter(None, clauses))][:MOST_CLAUSES])
    return difference.model_copy(update={"same": False, "verdict": f"{text[:1].upper()}{text[1:]}."})


def some(count: int, singular: str, plural: str = "") -> str:
    """Return a count with its noun in the right number: "1 key", "2 keys"."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def _same_text(difference: Difference) -> str:
    """Return the verdict where no difference counts; ignored differences are named in it."""
    text = "The results are the same" if _is_exact(difference) else "The results are the same within the tolerance"
    ignored_clauses = list(_counted_clauses(difference.model_copy(update={"ignored": []})))
    return f"{text}; not counted: {', '.join(ignored_clauses)}." if ignored_clauses else f"{text}."


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
        return f"none of {some(counts.estimates, 'estimate')} differs{beyond}"
    return f"{counts.differ:,} of {some(counts.estimates, 'estimate')} {_verb(counts.differ, 'differ')}{beyond}"


def _verb(count: int, plural: str) -> str:
    """Return a verb for a subject of ``count`` things, from its plural: "differ" or "differs"."""
    return f"{plural}s" if count == 1 else plural


def _is_or_are(count: int) -> str:
    return "is" if count == 1 else "are"


def _gate_clauses(difference: Difference) -> Iterator[str]:
    """Yield a clause for each change of verdict, the worst turns first, such as "1 gate that held fails now"."""
    turns = Counter(_verdicts(change) for change in difference.gates)
    for (before, now), count in turns.items():
        if before and now and before != now:
            yield f"{some(count, 'gate')} that {_was(before, count)} {NOW[now][count > 1]} now"
        elif before and not now:
            yield f"{some(count, 'gate')} that {_was(before, count)} {_is_or_are(count)} gone"
        elif now and not before:
            yield f"{some(count, 'new gate')} {NOW[now][count > 1]}"
        else:
            yield f"{some(count, 'gate')} {'has another limit' if count == 1 else 'have other limits'}"


def _verdicts(change: GateChange) -> tuple[str, str]:
    """Return the verdicts of a gate in both runs, "" for a run that lacks it; two "" where they are the same."""
    before, now = (side.kind if side is not None else "" for side in (change.a, change.b))
    return (before, now) if before != now else ("", "")


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
            yield f"{some(count, 'estimate')} {_is_or_are(count)} in {run} alone"
    yield from _number_clauses(difference)
    if difference.findings and "findings" not in ignored:
        yield f"{some(len(difference.findings), 'finding')} {_verb(len(difference.findings), 'differ')}"
    inputs = [some(len(rows), what, plural) for part, rows, what, plural in (
        ("spec", difference.spec, "key of the spec", "keys of the spec"),
        ("data", difference.data, "file of data", "files of data")) if rows and part not in ignored]
    if inputs:
        is_one = len(inputs) == 1 and inputs[0].startswith("1 ")
        yield f"{' and '.join(inputs)} {'differs' if is_one else 'differ'}"
    if difference.subjects:
        count = len(difference.subjects)
        subjects = some(count, "dataset, model or metric", "datasets, models or metrics")
        yield f"{subjects} {_is_or_are(count)} in one run alone"
    if difference.other and "other" not in ignored:
        count = len(difference.other)
        yield f"{some(count, 'further part')} of the results {_verb(count, 'differ')}"


def _number_clauses(difference: Difference) -> Iterator[str]:
    """Yield clauses that count differing thresholds and desirabilities, and estimates with only other intervals."""
    count = difference.counts.intervals_alone
    if count and "intervals" not in difference.ignored:
        yield f"{some(count, 'estimate')} {_verb(count, 'differ')} in the interval or its details alone"
    for what, plural, changes in (("threshold", "thresholds", difference.thresholds),
                                  ("desirability", "desirabilities", difference.desirability)):
        counted = [change for change in changes if not (change.counted_alone and "intervals" in difference.ignored)]
        if counted:
            yield f"{some(len(counted), what, plural)} {_verb(len(counted), 'differ')}"
