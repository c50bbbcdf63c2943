"""Letters that no font has are told, with the package that has them; which these are depends on the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

import evalpipe
from engine.runs import people
from evalpipe.card import pdf
from evalpipe.card.pdf import letters_without_font
from evalpipe.cli.doctor import run_checks
from evalpipe.run import Progress
from evalpipe.words.spelling import SAMPLES, isolated, missing_letters_sentence, script_of

PRIVATE = "\U000f1234"
"""A letter of no script, which no font has."""


@pytest.mark.parametrize(("letters", "sentence"), [
    (["测"], (
        "card.pdf shows boxes for 1 letter (Chinese), such as '测', which no font here has; install one (Debian, "
        "Ubuntu: apt-get install fonts-noto-cjk) and run again")),
    (["한", "글", "ก"], (
        "card.pdf shows boxes for 3 letters (Korean and Thai), such as '한', which no font here has; install one "
        "(Debian, Ubuntu: apt-get install fonts-noto-cjk fonts-noto-core) and run again")),
])
def test_the_sentence_names_the_scripts_a_letter_and_the_packages(letters: list[str], sentence: str) -> None:
    assert missing_letters_sentence(letters) == sentence


def test_each_sample_is_of_its_script() -> None:
    assert {script: script_of(letter) for script, letter in SAMPLES.items()} == {script: script for script in SAMPLES}


def test_a_name_from_right_to_left_is_not_broken_over_two_lines() -> None:
    name = isolated("مستشفى الملك")
    assert pdf.with_unbroken_names(f"<b>a {name} 0.62–0.78</b>") == (
        f"<b>a {name.replace(' ', chr(0xA0))} 0.62–0.78</b>")
    long = isolated(" ".join(["مستشفى"] * 9))
    assert pdf.with_unbroken_names(long) == long


def test_what_weasyprint_finds_in_no_font_is_collected_once() -> None:
    weasyprint = pdf.load_weasyprint()
    with letters_without_font() as letters:
        weasyprint.HTML(string=f"<p>a{PRIVATE}b{PRIVATE}</p>").write_pdf()
    assert letters == [PRIVATE]
    with letters_without_font() as letters:
        weasyprint.HTML(string="<p>ab</p>").write_pdf()
    assert letters == []


def test_a_run_reports_the_letters_that_the_doctor_would(tmp_path: Path) -> None:
    class Listener(Progress):
        letters: tuple[str, ...] = ()

        def letters_without_font(self, letters: list[str]) -> None:  # type: ignore[override]
            self.letters = tuple(letters)

    people(60).write_csv(tmp_path / "d.csv")
    label = "".join(SAMPLES.values())
    spec = {"evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1},
            "datasets": {"d": {"path": str(tmp_path / "d.csv")}}, "models": {"p": {"probability": "p", "label": label}},
            "metrics": ["brier"], "intervals": {"replicates": 100, "bands": False}, "report": {"formats": ["pdf"]}}
    listener = Listener()
    evalpipe.run(spec, out=tmp_path / "out", progress=listener)
    (check,) = (check for check in run_checks(tmp_path) if check.name == "scripts")
    assert {script for script in SAMPLES if script in check.text} == (
        {script_of(letter) for letter in listener.letters} or set(SAMPLES))
