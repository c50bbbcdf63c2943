"""`evalpipe demo`: a card at once, and both changes that it names settle what is undecided."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import evalpipe
from evalpipe.cli.demo import write_demo

if TYPE_CHECKING:
    from pathlib import Path

    from cli.conftest import Command

NEXT = """
One requirement is undecided. Each of these two changes of evalpipe-demo/visits.yaml settles it:

  line 17   where: "person <= 600"
            delete this line: all people in the file are evaluated, and the requirement is met

  line 28   - {metric: roc_auc, min: 0.65, model: boosted_trees}
            ask for 0.60 instead: a limit that the first 600 people can show

Run it again:

  cd evalpipe-demo && evalpipe run visits.yaml

Then take your own predictions:

  evalpipe init predictions.csv
"""


def test_the_demo_makes_a_card_and_names_two_changes_that_settle_its_gate(command: Command, folder: Path) -> None:
    done = command("demo")
    assert done.returncode == 0
    assert "? Not settled: 1 of 2 requirements undecided\n" in done.stdout
    assert done.stdout.endswith(NEXT)
    card = folder / "evalpipe-demo" / "reports" / "visits" / "card.html"
    assert str(card.relative_to(folder)) in done.stdout.splitlines()
    assert "Visits to a doctor, two models" in card.read_text(encoding="utf-8")

    spec = card.parents[2] / "visits.yaml"
    lines = spec.read_text(encoding="utf-8").splitlines()
    assert "person <= 600" in lines[16]
    assert "min: 0.65" in lines[27]
    changes = {"all people": [*lines[:16], *lines[17:]],
               "a lower limit": [*lines[:27], lines[27].replace("0.65", "0.60"), *lines[28:]]}
    for change, changed in changes.items():
        spec.write_text("\n".join(changed), encoding="utf-8")
        assert evalpipe.run(spec).verdict == "pass", change


def test_an_earlier_demo_is_not_replaced_unless_asked(command: Command, folder: Path) -> None:
    (folder / "mine").mkdir()
    (folder / "mine" / "visits.csv").write_text("mine", encoding="utf-8")
    done = command("demo", "mine")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error[demo-exists]: 'mine/visits.csv' exists, and nothing was written\n"
        "  = help: name another folder, as in: evalpipe demo my-demo; or replace it with --force\n")
    assert [path.name for path in (folder / "mine").iterdir()] == ["visits.csv"]
    write_demo(folder / "mine", force=True)
    assert (folder / "mine" / "visits.csv").read_text(encoding="utf-8") != "mine"


@pytest.mark.nightly
def test_an_earlier_demo_is_replaced_where_that_is_asked_for(command: Command, folder: Path) -> None:
    (folder / "mine").mkdir()
    (folder / "mine" / "visits.csv").write_text("mine", encoding="utf-8")
    assert command("demo", "mine", "--force").returncode == 0
    assert (folder / "mine" / "visits.csv").read_text(encoding="utf-8") != "mine"


def test_a_folder_that_cannot_be_written_is_named(command: Command, folder: Path) -> None:
    (folder / "file").write_text("", encoding="utf-8")
    done = command("demo", "file/demo")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error[demo-folder]: cannot write the demo to 'file/demo': Not a directory\n"
        "  = help: name a folder that can be written\n")
