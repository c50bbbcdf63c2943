"""Earlier runs: reading those that gates are against, and which run is the reference of an output folder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from evalpipe.chapters.gates.compute import FIRST
from evalpipe.chapters.gates.compute_numbers import EarlierRun, NoEarlier, Numbers
from evalpipe.chapters.gates.compute_verdict import Observed
from evalpipe.chapters.gates.plan import GateLimits
from evalpipe.chapters.slices.compute_absent import absent_slice
from evalpipe.errors import DataError, Problem
from evalpipe.results import Results

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from evalpipe.chapters.gates.plan import EarlierPlan, GatePlan
    from evalpipe.data.sample import Sample
    from evalpipe.plan.plan import Plan
    from evalpipe.results import FailOn, Gate

REFERENCE = "reference.json"
"""The file of an output folder that holds the results of its reference, byte for byte."""

LAST = "results.json"
"""The file that holds those of its newest run, which is the reference where no other is kept and its gates held."""


@dataclass(frozen=True, slots=True)
class Night:
    """An earlier night of the ledger: the folder that it was written to, and the sha256 of its results."""

    folder: Path
    results_sha256: str


def look_back(
    plan: Plan, samples: Sequence[Sample], folder: Path | None = None, shown: str = "", nights: Sequence[Night] = ()
) -> dict[int, EarlierRun | NoEarlier]:
    """Return the earlier runs that gates are against, or why there are none, by the number of the gate from 0.

    ``folder`` is the output folder, called ``shown``, whose reference is for gates `against: last`; where it has none
    of an earlier day, that of the ``nights`` is, the newest first. Raises DataError with every file that cannot be read
    and every slice that no row is in.
    """
    @cache
    def read(earlier: EarlierPlan | None, optional: bool) -> EarlierRun | NoEarlier | Problem:  # noqa: FBT001
        return (reference_for(plan.as_of, folder, shown, nights) if earlier is None
                else _read_earlier(earlier, optional=optional))

    runs: dict[int, EarlierRun | NoEarlier] = {}
    problems: list[Problem] = []
    for index, gate in enumerate(plan.gates):
        problems += _unknown_slices(plan, index, gate, samples)
        if gate.against not in ("last", "results"):
            continue
        run = read(gate.earlier, gate.optional)
        if isinstance(run, Problem):
            problems.append(replace(run, place=plan.places.place("gates", index, "against", "results")))
        else:
            runs[index] = run
    if problems:
        raise DataError(*problems)
    return runs


def _unknown_slices(plan: Plan, index: int, gate: GatePlan, samples: Sequence[Sample]) -> Iterator[Problem]:
    """Report each evaluated dataset that has no row in the slice of a gate, with the slices that it has."""
    for sample in samples if gate.slice else ():
        if sample.role == "evaluate" and gate.dataset in (None, sample.dataset):
            absent = absent_slice(sample, gate.slice or {})
            if absent is not None:
                message, hint = absent
                yield Problem("unknown-slice", message, plan.places.place("gates", index, "slice"), hint)


def _read_earlier(earlier: EarlierPlan, *, optional: bool) -> EarlierRun | NoEarlier | Problem:
    """Read the results at a path of the spec."""
    path = earlier.path / LAST if earlier.path.is_dir() else earlier.path
    if path.exists():
        return _read(path, earlier.written, "name a run's output folder")
    missing = f"there are no results of an earlier run at {earlier.written}"
    return NoEarlier(f"{missing}{earlier.relative}") if optional else Problem("missing-file", missing, hint=FIRST)


def _read(path: Path, shown: str, hint: str) -> EarlierRun | Problem:
    """Read the results of a run from a file."""
    try:
        content = path.read_bytes()
        return EarlierRun(Results.from_json(content.decode("utf-8"), shown), shown, content)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        return Problem("unreadable-file", f"cannot read {shown}: {reason}", hint=hint)
    except DataError as error:
        return replace(error.problems[0], hint=hint)


def reference_for(
    as_of: str | None, folder: Path | None, shown: str, nights: Sequence[Night]
) -> EarlierRun | NoEarlier | Problem:
    """Return the reference of a run of a day: that of its folder, or that of the nights before.

    Where each night has a folder of its own, the folder has no reference, or that of this night from a run before.
    """
    own = read_reference(folder, shown)
    if isinstance(own, Problem) or (
            isinstance(own, EarlierRun) and (as_of is None or own.results.as_of != as_of)):
        return own
    known = {night.results_sha256 for night in nights}
    return next(filter(None, (_left_by(night, known) for night in nights)), own)


def _left_by(night: Night, known: Collection[str]) -> EarlierRun | None:
    """Return what a night left as the reference of later ones; None where its folder is not as it was recorded.

    That is the file `reference.json` in its folder, where the ledger knows these results, else the night itself where
    it may be a reference.
    """
    run = _read(night.folder / LAST, LAST, "")
    if isinstance(run, Problem) or run.sha256 != night.results_sha256:
        return None
    kept = _read(night.folder / REFERENCE, REFERENCE, "")
    if isinstance(kept, EarlierRun) and kept.sha256 in known:
        return kept
    return replace(run, path=REFERENCE) if may_be_reference(run.results) else None


def read_reference(folder: Path | None, shown: str) -> EarlierRun | NoEarlier | Problem:
    """Read the reference of an output folder, called ``shown``; a Problem where it is broken."""
    if folder is None:
        return NoEarlier("this run has no output folder")
    if (folder / REFERENCE).exists():
        hint = f"remove it to begin anew, or make the newest run the reference: evalpipe accept {shown}"
        run = _read(folder / REFERENCE, str(Path(shown) / REFERENCE), hint)
        return replace(run, path=REFERENCE) if isinstance(run, EarlierRun) else run
    missing = f"the output folder has no {REFERENCE}"
    if not (folder / LAST).exists():
        return NoEarlier(f"{missing} yet")
    run = _read(folder / LAST, LAST, "")
    if isinstance(run, Problem):
        return NoEarlier(f"{missing}, and its {LAST} cannot be read")
    return run if may_be_reference(run.results) else NoEarlier(f"{missing}, and its {LAST} is of a run that failed")


def may_be_reference(results: Results, fail_on: FailOn = "fail") -> bool:
    """Tell whether a run may become the reference.

    It may where `evalpipe run` ends with 0, and no value is beyond its limit against the reference before; otherwise a
    fall would be told of once and then be what is normal. With ``fail_on`` "never" it is as with "fail".
    """
    holds = results.holds("fail" if fail_on == "never" else fail_on)
    return holds is not False and not any(_is_beyond(gate) for gate in results.gates if gate.against == "last")


def _is_beyond(gate: Gate) -> bool:
    """Tell whether a gate failed, whatever its severity, or its value alone misses the limit."""
    if gate.observed is None or gate.verdict == "fail":
        return gate.verdict == "fail"
    scale = Observed(gate.observed, reference=gate.reference).scale
    return GateLimits.of(gate.limit).side(gate.observed, scale) != 0


def next_reference(results: Results, earlier: Mapping[int, EarlierRun | NoEarlier], fail_on: FailOn) -> bytes | None:
    """Return what `reference.json` holds after a run: the run itself where it may be, else the reference before.

    ``earlier`` are those by the number of the gate, from 0. None where no gate is against the reference, or no run has
    been fit for it yet: the file then stays as it is.
    """
    last = next((gate.gate - 1 for gate in results.gates if gate.against == "last"), None)
    if last is None:
        return None
    if may_be_reference(results, fail_on):
        return results.to_json().encode()
    before = earlier[last]
    return before.content if isinstance(before, EarlierRun) else None


@dataclass(frozen=True, slots=True)
class ReferenceChange:
    """What `accept` does to a verdict against the reference: the value before, if there was one, and from now on."""

    gate: Gate
    before: float | None
    after: float | None


def reference_changes(results: Results, before: EarlierRun | None) -> list[ReferenceChange]:
    """Return what it changes for each verdict against the reference that ``results`` take the place of ``before``."""
    now, then = Numbers(results), None if before is None else before.numbers
    return [
        ReferenceChange(gate, None if then is None else _value(then, gate), _value(now, gate))
        for gate in results.gates if gate.against == "last"
    ]


def _value(numbers: Numbers, gate: Gate) -> float | None:
    observed = numbers.observed.get(gate.key)
    return None if observed is None else observed.value
