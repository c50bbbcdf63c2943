"""Files of a report that are damaged in any way are told apart from what they should be, without a fault."""

from __future__ import annotations

import pytest

from evalpipe.runs.verification import csv_differences, json_differences

TABLE = b"dataset,model,metric,slice,value\ntest,a,brier,,0.25\n"


@pytest.mark.parametrize(("there", "told"), [
    (TABLE.replace(b"a,brier", b"a\r,brier"), ("brier of a on test, value", None, "0.25")),
    (TABLE.replace(b",,", b',"{broken",'), ("brier of a on test, slice", "{broken", "")),
    (TABLE.replace(b",,", b",[1],"), ("brier of a on test, slice", "[1]", "")),
    (TABLE.replace(b"0.25", b"0.5"), ("brier of a on test, value", "0.5", "0.25")),
    (TABLE.replace(b"test,a", b"x" * 200_000), ("the table", "no CSV: field larger than field limit (131072)", "CSV")),
])
def test_damaged_tables_are_told_by_their_first_difference(there: bytes, told: tuple[str, object, object]) -> None:
    assert told in list(csv_differences(there, TABLE))


@pytest.mark.parametrize("there", [b"", b"{", b"[" * 100_000, b"\xff\xfe"])
def test_what_is_no_json_is_told_as_that(there: bytes) -> None:
    assert list(json_differences(there, b"{}")) == [("the document", "no JSON", "JSON")]
