"""The earlier runs that gates compare with."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from evalpipe.base.formats import RESULTS
from evalpipe.card.wording import absent_slice
from evalpipe.chapters.gates.compute import FIRST
from evalpipe.chapters.gates.plan import gates_plan
from evalpipe.errors import DataError, Problem
from evalpipe.results.observed import EarlierRun, NoEarlier
from evalpipe.runs.folder import NO_NIGHTS, EarlierNights, RunFolder
from evalpipe.runs.references import Tonight, read_run, reference_for
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.chapters.gates.plan import EarlierPlan, GatePlan
    from evalpipe.data.sample import Sample
    from evalpipe.plan.plan import Plan


def look_back(
    plan: Plan, samples: Sequence[Sample], folder: Path | None = None, shown: str = "",
    nights: EarlierNights = NO_NIGHTS,
) -> dict[int, EarlierRun | NoEarlier]:
    """Return the earlier run that each gate compares with, or why there is none, by the number of the gate from 0.

    ``folder`` is the output folder, called ``shown`` in messages. Gates `against: last` compare with its reference or,
    where it has none of an earlier night, with that of the ``nights`` of the ledger. Raises DataError with every file
    that cannot be read and every slice that no row is in.
    """
    read_files = frozenset((file.dataset, file.sha256) for sample in samples for file in sample.files)
    tonight = Tonight(plan.as_of, plan.spec_sha256, read_files)

    @cache
    def read(earlier: EarlierPlan | None, optional: bool) -> EarlierRun | NoEarlier | Problem:  # noqa: FBT001
        """Read the run that a gate compares with, once for all gates: the one planned or, without, the reference."""
        if earlier is None:
            return reference_for(tonight, folder, shown, nights)
        earlier_folder = RunFolder.named(earlier.path)
        if earlier_folder.has(RESULTS):
            return read_run(earlier_folder, RESULTS, earlier.written, "name a run's output folder")
        if optional:
            return NoEarlier(sentence("no-earlier-results", path=earlier.written, relative=earlier.relative))
        return Problem("missing-file", f"there are no results of an earlier run at {earlier.written}", hint=FIRST)

    runs: dict[int, EarlierRun | NoEarlier] = {}
    problems: list[Problem] = []
    for index, gate in enumerate(plan.part(gates_plan)):
        problems += _unknown_slices(plan, index, gate, samples)
        if gate.against not in ("last", "results"):
            continue
        run = read(gate.earlier, gate.rule.optional)
        if isinstance(run, Problem):
            problems.append(replace(run, place=plan.places.place("gates", index, "against", "results")))
        else:
            runs[index] = run if isinstance(run, NoEarlier) else replace(
                run, names=nights.names.get(run.sha256) or {former: name for name, former in plan.renamed.items()})
    if problems:
        raise DataError(*problems)
    return runs


def _unknown_slices(plan: Plan, index: int, gate: GatePlan, samples: Sequence[Sample]) -> Iterator[Problem]:
    """Report each evaluated dataset that has no row in the slice of a gate, with the slices that it has."""
    for sample in samples if gate.slice else ():
        if sample.role == "evaluate" and gate.rule.dataset in (None, sample.dataset):
            absent = absent_slice(sample.dataset, gate.slice or {}, sample.slices)
            if absent is not None:
                message, hint = absent
                yield Problem("unknown-slice", message, plan.places.place("gates", index, "slice"), hint)
