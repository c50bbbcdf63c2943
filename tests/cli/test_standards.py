"""What the commands say of standards, and how they end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from cli.conftest import Command

LEFT_OUT = {"1f": "no part of a product", "8": "not on the market"}


def declare(folder: Path, standards: object) -> None:
    with (folder / "small.yaml").open("a", encoding="utf-8") as file:
        file.write(f"standards: {json.dumps(standards)}\n")


def test_a_run_fails_below_what_is_required_and_holds_at_it(folder: Path, command: Command) -> None:
    declare(folder, [{"profile": "model_cards_2019", "require": 0.5}])
    options = ["run", "small.yaml", "--no-progress", "--out", "out", "--set", "report.formats=[junit]"]
    short = command(*options, "--format", "github")
    (case,) = ET.parse(folder / "out" / "junit.xml").iter("testcase")  # noqa: S314 - our own file

    assert short.returncode == 1
    assert (
        "\nevidence for standards, which is no statement of conformity:\n"
        "standard model_cards_2019 failed: 0 of 9 items answered (0%); required 50%; "
        "missing: MC1, MC2, MC3, MC4, MC5, MC6 and 3 more\n") in short.stdout
    assert (
        "::error file=small.yaml,line=12,col=13,title=standard failed::Model Cards for Model Reporting: 0 of 9 items "
        "answered (0%25); required 50%25; missing: MC1, MC2, MC3, MC4, MC5, MC6 and 3 more\n") in short.stdout
    assert case.attrib == {"classname": "standards", "name": "Evidence for Model Cards for Model Reporting"}
    assert (case[0].tag, case[0].attrib["message"]) == ("failure", (
        "0 of 9 items answered (0%); required 50%; missing: MC1, MC2, MC3, MC4, MC5, MC6, MC7, MC8, MC9"))
    assert command(*options, "--fail-on", "never").returncode == 0
    held = command(*options, "--set", "standards=[{profile: model_cards_2019, require: 0}]")
    assert held.returncode == 0
    assert "standard model_cards_2019 held: 0 of 9 items answered (0%); required 0%" in held.stdout


def test_without_a_requirement_there_is_nothing_to_hold(folder: Path, command: Command) -> None:
    declare(folder, "model_cards_2019")
    run = command("run", "small.yaml", "--no-progress", "--out", "out", "--set", "report.formats=[junit]")

    assert run.returncode == 0
    assert "standard model_cards_2019 documented: 0 of 9 items answered (0%); missing: MC1," in run.stdout
    assert not (folder / "out" / "junit.xml").exists()


def test_the_plan_names_the_standards(folder: Path, command: Command) -> None:
    declare(folder, ["tripod_ai", {"profile": "eu_ai_act_annex_iv", "require": 0.75, "not_applicable": LEFT_OUT}])
    text, document = command("plan", "small.yaml").stdout, json.loads(
        command("plan", "small.yaml", "--format", "json").stdout)

    assert ("evidence for tripod_ai, 52 items\n"
            "evidence for eu_ai_act_annex_iv, 21 of 23 items apply, at least 75% of them answered\n") in text
    assert [(standard["profile"], len(standard["items"]), standard["require"], standard["not_applicable"])
            for standard in document["standards"]] == [
        ("tripod_ai", 52, None, {}), ("eu_ai_act_annex_iv", 23, 0.75, LEFT_OUT)]
