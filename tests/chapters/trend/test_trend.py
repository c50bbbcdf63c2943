"""The trend of a run: which nights it has, what it says of this one, and that the card needs no ledger."""

from __future__ import annotations

import json
import math
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml

import evalpipe
from engine.runs import people
from evalpipe.card.contents import card_of
from evalpipe.card.figures.svg import SWATCH, data_tables
from evalpipe.card.page import Figures, Section, Text, plain
from evalpipe.chapters.gates.card_sentences import headline
from evalpipe.chapters.trend.card import glance, trend_figures
from evalpipe.chapters.trend.plan import trend_plan
from evalpipe.errors import SpecError
from evalpipe.ledger.entries import LedgerPlace
from evalpipe.ledger.store import Ledger
from evalpipe.results import Results

SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "churn", "task": "binary", "as_of": "2026-03-01", "outcome": {"column": "y", "event": 1},
    "datasets": {"d": {"path": "d.parquet"}}, "models": {"m": {"probability": "p", "label": "Forest"}},
    "metrics": ["accuracy", "brier"], "intervals": {"method": "auto", "replicates": 100},
    "trend": {"metrics": ["accuracy"]}, "calibration": {"smoother": "logistic"}, "report": {"formats": []},
}
FIRST = datetime(2026, 3, 1, 4, tzinfo=UTC)


def spec_file(folder: Path, **keys: Any) -> Path:
    people(200).write_parquet(folder / "d.parquet")
    path = folder / "spec.yaml"
    path.write_text(yaml.safe_dump(SPEC | keys), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return evalpipe.run(spec_file(tmp_path_factory.mktemp("base"), trend=False))


def with_nights(folder: Path, base: Results, count: int, name: str = "churn") -> list[str]:
    """Record so many nights before 2026-03-01 in folders of their own, of accuracies about 0.9, and return the days."""
    ledger = Ledger.open(LedgerPlace.of(str(folder / "out" / "ledger.sqlite")))
    generator = np.random.default_rng(4)
    days = []
    for back in range(count, 0, -1):
        day = (FIRST - timedelta(days=back)).date().isoformat()
        value = 0.9 + 0.005 * float(generator.standard_normal())
        rows = [row.model_copy(update={"value": value, "lower": value - 0.02, "upper": value + 0.02})
                if row.metric == "accuracy" else row for row in base.rows]
        night = base.model_copy(update={"name": name, "as_of": day, "rows": rows})
        ledger.record(night, folder / "out" / f"{name}-{day}", FIRST - timedelta(days=back))
        days.append(day)
    return days


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    return tmp_path


def section_of(results: Results) -> Section:
    return next(section for section in card_of(results).sections if section.anchor == "trend")


def texts(section: Section) -> list[str]:
    return [plain(block.text) for block in section.blocks if isinstance(block, Text)]


def test_the_trend_has_the_nights_of_its_name_in_whatever_folders(folder: Path, base: Results) -> None:
    days = with_nights(folder, base, 25)
    with_nights(folder, base, 3, name="fraud")
    results = evalpipe.run(spec_file(folder), out=folder / "out" / "churn-2026-03-01")

    trend = results.trend
    assert [night.as_of for night in trend.nights] == days
    (line,) = trend.lines
    assert (line.metric, line.model, len(line.value), line.counted) == ("accuracy", "m", 26, 25)
    estimate = next(row for row in results.rows if row.metric == "accuracy")
    assert (line.value[-1], line.lower[-1], line.upper[-1], line.n[-1]) == (
        estimate.value, estimate.lower, estimate.upper, estimate.n)
    assert line.standard_error[0] == pytest.approx(0.02 / 1.959964, rel=1e-6)
    assert line.position == "below"
    (said,) = [finding for finding in results.findings if finding.section == "trend"]
    assert (said.kind, said.text) == ("fails", (
        "Accuracy fell to 0.74 (0.68–0.80), below its control limits of 0.869 to 0.931; it was 0.89 to 0.91 on 25 "
        "nights."))


def test_the_first_screen_shows_the_nights_as_lines_and_the_verdict_names_them(folder: Path, base: Results) -> None:
    with_nights(folder, base, 25)
    gates = [{"metric": "accuracy", "min": 0.85}]
    results = evalpipe.run(spec_file(folder, gates=gates), out=folder / "out" / "churn-2026-03-01")
    (sparks,) = glance(results)
    (line,) = sparks.lines

    assert (sparks.title, line.label, line.text) == ("Trend over 25 earlier nights", "Accuracy", "0.74; was 0.89–0.91")
    assert sparks.caption == "From 2026-02-04 to 2026-03-01, marked. The band is the control limits of this night."
    assert len(line.points) == 26
    assert (line.points[0][0], line.points[-1]) == (0.0, (100.0, 19.0))  # type: ignore[index]
    assert line.band is not None
    assert line.band[0] < line.band[1] < line.points[-1][1]  # type: ignore[index]
    assert headline(results) == (
        "Not good enough: Accuracy fell to 0.74 (0.68–0.80) on 2026-03-01; it was 0.89 to 0.91 on 25 nights, required "
        "at least 0.85")
    (text,) = (finding.text for finding in results.findings if finding.section == "trend")
    assert text == "Accuracy is below its control limits of 0.869 to 0.931."  # the rest stands in the verdict
    page = evalpipe.render(results, ["html", "markdown"])
    assert page["card.html"].decode().count('<table class="dots sparks">') == 1
    assert "| Accuracy | 0.74; was 0.89–0.91 |" in page["card.md"].decode()


def test_the_figure_names_the_model_its_limits_and_their_centre_where_they_are(folder: Path, base: Results) -> None:
    with_nights(folder, base, 25)
    results = evalpipe.run(spec_file(folder), out=folder / "out" / "churn-2026-03-01")
    (drawing,) = trend_figures(results)
    assert all(drawing.svg.count(f">{name}<") == 1 for name in ("Forest", "Control limits", "Centre"))
    assert f"h{SWATCH}" not in drawing.svg  # no key
    assert "the dashed line the centre" in drawing.caption


def test_a_night_without_the_number_breaks_the_line(folder: Path, base: Results) -> None:
    with_nights(folder, base, 3)
    results = evalpipe.run(spec_file(folder), out=folder / "out" / "churn-2026-03-01")
    (line,) = results.trend.lines
    for value, points, segments in (
        ([None, 0.5, 0.5, 0.7], [None, (33.33, 19.0), (66.67, 19.0), (100.0, 5.0)], 2),
        ([0.5, None, 0.5, None], [(0.0, 19.0), None, (66.67, 19.0), None], 0),
    ):
        trend = results.trend.model_copy(update={"lines": [line.model_copy(update={"value": value})]})
        (spark,) = next(glance(results.model_copy(update={"trend": trend}))).lines
        assert (list(spark.points), len(spark.segments)) == (points, segments)
    assert spark.text == "undefined; was 0.50"


def test_the_first_night_has_no_lines(folder: Path) -> None:
    assert list(glance(evalpipe.run(spec_file(folder), out=folder / "out" / "churn"))) == []


def test_too_few_nights_give_no_limits_and_the_card_says_so(folder: Path, base: Results) -> None:
    with_nights(folder, base, 3)
    results = evalpipe.run(spec_file(folder), out=folder / "out" / "churn-2026-03-01")

    (line,) = results.trend.lines
    assert (line.limit_lower, line.position, line.counted) == ([], None, 3)
    section = section_of(results)
    assert texts(section)[1] == (
        "Whether this night is unusual is not known: limits need 20 nights, and there are 3 earlier nights.")
    (drawn,) = trend_figures(results)
    assert drawn.alt == (
        "Trend over 4 nights, 2026-02-26 to 2026-03-01. Accuracy, Forest: 0.74 (0.68–0.80); no control limits, "
        "3 earlier nights.")


def test_the_first_night_begins_the_trend(folder: Path) -> None:
    results = evalpipe.run(spec_file(folder), out=folder / "out" / "churn")
    section = section_of(results)
    assert texts(section)[0] == (
        "The ledger has no run of churn of a day before 2026-03-01: the trend begins with this night.")
    assert not any(isinstance(block, Figures) for block in section.blocks)
    alone = evalpipe.run(spec_file(folder))
    assert texts(section_of(alone))[0] == (
        "No earlier night was read: this run has no output folder, whose ledger would hold them.")


def test_the_baseline_alone_gives_the_limits(folder: Path, base: Results) -> None:
    days = with_nights(folder, base, 40)
    period = {"first": days[0], "last": days[24]}
    trend = {"metrics": ["accuracy"], "nights": 5, "control": {"baseline": period, "sigma": 2}}
    results = evalpipe.run(spec_file(folder, trend=trend), out=folder / "out" / "churn-2026-03-01")

    assert [night.as_of for night in results.trend.nights] == [*days[:25], *days[35:]]
    assert (results.trend.shown, results.trend.lines[0].counted) == (5, 25)
    (drawn,) = trend_figures(results)
    assert [row[1] for row in data_tables(drawn)[0].rows] == [*days[35:], "2026-03-01"]


def test_a_run_of_nights_on_one_side_is_told_where_it_is_asked_for(folder: Path, base: Results) -> None:
    ledger = Ledger.open(LedgerPlace.of(str(folder / "out" / "ledger.sqlite")))
    accuracy = next(row.value for row in base.rows if row.metric == "accuracy") or 0.0
    for back in range(24, 0, -1):  # the first half is 0.06 above this night, the second at it
        value = accuracy + (0.06 if back > 12 else 0.0) + 0.001 * (back % 3)
        rows = [row.model_copy(update={"value": value, "lower": value - 0.06, "upper": value + 0.06})
                if row.metric == "accuracy" else row for row in base.rows]
        day = (FIRST - timedelta(days=back)).date().isoformat()
        ledger.record(base.model_copy(update={"as_of": day, "rows": rows}), folder / "out" / day, FIRST)
    told = {}
    for control in (True, {"run": 8}):
        path = spec_file(folder, trend={"metrics": ["accuracy"], "control": control})
        results = evalpipe.run(path, out=folder / "out" / "churn-2026-03-01")
        told[str(control)] = [finding.text for finding in results.findings if finding.section == "trend"]
        assert (results.trend.lines[0].position, results.trend.lines[0].run) == ("within", 13)
    both = ["Accuracy of Forest is within its control limits, which 24 earlier nights give.",
            ("Accuracy resembles that of the night before: autocorrelation 0.87 of Forest, over 24 earlier nights. "
             "Nights beyond the control limits then come in groups.")]
    assert told == {
        "True": both,
        "{'run': 8}": [("Accuracy has been below its centre for many nights in a row: 13 of Forest, whose centre is "
                        "0.776."), *both]}
    line = results.trend.lines[0]
    assert line.autocorrelation_p_value == pytest.approx(
        NormalDist().cdf(-((line.autocorrelation or 0.0) + 1 / 24) * math.sqrt(24)), rel=1e-9)
    assert (line.between or 0.0) > 0


def test_the_card_is_rendered_again_without_the_ledger(folder: Path, base: Results) -> None:
    with_nights(folder, base, 25)
    out = folder / "out" / "churn-2026-03-01"
    evalpipe.run(spec_file(folder, report={"formats": ["html"]}), out=out)
    written = (out / "card.html").read_bytes()
    for file in (folder / "out").glob("ledger.sqlite*"):
        file.unlink()
    assert evalpipe.render(out)["card.html"] == written


def test_verify_says_which_earlier_nights_are_others_now(folder: Path, base: Results) -> None:
    days = with_nights(folder, base, 21)
    out = folder / "out" / "churn-2026-03-01"
    evalpipe.run(spec_file(folder), out=out)

    def checked() -> dict[str, tuple[str, str, tuple[str, ...]]]:
        files = evalpipe.verify(out, recompute=True).files
        return {file.file: (file.status, file.reason, file.notes) for file in files if file.kind == "recomputed"}

    assert {status for status, _, _ in checked().values()} == {"same"}
    with closing(sqlite3.connect(folder / "out" / "ledger.sqlite")) as ledger, ledger:
        ledger.execute("UPDATE evalpipe_runs SET results_sha256 = ? WHERE as_of = ?", ("f" * 64, days[3]))
        ledger.execute("DELETE FROM evalpipe_runs WHERE as_of = ?", (days[20],))
    before = json.loads((out / "results.json").read_text())["trend"]["nights"][3]["results_sha256"][:8]
    after = checked()
    assert after.pop("the earlier nights") == (
        "differs", "the ledger has others now; the run again was given those in results.json",
        (f"the night of {days[3]} has results with a sha256 that begins with ffffffff, not {before}",
         f"the night of {days[20]} is no longer there"))
    assert {status for status, _, _ in after.values()} == {"same"}
    for file in (folder / "out").glob("ledger.sqlite*"):
        file.unlink()
    status, reason, _ = checked()["the earlier nights"]
    assert (status, reason.partition(" '")[0]) == ("not checked", "there is no ledger at")


def test_another_earlier_night_is_a_change(folder: Path, base: Results) -> None:
    with_nights(folder, base, 2)
    path, out = spec_file(folder), folder / "out" / "churn-2026-03-01"
    first = evalpipe.run(path, out=out)
    assert evalpipe.run(path, out=out, if_changed=True).evidence_sha256 == first.evidence_sha256
    with_nights(folder, base, 3)
    again = evalpipe.run(path, out=out, if_changed=True)
    assert len(again.trend.nights) == 3


def test_without_metrics_it_has_those_of_the_gates_and_else_the_first_four() -> None:
    frame = people(60)
    keys: dict[str, Any] = {**SPEC, "metrics": ["brier", "accuracy", "roc_auc", "mcc", "f1"], "trend": True}
    plan = evalpipe.plan(keys, frames={"d": frame})
    trend = plan.part(trend_plan)
    assert trend is not None
    assert trend.metrics == ["brier", "accuracy", "roc_auc", "mcc"]
    judged = evalpipe.plan(keys | {"gates": [{"metric": "sensitivity", "min": 0.1}]}, frames={"d": frame})
    trend = judged.part(trend_plan)
    assert trend is not None
    assert trend.metrics == ["sensitivity"]



def test_a_spec_without_a_trend_has_the_hash_that_it_had_before_there_was_one() -> None:
    written = {key: value for key, value in SPEC.items() if key != "trend"}
    plans = [evalpipe.plan(keys, frames={"d": people(60)}) for keys in (written, written | {"trend": False})]
    assert [plan.spec_sha256 for plan in plans] == [plans[0].spec_sha256] * 2
    assert plans[0].part(trend_plan) is plans[1].part(trend_plan) is None


def test_nights_of_undefined_measures_are_gaps(folder: Path, base: Results) -> None:
    with_nights(folder, base, 4)
    with closing(sqlite3.connect(folder / "out" / "ledger.sqlite")) as ledger, ledger:
        ledger.execute("UPDATE evalpipe_estimates SET value = NULL, lower = NULL, upper = NULL WHERE run = 2")
    results = evalpipe.run(spec_file(folder), out=folder / "out" / "churn-2026-03-01")
    (line,) = results.trend.lines
    assert (line.value[1], line.standard_error[1], line.counted) == (None, None, 3)
    (drawn,) = trend_figures(results)
    assert data_tables(drawn)[0].rows[1][2:] == ("–", "–", "–")


def test_the_trend_needs_a_day(folder: Path) -> None:
    pl.DataFrame({"y": [0, 1], "p": [0.2, 0.7]}).write_parquet(folder / "d.parquet")
    path = folder / "spec.yaml"
    path.write_text(yaml.safe_dump({key: value for key, value in SPEC.items() if key != "as_of"}), encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        evalpipe.plan(path)
    (problem,) = caught.value.problems
    assert (problem.code, problem.message, problem.hint) == (
        "no-day", "'trend' needs the day that the card is about, and none is given",
        "write 'as_of: 2026-11-21', or give --as-of 2026-11-21")
    assert evalpipe.plan(path, as_of="2026-03-01").part(trend_plan) is not None
