"""What gates are against: the results of earlier runs, read before anything is computed; and slices that must exist."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evalpipe.errors import DataError, Problem
from evalpipe.gates.reference import Earlier, Nothing, read_reference, read_results
from evalpipe.levels import level_text
from evalpipe.report.wording import slice_name
from evalpipe.spec.gates import Earlier as Named
from evalpipe.spelling import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.data.sample import Sample
    from evalpipe.errors import Place
    from evalpipe.origin import Loc
    from evalpipe.plan import Plan
    from evalpipe.spec.gates import GateRule
    from evalpipe.spec.models import Spec

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
    for number, gate in enumerate(plan.spec.gates or ()):
        problems += _slices(plan.spec, number, gate, samples)
        if gate.against is None or gate.against == "baseline":
            continue
        read = _named(plan.spec, number, gate, gate.against.results) if isinstance(gate.against, Named) else (
            read_reference(folder, shown, plan.places.place("gates", number, "against")))
        problems += [read] if isinstance(read, Problem) else []
        found |= {} if isinstance(read, Problem) else {number: read}
    if problems:
        raise DataError(*problems)
    return found


def _named(spec: Spec, number: int, gate: GateRule, written: str) -> Earlier | Nothing | Problem:
    """Read the results at a path of the spec."""
    loc: Loc = ("gates", number, "against", "results")
    path, place = spec.origin.folder_of(*loc) / written, spec.origin.place(*loc)
    path = path / "results.json" if path.is_dir() else path
    if path.exists():
        return read_results(path, written, place, "name a run's output folder")
    none = f"there are no results of an earlier run at {written}"
    if gate.optional:
        return Nothing(f"{none}{_relative(spec, place, written)}")
    return Problem("missing-file", none, place, FIRST)


def _relative(spec: Spec, place: Place | None, written: str) -> str:
    """Say what a path of the spec is relative to."""
    if Path(written).is_absolute():
        return ""
    file = place.file if place is not None and place.file in spec.origin.folders else spec.origin.path
    return " (relative to the working folder)" if file is None else f" (relative to {Path(file).name})"


def _slices(spec: Spec, number: int, gate: GateRule, samples: Sequence[Sample]) -> Iterator[Problem]:
    """Report a slice that a dataset does not have."""
    if gate.slice is None:
        return
    wanted = {column: level_text(level) for column, level in gate.slice.items()}
    for sample in samples:
        if sample.role != "evaluate" or gate.dataset not in (None, sample.dataset):
            continue
        known = [labels for slicing in sample.slicings for labels in slicing.labels if set(labels) == set(wanted)]
        if wanted not in [dict(labels) for labels in known]:
            yield _absent(spec, number, sample.dataset, wanted, known)


def _absent(
    spec: Spec, number: int, dataset: str, wanted: Mapping[str, str], known: Sequence[Mapping[str, str]]
) -> Problem:
    shown = [slice_name(dict(labels)) for labels in known[:8]]
    more = ", …" if len(known) > len(shown) else ""
    return Problem(
        "unknown-slice", f"no row of dataset '{dataset}' is in the slice {slice_name(dict(wanted))}",
        spec.origin.place("gates", number, "slice"), f"its slices are {listed(shown, 'and')}{more}",
    )
