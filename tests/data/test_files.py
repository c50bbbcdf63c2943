"""Files that cannot be found, or read, are told where they are damaged and by what names them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import evalpipe
from evalpipe.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

SPEC = """evalpipe: 1
name: small
task: binary
outcome: {column: y, event: 1}
datasets:
  test: {path: PATH}
models: {m: {probability: p}}
metrics: [accuracy]
report: {formats: []}
"""


def refused(folder: Path, path: str) -> str:
    (folder / "s.yaml").write_text(SPEC.replace("PATH", path), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        evalpipe.run("s.yaml", out="out")
    return str(caught.value)


@pytest.mark.parametrize("up", ["/", "../" * 40])
def test_a_glob_that_looks_through_the_machine_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, up: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert refused(tmp_path, f'"{up}**/*.csv"').startswith(
        f"error[whole-machine]: {up}**/*.csv looks through every folder of this machine\n --> s.yaml:6:16\n")


@pytest.mark.parametrize("mode", ["exact", "grid"])
def test_a_damaged_parquet_file_is_told_by_its_first_row_and_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(0)
    frame = pl.DataFrame({"y": generator.integers(0, 2, 20_000), "p": generator.integers(0, 1000, 20_000) / 1000})
    frame.write_parquet("x.parquet", row_group_size=2_000)
    content = bytearray((tmp_path / "x.parquet").read_bytes())
    first, length = len(content) * 2 // 5, len(content) // 5  # so much holds the heads of pages
    content[first : first + length] = b"\xff" * length
    (tmp_path / "x.parquet").write_bytes(content)
    # Which row group and column it falls into hangs on the version of polars.
    said = refused(tmp_path, f"x.parquet}}\nengine: {{mode: {mode}").splitlines()
    assert said[0].startswith("error[corrupt-file]: cannot read x.parquet: it is not a whole Parquet file: ")
    place = re.search(r", from row ([\d,]+) of 20,000 on, in '[yp]'$", said[0])
    assert place is not None, said[0]
    assert int(place[1].replace(",", "")) % 2_000 == 1
    assert said[-1] == "  = help: write or copy it again"
