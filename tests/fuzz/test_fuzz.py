"""A sample of the fuzzer: no case ends in a fault of evalpipe; and the fuzzer sees a fault where there is one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import evalpipe.run  # noqa: F401 - the module, whose place in the package a function takes
from fuzz.bases import prepare
from fuzz.cases import Cases
from fuzz.watch import called, sound

SEED = 11
SHARES = [("spec", 0, 50), ("data", 0, 30), ("call", 0, 40)] + [
    pytest.param(*share, marks=pytest.mark.nightly)
    for share in [("spec", first, first + 50) for first in range(50, 400, 50)] + [("data", 30, 90), ("call", 40, 120)]
]
"""Which cases each test runs: a sample on every run, and many more at night; `tests/fuzz/run.py` makes any number."""


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Cases:
    return Cases(prepare(tmp_path_factory.mktemp("fuzz")), SEED)


@pytest.mark.parametrize(("kind", "first", "end"), SHARES)
def test_no_case_ends_in_a_fault(cases: Cases, kind: str, first: int, end: int) -> None:
    made = [cases.run(kind, number) for number in range(first, end)]
    assert [f"python tests/fuzz/run.py --case {one.case}: {one.fault}" for one in made if one.fault is not None] == []
    assert len({one.code for one in made}) > 1


def test_a_case_is_the_same_again(cases: Cases, tmp_path: Path) -> None:
    for kind in ("spec", "data", "call"):
        first, again = (cases.run(kind, 7, tmp_path / f"{kind}{turn}") for turn in range(2))
        assert (first.code, first.printed) == (again.code, again.printed)
        held = [{p.name: p.read_bytes() for p in (tmp_path / f"{kind}{turn}").glob("case*")} for turn in range(2)]
        assert held[0] == held[1]


def test_a_planted_fault_is_named_by_type_and_place(cases: Cases, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(sys.modules["evalpipe.run"], "load", broken)
    made = cases.run("spec", 1)
    assert (made.code, made.case) == (None, "spec:11:1")
    assert made.fault is not None
    assert made.fault.startswith("ZeroDivisionError at ")


def test_a_leaked_warning_is_a_fault() -> None:
    import warnings

    assert str(called(lambda: warnings.warn("leaked", RuntimeWarning, stacklevel=2)).fault).startswith(
        "warning: RuntimeWarning: leaked at "
    )


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ('{"metric": "brier", "value": null, "status": "ok", "reason": null}', "brier is null with status ok"),
        ('{"metric": "brier", "value": null, "status": "undefined", "reason": null}', "reason None"),
        ('{"metric": "brier", "value": null, "status": "undefined", "reason": "no rows"}', "None"),
    ],
)
def test_a_number_that_is_absent_needs_a_reason(row: str, fault: str) -> None:
    assert fault in str(sound(f'{{"estimates": [{row}]}}'))
