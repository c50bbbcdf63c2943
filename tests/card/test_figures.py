from __future__ import annotations

import re
import subprocess
import sys
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from card.drawn import of_figure
from evalpipe.card.figures import drawings, formula, formula_svg
from evalpipe.card.figures.axes import width
from evalpipe.card.figures.context import figure_of, figures
from evalpipe.card.figures.svg import stacks
from evalpipe.card.tables import shown
from evalpipe.chapters.prevalence.card import prevalence_figures
from evalpipe.metrics import registry
from evalpipe.results import Results
from evalpipe.results.curves.calibration import Histogram, Ks, Refinement, Reliability
from evalpipe.results.curves.events import Roc, Thresholds

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalpipe.card.figures import Drawing
    from evalpipe.results import Curve

TITLES = [
    "Estimates with intervals", "ROC curve", "Precision-recall curve",
    "True and false positive rate by threshold", "Cumulative gain", "Lift", "Calibration",
    "Reliability, bins of equal width", "Reliability, bins of equal count", "Reliability, moving windows",
    "Reliability, smooth curves", "Predicted probabilities by level", "K-S chart",
]
PREVALENCE = [
    "Observed and declared prevalence", "Predictive values by prevalence",
    "Predictive values by sensitivity at the declared prevalence",
    "Predictive values by specificity at the declared prevalence",
]


@pytest.fixture(scope="module")
def drawn(results: Results) -> dict[str, Drawing]:
    found = (*drawings(results, "validation"), *prevalence_figures(results, "validation"))
    return {drawing.title: drawing for drawing in found}


def test_every_figure_is_drawn(drawn: dict[str, Drawing]) -> None:
    assert list(drawn) == [*TITLES, *PREVALENCE]


@pytest.mark.parametrize("title", [*TITLES, *PREVALENCE])
def test_a_figure_is_well_formed_and_says_what_it_shows(drawn: dict[str, Drawing], title: str) -> None:
    drawing = drawn[title]
    for svg in (*drawing.svgs, *drawing.images):
        root = ET.fromstring(svg)  # noqa: S314 - our own text
        assert root.get("width") == "330"
    assert len(drawing.images) == len(drawing.svgs)
    assert re.search(r"\d", drawing.finding)
    assert drawing.finding.endswith(".")
    assert drawing.points
    assert re.search(r"\d", drawing.alt)
    assert "Naive Bayes" in drawing.alt or title == "Observed and declared prevalence"
    assert "validation" in drawing.alt
    assert drawing.alt.endswith(".")


@pytest.mark.parametrize("title", [*TITLES, *PREVALENCE])
def test_a_figure_carries_no_style_script_date_or_foreign_address(drawn: dict[str, Drawing], title: str) -> None:
    assert not re.search(r"<style|style=|<script|<metadata|https?:|<!--|matplotlib", drawn[title].svg, re.IGNORECASE)


def test_keys_are_unique_in_the_page_and_nothing_in_a_figure_needs_an_id(results: Results) -> None:
    drawn = [d for name in ("validation", "rare-season")
             for d in (*drawings(results, name), *prevalence_figures(results, name))]
    assert len({drawing.key for drawing in drawn}) == len(drawn) > 0
    assert not re.search(r" id=|url\(|href=", "".join(drawing.svg for drawing in drawn))


def test_the_roc_text_has_the_area_and_the_operating_point(drawn: dict[str, Drawing], results: Results) -> None:
    area = next(e for e in results.rows if (e.dataset, e.metric, e.model) == ("validation", "roc_auc", "model_0"))
    assert f"Naive Bayes: ROC AUC {shown(area).text}" in drawn["ROC curve"].alt
    (tp, fn), _ = next(c.counts for c in results.confusion if c.dataset == "validation")
    assert f"at threshold 0.5 sensitivity {tp / (tp + fn):.3f}" in drawn["ROC curve"].alt


def test_the_reliability_text_counts_bins_that_miss_the_diagonal(results: Results) -> None:
    points: dict[str, list[float | None]] = {
        "mean_probability": [0.2, 0.8], "event_rate": [0.2, 0.3], "lower": [0.1, 0.2], "upper": [0.3, 0.4],
        "weight": [9.0, 9.0], "rows": [9.0, 9.0],
    }
    name, notes = "calibration_uniform", {"method": "wilson"}
    curve = Reliability(dataset="validation", model="model_0", curve=name, points=points, notes=notes)
    (drawing,) = of_figure(results.model_copy(update={"curves": [curve]}), "validation", "reliability")
    assert "width" in drawing.title
    assert drawing.alt == (
        "Reliability diagram on validation, bins of equal width. Naive Bayes: in 1 of 2 bins the interval excludes the "
        "diagonal; widest gap at mean probability 0.800, where the share of events is 0.300."
    )
    assert "Bars are 95% intervals (Wilson score)." in drawing.caption


@pytest.mark.parametrize("together", [False, True])
def test_no_label_of_a_line_lies_on_an_interval(results: Results, together: bool) -> None:
    long: dict[str, list[float | None]] = {"lower": [0.0] * 4, "upper": [0.97] * 4}
    short: dict[str, list[float | None]] = {"lower": [0.5] * 4, "upper": [0.6] * 4}
    limits = short | {f"simultaneous_{end}": values for end, values in long.items()} if together else long
    points = {"mean_probability": [0.16, 0.29, 0.32, 0.9], "event_rate": [0.5] * 4, "weight": [9.0] * 4,
              "rows": [9.0] * 4} | limits
    curve = Reliability(dataset="validation", model="model_0", curve="calibration_uniform", points=points,
                        notes={"method": "wilson"})
    (drawing,) = of_figure(results.model_copy(update={"curves": [curve]}), "validation", "reliability")
    bars = re.findall(r'class="(?:range|thin) m0" d="((?:M[\d.]+,[\d.]+V[\d.]+)+)"', drawing.svg)
    ends = [tuple(map(float, bar)) for bar in re.findall(r"M([\d.]+),([\d.]+)V([\d.]+)", "".join(bars))]
    assert len(ends) == 4 * len(bars) == (8 if together else 4)
    for label in ("Naive Bayes", "Perfect calibration"):
        placed = re.search(rf'x="([\d.]+)" y="([\d.]+)"[^>]*>{label}<', drawing.svg)
        assert placed is not None
        left, base = map(float, placed.groups())
        assert [x for x, low, high in ends if left <= x <= left + width(label) and high - 4 < base < low + 12] == []


def test_without_curves_only_the_estimates_are_drawn(results: Results) -> None:
    bare = results.model_copy(update={"curves": [], "confusion": []})
    assert [d.title for d in drawings(bare, "validation")] == TITLES[:1]
    assert [d.title for d in prevalence_figures(bare, "validation")] == PREVALENCE[:1]
    assert prevalence_figures(bare, "validation", first=False) == ()


def test_the_ks_text_has_the_distance(drawn: dict[str, Drawing], results: Results) -> None:
    notes = next(c.notes for c in results.curves if (c.dataset, c.curve) == ("validation", "ks"))
    assert f"Naive Bayes: largest distance {notes.statistic:.3f} at score" in drawn["K-S chart"].alt


def test_the_prevalences_are_told(drawn: dict[str, Drawing], results: Results) -> None:
    observed = next(d.prevalence for d in results.datasets if d.name == "validation")
    assert results.prevalence is not None
    alt = drawn[PREVALENCE[0]].alt
    assert f"validation, observed: {observed:.3f}." in alt
    assert f"declared: {results.prevalence.value}." in alt


def test_predictive_values_are_told_at_both_prevalences(drawn: dict[str, Drawing], results: Results) -> None:
    notes = next(c.notes for c in results.curves if (c.dataset, c.curve) == ("validation", "predictive_values"))
    alt = drawn[PREVALENCE[1]].alt
    assert f"declared prevalence 0.555 PPV {notes.ppv_declared:.3f} and NPV {notes.npv_declared:.3f}." in alt
    assert f"Naive Bayes: sensitivity {notes.sensitivity:.3f}, specificity" in drawn[PREVALENCE[2]].alt


def test_the_users_matplotlib_settings_change_nothing_and_are_kept(results: Results, drawn: dict[str, Drawing]) -> None:
    import matplotlib as mpl

    with mpl.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.hashsalt": "other"}):
        again = (*drawings(results, "validation"), *prevalence_figures(results, "validation"))
        assert mpl.rcParams["font.size"] == 30
    assert [d.svg for d in again] == [d.svg for d in drawn.values()]


def test_names_in_other_scripts_and_with_signs_are_drawn(results: Results) -> None:
    models = [results.models[0].model_copy(update={"label": "模型 $x_1$ <&>"}), results.models[1]]
    (drawing,) = of_figure(results.model_copy(update={"models": models}), "validation", "roc")
    assert "模型 $x_1$ &lt;&amp;&gt;" in drawing.svg


def test_a_formula_is_outlines_with_its_latex_as_text() -> None:
    svg = formula_svg(r"\frac{TP}{TP+FN}", "formula-x")
    assert '<title id="formula-x-title">\\frac{TP}{TP+FN}</title>' in svg
    assert "<text" not in svg


def test_the_outlines_of_a_formula_are_those_of_its_letters_in_steps_from_point_to_point() -> None:
    latex = r"P(s_1>s_0)+\frac{1}{2}P(s_1=s_0)"
    outlines, (known,) = formula.typeset_formulas([latex])[0], formula.typeset_formulas([latex])[1].values()
    assert known is not None
    pieces = [(command, points) for command, points in formula._path_commands(known, outlines) if points]
    left, high = min(x for _, p in pieces for x, _ in p), max(y for _, p in pieces for _, y in p)
    expected = [(round(p[-1][0] - left + formula.PAD), round(high + formula.PAD - p[-1][1])) for _, p in pieces]
    path = re.search(r' d="([^"]*)"', formula_svg(latex, "formula-s") or "")
    assert path is not None
    at, reached = (0, 0), []
    for letter, text in re.findall("([Mlhvqcz])([^Mlhvqcz]*)", path[1]):
        steps = [int(step) for step in re.findall(r"-?\d+", text)]
        each = {"l": 2, "M": 2, "q": 4, "c": 6}.get(letter, 1)
        for k in range(0, len(steps), each):
            last = steps[k : k + each][-2:]
            across, down = (last[0], 0) if letter == "h" else (0, last[0]) if letter == "v" else last
            at = (across, down) if letter == "M" else (at[0] + across, at[1] + down)
            reached.append(at)
    assert len(reached) > 100
    assert [point for point, _ in groupby(reached)] == [point for point, _ in groupby(expected)]


def test_a_formula_that_cannot_be_set_is_left_to_its_latex() -> None:
    assert formula_svg(r"\unknown{TP}", "formula-y") is None


def test_figures_stand_in_the_order_of_their_places() -> None:
    assert [figure.name for figure in figures()] == [
        "forest", "roc", "precision_recall", "rates", "true_and_false_positives", "gain", "lift", "net_benefit",
        "calibration", "reliability", "reliability", "windows", "smooth", "refinement", "histogram",
        "kolmogorov_smirnov", "roc_of_classes", "precision_recall_of_classes", "reliability_of_classes",
        "reliability_of_cuts", "top_label", "levels", "observed_predicted", "predicted_observed", "residual_predicted",
        "deviance_residuals", "pearson_residuals", "scale_location", "half_normal", "histogram", "residual_against",
        "residual_order", "distribution", "boxes", "rootogram",
    ]
    with pytest.raises(ValueError, match=r"^the place 20 of figure 'late' is that of 'roc'$"):
        figure_of(Roc, part="results", place=20)(late)


def late(*_: object) -> None:
    """Draw nothing."""


@pytest.mark.parametrize(("panels", "sheets"), [(1, [1]), (3, [3]), (4, [2, 2]), (6, [3, 3]), (7, [3, 3, 1])])
def test_at_most_three_panels_stand_one_below_the_other(panels: int, sheets: list[int]) -> None:
    assert [len(together) for together in stacks(range(panels))] == sheets


@pytest.mark.parametrize(("name", "curve"), [
    ("histogram", Histogram), ("kolmogorov_smirnov", Ks), ("rates", Thresholds), ("refinement", Refinement)])
def test_panels_of_many_models_stand_on_sheets_side_by_side(
    example: Callable[[str], Path], name: str, curve: type[Curve]
) -> None:
    results = Results.read(example("desirability") / "results.json")
    models = [model for model in results.models if any(
        isinstance(drawn, curve) and drawn.model == model.name for drawn in results.curves)]
    assert len(models) == 6
    (drawing,) = of_figure(results, results.datasets[0].name, name)
    assert [[f">{model.label}<" in svg for model in models] for svg in drawing.svgs] == [
        [True] * 3 + [False] * 3, [False] * 3 + [True] * 3]


def test_the_formulas_of_measures_are_set_in_advance_as_mathtext_sets_them() -> None:
    formulas = {entry.formula for entry in registry if entry.formula}
    outlines, known = formula.read_preset_formulas()
    assert set(known) == formulas
    assert [latex for latex, drawn in known.items() if drawn is None] == []
    some = sorted(formulas)[::9]
    again, fresh = formula.typeset_formulas(some)
    assert {latex: known[latex] for latex in some} == fresh
    assert {name: outlines[name] for name in again} == again


def test_a_formula_of_a_measure_needs_no_matplotlib() -> None:
    code = ("import sys; from evalpipe.card.figures import formula_svg; "
            r"print(formula_svg(r'\frac{TP}{TP+FN}', 'x')[:4], 'matplotlib' in sys.modules)")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == (
        "<svg False\n")


def test_a_formula_of_another_measure_is_set_when_it_is_shown() -> None:
    latex = r"\frac{1}{2}\sqrt{x}"
    assert latex not in formula.read_preset_formulas()[1]
    svg = formula_svg(latex, "formula-z")
    assert svg is not None
    assert svg.startswith('<svg class="formula" width="')
    assert 'viewBox="0 0 ' in svg
