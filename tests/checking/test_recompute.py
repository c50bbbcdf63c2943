"""`evalpipe.verify(recompute=True)`: the spec is run again, and what does not follow from it is named."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import evalpipe
from evalpipe.checking import Verification
from evalpipe.digests import bytes_sha256
from evalpipe.manifest import read_manifest
from evalpipe.record import replace_files
from evalpipe.results import Results
from evalpipe.results.estimates_csv import estimates_csv


def again(verification: Verification) -> dict[str, str]:
    return {file.file: f"{file.status}: {file.reason}" for file in verification.files if file.kind == "recomputed"}


@pytest.mark.parametrize("name", ["titanic", "apartments", "candidates"])
def test_the_example_cards_recompute_to_the_same_bytes(example: Callable[[str], Path], name: str) -> None:
    folder = example(name)
    verification = evalpipe.verify(folder, recompute=True)
    manifest = read_manifest(folder)

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


def test_a_forgery_that_agrees_with_itself_is_named_with_the_true_number(folder: Path) -> None:
    path = folder / "results.json"
    document = json.loads(path.read_text())
    true = document["estimates"][0]["value"]
    text = path.read_text().replace(f'"value": {true!r}', '"value": 0.001')
    results = Results.from_json(text)
    path.write_text(text)
    run = (folder / "run.json").read_text()
    manifest = read_manifest(folder)
    assert manifest is not None
    (folder / "run.json").write_text(run.replace(manifest.sha256_of["results.json"], results.evidence_sha256))
    (folder / "estimates.csv").write_text(estimates_csv(results))
    (folder / "card.md").write_bytes(evalpipe.render(results, ["markdown"])["card.md"])
    digests = {name: bytes_sha256((folder / name).read_bytes()) for name in manifest.sha256_of}
    (folder / "manifest.json").write_bytes(manifest.with_files(digests).to_bytes())
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
    with Path("small.yaml").open("a") as file:
        file.write("ledger: mine.sqlite\n")
    here = ["ledger=mine.sqlite", "engine.workers=2", "seed=3"]
    evalpipe.run("small.yaml", out=folder, overrides=here)
    manifest, before = read_manifest(folder), Path("mine.sqlite").read_bytes()

    assert evalpipe.verify(folder, recompute=True).holds()
    assert Path("mine.sqlite").read_bytes() == before
    assert manifest is not None
    assert manifest.overrides == ["seed=3"]


def test_other_versions_are_named_where_bytes_differ(folder: Path) -> None:
    manifest = read_manifest(folder)
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
    kept = (folder / "reference.json").read_bytes()
    evalpipe.run("small.yaml", out=folder)
    assert again(evalpipe.verify(folder, recompute=True)) == {"results.json": (
        "not checked: its gates `against: last` were judged against results that are no longer here, with a sha256 "
        f"that begins with {first[:8]}: a later run has replaced them")}
    (folder / "reference.json").write_bytes(kept)

    assert set(again(evalpipe.verify(folder, recompute=True)).values()) == {"same: "}
