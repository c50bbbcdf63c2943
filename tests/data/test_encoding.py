"""Separated text in other encodings than UTF-8: declared, read held or part by part, and told where it cannot be."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from evalpipe.data import delimited, formats
from evalpipe.errors import DataError, SpecError
from evalpipe.proposal.columns import look_at_datasets
from evalpipe.proposal.propose import Proposal, propose
from evalpipe.proposal.questions import Answers
from evalpipe.proposal.spec_file import spec_text, try_spec
from few_by_day import by_night
from streams.streaming import numbers, rows, run

KEYS: dict[str, Any] = {"metrics": ["accuracy", "brier"], "intervals": {"method": "none"}, "slices": ["größe"],
                        "slice_rules": {"min_rows": 1}}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read few bytes at once, which parts characters of several bytes."""
    monkeypatch.setattr(formats, "BLOCK", 301)
    monkeypatch.setattr(delimited, "CHUNK", 61)


def text() -> str:
    sizes = pl.col("s").replace_strict({"a": "groß", "b": 'süß, "weiß"', "c": "Œuvre"}, default="öde\nÄcker")
    return rows(60).with_columns(größe=sizes).write_csv()


def data(path: Path, encoding: str | None) -> dict[str, Any]:
    return {"d": {"path": str(path)} | ({} if encoding is None else {"encoding": encoding})}


WRITTEN = [
    ("cp1252", "windows-1252", "csv"), ("iso8859-15", "latin9", "csv.gz"), ("utf-16", "utf-16", "csv"),
    ("utf-16-le", "utf-16-le", "csv.gz"), ("utf-8-sig", "utf-8-sig", "csv"), ("utf-8-sig", None, "csv.gz"),
]


# By day each encoding is read in one mode, both of them in turn.
@pytest.mark.parametrize(("mode", "written", "declared", "ending"), [
    (mode, *how) if number % 2 == turn else by_night(mode, *how)
    for turn, mode in enumerate(["exact", "grid"]) for number, how in enumerate(WRITTEN)])
def test_text_is_read_from_its_encoding(
    tmp_path: Path, written: str, declared: str | None, ending: str, mode: str
) -> None:
    (tmp_path / "u.csv").write_text(text(), encoding="utf-8")
    content = text().encode(written)
    path = tmp_path / f"d.{ending}"
    path.write_bytes(gzip.compress(content) if ending == "csv.gz" else content)
    expected = run(tmp_path / "u.csv", mode, **KEYS)
    read = run(path, mode, **KEYS, datasets=data(path, declared))
    assert numbers(read) == numbers(expected)
    assert {row.slice["größe"] for row in read.rows if row.slice} >= {"groß", 'süß, "weiß"', "Œuvre"}


@pytest.mark.parametrize("mode", ["exact", "grid"])
def test_bytes_that_are_no_characters_are_told_by_their_place(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "d.csv"
    head = b"y,p,q\n1,0.5,0.5\n0,0.25,0.5\n"
    path.write_bytes(head + b"0,0.25,\x81\n")
    with pytest.raises(DataError) as caught:
        run(path, mode, datasets=data(path, "cp1252"))
    assert str(caught.value).replace(str(path), "d.csv") == (
        "error[wrong-encoding]: cannot read d.csv: in line 4 its byte 35, 0x81, is no character of cp1252\n"
        " --> d.csv:4\n  = help: declare another 'encoding', or save the file as UTF-8")
    path.write_bytes("y,p,q\n1,0.5,0.5\n".encode("utf-16")[:-1])
    with pytest.raises(DataError, match="in line 2 its byte 33, 0x0a, is no character of utf-16"):
        run(path, mode, datasets=data(path, "utf-16"))


@pytest.mark.parametrize(("declared", "name"), [("utf-16", "utf-16"), ("U16", "utf-16")])
def test_a_file_without_the_mark_of_its_encoding_is_told(tmp_path: Path, declared: str, name: str) -> None:
    path = tmp_path / "d.csv"
    path.write_text("y,p,q\n1,0.5,0.5\n")
    with pytest.raises(DataError) as caught:
        run(path, "exact", datasets=data(path, declared))
    problem = caught.value.problems[0]
    assert problem.message == f"cannot read {path}: it does not begin with the byte order mark of {name}"
    assert problem.hint == f"declare 'encoding: {name}-le' or '{name}-be', or save the file as UTF-8"


def test_a_file_that_is_not_utf8_names_the_key(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_bytes("y,p,größe\n".encode("cp1252"))
    with pytest.raises(DataError) as caught:
        run(path)
    assert caught.value.problems[0].hint == (
        "declare its encoding, as in 'encoding: cp1252', or save the file as UTF-8")
    path.write_bytes("y,p,größe\n".encode("utf-16"))
    with pytest.raises(DataError) as caught:
        run(path)
    assert caught.value.problems[0].hint == "declare its 'encoding: utf-16', or save the file as UTF-8"


def test_files_of_predictions_have_an_encoding_of_their_own(tmp_path: Path) -> None:
    rows(60).select("y").write_csv(tmp_path / "d.csv")
    (tmp_path / "m.csv").write_text(rows(60).select("p").rename({"p": "für"}).write_csv(), encoding="cp1252")
    models: dict[str, Any] = {"m": {"probability": "für", "predictions": str(tmp_path / "m.csv"), "encoding": "cp1252"}}
    assert run(tmp_path / "d.csv", "exact", metrics=["brier"], models=models).rows[0].n == 60
    rows(60).write_parquet(tmp_path / "d.parquet")
    with pytest.raises(SpecError, match="'encoding' is declared for dataset 'd', whose format is parquet"):
        run(tmp_path / "d.parquet", datasets=data(tmp_path / "d.parquet", "cp1252"))


@pytest.mark.parametrize(("encoding", "written"), [
    ("cp1252", "    encoding: cp1252  # not UTF-8: taken for cp1252; check letters, as in 'größe'\n"),
    ("utf-16", "    encoding: utf-16  # not UTF-8: taken for utf-16; check letters, as in 'größe'\n"),
    ("utf-8", None), ("utf-8-sig", None),
])
def test_init_writes_the_encoding_and_says_so(tmp_path: Path, encoding: str, written: str | None) -> None:
    path = tmp_path / "d.csv"
    path.write_text(text().replace(",", ";"), encoding=encoding)
    looked = look_at_datasets([str(path)])
    proposal = propose(looked, Answers(event="1", outcome="y", models=("p",)))
    assert isinstance(proposal, Proposal)
    spec = spec_text(proposal, str(tmp_path / "spec.yaml"))
    try_spec(spec, str(tmp_path / "spec.yaml"))
    lines = [" ".join(line.split()) for line in spec.splitlines()]
    assert (" ".join(written.split()) in lines) if written else "encoding:" not in spec
    assert len([note for note in proposal.notes if "not UTF-8" in note]) == (1 if written else 0)


def test_init_takes_no_bytes_for_text_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "d.csv").write_bytes(b"y,p,\x81\n1,0.5,a\n")
    with pytest.raises(DataError, match="line 1 is not UTF-8 text"):
        look_at_datasets([str(tmp_path / "d.csv")])
