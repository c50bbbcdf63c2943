"""A sample of the fuzzer: no case ends in a fault of evalpipe; and the fuzzer sees a fault where there is one."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

import evalpipe.run  # noqa: F401 - the module, whose place in the package a function takes
from fuzz.bases import prepare
from fuzz.cases import Cases
from fuzz.reports import prepare_report
from fuzz.watch import called, measured, run_spec, sound

SEED = 11
SHARES = [("spec", 0, 20), ("data", 0, 8), ("call", 0, 15), ("report", 0, 5)] + [
    pytest.param(*share, marks=pytest.mark.nightly)
    for share in [("spec", 20, 50)] + [("spec", first, first + 50) for first in range(50, 400, 50)]
    + [("data", 8, 90), ("call", 15, 120), ("report", 5, 300)]
]
"""Which cases each test runs: a sample on every run, and many more at night; `tests/fuzz/run.py` makes any number."""


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> Cases:
    workspace = tmp_path_factory.mktemp("fuzz")
    _, held_by_other_tests = measured(lambda: None)
    return Cases(prepare(workspace), SEED, prepare_report(workspace), held_by_other_tests)


@pytest.mark.parametrize(("kind", "first", "end"), SHARES)
def test_no_case_ends_in_a_fault(cases: Cases, kind: str, first: int, end: int) -> None:
    made = [cases.run(kind, number) for number in range(first, end)]
    assert [f"python tests/fuzz/run.py --case {one.case}: {one.fault}" for one in made if one.fault is not None] == []
    assert len({one.code for one in made}) > 1


def test_a_case_is_the_same_again(cases: Cases, tmp_path: Path) -> None:
    for kind in ("spec", "data", "call", "report"):
        first, again = (cases.run(kind, 7, tmp_path / f"{kind}{turn}") for turn in range(2))
        assert (first.code, first.printed) == (again.code, again.printed)
        held = [{p.name: p.read_bytes() for p in (tmp_path / f"{kind}{turn}").glob("case*")} for turn in range(2)]
        assert held[0] == held[1]


@pytest.mark.parametrize("failure", sorted((Path(__file__).parent / "failures").iterdir()), ids=lambda path: path.name)
def test_what_failed_once_fails_no_more(failure: Path, tmp_path: Path) -> None:
    place = shutil.copytree(failure, tmp_path / "case")
    ended, fault = run_spec(place, "case.yaml")
    assert fault is None
    assert ended.code in {0, 1, 2, 3}


def test_memory_is_that_of_the_case_alone() -> None:
    before, at_rest = measured(lambda: None)
    taken, peak = measured(lambda: len(bytearray(200 * 2**20)))
    after, again = measured(lambda: None)
    assert (before, taken, after) == (None, 200 * 2**20, None)
    assert peak - at_rest > 150 * 2**20  # of the 200 MB, less what was free already
    assert again < peak


def test_a_case_that_holds_too_much_memory_is_a_fault(cases: Cases, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzz.cases.MOST_BYTES", -cases.others)
    assert cases.run("spec", 1).fault == f"more than {-cases.others // 2**20:,} MB of memory"


def test_a_planted_fault_is_named_by_type_and_place(cases: Cases, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(sys.modules["evalpipe.run"], "load_with_files", broken)
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
