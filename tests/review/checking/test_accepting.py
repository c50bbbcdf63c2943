"""`evalpipe accept` of a folder that is not what its run wrote: nothing is accepted."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import evalpipe
from evalpipe.errors import DataError
from evalpipe.review.signing import accept

if TYPE_CHECKING:
    from collections.abc import Callable

SPEC = """\
evalpipe: 1
name: small
task: binary
outcome: {column: y, event: 1}
datasets: {test: {path: test.csv}}
models: {a: {probability: p}}
metrics: [brier]
intervals: {replicates: 100}
gates: [{metric: brier, max: 0.1}, {metric: brier, max_increase: 0.1, against: last, on: value}]
report: {formats: [html]}
"""


def forged_results(out: Path) -> None:
    (out / "results.json").write_text((out / "results.json").read_text().replace("0.1", "0.2", 1))


def forged_card(out: Path) -> None:
    (out / "card.html").write_text((out / "card.html").read_text().replace("fail", "pass"))


def forged_ledger(out: Path) -> None:
    with closing(sqlite3.connect(out.parent / "ledger.sqlite")) as ledger, ledger:
        ledger.execute("UPDATE evalpipe_estimates SET value = 0.01 WHERE metric = 'brier'")


@pytest.mark.parametrize(("forge", "said"), [
    (forged_results, "error[changed-file]: out/results.json was changed after the run: "),
    (forged_card, "error[changed-file]: out/card.html is not the card of results.json\n"),
    (forged_ledger, "error[other-in-ledger]: the ledger 'ledger.sqlite' does not agree with out/results.json: its row"),
])
def test_a_night_that_was_forged_is_not_accepted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forge: Callable[[Path], None], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{row % 2},{row % 7 / 7}\n" for row in range(60))
    Path("test.csv").write_text(f"y,p\n{rows}")
    Path("small.yaml").write_text(SPEC)
    evalpipe.run("small.yaml", out="out")
    assert not (Path("out") / "reference.json").exists()  # for a gate failed
    forge(Path("out"))
    before = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    with pytest.raises(DataError) as error:
        accept("out")
    assert str(error.value).startswith(said)
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == before
