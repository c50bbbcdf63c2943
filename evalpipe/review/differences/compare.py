"""The comparison of two runs, put together from its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.errors import Problem, UsageError
from evalpipe.review.differences.inputs import input_changes, subject_changes, version_changes
from evalpipe.review.differences.parts import part_changes
from evalpipe.review.differences.records import ComparedRun, Difference, GivenTolerance
from evalpipe.review.differences.spec_keys import spec_changes
from evalpipe.review.differences.tolerance import Tolerance
from evalpipe.review.differences.values import desirability_changes, estimate_changes, threshold_changes
from evalpipe.review.differences.verdict import verdict
from evalpipe.review.differences.verdicts import finding_changes, finding_pairs, gate_changes, gate_pairs, restated
from evalpipe.words.spelling import closest, listed

if TYPE_CHECKING:
    from collections.abc import Collection

    from evalpipe.review.differences.reading import Run
    from evalpipe.review.differences.records import Ignorable

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
        return _identical(a, b, tolerance, ignored)
    difference = _compared(a, b, tolerance, ignored)
    if paired:
        from evalpipe.review.differences.paired import with_paired

        difference = with_paired(difference, a, b)
    return verdict(difference)


def check_metrics(tolerance: Tolerance, a: Run, b: Run) -> None:
    """Raise UsageError with every metric that a tolerance is given for and that neither run has."""
    known = sorted({row.metric for run in (a, b) for row in run.results.rows})
    problems = []
    for name in tolerance.by_metric:
        if name not in known:
            near = closest(name, known)
            hint = f"did you mean '{near}'?" if near else f"the runs have {listed(known, 'and')}"
            problems.append(Problem("unknown-metric", f"neither run has an estimate of '{name}'", hint=hint))
    if problems:
        raise UsageError(*problems)


def _start(a: Run, b: Run, tolerance: Tolerance, ignored: Collection[Ignorable]) -> Difference:
    given = GivenTolerance(
        absolute=tolerance.absolute, relative=tolerance.relative, by_metric=dict(tolerance.by_metric))
    return Difference(verdict="", same=True, identical=False, a=_named(a), b=_named(b), tolerance=given,
                      ignored=sorted(set(ignored)))


def _named(run: Run) -> ComparedRun:
    results = run.results
    return ComparedRun(
        source=run.source, name=results.name, as_of=results.as_of, evalpipe_version=results.evalpipe_version,
        spec_sha256=results.spec_sha256, evidence_sha256=results.evidence_sha256)


def _identical(a: Run, b: Run, tolerance: Tolerance, ignored: Collection[Ignorable]) -> Difference:
    update = {"identical": True, "verdict": "The results are the same, byte for byte."}
    return _start(a, b, tolerance, ignored).model_copy(update=update)


def _compared(a: Run, b: Run, tolerance: Tolerance, ignored: Collection[Ignorable]) -> Difference:
    gates, findings = gate_pairs(a.results, b.results), finding_pairs(a.results, b.results)
    estimates, counts = estimate_changes(a.results, b.results, tolerance)
    shared = sum(first is not None and second is not None for first, second in gates)
    return _start(a, b, tolerance, ignored).model_copy(update={
        "counts": counts.model_copy(update={"gates": shared, "restated": restated(findings)}),
        "gates": gate_changes(gates),
        "subjects": subject_changes(a.results, b.results),
        "estimates": estimates,
        "thresholds": threshold_changes(a.results, b.results, tolerance),
        "desirability": desirability_changes(a.results, b.results, tolerance),
        "findings": finding_changes(findings),
        "spec": spec_changes(a.results.spec, b.results.spec),
        "data": input_changes(a.results, b.results),
        "versions": version_changes(a.versions, b.versions),
        "other": part_changes(a.results, b.results, gates, findings, tolerance),
    })
