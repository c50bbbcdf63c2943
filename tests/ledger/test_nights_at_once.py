"""Nightly: twenty nights of one spec with gates `on: sequence` at once, on one ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml
from sqlalchemy import func, select

from chapters.gates.test_nights import SCORED, SENSITIVITY, SPEC, data, day
from evalpipe.ledger import store
from evalpipe.ledger.nights import evidence_before
from evalpipe.ledger.since_last_run import changes
from evalpipe.ledger.store import Ledger
from evalpipe.results import Results
from evalpipe.run import load
from ledger.test_store import at_once

if TYPE_CHECKING:
    from pathlib import Path

    from evalpipe.ledger.entries import LedgerPlace

RUN = """
import sys
from pathlib import Path
import evalpipe
spec, ledger, *days = sys.argv[1:]
for day in days:
    out = Path(spec).parent / "reports" / f"nightly-{day}"
    evalpipe.run(spec, out=out, as_of=day, overrides=[f"ledger={ledger}"], if_changed=True)
"""
DAYS = [str(day(number)) for number in range(20)]
GATES = [SENSITIVITY, {"metric": "brier", "max": 0.3, "on": "sequence"}]
AFTER = str(day(len(DAYS)))


def written(root: Path, name: str) -> list[bytes]:
    """Return a file of each night, in the order of days."""
    return [(root / "reports" / f"nightly-{as_of}" / name).read_bytes() for as_of in DAYS]


def results_in(root: Path) -> list[Results]:
    return [Results.read(root / "reports" / f"nightly-{as_of}") for as_of in DAYS]


def begin(root: Path) -> Path:
    """Write the spec and the data of all nights, and return the spec."""
    root.mkdir()
    for number, as_of in enumerate(DAYS):
        data(number).write_parquet(root / f"d-{as_of}.parquet")
    spec = root / "spec.yaml"
    spec.write_text(yaml.safe_dump(SPEC | SCORED | {"metrics": ["sensitivity", "brier"], "gates": GATES}))
    return spec


Evidence = list[tuple[str | None, str, list[float], list[float]]]


def recorded(ledger: Ledger) -> Evidence:
    """Return the evidence of all nights, as a night after them sees it."""
    rows = evidence_before(ledger, "nightly", AFTER)
    return [(row["as_of"], row["sequence"], row["against"], row["kept"]) for row in rows]


def evidence_of(results: list[Results]) -> Evidence:
    """Return the evidence in the results of nights."""
    return [(night.as_of, row.sequence, row.against, row.kept) for night in results for row in night.evidence]


@pytest.mark.nightly
def test_twenty_nights_at_once_lose_nothing_and_come_to_what_they_do_one_after_another(
    place: LedgerPlace, tmp_path: Path
) -> None:
    apart = tmp_path / "apart"
    at_once([(str(begin(apart)), str(tmp_path / "other.sqlite"), *DAYS)], RUN)
    expected = evidence_of(results_in(apart))
    assert [gate.sequence and gate.sequence.nights for gate in results_in(apart)[-1].gates] == [20, 20]
    assert len(expected) == 40

    root = tmp_path / "together"
    spec, where = str(begin(root)), str(place.file) if place.uri is None else place.uri.text
    at_once([(spec, where, as_of) for as_of in DAYS], RUN)
    ledger, first = Ledger.read(place), results_in(root)
    with ledger.engine.connect() as connection:
        counts = [connection.execute(select(func.count()).select_from(table)).scalar() for table in (
            store.RUNS, store.EVIDENCE, store.VERDICTS, store.FORMAT)]
    assert counts == [20, 40, 40, 1]
    assert (evidence_of(first), recorded(ledger)) == (expected, expected)
    counted = [[gate.sequence and gate.sequence.nights for gate in night.gates] for night in first]
    assert all(known[0] == known[1] for known in counted)  # both gates saw the same nights
    assert any(known != [number, number] for number, known in enumerate(counted, 1))  # and not all were there

    at_once([(spec, where, *reversed(DAYS))], RUN)
    assert written(root, "results.json") == written(apart, "results.json")
    assert recorded(ledger) == expected
    left = [changes(load(spec, [f"ledger={where}"], as_of=as_of), root / "reports" / f"nightly-{as_of}")[1]
            for as_of in DAYS]
    assert left == [[]] * 20
