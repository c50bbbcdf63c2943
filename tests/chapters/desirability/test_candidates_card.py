"""What the card, the plan and the terminal say of candidates."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

import evalpipe
from chapters.desirability.grids import GOALS, Row, run_of, spec_of, written
from evalpipe.card.contents import card_of
from evalpipe.card.figures.svg import SWATCH, data_tables
from evalpipe.card.page import Section, Table, Text, plain
from evalpipe.chapters.desirability.card import MOST_SHOWN, candidate_figures, glance, procedures, sections
from evalpipe.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    from evalpipe.results import Results

ROWS: list[Row] = [
    {"mtry": 3, "brier": 0.10, "brier_se": 0.02, "features": 5},
    {"mtry": 1, "brier": 0.30, "brier_se": 0.02, "features": 2},
    {"mtry": 2, "brier": 0.12, "brier_se": 0.02, "features": 5},
    {"mtry": 5, "brier": 0.09, "brier_se": 0.02, "features": 20},
]
TARGET: list[Row] = [GOALS[0], {"characteristic": "features", "target": {"low": 0, "target": 5, "high": 20}}]


@pytest.fixture
def results(tmp_path: Path) -> Results:
    return run_of(tmp_path, ROWS, std_err={"brier": "brier_se"})


def said(results: Results) -> str:
    """Return the sentences of the section, below its lead."""
    (section,) = sections(results)
    return plain([block for block in section.blocks if isinstance(block, Text)][1].text)


def ranking(section: Section) -> Table:
    return next(block for block in section.blocks if isinstance(block, Table))


def test_the_section_says_who_is_first_and_who_may_be_as_good(results: Results) -> None:
    assert said(results) == (
        "Of 4 candidates, the one with mtry = 3 is the most desirable: 0.783. 3 are not dominated in Brier score and "
        "Features. 1 other candidate lies within one standard error of the best, so these values do not decide "
        "between them.")
    (finding,) = results.findings
    assert (finding.kind, finding.section) == ("undecided", "candidates")
    assert finding.text == (
        "Of 4 candidates, the one with mtry = 3 is the most desirable: 0.783; 3 are not dominated in Brier "
        "score and Features. 1 other candidate lies within one standard error of the best, so these values do not "
        "decide between them.")


def test_the_table_lists_values_with_their_desirabilities(results: Results) -> None:
    (section,) = sections(results)
    table = ranking(section)

    assert [column.head for column in table.columns if column.shown] == [
        "Rank", "mtry", "D", "Brier score", "Features", "Pareto", "Within one SE"]
    assert [plain(cell) for cell in table.rows[0].cells] == [
        "1", "3", "0.783", "0.100\u00a0±\u00a00.020 d\u00a0=\u00a00.800", "5 d\u00a0=\u00a00.750", "yes", "yes"]
    assert [plain(cell) for cell in table.rows[3].cells] == [
        "4", "5", "0.000", "0.090\u00a0±\u00a00.020 d\u00a0=\u00a00.820", "20 d\u00a0=\u00a00.000", "yes", "no"]


def test_without_standard_errors_no_difference_is_called_noise_or_decided(tmp_path: Path) -> None:
    results = run_of(tmp_path, ROWS)
    (section,) = sections(results)
    text = " ".join(plain(block.text) for block in section.blocks if isinstance(block, Text))

    assert "The table has no standard errors of the best, so nothing here says which differences are noise." in text
    assert "standard error of" not in text
    assert [finding.kind for finding in results.findings] == ["note"]
    assert [done.name for done in procedures(results)] == ["Candidates"]


def test_a_best_candidate_apart_from_all_others_is_decided(tmp_path: Path) -> None:
    rows = [{**row, "brier_se": 0.0001} for row in ROWS]

    (finding,) = run_of(tmp_path, rows, std_err={"brier": "brier_se"}).findings
    assert finding.kind == "passes"
    assert finding.text.endswith("No other candidate lies within one standard error of the best.")


@pytest.mark.parametrize(("rows", "goals", "sentences"), [
    ([{"mtry": 1, "brier": 0.6, "features": 3}, {"mtry": 2, "brier": 0.1, "features": 30}], GOALS, [(
        "fails", "None of 2 candidates is acceptable: each has a goal whose desirability is 0.")]),
    ([{"mtry": 1, "brier": None, "features": 3}, {"mtry": 2, "brier": None, "features": 3}], GOALS, [
        ("fails", "None of 2 candidates has an overall desirability."),
        ("note", "2 candidates have no overall desirability, for lack of a value of Brier score. They rank last.")]),
    ([{"mtry": 1, "brier": 0.1, "features": 3}, {"mtry": 2, "brier": 0.1, "features": 3}], GOALS[:1], [
        ("note", "Of 2 candidates, those with mtry = 1; mtry = 2 are equally the most desirable: 0.800.")]),
])
def test_what_becomes_of_candidates_is_said(
    tmp_path: Path, rows: list[Row], goals: list[Row], sentences: list[tuple[str, str]]
) -> None:
    findings = run_of(tmp_path, rows, goals).findings
    assert [(row.kind, row.text) for row in findings if row.section == "candidates"] == sentences


def test_the_figure_states_its_finding_and_has_its_data(results: Results) -> None:
    (drawing,) = candidate_figures(results)

    assert drawing.alt == (
        "Candidates by Brier score and Features. Of 4 candidates, the one with mtry = 3 is the most desirable: 0.783. "
        "3 are not dominated in Brier score and Features. The most desirable lies at Brier score 0.100 and Features "
        "5.000.")
    (table,) = data_tables(drawing)
    assert table.heads == ("Series", "Brier score (lower is better)", "Features (lower is better)")
    assert table.rows == (
        ("Other candidates", "0.12", "5"), ("Pareto front", "0.09", "20"),
        ("Pareto front", "0.1", "5"), ("Pareto front", "0.3", "2"),
        ("Most desirable", "0.1", "5"))
    assert all(f">{name}<" in drawing.svg for name in ("Most desirable", "Pareto front", "Other candidates"))
    assert f"h{SWATCH}" not in drawing.svg  # no key
    assert 'width="330"' in drawing.svg


def test_a_goal_without_a_direction_is_drawn_by_its_desirability(tmp_path: Path) -> None:
    (drawing,) = candidate_figures(run_of(tmp_path, ROWS, TARGET))

    assert "Desirability of Features" in drawing.svg
    assert "Features by its desirability" in drawing.caption


def test_a_single_goal_has_no_figure(tmp_path: Path) -> None:
    assert candidate_figures(run_of(tmp_path, ROWS, GOALS[:1])) == ()


def test_of_many_candidates_the_card_lists_the_first_and_counts_the_rest(tmp_path: Path) -> None:
    rows = [{"mtry": place, "brier": place / 100, "features": place % 7} for place in range(30)]
    (section,) = sections(run_of(tmp_path, rows))
    table = ranking(section)

    assert table.caption == f"The {MOST_SHOWN} most desirable of 30 candidates"
    assert (table.kept(None), table.whole, table.rest) == (MOST_SHOWN, 30, "results.json")


def test_ids_have_as_many_digits_as_tell_them_apart(tmp_path: Path) -> None:
    rows = [{"mtry": value, "brier": 0.1 + value, "features": 3} for value in (0.100041, 0.100042, 0.2)]
    (section,) = sections(run_of(tmp_path, rows))

    assert [plain(row.cells[1]) for row in ranking(section).rows] == ["0.100041", "0.100042", "0.2"]


def test_a_card_of_candidates_alone_has_no_word_of_predictions(tmp_path: Path) -> None:
    spec = spec_of(written(tmp_path, ROWS)) | {"report": {"formats": ["html"]}, "title": "A grid"}
    results = evalpipe.run(spec, out=tmp_path / "out")
    page = (tmp_path / "out" / "card.html").read_text(encoding="utf-8")
    card = card_of(results)
    written_file = results.inputs[0]

    assert card.description == "Ranking of 4 candidates; outcome: binary"
    assert "4 candidates are ranked from a table without predictions, which no gate can judge" in page
    assert {"models", "dataset-1"} & {section.anchor for section in card.sections} == set()
    assert re.search(r"Models|Evaluated on|No verdict", re.sub(r"<style.*?</style>|<script.*?</script>", "", page,
                                                              flags=re.DOTALL)) is None
    assert written_file.sha256 is not None
    assert written_file.sha256 in page
    assert (tmp_path / "out" / "estimates.csv").read_text(encoding="utf-8").count("\n") == 1


def test_the_only_measures_defined_are_those_of_the_goals(results: Results) -> None:
    assert [metric.name for metric in results.metrics] == ["brier"]


def test_the_first_screen_lists_the_first_candidates(results: Results) -> None:
    (table,) = glance(results)

    assert table.caption == "The first of 4 candidates"
    assert [[plain(cell) for cell in row.cells] for row in table.rows] == [
        ["1", "3", "0.783"], ["2", "2", "0.757"], ["3", "1", "0.524"], ["4", "5", "0.000"]]


def test_the_plan_the_check_and_the_summary_name_the_candidates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, ROWS)
    spec = spec_of(tmp_path / "grid.csv", std_err={"brier": "brier_se"}, where="mtry > 1")
    (tmp_path / "spec.yaml").write_text(json.dumps(spec).replace(f"{tmp_path}/", ""), encoding="utf-8")

    def told(*arguments: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main([*arguments])
        assert ended.value.code == 0
        return capsys.readouterr().out

    assert told("plan", "spec.yaml") == (
        "plan of grid (binary), seed 0\n\n"
        "desirability by 2 goals: minimize brier, minimize features\n"
        "candidates: grid.csv, 4 rows, told apart by mtry\n"
        "  where mtry > 1\n"
        "  minimize brier: brier, with the standard errors in brier_se\n"
        "  minimize features: features\n"
        "  Pareto figure of minimize brier and minimize features\n")
    assert json.loads(told("plan", "spec.yaml", "--format", "json"))["candidates"] == {
        "files": ["grid.csv"], "rows": 4, "where": "mtry > 1", "id": ["mtry"],
        "columns": [
            {"goal": "minimize brier", "column": "brier", "measure": None, "std_err": "brier_se"},
            {"goal": "minimize features", "column": "features", "measure": None, "std_err": None}],
        "pareto": ["minimize brier", "minimize features"]}
    assert told("validate", "spec.yaml") == "ok: spec.yaml: candidates ranked by 2 goals\n"
    assert told("run", "spec.yaml", "--no-progress").splitlines()[0] == (
        "3 candidates, most desirable: mtry = 3, D 0.783")
