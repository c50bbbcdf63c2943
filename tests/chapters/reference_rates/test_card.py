"""Reference rates on the card."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from card.blocks import heads, lines, paragraphs, tables
from evalpipe.card.html import html_page
from evalpipe.card.page import plain
from evalpipe.card.tables import shown
from evalpipe.chapters.reference_rates.card import procedures, sections
from evalpipe.results import RateDifference

if TYPE_CHECKING:
    from evalpipe.card.page import Section
    from evalpipe.results import Results


@pytest.fixture(scope="module")
def rated(results: Results) -> Results:
    """The results with two rates of which one has limits, and one that no model has a value to compare with."""
    estimate = next(e for e in results.rows if (e.dataset, e.metric) == ("validation", "roc_auc"))
    row = RateDifference(
        dataset="validation", model=estimate.model, metric="roc_auc", params={}, baseline="last <year>", rate=0.79,
        rate_lower=0.76, rate_upper=0.82, difference=0.0123, lower=-0.02, upper=0.04, level=0.95, method="recovered",
        p_value=None, test=None, margin=None, verdict="undecided", n=estimate.n, status="ok")
    without = {"rate_lower": None, "rate_upper": None, "baseline": "a guess", "verdict": "better", "lower": 0.005}
    gone = {"difference": None, "lower": None, "upper": None, "verdict": "untested", "status": "undefined",
            "reason": "no events", "dataset": "rare-season"}
    rows = [row, row.model_copy(update=without), row.model_copy(update=gone)]
    return results.model_copy(update={"reference_rates": rows})


@pytest.fixture(scope="module")
def section(rated: Results) -> Section:
    (section,) = sections(rated)
    return section


def test_the_section_says_first_what_decides(section: Section) -> None:
    assert section.title == "Reference rates"
    assert paragraphs([section]) == [
        ("Each model minus a rate that the spec gives. The 95% interval of the difference decides: better or worse "
         "where all of it is on one side of zero, undecided where it includes zero."),
        "Untested: there is no interval, or no reliable one; the reason is beside the value.",
    ]


def test_there_is_a_table_for_each_dataset(section: Section) -> None:
    assert [plain(table.caption) for table in tables([section])] == [
        "Differences from reference rates on validation", "Differences from reference rates on rare-season"]


def test_a_row_tells_the_estimate_the_rate_and_the_difference_with_their_intervals(section: Section) -> None:
    first, second = tables([section])

    assert heads(first) == ["Measure", "Model", "Estimate", "Rival", "Rate", "Difference", "Verdict"]
    assert [line[:2] + line[3:] for line in lines(first)] == [
        ["ROC AUC", "Naive Bayes", "last <year>", "0.79 (0.76–0.82)", "+0.01 (−0.02 to +0.04)", "? undecided"],
        ["ROC AUC", "Naive Bayes", "a guess", "0.790", "+0.012 (+0.005 to +0.040)", "▲ better"]]
    assert lines(second)[0][5:] == ["undefined: no events", "– untested"]


def test_the_estimate_is_that_of_the_results(section: Section, rated: Results) -> None:
    estimate = next(e for e in rated.rows if (e.dataset, e.metric) == ("rare-season", "roc_auc"))

    assert lines(tables([section])[1])[0][2] == shown(estimate).text


def test_the_method_says_what_the_interval_takes_into_account(rated: Results, results: Results) -> None:
    assert list(sections(results)) == list(procedures(results)) == []
    assert [(procedure.name, procedure.text) for procedure in procedures(rated)] == [(
        "Reference rates",
        ("The interval of a difference includes the uncertainty of the estimate and, where the spec gives limits of "
         "the rate, that of the rate; otherwise the rate is taken as exact. It is not corrected for the number of "
         "differences."))]


def test_the_page_has_the_section_and_explains_the_interval(rated: Results) -> None:
    text = html_page(rated.model_copy(update={"curves": []})).decode("utf-8")

    assert '<h2 id="reference-rates-title">Reference rates</h2>' in text
    assert "last &lt;year&gt;" in text
    assert "or from a reference rate with limits, taken as independent samples" in text
