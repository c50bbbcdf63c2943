"""Each planted fault is run once for all tests, which read its results and what was said by which rule."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

import evalpipe
from conftest import Shared
from engine.runs import with_line
from evalpipe.findings.claims import Claim, decided_claims
from evalpipe.results import Results
from findings import settled  # noqa: F401 - it adds to the faults
from findings.faults import FAULTS
from findings.planted import Planted


def name_of(say: Any) -> str:
    """Return the module and the name of a function that writes sentences, or of an object that does."""
    return f"{say.__module__}.{getattr(say, '__qualname__', None) or say}"


def run(planted: Planted, folder: Path) -> Results:
    """Run the nights of a fault, the last of which has it."""
    spec = with_line(planted.spec)  # no rule speaks of a spline
    days = [f"{date(2026, 11, 1) + timedelta(number)}" for number in range(len(planted.nights) + 1)]
    for day, frames in zip(days, planted.nights, strict=False):
        evalpipe.run(spec | (planted.before or {}), frames=frames, out=folder / day, as_of=day)
    night = {"out": folder / days[-1], "as_of": days[-1]} if planted.nights else {}
    return evalpipe.run(spec, frames=planted.frames, **night)


@pytest.fixture(scope="session")
def planted_run(shared: Shared) -> Callable[[str], Path]:
    """Return a function that gives a folder with the results of a fault, and with what each rule said of it."""

    def fill(name: str, folder: Path) -> None:
        said: set[tuple[str, str]] = set()

        def recorded(families: Mapping[str, Sequence[Claim]], level: float) -> Iterator[tuple[Claim, bool]]:
            rules = {id(claim): rule for rule, claims in families.items() for claim in claims}
            for claim, borne_out in decided_claims(families, level):
                say = claim.say if borne_out else claim.otherwise
                said.update(() if say is None else ((rules[id(claim)], name_of(say)),))
                yield claim, borne_out

        folder.mkdir(parents=True)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("evalpipe.findings.decided_claims", recorded)
            results = run(FAULTS[name](), folder)
        (folder / "results.json").write_text(results.to_json(), encoding="utf-8")
        (folder / "said.json").write_text(json.dumps(sorted(said)), encoding="utf-8")

    return lambda name: shared(f"planted-{name}", lambda folder: fill(name, folder))
