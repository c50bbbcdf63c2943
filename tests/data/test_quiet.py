"""What polars prints of itself about a broken file never reaches the user, who gets one error."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest

from evalpipe.cli import main
from evalpipe.data.quiet import quiet

SPEC = """\
evalpipe: 1
name: broken
task: binary
outcome: {column: y, event: 1}
datasets: {test: {path: x.feather}}
models: {m: {probability: p}}
report: {formats: []}
"""


def test_a_broken_file_gives_one_error_and_no_stack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    n = 400
    pl.DataFrame({"y": [0, 1] * n, "p": [0.2, 0.7] * n, "s": [f"t{k}" for k in range(2 * n)]}).write_ipc(
        tmp_path / "x.feather", compression="uncompressed")
    content = (tmp_path / "x.feather").read_bytes()
    (tmp_path / "spec.yaml").write_text(SPEC, encoding="utf-8")
    for cut in range(500, len(content) // 2, 3000):
        (tmp_path / "x.feather").write_bytes(content[: len(content) // 2 - cut] + content[len(content) // 2 :])
        with pytest.raises(SystemExit) as ended:
            main(["run", "spec.yaml", "--no-progress"])
        told = capfd.readouterr().err  # of the file descriptor, to which polars writes past Python
        assert ended.value.code == 3
        assert told.startswith("error[corrupt-file]: ")
        assert "panicked" not in told
        assert "backtrace" not in told


def test_what_is_written_before_a_good_end_is_kept(capfd: pytest.CaptureFixture[str]) -> None:
    with quiet():
        os.write(2, b"a note\n")
    assert capfd.readouterr().err == "a note\n"


def test_what_is_written_before_an_error_is_dropped(capfd: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        with quiet():
            os.write(2, b"thread panicked\n")
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        fail()
    assert capfd.readouterr().err == ""
