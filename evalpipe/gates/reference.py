"""The reference of an output folder: the run that gates `against: last` compare the next one with."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from evalpipe.chapters.gates.plan import bounds_of
from evalpipe.errors import DataError, Problem
from evalpipe.gates.tables import Tables
from evalpipe.gates.verdict import Bounds, Seen
from evalpipe.results import Results

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.errors import Place
    from evalpipe.results import FailOn, Gate

REFERENCE = "reference.json"
"""The file of an output folder that holds the results of its reference, byte for byte."""

LAST = "results.json"
"""The file that holds those of its newest run, which is the reference where no other is kept and it held."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """The results of an earlier run, as read from the file that is shown as ``path``."""

    results: Results
    path: str
    content: bytes

    @property
    def sha256(self) -> str:
        """The hash of the file."""
        return hashlib.sha256(self.content).hexdigest()


@dataclass(frozen=True, slots=True)
class Nothing:
    """There is no earlier run to compare with; ``why`` is the end of a sentence."""

    why: str


@dataclass(frozen=True, slots=True)
class Change:
    """What `accept` does to a verdict against the reference: the value before, if there was one, and from now on."""

    gate: Gate
    before: float | None
    after: float | None


def read_results(path: Path, shown: str, place: Place | None, hint: str) -> Earlier | Problem:
    """Read the results of a run from a file."""
    try:
        content = path.read_bytes()
        return Earlier(Results.from_json(content.decode("utf-8"), shown), shown, content)
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        return Problem("unreadable-file", f"cannot read {shown}: {reason}", place, hint)
    except DataError as error:
        return replace(error.problems[0], place=place, hint=hint)


def read_reference(folder: Path | None, shown: str, place: Place | None = None) -> Earlier | Nothing | Problem:
    """Read the reference of an output folder, called ``shown``; a Problem where it is broken."""
    if folder is None:
        return Nothing("this run has no output folder")
    if (folder / REFERENCE).exists():
        hint = f"remove it to begin anew, or make the newest run the reference: evalpipe accept {shown}"
        read = read_results(folder / REFERENCE, str(Path(shown) / REFERENCE), place, hint)
        return replace(read, path=REFERENCE) if isinstance(read, Earlier) else read
    none = f"the output folder has no {REFERENCE}"
    if not (folder / LAST).exists():
        return Nothing(f"{none} yet")
    read = read_results(folder / LAST, LAST, None, "")
    if isinstance(read, Problem):
        return Nothing(f"{none}, and its {LAST} cannot be read")
    return read if held(read.results) else Nothing(f"{none}, and its {LAST} is of a run that failed")


def held(results: Results, fail_on: FailOn = "fail") -> bool:
    """Tell whether a run may become the reference.

    It may where `evalpipe run` ends with 0, and no value is beyond its limit against the reference before; otherwise a
    fall would be told of once and then be what is normal. With ``fail_on`` "never" it is as with "fail".
    """
    if not results.holds("fail" if fail_on == "never" else fail_on):
        return False
    return not any(_beyond(gate) for gate in results.gates if gate.against == "last")


def _beyond(gate: Gate) -> bool:
    """Tell whether a gate failed, whatever its severity, or its value alone misses the limit."""
    if gate.observed is None or gate.verdict == "fail":
        return gate.verdict == "fail"
    scale = Seen(gate.observed, reference=gate.reference).scale
    return Bounds(*bounds_of(gate.limit)).side(gate.observed, scale) != 0


def next_reference(results: Results, earlier: Mapping[int, Earlier | Nothing], fail_on: FailOn) -> bytes | None:
    """Return what `reference.json` holds after a run: the run itself where it held, else the reference before.

    ``earlier`` are those by the number of the gate, from 0. None where no gate is against the reference, or nothing
    has held yet: the file then stays as it is.
    """
    last = next((gate.gate - 1 for gate in results.gates if gate.against == "last"), None)
    if last is None:
        return None
    if held(results, fail_on):
        return results.to_json().encode()
    before = earlier[last]
    return before.content if isinstance(before, Earlier) else None


def changes(results: Results, before: Earlier | None) -> list[Change]:
    """Return what it changes for each verdict against the reference that ``results`` take the place of ``before``."""
    now, then = Tables(results), None if before is None else Tables(before.results)
    return [
        Change(gate, None if then is None else _value(then, gate), _value(now, gate))
        for gate in results.gates if gate.against == "last"
    ]


def _value(tables: Tables, gate: Gate) -> float | None:
    found = tables.same(gate)
    return None if found is None else found.seen.value
