"""The day that a card is about: on the command line, in every output, and nowhere where it is not given."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import evalpipe
from cli.conftest import Command
from evalpipe.results import Results

CARD = ("--set", "report.formats=[html, markdown]")
NOTHING = ("--set", "report.formats=[]")


def header(folder: Path) -> list[str]:
    """Return the lines of the card that tell it from others, as HTML and as Markdown."""
    page, text = ((folder / name).read_text(encoding="utf-8") for name in ("card.html", "card.md"))
    line = re.search(r'<p class="id">(.*?)</p>', page, re.DOTALL)
    assert line is not None
    return [" ".join(re.sub("<[^>]*>", " ", line[1]).split()), text.split("---\n")[-1].split("\n\n")[1]]


def test_the_day_is_in_results_on_the_card_and_in_the_summary(command: Command, folder: Path) -> None:
    done = command("run", "small.yaml", "--as-of", "2026-11-21", "--out", "r/${date}", "--no-progress", *CARD)

    results = Results.read(folder / "r" / "2026-11-21")
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "as of 2026-11-21")
    assert results.as_of == results.spec["as_of"] == "2026-11-21"
    for line in header(folder / "r" / "2026-11-21"):
        assert "as of 2026-11-21" in line
    page = (folder / "r" / "2026-11-21" / "card.html").read_text(encoding="utf-8")
    assert "This card is about 2026-11-21, the day that the spec or the command states. No clock was read." in page


def test_a_card_without_a_day_says_so(command: Command, folder: Path) -> None:
    done = command("run", "small.yaml", "--out", "r", "--no-progress", *CARD)

    assert "as of" not in done.stdout
    assert json.loads((folder / "r" / "results.json").read_text())["as_of"] is None
    for line in header(folder / "r"):
        assert "as of: no day is stated" in line
    page = (folder / "r" / "card.html").read_text(encoding="utf-8")
    assert ("No day is stated that this card is about: the spec has no <code>as_of</code>, and <code>--as-of</code> "
            "was not given.") in page


def test_another_day_is_another_spec_and_the_same_numbers(folder: Path) -> None:
    first, second = (evalpipe.run("small.yaml", as_of=day) for day in ("2026-11-21", "2026-11-22"))

    assert first.spec_sha256 != second.spec_sha256
    assert first.rows == second.rows
    assert folder == Path.cwd()


def test_the_day_in_paths_chooses_the_data(command: Command, folder: Path) -> None:
    (folder / "test.csv").rename(folder / "test-2026-11-21.csv")
    spec = (folder / "small.yaml").read_text().replace("test.csv", '"test-${date}.csv"')
    (folder / "small.yaml").write_text(spec)

    done = command("run", "small.yaml", "--as-of", "2026-11-21", "--out", "r", "--format", "json", *NOTHING)
    assert json.loads(done.stdout)["as_of"] == "2026-11-21"
    assert Results.read(folder / "r").inputs[0].path == "test-2026-11-21.csv"
    assert command("validate", "small.yaml", "--as-of", "2026-11-21").returncode == 0
    assert command("plan", "small.yaml", "--as-of", "2026-11-21").stdout.splitlines()[0] == (
        "plan of small (binary), as of 2026-11-21, seed 0")
    absent = command("run", "small.yaml", "--as-of", "2026-11-22", "--no-progress", *NOTHING)
    assert (absent.returncode, absent.stderr.splitlines()[0]) == (
        3, "error[missing-file]: there is no file test-2026-11-22.csv")


@pytest.mark.parametrize("name", ["run", "validate", "plan"])
def test_a_day_that_is_none_ends_with_2(command: Command, folder: Path, name: str) -> None:
    done = command(name, "small.yaml", "--as-of", "2026-02-29")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.removeprefix("1/7 read the spec\n") == (
        "error[wrong-type]: expected a day, as in 2026-11-21, got the text '2026-02-29'\n"
        " --> --as-of:1:1\n"
        "  |\n"
        "1 | 2026-02-29\n"
        "  | ^^^^^^^^^^ the calendar has no such day\n")
    assert not (folder / "reports").exists()


def test_a_folder_named_by_the_day_needs_one(command: Command, folder: Path) -> None:
    for name in ("run", "plan"):
        done = command(name, "small.yaml", "--out", "r/${date}")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.removeprefix("1/7 read the spec\n") == (
            "error[no-day]: --out: ${date} is the day under 'as_of', and none is given\n"
            "  = help: write 'as_of: 2026-11-21', or give --as-of 2026-11-21\n")
    assert not (folder / "r").exists()
