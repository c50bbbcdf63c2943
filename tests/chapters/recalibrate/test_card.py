"""The recalibration section of the card: what was fitted on what, before and after, the figures."""

from __future__ import annotations

import re
from typing import Any

import pytest

from card import groups
from card.blocks import blocks, column, content, heads, lines, paragraphs, rows, table, tables
from card.blocks import groups as headings
from chapters.recalibrate import variants
from chapters.recalibrate.variants import change
from evalpipe.calibration import registry as recalibrators
from evalpipe.card.figures import Drawing
from evalpipe.card.figures import drawings as all_drawings
from evalpipe.card.html import html_page
from evalpipe.card.page import Preformatted, plain
from evalpipe.chapters.compare import card as comparisons
from evalpipe.chapters.recalibrate import card
from evalpipe.chapters.recalibrate.card import (
    MEASURES_ABREAST,
    MOST_PANELS,
    drawings,
    fitted_words,
    procedures,
    sections,
)
from evalpipe.results import Recalibration, Results
from evalpipe.results.curves.residuals import ObservedPoints, ObservedPredictedSmooth, SmoothNotes

D, M = "validation", "model_0"
BEFORE, CHANGES = "Naive Bayes before and after", "Naive Bayes: differences of the recalibrated variants"
FITTED: dict[str, Any] = {
    "model": M, "variant": "v", "options": {}, "fitted_on": "calibration", "folds": None, "n": 10, "events": 4,
    "clipped": 0, "applied": [],
}


@pytest.fixture(scope="module")
def recalibrated(results: Results) -> Results:
    return variants.recalibrated(results)


def section(results: Results) -> list[Any]:
    """Return the section of the first dataset, in a list as `report.blocks` takes it."""
    return [next(iter(sections(results)))]


def differences(results: Results) -> list[Any]:
    """Return the section on the differences on the first dataset, likewise."""
    return [each for each in sections(results) if each.anchor == "recalibration-differences-1"]


def fits(results: Results) -> list[Any]:
    """Return the section on what was fitted for the first dataset, likewise."""
    return [next(each for each in sections(results) if each.anchor == "fitted-1")]


def lead(results: Results) -> list[str]:
    return paragraphs(section(results))[:2]


def command(results: Results) -> str:
    (found,) = [block.text for block in blocks(fits(results)) if isinstance(block, Preformatted)]
    return found


def first_model(results: Results) -> list[Drawing]:
    """Return the figures of the first model on the first dataset."""
    return [drawing for drawing in drawings(results, D) if drawing.key.startswith("d1-recalibration-1-")]


def test_each_judged_dataset_has_its_section(recalibrated: Results, build: Any) -> None:
    assert [(each.title, each.anchor, each.part) for each in sections(recalibrated)] == [
        ("Recalibration on validation", "recalibration-1", "calibration"),
        ("Differences by recalibration on validation", "recalibration-differences-1", "appendix"),
        ("Fitted recalibrators on validation", "fitted-1", "appendix"),
        ("Recalibration on rare-season", "recalibration-2", "calibration"),
        ("Differences by recalibration on rare-season", "recalibration-differences-2", "appendix"),
        ("Fitted recalibrators on rare-season", "fitted-2", "appendix"),
    ]
    only, its_differences, its_fits = sections(variants.recalibrated(build(datasets=1)))
    assert (only.title, its_differences.title, its_fits.title) == (
        "Recalibration", "Differences by recalibration", "Fitted recalibrators")
    assert paragraphs([only])[-1] == "All differences with their tests. What was fitted, and how to use it."
    assert list(sections(build(datasets=1))) == []


def test_the_lead_says_what_was_fitted_on_what_and_what_the_intervals_leave_out(recalibrated: Results) -> None:
    assert lead(recalibrated) == [
        ("Recalibrators were fitted on dataset calibration (1,588 rows, 1,073 events) and judged on validation. "
        "Nothing was fitted and judged on the same rows."),
        ("Differences are recalibrated variant minus original on the same rows, with 95% intervals. The intervals "
         "take the fitted recalibrators as fixed; a fit on other rows would differ. They do not allow for choosing "
         "the best of several methods. Each interval and its p-value are for one difference alone. Verdicts are "
         "corrected for all 33 differences tested in a table: the p-value adjusted for their number (Holm) must be "
         "below 0.05."),
    ]
    assert command(recalibrated) == "evalpipe recalibrate RESULTS model_0+logistic DATA -o OUT"
    assert tables(fits(recalibrated), "Naive Bayes: the fitted recalibrators")[0].caption == (
        "Naive Bayes: the fitted recalibrators")


def test_cross_fitting_is_told_with_its_folds_and_the_dataset_the_command_needs(results: Results) -> None:
    crossed = variants.recalibrated(results, folds=10)
    assert lead(crossed)[0] == (
        "Recalibrators were cross-fitted on validation (6,107 rows, 3,371 events) in 10 folds: the rows of each fold "
        "were recalibrated by a fit on the other folds. Nothing was fitted and judged on the same rows."
    )
    assert command(crossed) == "evalpipe recalibrate RESULTS model_0+logistic DATA -o OUT --fitted-on validation"
    assert table(fits(crossed), "Naive Bayes: the fitted recalibrators").caption == (
        "Naive Bayes: the fitted recalibrators, each fitted once more on all rows")


def test_one_method_is_not_chosen_from_several(results: Results) -> None:
    one = [r for r in variants.recalibrations(results) if r.variant == "beta"]
    kept = {"recalibration": one, "comparisons": [change(D, M, "beta", "brier", -0.02)]}
    assert lead(results.model_copy(update=kept))[1].endswith(
        "a fit on other rows would differ. A verdict is given where the adjusted p-value is below 0.05.")


def test_without_intervals_the_lead_speaks_of_none(recalibrated: Results) -> None:
    assert lead(recalibrated.model_copy(update={"comparisons": []}))[1] == (
        "Differences are recalibrated variant minus original on the same rows.")


def test_the_threshold_is_told_only_where_it_makes_the_predicted_levels(recalibrated: Results) -> None:
    given = recalibrated.models[1].model_copy(update={"columns": {"probability": "p", "prediction": "label"}})
    held = recalibrated.model_copy(update={"models": [recalibrated.models[0], given], "curves": []})
    said = "The threshold is the same before and after"
    assert said in html_page(recalibrated.model_copy(update={"curves": []})).decode("utf-8")
    assert said not in html_page(held).decode("utf-8")


def test_a_number_has_no_events(results: Results) -> None:
    bare = variants.recalibrations(results, events=None)
    assert "(1,588 rows)" in lead(results.model_copy(update={"recalibration": bare}))[0]


def test_before_and_after_has_a_row_a_variant_and_the_first_key_measures(recalibrated: Results) -> None:
    before = table(section(recalibrated), BEFORE)
    assert before.caption == "Naive Bayes before and after recalibration on validation, with 95% intervals"
    assert heads(before) == [
        "Predictions", "ROC AUC", "Brier score", "Log loss", "Accuracy", "Sensitivity", "Specificity"]
    assert column(before, "Predictions") == ["original", *variants.PARAMETERS]
    assert {len(row.cells) for row in rows(before)} == {1 + MEASURES_ABREAST}
    assert "2 further key measures are in estimates.csv; all differences stand in the annex." in paragraphs(
        section(recalibrated))
    value = {e.variant: e.value for e in recalibrated.rows if (e.dataset, e.model, e.metric) == (D, M, "brier")}
    assert [float(cell.exact) for cell in column(before, "Brier score")] == [
        value[variant] for variant in ("original", *variants.PARAMETERS)]


def test_the_number_of_measures_that_are_left_out_follows_from_those_that_are_shown(
    recalibrated: Results, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(card, "MEASURES_ABREAST", MEASURES_ABREAST + 1)
    assert "1 further key measure is in estimates.csv; all differences stand in the annex." in paragraphs(
        section(recalibrated))


def test_an_undefined_measure_says_why_before_and_after(recalibrated: Results) -> None:
    kept = [e for e in recalibrated.rows if e.variant != "beta" or e.metric != "brier"]
    before = table(section(recalibrated.model_copy(update={"rows": kept})), BEFORE)
    assert [line[2] for line in lines(before) if line[0] == "beta"] == ["–"]


def test_differences_stand_measure_by_measure_with_their_test_said_once(recalibrated: Results) -> None:
    changes = table(differences(recalibrated), CHANGES)
    assert len(rows(changes)) == 3 * len(headings(changes)) == 33
    assert "Brier score lower is better; test: Diebold-Mariano" in headings(changes)
    assert "Detection prevalence neither is better; test: bootstrap" in headings(changes)
    place = [plain(each.heading) if hasattr(each, "heading") else None for each in changes.rows].index(
        "Brier score lower is better; test: Diebold-Mariano")
    assert [[plain(cell) for cell in row.cells] for row in changes.rows[place + 1 : place + 4]] == [  # type: ignore[union-attr]
        ["logistic", "−0.020", "−0.026 to −0.014", "< 0.001", "0.001", "–", "▲ better"],
        ["isotonic", "−0.021", "−0.027 to −0.015", "< 0.001", "0.001", "–", "▲ better"],
        ["beta", "−0.022", "−0.028 to −0.016", "< 0.001", "0.001", "–", "▲ better"],
    ]


def test_unlike_tests_of_one_measure_stand_in_their_rows(recalibrated: Results) -> None:
    found = [change(D, M, "logistic", "roc_auc", 0.0, test="delong"), change(D, M, "beta", "roc_auc", 0.0)]
    changes = table(differences(recalibrated.model_copy(update={"comparisons": found})), CHANGES)
    assert headings(changes) == ["ROC AUC higher is better"]
    assert [line[3] for line in lines(changes)] == ["< 0.001 DeLong", "< 0.001 bootstrap"]


def test_differences_in_slices_are_counted_and_left_to_the_results(recalibrated: Results) -> None:
    found = [change(D, M, "beta", "brier", -0.02), change(D, M, "beta", "brier", -0.02, slice={"season": "a"})]
    held = recalibrated.model_copy(update={"comparisons": found, "curves": []})
    assert len(rows(table(differences(held), CHANGES))) == 1
    assert paragraphs(differences(held)).count("1 further difference, in slices, is in results.json.") == 1
    assert len(tables([*section(held), *fits(held)], "Gradient boosting")) == 2  # no table of differences
    assert "1 further difference, in slices, is in <code>results.json</code>." in html_page(held).decode()


def test_several_differences_in_slices_are_counted_in_the_plural(recalibrated: Results) -> None:
    within = [change(D, M, "beta", "brier", -0.02, slice={"season": season}) for season in "ab"]
    held = recalibrated.model_copy(update={"comparisons": within})
    assert "2 further differences, in slices, are in results.json." in paragraphs(differences(held))
    assert tables(differences(held), CHANGES) == []


def test_a_prior_shift_is_said_to_be_for_other_rows(results: Results) -> None:
    shifts = variants.recalibrations(results, method="prior_shift", parameters={"from": [0.3, 0.7], "to": [0.1, 0.9]})
    held = results.model_copy(update={"recalibration": shifts})
    assert paragraphs(section(held))[2] == (
        "A prior shift is meant for another prevalence than that of these rows: judge it by measures at that "
        "prevalence, not by those of the sample.")
    assert lines(table(fits(held), "Naive Bayes: the fitted"))[0][1:3] == ["Prior shift", "prevalence 0.300 → 0.1"]


def test_recalibrated_variants_are_no_comparison_of_models(recalibrated: Results, grouped: Results) -> None:
    assert list(comparisons.sections(recalibrated)) == []
    both = grouped.model_copy(update={"comparisons": [*grouped.comparisons, *recalibrated.comparisons]})
    assert [content(each) for each in comparisons.sections(both)] == [
        content(each) for each in comparisons.sections(grouped)]
    across = groups.compared(grouped, baseline=M, model=M, baseline_dataset="last year", variant="beta",
                             baseline_variant="beta")
    only, _ = comparisons.sections(grouped.model_copy(update={"comparisons": across}))
    assert {plain(each.caption).split(":")[0] for each in tables([only])} == {"Naive Bayes (beta)"}


@pytest.mark.parametrize(("method", "parameters", "words"), [
    ("logistic", {"intercept": 0.63559, "slope": 0.10207}, "intercept 0.636, slope 0.102"),
    ("platt", {"on": "logit", "intercept": -1.5, "slope": 2.0}, "intercept −1.500, slope 2"),
    ("beta", {"a": 1.55276, "b": 0.0, "intercept": 1.59249}, "a 1.553, b 0, intercept 1.592"),
    ("temperature", {"temperature": 2.4871}, "temperature 2.487"),
    ("prior_shift", {"from": [0.3, 0.7], "to": [0.25, 0.75]}, "prevalence 0.300 → 0.25"),
    ("prior_shift", {"from": [0.3, 0.5, 0.2], "to": [0.1, 0.1, 0.8]},
     "prevalence 0.300, 0.500, 0.200 → 0.1, 0.1, 0.8"),
    ("logistic_spline", {"on": "logit", "at": [0.1], "log_odds": [0.0], "lambda": 0.1, "edf": 3.9329},
     "3.9 effective degrees of freedom"),
    ("isotonic", {"interpolate": "step", "at": [0.1, 0.2], "value": [0.0, 1.0]}, "2 steps"),
    ("isotonic", {"interpolate": "step", "at": [0.1], "value": [0.5]}, "1 step"),
    ("isotonic", {"interpolate": "linear", "at": [0.1, 0.2], "value": [0.0, 1.0]}, "2 corners"),
    ("histogram", {"at": [0.1, 0.2, 0.3], "value": [0.0, 0.5, 1.0]}, "3 bins"),
    ("venn_abers", {"at_0": [0.1], "value_0": [0.5], "at_1": [0.1, 0.2], "value_1": [0.5, 0.6]}, "1 and 2 steps"),
    ("multinomial", {"coefficients": [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]}, "2 × 3 coefficients"),
    ("one_vs_rest", {"method": "isotonic", "at": [[0.1], [0.2]], "value": [[0.5], [0.5]]},
     "one function for each level"),
    ("later", {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0, "e": 5.0}, "in results.json"),
])  # fmt: skip
def test_what_was_fitted_is_said_in_few_words(method: str, parameters: dict[str, Any], words: str) -> None:
    assert fitted_words(Recalibration(**FITTED, method=method, parameters=parameters)) == words


def test_the_fitted_recalibrators_are_listed_with_what_they_make(recalibrated: Results) -> None:
    assert lines(table(fits(recalibrated), "Naive Bayes: the fitted recalibrators"))[1] == [
        "isotonic", "Isotonic regression", "3 steps", "990 → 3", "26 / 30"]


def test_the_words_for_methods_are_those_of_the_registry(recalibrated: Results) -> None:
    said = list(procedures(recalibrated))
    logistic = recalibrators["logistic"]
    assert (said[1].text, said[1].reference) == (logistic.text, logistic.reference)
    assert [procedure.name for procedure in said] == [
        "Fit", "Logistic recalibration", "Isotonic regression", "Beta calibration"]
    assert "kept for this" in said[0].text
    crossed = recalibrated.model_copy(update={"recalibration": variants.recalibrations(recalibrated, 10)})
    assert "split at random into folds" in next(procedures(crossed)).text


def test_a_run_without_recalibration_says_nothing_of_it(results: Results) -> None:
    assert list(procedures(results)) == []
    assert "ecalibrat" not in html_page(results.model_copy(update={"curves": []})).decode().split("</style>")[-1]


def test_the_page_has_the_section_in_its_contents_and_in_order(recalibrated: Results) -> None:
    text = html_page(recalibrated).decode("utf-8")
    for place, name in enumerate(("validation", "rare-season"), 1):
        assert f'<li><a href="#recalibration-{place}">Recalibration on {name}</a></li>' in text
    for words in (
        "<dt>Naive Bayes: recalibration is a real gain.</dt>",
        "<code>evalpipe recalibrate RESULTS model_0+logistic DATA -o OUT</code>",
        ('<tr class="group"><th scope="rowgroup" colspan="6">Brier score <span class="options">lower is better; test: '
        "Diebold-Mariano</span></th></tr>"),
        '<td class="num" data-label="Distinct predictions"><span>990 → 3</span></td>',
        "2 further key measures are in <code>estimates.csv</code>; all differences stand in the annex.",
        "<h3>Recalibration</h3>", '<a href="#ref-cox-1958">Cox (1958)</a>',
        '<a href="#fitted-1">What was fitted, and how to use it.</a>',
    ):
        assert words in text, words
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert text.count("<table") == text.count("<caption>")
    assert [int(n) for n in re.findall(r"<b>Figure (\d+)\.", text)] == list(range(1, text.count("<figcaption>") + 1))
    order = [text.index(f'id="{name}"') for name in (
        "dataset-2", "calibration-2", "recalibration-1", "recalibration-2", "decisions-1", "data", "fitted-1")]
    assert order == sorted(order)


def test_margins_have_a_column_where_there_are_some(recalibrated: Results) -> None:
    found = [change(D, M, "beta", "brier", -0.02, margin=0.01)]
    text = html_page(recalibrated.model_copy(update={"comparisons": found, "curves": []})).decode("utf-8")
    assert '<td class="num margin side" data-label="Margin"><span>±0.01</span></td>' in text
    assert 'colspan="7"' in text


def test_the_command_names_the_dataset_where_there_are_several(results: Results) -> None:
    text = html_page(variants.recalibrated(results.model_copy(update={"curves": []}), folds=5)).decode("utf-8")
    assert "DATA -o OUT --fitted-on rare-season</code>" in text
    assert "the fitted recalibrators, each fitted once more on all rows</b></caption>" in text


def test_the_datasets_that_recalibrators_are_fitted_on_are_said_to_be_that(recalibrated: Results) -> None:
    apart = {"name": "calibration", "role": "calibrate"}
    held = recalibrated.model_copy(update={
        "curves": [],
        "datasets": [*recalibrated.datasets, recalibrated.datasets[0].model_copy(update=apart)],
        "inputs": [*recalibrated.inputs, recalibrated.inputs[0].model_copy(update={
            "dataset": "calibration", "role": "calibrate"})],
    })
    text = html_page(held).decode("utf-8").replace("\n<td>", "<td>")
    assert "<h3>calibration (for recalibrators and thresholds; not evaluated)</h3>" in text
    assert '<th scope="row">calibration</th><td>calibration: for recalibrators and thresholds</td>' in text
    assert '<th scope="row">validation</th><td>evaluation</td>' in text


def test_a_figure_shows_the_original_beside_its_variants_and_says_what_it_shows(recalibrated: Results) -> None:
    (drawing,) = first_model(recalibrated)
    assert drawing.title == "Naive Bayes before and after recalibration"
    assert drawing.alt.startswith(
        "Reliability of Naive Bayes on validation before and after recalibration, bins of equal count. original: in ")
    parts = re.findall(r"(\w+): in (\d+) of \d+ bins the interval excludes the diagonal; widest gap", drawing.alt)
    assert [name for name, _ in parts] == ["original", *variants.PARAMETERS]
    for name in ("original", *variants.PARAMETERS):
        assert f">{name}</text>" in drawing.svg
    assert "Bars are 95% intervals (Clopper-Pearson)." in drawing.caption


def test_more_variants_than_panels_continue_beside_the_original_again(recalibrated: Results) -> None:
    own = [c for c in recalibrated.curves if c.variant == "original"]
    many = [c.model_copy(update={"variant": f"v{i}"}) for c in own for i in range(MOST_PANELS + 1)]
    drawn = first_model(recalibrated.model_copy(update={"curves": [*own, *many]}))
    assert [re.findall(r"(\w+): in ", drawing.alt) for drawing in drawn] == [
        ["original", "v0", "v1", "v2", "v3", "v4"], ["original", "v5", "v6"]]
    assert len({drawing.key for drawing in drawn}) == 2


def test_bins_of_equal_width_serve_where_there_are_no_others(recalibrated: Results) -> None:
    kept = [c for c in recalibrated.curves if c.curve == "calibration_uniform"]
    (drawing,) = first_model(recalibrated.model_copy(update={"curves": kept}))
    assert "bins of equal width" in drawing.alt
    assert "Below" not in drawing.caption


def test_variants_change_no_other_figure(results: Results, recalibrated: Results) -> None:
    assert [d.svg for d in all_drawings(recalibrated, D)] == [d.svg for d in all_drawings(results, D)]
    assert list(drawings(results, D)) == []


def test_a_number_is_drawn_observed_against_predicted(recalibrated: Results) -> None:
    at = [1.0, 2.0, 3.0]
    own, after = (
        ObservedPredictedSmooth(
            curve="observed_predicted_smooth", dataset=D, model=M, variant=variant,
            points=ObservedPoints(predicted=at, observed=line), notes=SmoothNotes())
        for variant, line in (("original", [1.5, 2.0, 2.0]), ("linear", [1.25, 2.0, 3.0]))
    )
    held = recalibrated.model_copy(update={"curves": [own, after], "unit": "visits"})
    (drawing,) = first_model(held)
    assert drawing.alt == (
        "Observed against predicted for Naive Bayes on validation before and after recalibration. original: the line "
        "is furthest from the diagonal where 3 is predicted, at 2. linear: the line is furthest from the diagonal "
        "where 1 is predicted, at 1.250."
    )
    assert "Observed (visits)" in drawing.svg
