"""The summary that `evalpipe run` prints: every number under its own name, in the digits of the card."""

from __future__ import annotations

import re

import pytest

from evalpipe.cli.summary import measure_names, print_summary
from evalpipe.results import Results
from tests.engine.runs import BOTH, intervals, people, run

LISTED = ["brier", {"metric": "brier", "scale": "sum"}, "log_loss", {"metric": "log_loss", "base": 2},
          {"metric": "brier", "prevalence": 0.5}, {"metric": "f_beta", "beta": 2}, "precision"]
NAMES = ["Brier score (scale = half)", "Brier score (scale = sum)", "Log loss (base = e)", "Log loss (base = 2)",
         "Brier score (scale = half, at prevalence 0.5)", "F-beta (beta = 2)", "Precision"]


@pytest.fixture(scope="module")
def results() -> Results:
    return run(people(400, seed=2), models=BOTH, metrics=LISTED, threshold=0.5, intervals=intervals(100),
               recalibrate={"fit_on": {"folds": 3}, "methods": ["logistic", "beta"]})


def printed(results: Results, capsys: pytest.CaptureFixture[str]) -> str:
    print_summary(results)
    return capsys.readouterr().out


def rows(text: str) -> list[list[str]]:
    """Return the cells of every row of every table."""
    lines = (line for line in text.split("\n") if line.startswith(("│", "┃")))
    return [[cell.strip() for cell in re.split("[│┃]", line)[1:-1]] for line in lines]


def test_measures_are_named_by_what_tells_them_apart(results: Results) -> None:
    assert list(dict.fromkeys(measure_names(results).values())) == NAMES


def half_a_digit(cell: str) -> float:
    """Return half of the last digit of a printed value, which it may be off by, and the noise of floats."""
    return 0.5001 * 10.0 ** -len(cell.partition(" ")[0].partition(".")[2])


def test_every_value_stands_under_its_own_name(results: Results, capsys: pytest.CaptureFixture[str]) -> None:
    table = {name: cells for name, *cells in rows(printed(results, capsys)) if name in NAMES}
    names = measure_names(results)
    for e in results.rows:
        if e.variant == "original":
            cell = table[names[e.metric, tuple(e.params.items()), e.average]][list(BOTH).index(e.model)]
            assert float(cell.split(" ")[0]) == pytest.approx(e.value, abs=half_a_digit(cell))


def test_a_difference_stands_under_the_measure_and_the_options_it_is_of(
    results: Results, capsys: pytest.CaptureFixture[str],
) -> None:
    """The last of several options, here ``scale: sum``, was printed as the Brier score."""
    found, heads = {}, []
    for first, *cells in rows(printed(results, capsys)):
        if first == "variant":
            heads = cells
        elif first.startswith(("p (", "q (")):
            found |= {(first, head): cell for head, cell in zip(heads, cells, strict=True)}
    names = measure_names(results)
    differences = [c for c in results.comparisons if c.metric in ("brier", "log_loss") and c.variant != "original"]
    assert len(found) == len(differences) == 4 * 5
    for c in differences:
        cell = found[f"{c.model} ({c.variant})", names[c.metric, tuple(c.params.items()), c.average]]
        said = float(cell.split(" ")[0].replace("−", "-"))
        assert said == pytest.approx(c.difference, abs=half_a_digit(cell))
        assert cell.endswith(f" {c.verdict}")


def test_numbers_side_by_side_have_as_many_decimals(results: Results, capsys: pytest.CaptureFixture[str]) -> None:
    values = [cells for name, *cells in rows(printed(results, capsys)) if name in NAMES]
    found = [re.findall(r"\d\.(\d+)", " ".join(cells)) for cells in values]
    assert len(found) == len(NAMES)
    assert all(len({len(decimals) for decimals in row}) == 1 and len(row) == 6 for row in found)


def test_without_intervals_the_summary_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(run(people(60), metrics=["brier"], intervals={"method": "none"}), capsys)
    assert text.split("\n")[0] == "x: d, n = 60, " + text.split("n = 60, ")[1].split("\n")[0]
    assert "without intervals" in text
    assert "with 95% intervals" not in text


def test_a_model_without_a_measure_keeps_its_column(results: Results, capsys: pytest.CaptureFixture[str]) -> None:
    left = [e for e in results.rows if (e.model, e.metric) != ("p", "precision")]
    found = {name: cells for name, *cells in rows(printed(results.model_copy(update={"rows": left}), capsys))}
    whole = {name: cells for name, *cells in rows(printed(results, capsys))}
    assert found["Precision"] == ["not evaluated", whole["Precision"][1]]
