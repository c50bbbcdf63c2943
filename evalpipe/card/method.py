"""The card's section on the method: rules, what replicates drew, intervals, recalibration, procedures."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from evalpipe.base import constants
from evalpipe.card import wording
from evalpipe.card.page import Facts, Heading, Section, Text
from evalpipe.card.references import cited
from evalpipe.chapters import functions
from evalpipe.intervals.declare import registry
from evalpipe.results.curves.calibration import Reliability
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.card.page import Block, Cell
    from evalpipe.intervals.declare import IntervalMethod
    from evalpipe.results import Results


RECALIBRATION, DIFFERENCES = "Recalibration", "Bands, differences and slices"

HEADINGS = (RECALIBRATION, DIFFERENCES)
"""The headings that procedures are under, in the order of the section on the method."""


@dataclass(frozen=True, slots=True)
class Procedure:
    """What is done, and who says so; ``heading`` is one of `HEADINGS`."""

    name: str
    text: str
    reference: str | None = None
    heading: str = DIFFERENCES


BANDS = Procedure(
    "Bands",
    "Around a curve, or the bins of a reliability diagram. At each point: limits of that point alone; they cover the "
    "whole curve less often. For the whole curve: a sup-t band, the standard error over the replicates times a "
    "quantile of their largest standardised distance from the curve. For all bins together: binomial limits at the "
    "higher level at which independent bins reach the stated level together.",
    "Montiel Olea, J. L. & Plagborg-Møller, M. (2019). Simultaneous confidence bands: theory, implementation, and an "
    "application to SVARs. Journal of Applied Econometrics 34(1), 1–17.",
)


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield the method note on bands for whole curves, where a curve of the results has one."""
    bands = (curve.points.columns.get("simultaneous_lower", ()) for curve in results.curves)
    if any(limit is not None for band in bands for limit in band):
        yield BANDS


DRAW_MODES = {"rows": "row by row", "clusters": "in whole clusters", "groups": "in random groups of whole clusters",
         "cells": "in cells of like rows"}


def draw_sentences(results: Results) -> Iterator[str]:
    """Yield for each dataset a text that says how its replicates were drawn, and what is lost within its cells."""
    for name in dict.fromkeys(draw.dataset for draw in results.intervals.draws):
        draws = [draw for draw in results.intervals.draws if draw.dataset == name]
        sentences = f"Replicates of {name} are drawn {DRAW_MODES[draws[0].mode]}: {draws[0].reason}."
        if draws[0].mode == "cells":
            is_apart = len(draws[0].models) < len({model for draw in draws for model in draw.models})
            cells = numbers.count(max(draw.units for draw in draws if draw.slicing is None))
            sentences += f" All rows are {cells} cells{' for each model' if is_apart else ''}"
            slicing_units = [draw.units for draw in draws if draw.slicing is not None]
            if slicing_units:
                sentences += f"; each slicing is drawn apart, in up to {numbers.count(max(slicing_units))}"
            sentences += "."
        lost = max(draw.lost for draw in draws)
        if lost:
            sentences += f" At most {100 * lost:.2g}% of the variance of any model’s predictions lies within cells."
        yield sentences


AVERAGES = (
    "Measures of an event take each class as the event, against all others. Mean over classes: all classes count the "
    "same (macro). By size: classes count by their true rows (macro weighted). Pooled: the counts of all classes are "
    "added first (micro). A class in which the measure is undefined is left out, and the mean is marked degenerate."
)
TIES = (
    "Rows of equal probability make one point of a curve and share a bin. In the ROC AUC, a tied pair of an event "
    "and a non-event counts one half. The order of the rows changes nothing."
)
RESIDUALS = (
    "A residual is the observed value minus the prediction: above zero where the prediction is too low. The order of "
    "the rows changes nothing."
)


BIN_KINDS = {"uniform": "of equal width", "quantile": "of equal count"}
"""What bins are called, in the words of a sentence."""


def sections(results: Results) -> Iterator[Section]:
    """Yield the section on the method: rules, intervals and procedures."""
    yield Section("method", "Method", (Heading("Rules"), Facts(tuple(_rule_facts(results)), "rules"),
                                       *_interval_blocks(results), *_procedure_blocks(results)), part="appendix")


ON_LOG_ODDS = frozenset({
    "calibration_in_the_large", "calibration_intercept", "calibration_slope", "ici", "e90", "emax",
    "calibration_logistic", "calibration_spline"})
"""Measures of a line or curve on the log odds, and these curves."""


def _rule_facts(results: Results) -> Iterator[tuple[str, str]]:
    """Yield rules, (term, text): prediction, ties, weights, clipping, digits, no information, undefined, bins."""
    if not results.datasets:
        yield "Digits", _digits_rule_text()
        return
    predicted_levels_rule = "A model that gives predicted levels is judged by them."
    if results.event is not None:
        yield "Predicted levels", (f"A row is predicted as {results.event} when its probability is at least the "
                                   f"threshold, p ≥ t. {predicted_levels_rule}")
    elif results.levels:
        yield "Predicted levels", ("The most probable level is predicted; ties go to the first level in order. "
                                   f"{predicted_levels_rule}")
        if any(estimate.average is not None for estimate in results.rows):
            yield "Averages over classes", AVERAGES
    yield ("Ties", TIES) if results.levels else ("Residuals", RESIDUALS)
    yield "Weights", f"Case weights: {weighting_text(results)}."
    epsilons = sorted({float(e.params["epsilon"]) for e in results.rows if "epsilon" in e.params})
    clipping = ""
    if epsilons:
        clipping = ("For logarithms, probabilities are limited to the range from ε to 1 − ε with ε = "
                    f"{', '.join(map(numbers.plain, epsilons))}. The warnings count the rows concerned. ")
    names = (*(row.metric for row in (*results.rows, *results.diagnostics)), *(curve.curve for curve in results.curves))
    if not ON_LOG_ODDS.isdisjoint(names):
        clipping += ("For log odds, as of the calibration slope, probabilities are limited so with ε = "
                     f"{numbers.plain(constants.LOG_ODDS_CLIP)}.")
    if clipping:
        yield "Clipping", clipping.strip()
    yield "Digits", _digits_rule_text()
    if any(estimate.no_information is not None for estimate in results.rows):
        yield "Without information", (
            "The value that a measure would have if outcome and prediction were independent. It is the mean over all "
            "pairings of outcomes with predictions, exact where a closed form exists, otherwise over "
            f"{numbers.count(results.intervals.pairings)} random pairings. Skill is 0 at this value and 1 at the best "
            "value.")
    yield "Undefined", (
        "A measure without a value is shown as undefined, with the reason, and never as 0. Bootstrap replicates in "
        "which it is undefined are left out and counted; where they are more than "
        f"{wording.level(constants.TOLERATED)} of all, the estimate is marked degenerate.")
    yield from _reliability_rule(results)


def weighting_text(results: Results) -> str:
    """Return what case weights mean, as in "column w, frequency weights: …", or that there are none."""
    chosen = any(row.selected != "random" for row in results.labelled)
    selection = "each row with an outcome counts for those that it stands for; see Labels" if chosen else ""
    if results.weight is None:
        return selection or "none; every row counts once"
    meaning = {
        "frequency": "frequency weights: a row stands for that many identical rows",
        "importance": "importance weights: a row counts in proportion to its weight",
    }
    column, kind = results.weight.get("column"), meaning.get(results.weight.get("kind", ""))
    weights = ", ".join(filter(None, (column and f"column {column}", kind))) or "yes"
    return "; ".join(filter(None, (weights, selection)))


def _digits_rule_text() -> str:
    few, many, most = map(wording.number_word, (numbers.USUAL_DIGITS, numbers.GIVEN_DIGITS, numbers.MOST_DECIMALS))
    return ("A number with an interval has the decimals that the interval supports: half its width has one "
            "significant digit, or two where the first is 1. Numbers in one row of a table share their decimals. "
            f"There are more, at most {most}, where a number would otherwise read as 0 or 1, a limit below 0 as 0, or "
            f"a limit as the value it is compared with. A number without an interval has {few} significant digits, "
            f"and so has a prevalence or a threshold that would have more than {many}. Shares of rows are in per cent "
            "with one decimal. Exact values: the tooltips of the HTML, estimates.csv, results.json.")


def _reliability_rule(results: Results) -> Iterator[tuple[str, str]]:
    """Yield the rule on the bins of reliability diagrams and their intervals; nothing without diagrams."""
    diagrams = [curve for curve in results.curves if isinstance(curve, Reliability)]
    if not diagrams:
        return
    bins = wording.capital(wording.number_word(max(curve.notes.bins_requested or 0 for curve in diagrams)))
    bin_kinds = {curve.curve.rpartition("_")[2] for curve in diagrams}
    kinds = " and ".join(words for kind, words in BIN_KINDS.items() if kind in bin_kinds)
    method_names = dict.fromkeys(curve.method for curve in diagrams if curve.method is not None)
    methods = ", ".join(map(wording.interval_method_title, method_names)) or wording.interval_method_title("none")
    position = "mean predicted probability" if diagrams[0].points.midpoint is None else "middle"
    yield "Reliability", (
        f"{bins} bins are requested, {kinds}; empty bins are not drawn. Each bin is drawn at its {position}. Interval "
        f"in each bin: {methods}.{wording.cautions(method_names)}")


def _interval_blocks(results: Results) -> Iterator[Block]:
    """Yield the level of the intervals, how replicates were drawn, and the methods used; nothing without datasets."""
    if not results.datasets:
        return
    yield Heading("Intervals")
    settings = results.intervals
    with_limits = any(row.lower is not None for table in (results.rows, results.comparisons, results.slice_differences)
                for row in table)
    yield Text(
        f"Level {wording.level(settings.level)}. Bootstrap: {numbers.count(settings.replicates)} replicates, seed "
        f"{settings.seed}." if with_limits else "No measure has an interval.")
    yield from map(Text, draw_sentences(results))
    entries = tuple((wording.capital(method.title), _with_citation(method.text, method.ref))
                    for method in _interval_methods(results))
    if entries:
        yield Facts(entries, "rules")


def _interval_methods(results: Results) -> list[IntervalMethod]:
    """Return the interval methods of all limits in the results, in the order of their declaration."""
    names = {curve.method for curve in results.curves if curve.method is not None}
    names |= {estimate.method for estimate in results.rows if estimate.value is not None}
    tables = (results.gates, results.comparisons, results.reference_rates, results.slice_differences, results.repeats,
              results.optimism)
    for rows in tables:
        names |= {row.method for row in rows if row.lower is not None}
    return [method for name, method in registry.items() if name in names]


def _with_citation(text: str, reference: str | None) -> Cell:
    """Return a text followed by its reference, if it has one, as pieces with links."""
    return (text, " ", *cited(reference)) if reference else text


def _all_procedures(results: Results) -> list[Procedure]:
    """Return the procedures that the results used: bands, and those of the chapters."""
    return [*chain(procedures(results), *(explain(results) for explain in functions("card", "procedures")))]


def references(results: Results) -> Iterator[str]:
    """Yield the references of the interval methods and procedures that the results used."""
    cites = [*(method.ref for method in _interval_methods(results)),
             *(done.reference for done in _all_procedures(results))]
    yield from (reference for reference in cites if reference is not None)


def _procedure_blocks(results: Results) -> Iterator[Block]:
    """Yield each of `HEADINGS` that has procedures, and the procedures under it."""
    all_procedures = _all_procedures(results)
    for heading in HEADINGS:
        entries = tuple((procedure.name, _with_citation(procedure.text, procedure.reference))
                        for procedure in all_procedures if procedure.heading == heading)
        if entries:
            yield Heading(heading)
            yield Facts(entries, "rules")
