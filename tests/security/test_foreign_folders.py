"""What commands that write refuse to replace: folders that no run wrote, links to nowhere, files of a run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import evalpipe
from evalpipe.cli import main
from evalpipe.errors import UsageError
from evalpipe.results import Results

SPEC = {
    "evalpipe": 1, "name": "small", "task": "binary", "outcome": {"column": "y", "event": 1},
    "datasets": {"test": {"path": "test.csv"}}, "models": {"a": {"probability": "p"}}, "metrics": ["brier"],
    "intervals": {"method": "none"}, "report": {"formats": []},
}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder with data."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test.csv").write_text("y,p\n1,0.5\n0,0.25\n")
    (tmp_path / "spec.yaml").write_text(json.dumps(SPEC))
    return tmp_path


def held(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def refused(out: str | Path = "out") -> str:
    with pytest.raises(UsageError) as error:
        evalpipe.run(SPEC, out=out)
    return str(error.value)


def test_a_folder_that_no_run_wrote_is_refused_whole(here: Path) -> None:
    out = here / "out"
    out.mkdir()
    for name in ("results.json", "a.md", "b.md", "c.md"):
        (out / name).write_text('{"accuracy": 0.9}')
    before = held(out)
    assert refused() == (
        "error[foreign-folder]: the output folder 'out' holds files that no run of evalpipe wrote: 'a.md', 'b.md', "
        "'c.md' and 1 more\n"
        "  = help: choose a new or an empty folder with --out, or move these files away")
    assert held(out) == before
    assert not (here / "ledger.sqlite").exists()
    assert sorted(path.name for path in here.iterdir()) == ["out", "spec.yaml", "test.csv"]


def test_the_command_refuses_it_with_2_and_computes_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "out").mkdir()
    (here / "out" / "results.json").write_text("[]")
    (here / "test.csv").unlink()
    with pytest.raises(SystemExit) as ended:
        main(["run", "spec.yaml", "--out", "out", "--no-progress"])
    assert ended.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.partition("\n")[0] == (
        "error[foreign-folder]: the output folder 'out' holds files that no run of evalpipe wrote: 'results.json'")


@pytest.mark.parametrize("prepared", [
    lambda out: None,
    lambda out: out.mkdir(),
    lambda out: (out.mkdir(), (out / ".gitignore").write_text("*")),
])
def test_a_folder_that_is_new_or_holds_nothing_to_be_seen_is_taken(
    here: Path, prepared: Callable[[Path], object]
) -> None:
    prepared(here / "out")
    evalpipe.run(SPEC, out="out")
    assert Results.read(here / "out").name == "small"


@pytest.mark.parametrize("kept", ["results.json", "manifest.json"])
def test_an_earlier_run_is_known_by_its_results_or_its_manifest(here: Path, kept: str) -> None:
    evalpipe.run(SPEC, out="out")
    for path in (here / "out").iterdir():
        if path.name != kept:
            path.unlink()
    (here / "out" / "notes.md").write_text("mine")
    evalpipe.run(SPEC, out="out")
    assert (here / "out" / "notes.md").read_text() == "mine"
    assert Results.read(here / "out").name == "small"


def test_a_folder_that_was_filled_while_the_run_computed_is_left(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from evalpipe.runs.record import Recorder

    write = Recorder.write

    def late(*arguments: object) -> None:
        (here / "out").mkdir()
        (here / "out" / "results.json").write_text("mine")
        write(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Recorder, "write", late)
    assert "holds files that no run of evalpipe wrote: 'results.json'" in refused()
    assert held(here / "out") == {"results.json": b"mine"}
    assert not list(here.glob(".out.*"))


def test_what_lies_where_an_old_folder_would_step_aside_is_left(here: Path) -> None:
    aside = here / ".out.previous"
    aside.mkdir()
    (aside / "thesis.tex").write_text("mine")
    assert "the folder '.out.previous' holds files that no run of evalpipe wrote: 'thesis.tex'" in refused()
    assert (aside / "thesis.tex").read_text() == "mine"


def test_a_link_that_leads_nowhere_is_refused_before_anything_is_computed(here: Path) -> None:
    (here / "out").symlink_to("nowhere")
    (here / "test.csv").unlink()
    assert refused() == (
        "error[output-folder]: cannot write to the output folder 'out': it is a link to what is not there\n"
        "  = help: choose a folder that can be written with --out")
    assert (here / "out").readlink() == Path("nowhere")


def test_a_link_to_a_folder_that_no_run_wrote_is_refused(here: Path) -> None:
    (here / "docs").mkdir()
    (here / "docs" / "index.html").write_text("mine")
    (here / "out").symlink_to("docs")
    assert "holds files that no run of evalpipe wrote: 'index.html'" in refused()


def test_links_in_the_folder_stay_links_and_nothing_is_written_through_them(here: Path) -> None:
    evalpipe.run(SPEC, out="out")
    (here / "target").mkdir()
    (here / "target" / "large").write_text("not copied")
    (here / "outside.json").write_text("mine")
    (here / "out" / "data").symlink_to("../target")
    (here / "out" / "gone").symlink_to("../nowhere")
    for name in ("run.json", "results.json"):
        (here / "out" / name).rename(here / name)
        (here / "out" / name).symlink_to(here / name)
    before = (here / "results.json").read_bytes()
    (here / "test.csv").write_text("y,p\n1,0.75\n0,0.25\n")
    evalpipe.run(SPEC, out="out")
    assert (here / "out" / "data").readlink() == Path("../target")
    assert (here / "out" / "gone").readlink() == Path("../nowhere")
    assert not (here / "out" / "results.json").is_symlink()
    assert (here / "results.json").read_bytes() == before


def test_render_replaces_a_link_and_not_what_it_leads_to(here: Path) -> None:
    evalpipe.run(SPEC, out="out")
    (here / "page.html").write_text("mine")
    (here / "out" / "card.html").symlink_to(here / "page.html")
    with pytest.raises(SystemExit) as ended:
        main(["render", "out", "--format", "html"])
    assert ended.value.code == 0
    assert (here / "page.html").read_text() == "mine"
    assert b"<!doctype html>" in (here / "out" / "card.html").read_bytes()[:200].lower()


def test_a_lock_that_is_a_link_is_refused_and_what_it_leads_to_is_kept(here: Path) -> None:
    (here / "mine.txt").write_text("mine")
    (here / ".out.lock").symlink_to("mine.txt")
    assert refused().startswith("error[output-folder]: cannot write to the output folder 'out': ")
    assert (here / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize("arguments", [
    ["diff", "out", "out", "--format", "markdown", "--out", "out/results.json"],
    ["diff", "out", "out", "--out", "out/manifest.json"],
    ["init", "test.csv", "--event", "1", "--force", "-o", "out/results.json"],
    ["run", "spec.yaml", "--out", "other", "--no-progress", "--log-file", "out/run.json"],
])
def test_a_file_of_a_run_is_replaced_by_no_other_command(
    here: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    evalpipe.run(SPEC, out="out")
    before = held(here / "out")
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    file = arguments[-1]
    assert capsys.readouterr().err == (
        f"error[file-of-a-run]: '{file}' is a file that a run wrote, and nothing was written\n"
        "  = help: name another file\n")
    assert held(here / "out") == before
