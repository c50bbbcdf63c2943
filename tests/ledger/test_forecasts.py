"""What `evalpipe plan` says to expect of gates, before the first night and after."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import evalpipe
from evalpipe.cli.app import app

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import year


def planned(spec: Path, *options: str) -> str:
    out = spec.parent / "reports" / "nightly"
    result = CliRunner().invoke(app, ["plan", str(spec), "--as-of", str(year.day(2)), "--out", str(out), *options])
    assert result.exit_code == 0
    return result.stdout


def test_plan_says_what_to_expect_of_gates_on_nights_like_the_latest(tmp_path: Path) -> None:
    spec = year.write_year(tmp_path, year.CHANGES["fall"], 2)
    before = planned(spec)
    evalpipe.run(spec, out=tmp_path / "reports" / "nightly", as_of=year.day(1))
    after, asked = planned(spec), json.loads(planned(spec, "--margin", "0.02", "--drop", "0.1", "--format", "json"))

    assert "\n  gate 1: not known: there is no ledger at " in before
    assert "with true values 0.01 inside their limits that then fall by 0.05 (200 simulated years)\n" in after
    assert "\n  gate 2: 0 false alarms a year (standard error 0), median delay " in after
    assert "\n  two runs of the same bytes disagree: never\n" in after
    expected = asked["expected"]
    assert (expected["margin"], expected["drop"]) == (0.02, 0.1)
    interval, sequence = expected["gates"]
    assert interval["false_alarms_a_year"] > sequence["false_alarms_a_year"]
    assert interval["median_delay"] <= sequence["median_delay"]
    assert interval["identical_runs_disagree"] == sequence["identical_runs_disagree"] == 0


@pytest.mark.parametrize(("option", "number"), [("--margin", "nan"), ("--drop", "inf"), ("--margin", "1e308")])
def test_a_number_that_cannot_be_computed_with_is_refused(tmp_path: Path, option: str, number: str) -> None:
    spec = year.write_year(tmp_path, year.CHANGES["fall"], 2)
    evalpipe.run(spec, out=tmp_path / "reports" / "nightly", as_of=year.day(1))
    result = CliRunner().invoke(app, ["plan", str(spec), "--as-of", str(year.day(2)), "--out",
                                      str(tmp_path / "reports" / "nightly"), option, number])
    assert result.exit_code == 2
    assert f"Invalid value for '{option}': {float(number):g} is no number up to 1e+60." in result.stderr


def test_scores_of_0_and_1_are_expected_by_the_exact_evidence_that_judges_them(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("q,a\n" + "".join(f"{item},{int(item < 80)}\n" for item in range(100)))
    spec = tmp_path / "agent.yaml"
    spec.write_text(
        "evalpipe: 1\nname: agent\ntask: score\nscore: {better: higher, range: [0, 1]}\nitem: q\n"
        "datasets: {tonight: {path: runs.csv}}\nmodels: {a: {score: a}}\nmetrics: [mean]\n"
        "gates: [{metric: mean, min: 0.8, on: sequence}]\nreport: {formats: []}\n", encoding="utf-8")
    evalpipe.run(spec, out=tmp_path / "reports" / "nightly", as_of=year.day(1))
    expected = json.loads(planned(spec, "--margin", "0", "--drop", "0.1", "--format", "json"))["expected"]
    # Of 2,000 simulated sequences of nights with 100 items the median was 5; the asymptotic rule says 7.
    assert expected["gates"][0]["median_delay"] == 5
