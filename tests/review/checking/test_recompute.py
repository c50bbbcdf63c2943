"""`evalpipe.verify(recompute=True)`: the spec is run again, and what does not follow from it is named."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import evalpipe
from evalpipe.base.digests import bytes_sha256
from evalpipe.card import pdf
from evalpipe.results import Results
from evalpipe.results.frames import estimates_csv
from evalpipe.review.checking import apart_in_results, largest_difference_in_rows
from evalpipe.review.origins import Verification
from evalpipe.runs.folder import RunFolder
from evalpipe.runs.record import replace_files


def again(verification: Verification) -> dict[str, str]:
    return {file.file: f"{file.status}: {file.reason}" for file in verification.files if file.kind == "recomputed"}


@pytest.mark.parametrize("name", ["titanic", "apartments", "candidates"])
def test_the_example_cards_recompute_to_the_same_bytes(example: Callable[[str], Path], name: str) -> None:
    folder = example(name)
    verification = evalpipe.verify(folder, recompute=True)
    manifest = RunFolder(folder).manifest

    assert manifest is not None
    assert again(verification) == dict.fromkeys(
        ["results.json", *(file for file in manifest.sha256_of if file != "results.json")], "same: ")
    assert {file.file for file in verification.files if file.status == "not checked"} == {
        "run.json", "manifest.sig.json"}
    assert verification.holds(inputs=True)


SPEC = """\
evalpipe: 1
name: small
task: binary
outcome: {column: y, event: 1}
datasets:
  test: {path: test.csv}
models:
  a: {probability: p}
metrics: [brier]
intervals: {method: none}
report: {formats: [markdown], rows: csv}
ledger: false
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the output folder of a small run, in whose parent its spec and its data are."""
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame({"y": [1, 0] * 20, "p": [(7 * place % 40) / 40 for place in range(40)]})
    frame.write_csv("test.csv")
    Path("small.yaml").write_text(SPEC)
    evalpipe.run("small.yaml", out="out")
    return Path("out")


def forge(folder: Path, old: str, new: str) -> None:
    """Let a folder say something else in results.json, and agree with itself."""
    path = folder / "results.json"
    text = path.read_text().replace(old, new)
    assert text != path.read_text()
    results = Results.from_json(text)
    path.write_text(text)
    run = (folder / "run.json").read_text()
    manifest = RunFolder(folder).manifest
    assert manifest is not None
    (folder / "run.json").write_text(run.replace(manifest.sha256_of["results.json"], results.evidence_sha256))
    (folder / "estimates.csv").write_text(estimates_csv(results))
    (folder / "card.md").write_bytes(evalpipe.render(results, ["markdown"])["card.md"])
    digests = {name: bytes_sha256((folder / name).read_bytes()) for name in manifest.sha256_of}
    (folder / "manifest.json").write_bytes(manifest.with_files(digests).to_bytes())


def test_a_forgery_that_agrees_with_itself_is_named_with_the_true_number(folder: Path) -> None:
    true = json.loads((folder / "results.json").read_text())["estimates"][0]["value"]
    forge(folder, f'"value": {true!r}', '"value": 0.001')
    verification = evalpipe.verify(folder, recompute=True)

    assert {file.file for file in verification.files if file.status == "differs" and file.kind == "output"} == set()
    other = "differs: the run again gives other bytes"
    assert again(verification) == {
        "results.json": other, "card.md": other, "estimates.csv": other, "rows.csv": "same: "}
    (results_again,) = [file for file in verification.files if file.kind == "recomputed" and file.notes]
    assert results_again.notes[0] == (
        f"estimates, brier of a on test, value: 0.001 in the folder, {true} in the run again")
    assert not verification.holds()


def test_the_ledger_knows_nothing_of_a_run_again_and_the_manifest_nothing_of_the_ledger(folder: Path) -> None:
    shutil.rmtree(folder)
    Path("small.yaml").write_text(SPEC.replace("ledger: false", "ledger: mine.sqlite"))
    here = ["ledger=mine.sqlite", "engine.workers=2", "seed=3"]
    evalpipe.run("small.yaml", out=folder, overrides=here)
    manifest, before = RunFolder(folder).manifest, Path("mine.sqlite").read_bytes()

    assert evalpipe.verify(folder, recompute=True).holds()
    assert Path("mine.sqlite").read_bytes() == before
    assert manifest is not None
    assert manifest.overrides == ["seed=3"]


def test_other_versions_are_named_where_bytes_differ(folder: Path) -> None:
    manifest = RunFolder(folder).manifest
    assert manifest is not None
    (folder / "card.md").write_text("# other")
    forged = manifest.model_copy(update={"libraries": manifest.libraries | {"numpy": "1.0"}})
    (folder / "manifest.json").write_bytes(forged.to_bytes())

    assert again(evalpipe.verify(folder, recompute=True))["card.md"] == (
        f"differs: the run again gives other bytes; numpy was 1.0 and is {manifest.libraries['numpy']}")


def test_cards_in_further_formats_are_rendered_again_too(folder: Path) -> None:
    replace_files(folder, evalpipe.render(folder, ["html"]))
    (folder / "rows.csv").unlink()

    assert again(evalpipe.verify(folder, recompute=True)) == {
        "results.json": "same: ", "card.html": "same: ", "card.md": "same: ", "estimates.csv": "same: ",
        "rows.csv": "not checked: it is not in the folder"}


@pytest.mark.nightly  # by day test_verify.py draws it again
@pytest.mark.usefixtures("drawn_once")
def test_a_run_again_draws_the_same_pdf_and_compares_none_of_another_version(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_files(folder, evalpipe.render(folder, ["pdf"]))
    assert again(evalpipe.verify(folder, recompute=True))["card.pdf"] == "same: "
    now = pdf._drawing_versions()
    monkeypatch.setattr(pdf, "_drawing_versions", lambda: now | {"zlib": "9.0"})
    verification = evalpipe.verify(folder, recompute=True)

    assert again(verification)["card.pdf"] == (
        f"not checked: drawn by another version (zlib was {now['zlib']} and is 9.0), as it says itself; its pages are "
        "not compared, but the files that it carries are")
    assert not verification.holds()


def test_why_a_run_cannot_be_repeated_is_told(folder: Path) -> None:
    Path("test.csv").rename("gone.csv")
    verification = evalpipe.verify(folder, recompute=True)
    assert again(verification) == {
        "results.json": f"not checked: the run ended: there is no file test.csv ({Path.cwd()}/small.yaml:6:16)"}
    assert not verification.holds()
    (folder / "run.json").unlink()
    assert again(evalpipe.verify(folder, recompute=True)) == {
        "results.json": "not checked: where the spec lies is not known: name it with --spec"}
    (folder / "manifest.json").unlink()
    assert again(evalpipe.verify(folder, recompute=True)) == {
        "results.json": "not checked: no file of the spec is known"}


def test_gates_against_the_last_run_need_its_results(folder: Path) -> None:
    with Path("small.yaml").open("a") as file:
        file.write("gates:\n  - {metric: brier, max_increase: 0.5, against: last}\n")
    shutil.rmtree(folder)
    evalpipe.run("small.yaml", out=folder)
    assert evalpipe.verify(folder, recompute=True).holds()
    first = bytes_sha256((folder / "results.json").read_bytes())
    evalpipe.run("small.yaml", out=folder)
    assert evalpipe.verify(folder, recompute=True).holds()
    evalpipe.run("small.yaml", out=folder, overrides=["seed=1"])
    assert set(again(evalpipe.verify(folder, recompute=True)).values()) == {"same: "}
    (folder / "reference-before.json").unlink()
    assert again(evalpipe.verify(folder, recompute=True)) == {"results.json": (
        "not checked: its gates `against: last` were judged against results that are no longer here, with a sha256 "
        f"that begins with {first[:8]}: a later run has replaced them")}


def value_of(folder: Path) -> float:
    value = json.loads((folder / "results.json").read_text())["estimates"][0]["value"]
    assert isinstance(value, float)
    return value


def test_last_digits_are_the_same_numbers_and_no_difference(
    folder: Path, printed: Callable[..., tuple[int, str]]
) -> None:
    value = value_of(folder)
    forge(folder, f'"value": {value!r}', f'"value": {value + 3e-13!r}')
    verification = evalpipe.verify(folder, recompute=True)

    assert verification.holds(inputs=True)
    follows = "same numbers: it is what results.json in the folder comes to"
    assert again(verification) == {
        "results.json": "same numbers: the run again gives other last digits: numbers differ by 3e-13 at most, "
                        "all else is the same",
        "card.md": follows, "estimates.csv": follows, "rows.csv": "same: "}
    code, lines = printed("verify", str(folder), "--recompute")
    assert code == 0
    assert "  same numbers  results.json" in lines
    assert "3 the same numbers, 0 differ, " in lines


def test_versions_that_are_others_are_named_where_last_digits_differ(
    folder: Path, printed: Callable[..., tuple[int, str]]
) -> None:
    value, manifest = value_of(folder), RunFolder(folder).manifest
    forge(folder, f'"value": {value!r}', f'"value": {value + 3e-13!r}')
    forged = RunFolder(folder).manifest
    assert manifest is not None
    assert forged is not None
    other = {"python": "3.99.1", "libraries": forged.libraries | {"numpy": "1.0", "gone": "2.0"}}
    (folder / "manifest.json").write_bytes(forged.model_copy(update=other).to_bytes())
    code, lines = printed("verify", str(folder), "--recompute")

    assert code == 0
    changed = f"python was 3.99.1 and is {manifest.python}; numpy was 1.0 and is {manifest.libraries['numpy']}"
    assert f"all else is the same; {changed}; gone was 2.0 and is gone\n" in lines


def test_a_number_that_is_further_off_differs(folder: Path) -> None:
    value = value_of(folder)
    forge(folder, f'"value": {value!r}', f'"value": {value + 2e-12!r}')
    verification = evalpipe.verify(folder, recompute=True)

    assert again(verification)["results.json"] == "differs: the run again gives other bytes"
    assert not verification.holds()


def test_a_verdict_has_no_last_digits(folder: Path) -> None:
    with Path("small.yaml").open("a") as file:
        file.write("gates: [{metric: brier, max: 0.9, on: value}]\n")
    evalpipe.run("small.yaml", out=folder)
    forge(folder, '"verdict": "pass"', '"verdict": "fail"')
    verification = evalpipe.verify(folder, recompute=True)

    assert again(verification)["results.json"] == "differs: the run again gives other bytes"
    assert not verification.holds()


def test_a_card_of_other_numbers_is_not_excused_by_those_of_its_results(folder: Path) -> None:
    value = value_of(folder)
    forge(folder, f'"value": {value!r}', f'"value": {value + 3e-13!r}')
    (folder / "card.md").write_text("# other")
    verification = evalpipe.verify(folder, recompute=True)

    assert again(verification)["card.md"] == "differs: the run again gives other bytes"
    assert not verification.holds()


@pytest.mark.parametrize(("there", "here", "apart"), [
    ({"a": [1.0, 2]}, {"a": [1.0, 2]}, 0.0),
    ({"a": 4e6}, {"a": 4e6 + 1e-6}, pytest.approx(2.5e-13, rel=1e-3)),  # a part of the larger one
    ({"a": 1e-14}, {"a": 3e-14}, pytest.approx(2e-14)),  # of 1, where both are below: rounding about nothing
    ({"a": 0.0}, {"a": -0.0}, 0.0),
    ({"a": 3}, {"a": 4}, math.inf),  # a count has no last digits
    ({"a": 1.0}, {"a": None}, math.inf),
    ({"a": "0.5"}, {"a": "0.50000000000000001"}, math.inf),
    ({"a": 1.0}, {"b": 1.0}, math.inf),
    ({"a": [1.0]}, {"a": [1.0, 1.0]}, math.inf),
    ({"a": True}, {"a": 1}, math.inf),
    ({"row_file": {"sha256": "a", "file": "f"}}, {"row_file": {"sha256": "b", "file": "f"}}, 0.0),
])
def test_how_far_apart_two_documents_are(there: object, here: object, apart: float) -> None:
    assert apart_in_results(json.dumps(there).encode(), json.dumps(here).encode()) == apart


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize(("p", "y", "apart"), [
    ([0.5, None, 0.25], [1, 0, 1], 0.0), ([0.5, None, 0.25 + 1e-13], [1, 0, 1], pytest.approx(1e-13, rel=1e-3)),
    ([0.5, 0.5, 0.25], [1, 0, 1], math.inf), ([0.5, None, 0.25], [1, 1, 1], math.inf), ([0.5], [1], math.inf)])
def test_how_far_apart_two_files_of_rows_are(
    tmp_path: Path, suffix: str, p: list[float | None], y: list[int], apart: float
) -> None:
    files = [tmp_path / f"{name}.{suffix}" for name in "ab"]
    for file, columns in zip(files, ({"p": [0.5, None, 0.25], "y": [1, 0, 1]}, {"p": p, "y": y}), strict=True):
        frame = pl.DataFrame(columns)
        frame.write_csv(file) if suffix == "csv" else frame.write_parquet(file)

    assert largest_difference_in_rows(*files) == apart
