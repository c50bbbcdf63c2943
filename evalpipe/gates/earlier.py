"""What gates are against: the results of earlier runs, read before anything is computed; and slices that must exist."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evalpipe.errors import DataError, Problem
from evalpipe.report.wording import slice_name
from evalpipe.results import Results
from evalpipe.spec.describe import listed
from evalpipe.spec.gates import Earlier as Named
from evalpipe.spec.levels import level_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.data.sample import Sample
    from evalpipe.plan import Plan
    from evalpipe.spec.gates import Gate
    from evalpipe.spec.models import Spec
    from evalpipe.spec.origin import Loc

FIRST = "run once without this gate, or add 'optional: true' to it, which skips it until there is something to compare"


@dataclass(frozen=True, slots=True)
class Earlier:
    """The results of an earlier run, the path that the spec names, and the SHA-256 of the file."""

    results: Results
    path: str
    sha256: str


def look_back(plan: Plan, samples: Sequence[Sample]) -> dict[int, Earlier]:
    """Return the earlier results by the number of the gate, from 0; none where they are optional and do not exist.

    Raises DataError with every file that cannot be read and every slice that no row is in.
    """
    found: dict[int, Earlier] = {}
    problems: list[Problem] = []
    for number, gate in enumerate(plan.spec.gates or ()):
        problems += _slices(plan.spec, number, gate, samples)
        if isinstance(gate.against, Named):
            read = _read(plan.spec, number, gate, gate.against.results)
            problems += [read] if isinstance(read, Problem) else []
            found |= {number: read} if isinstance(read, Earlier) else {}
    if problems:
        raise DataError(*problems)
    return found


def _read(spec: Spec, number: int, gate: Gate, written: str) -> Earlier | Problem | None:
    loc: Loc = ("gates", number, "against", "results")
    path = spec.origin.folder_of(*loc) / written
    place = spec.origin.place(*loc)
    path = path / "results.json" if path.is_dir() else path
    if not path.exists():
        message = f"there are no results of an earlier run at {written}"
        return None if gate.optional else Problem("missing-file", message, place, FIRST)
    try:
        content = path.read_bytes()
        results = Results.from_json(content.decode("utf-8"), written)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        return Problem("unreadable-file", f"cannot read {written}: {reason}", place, "name a run's output folder")
    except DataError as error:
        return replace(error.problems[0], place=place)
    return Earlier(results, written, hashlib.sha256(content).hexdigest())


def _slices(spec: Spec, number: int, gate: Gate, samples: Sequence[Sample]) -> Iterator[Problem]:
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
