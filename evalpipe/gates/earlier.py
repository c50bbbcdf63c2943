"""What gates are against: the results of earlier runs, read before anything is computed; and slices that must exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.errors import DataError, Problem
from evalpipe.gates.reference import Earlier, Nothing, read_reference, read_results
from evalpipe.report.wording import slice_name
from evalpipe.spelling import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from evalpipe.chapters.gates.plan import EarlierPlan, GatePlan
    from evalpipe.data.sample import Sample
    from evalpipe.plan.plan import Plan

FIRST = "run once without this gate, or add 'optional: true' to it, which skips it until there is something to compare"


def look_back(
    plan: Plan, samples: Sequence[Sample], folder: Path | None = None, shown: str = ""
) -> dict[int, Earlier | Nothing]:
    """Return the earlier results that gates are against, or why there are none, by the number of the gate from 0.

    ``folder`` is the output folder, called ``shown``, whose reference is for gates `against: last`. Raises DataError
    with every file that cannot be read and every slice that no row is in.
    """
    found: dict[int, Earlier | Nothing] = {}
    problems: list[Problem] = []
    for number, gate in enumerate(plan.gates):
        problems += _slices(plan, number, gate, samples)
        if gate.against is None or gate.against == "baseline":
            continue
        read = _named(plan, number, gate.earlier, optional=gate.optional) if gate.earlier is not None else (
            read_reference(folder, shown, plan.places.place("gates", number, "against")))
        problems += [read] if isinstance(read, Problem) else []
        found |= {} if isinstance(read, Problem) else {number: read}
    if problems:
        raise DataError(*problems)
    return found


def _named(plan: Plan, number: int, earlier: EarlierPlan, *, optional: bool) -> Earlier | Nothing | Problem:
    """Read the results at a path of the spec."""
    place = plan.places.place("gates", number, "against", "results")
    path = earlier.path / "results.json" if earlier.path.is_dir() else earlier.path
    if path.exists():
        return read_results(path, earlier.written, place, "name a run's output folder")
    none = f"there are no results of an earlier run at {earlier.written}"
    return Nothing(f"{none}{earlier.relative}") if optional else Problem("missing-file", none, place, FIRST)


def _slices(plan: Plan, number: int, gate: GatePlan, samples: Sequence[Sample]) -> Iterator[Problem]:
    """Report a slice that a dataset does not have."""
    if gate.slice is None:
        return
    wanted = dict(gate.slice)
    for sample in samples:
        if sample.role != "evaluate" or gate.dataset not in (None, sample.dataset):
            continue
        known = [labels for slicing in sample.slicings for labels in slicing.labels if set(labels) == set(wanted)]
        if wanted not in [dict(labels) for labels in known]:
            yield _absent(plan, number, sample.dataset, wanted, known)


def _absent(
    plan: Plan, number: int, dataset: str, wanted: Mapping[str, str], known: Sequence[Mapping[str, str]]
) -> Problem:
    shown = [slice_name(dict(labels)) for labels in known[:8]]
    more = ", …" if len(known) > len(shown) else ""
    return Problem(
        "unknown-slice", f"no row of dataset '{dataset}' is in the slice {slice_name(dict(wanted))}",
        plan.places.place("gates", number, "slice"), f"its slices are {listed(shown, 'and')}{more}",
    )
