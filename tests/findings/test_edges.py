"""Each rule where its claim is so, where it is not, and on the very edge: the numbers of a run replaced by hand.

A claim alone is tested at the level of the run, so an interval that ends at what is tested decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

import evalpipe
from evalpipe.findings import rules
from evalpipe.findings.margins import DEFAULTS, against_margin
from evalpipe.findings.models import _percent
from evalpipe.findings.words import finding
from evalpipe.results import Results, Warned
from evalpipe.words.numbers import fixed
from findings.faults import FAULTS
from findings.planted import BINARY, COST, LEVELS, NUMBERS, Spec, amounts, counts, events, levels, spec_of
from findings.rule import only

EDGE = 1e-6


@pytest.fixture(scope="module")
def runs() -> dict[str, Results]:
    """Return a clean run of each task."""
    frames = {"binary": events(60), "regression": amounts(61), "count": counts(62), "multiclass": levels(63)}
    more: dict[str, Spec] = {
        "binary": {"models": BINARY, "costs": COST, "threshold": 0.5, "equivocal": 0.05, "metrics": ["brier"],
                   "outcome": {"column": "y", "event": 1, "levels": [0, 1]}},
        "regression": {"models": NUMBERS}, "count": {"models": NUMBERS},
        "multiclass": {"models": LEVELS, "outcome": {"column": "y", "levels": ["low", "mid", "top"]}},
    }
    return {task: evalpipe.run(spec_of({"d": frame}, task, **more[task]), frames={"d": frame})
            for task, frame in frames.items()}


def replaced(results: Results, metric: str, **numbers: Any) -> Results:
    """Return results in which the estimates of a measure have other numbers."""
    return results.model_copy(update={
        table: [row.model_copy(update=numbers) if row.metric == metric else row for row in getattr(results, table)]
        for table in ("rows", "diagnostics")})


NO_MARGIN = EDGE / 1000


def with_margins(results: Results, size: float) -> Results:
    """Return results whose spec has this margin for every kind of effect."""
    return results.model_copy(update={"spec": results.spec | {"margins": dict.fromkeys(DEFAULTS, size)}})


OF_MEASURES = [
    ("probabilities_on_average", "binary", "calibration_in_the_large", 0.0, "too low", "too high", "agree with"),
    ("probabilities_spread", "binary", "calibration_slope", 1.0, "underconfident", "overconfident", None),
    ("ranking", "binary", "roc_auc", 0.5, "ranks events above", "wrong direction", "do not show"),
    ("better_than_trivial", "binary", "brier_skill", 0.0, "is better than", "is worse than", "do not show"),
    ("better_than_trivial", "multiclass", "brier_skill", 0.0, "is better than", "is worse than", "do not show"),
    ("better_than_trivial", "regression", "r2", 0.0, "is better than", "is worse than", "do not show"),
    ("better_than_trivial", "count", "d2_poisson", 0.0, "is better than", "is worse than", "do not show"),
    ("confidence", "multiclass", "confidence_gap", 0.0, "right more often than", "right less often than", None),
    ("cheaper_than_one_level", "binary", "cost_saved", 0.0, "costs less", "costs more", "do not decide"),
    ("numbers_on_average", "regression", "mean_error", 0.0, "too low on average", "too high on average", None),
    ("numbers_spread", "regression", "linear_calibration_slope", 1.0, "too close together", "too far apart", None),
    ("dispersion", "count", "pearson_dispersion", 1.0, "overdispersed", "underdispersed", None),
]


@pytest.mark.parametrize(("rule", "task", "metric", "bound", "above", "below", "otherwise"), OF_MEASURES)
@pytest.mark.parametrize("side", [1, -1])
def test_a_measure_decides_where_its_interval_leaves_the_bound_out(
    runs: dict[str, Results], monkeypatch: pytest.MonkeyPatch, rule: str, task: str, metric: str, bound: float,
    above: str, below: str, otherwise: str | None, side: int,
) -> None:
    def said(gap: float) -> list[tuple[str, str]]:
        value, near, far = (bound + side * reach for reach in (0.1 + gap, gap, 0.2 + gap))
        numbers = {"value": value, "lower": min(near, far), "upper": max(near, far), "level": 0.95, "status": "ok"}
        with monkeypatch.context() as patch:
            return only(with_margins(replaced(runs[task], metric, **numbers), NO_MARGIN), rule, patch)

    (kind, text), = said(EDGE)
    assert (above if side > 0 else below) in text
    assert kind in {"passes", "fails", "note"}
    for gap in (-EDGE, -0.09):
        assert [kind for kind, _ in said(gap)] == (["undecided"] if otherwise else [])
        assert all(otherwise in text for _, text in said(gap) if otherwise)


SAME = {"calibration_in_the_large": "agree with the outcomes, within 0.05 in log odds", "roc_auc": "as chance does",
        "brier_skill": "and no better", "r2": "and no better", "d2_poisson": "and no better"}


@pytest.mark.parametrize(("rule", "task", "metric", "none"), [
    row[:4] for row in OF_MEASURES if row[2] not in ("mean_error", "cost_saved", "pearson_dispersion")])
def test_an_effect_fails_beyond_its_margin_is_a_note_across_it_and_nothing_within_it(
    runs: dict[str, Results], monkeypatch: pytest.MonkeyPatch, rule: str, task: str, metric: str, none: float,
) -> None:
    def said(nearest: float, furthest: float) -> list[tuple[str, str]]:
        value = none - (nearest + furthest) / 2  # the worse side of a skill
        numbers = {"value": value, "lower": none - furthest, "upper": none - nearest, "level": 0.95, "status": "ok"}
        with monkeypatch.context() as patch:
            return only(with_margins(replaced(runs[task], metric, **numbers), 0.05), rule, patch)

    (kind, text), = said(0.05 + EDGE, 0.2)
    assert (kind, "too small to matter" in text) == ("fails", False)
    for nearest in (0.05 - EDGE, EDGE):
        (kind, text), = said(nearest, 0.2)
        assert (kind, "perhaps too small to matter (margin 0.05" in text) == ("note", True)
    assert [(kind, SAME[metric] in text) for kind, text in said(-0.04, 0.04 + EDGE)] == (
        [("equivalent", True)] if metric in SAME else [])
    assert [kind for kind, _ in said(-0.04, 0.06)] == (["undecided"] if metric in SAME else [])


@pytest.mark.parametrize(("rule", "task", "metric", "_bound", "_above", "_below", "_otherwise"), OF_MEASURES)
@pytest.mark.parametrize("lacking", [
    {"lower": None, "upper": None}, {"status": "degenerate"}, {"value": None, "lower": None, "upper": None},
])
def test_a_measure_without_limits_to_rely_on_says_nothing(
    runs: dict[str, Results], monkeypatch: pytest.MonkeyPatch, rule: str, task: str, metric: str, _bound: float,
    _above: str, _below: str, _otherwise: str | None, lacking: dict[str, Any],
) -> None:
    assert only(replaced(runs[task], metric, **lacking), rule, monkeypatch) == []


@pytest.mark.parametrize(("value", "lower", "upper", "expected"), [
    (0.4, 0.3, 0.5 - EDGE, [("fails", "p gives no class to most rows")]),
    (0.4, 0.3, 0.5 + EDGE, [("note", "p gives no class to rows in the equivocal zone")]),
    (0.6, 0.5, 0.7, [("note", "p gives no class to rows in the equivocal zone")]), (1.0, 0.9, 1.0, []),
])
def test_an_equivocal_zone_swallows_most_rows_or_some(
    runs: dict[str, Results], monkeypatch: pytest.MonkeyPatch, value: float, lower: float, upper: float, expected: Any,
) -> None:
    results = replaced(runs["binary"], "reportable_rate", value=value, lower=lower, upper=upper)
    said = only(results, "rows_without_class", monkeypatch)
    assert [(kind, text.partition(":")[0].partition(". ")[0]) for kind, text in said] == expected


NOTES = {"residuals_fan_out": "fan", "residuals_follow_a_curve": "curve", "residuals_form_groups": "peak"}


@pytest.mark.parametrize(("rule", "test"), NOTES.items())
@pytest.mark.parametrize(("p_value", "many"), [(0.05 - EDGE, 1), (0.05 + EDGE, 0), (1.0, 0), (None, 0)])
def test_residuals_are_told_of_by_the_p_values_of_their_tests(
    runs: dict[str, Results], monkeypatch: pytest.MonkeyPatch, rule: str, test: str, p_value: float | None, many: int,
) -> None:
    results = runs["regression"]
    curves = [curve.model_copy(update={"notes": curve.notes.model_copy(update={f"{test}_p_value": p_value})})
              if curve.curve == "residual_predicted" else curve for curve in results.curves]
    assert len(only(results.model_copy(update={"curves": curves}), rule, monkeypatch)) == many


VERDICTS = {"better": "passes", "worse": "fails", "equivalent": "equivalent", "same": "equivalent",
            "undecided": "undecided", "no_direction": None, "untested": None}


def judged(name: str) -> Results:
    planted = FAULTS[name]()
    return evalpipe.run(planted.spec, frames=planted.frames)


@pytest.mark.parametrize(("fault", "table", "rule", "verdicts"), [
    ("a_worse_challenger", "comparisons", "models_compared", VERDICTS),
    ("a_reference_rate_not_reached", "reference_rates", "reference_rates_reached",
     {**VERDICTS, "equivalent": None, "same": None}),
    ("recalibration_that_helps", "comparisons", "recalibration_judged",
     {**VERDICTS, "equivalent": None, "same": None}),
])
def test_verdicts_of_tables_are_said_as_they_are(
    monkeypatch: pytest.MonkeyPatch, fault: str, table: str, rule: str, verdicts: dict[str, str | None],
) -> None:
    results = judged(fault)
    for verdict, expected in verdicts.items():
        rows = [row.model_copy(update={"verdict": verdict}) for row in getattr(results, table)]
        with monkeypatch.context() as patch:
            said = only(results.model_copy(update={table: rows}), rule, patch)
        assert [kind for kind, _ in said] == ([] if expected is None else [expected]), verdict


def test_the_worst_class_has_rows_enough_and_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    results = judged("a_class_confused_with_another")

    def sentences(counts: list[list[float]]) -> list[tuple[str, str]]:
        tables = [table.model_copy(update={"counts": counts}) for table in results.confusion]
        with monkeypatch.context() as patch:
            return only(results.model_copy(update={"confusion": tables}), "worst_class", patch)

    assert sentences([[9, 1, 0], [2, 5, 3], [0, 0, 10]]) == [
        ("note", "p is least often right on 'mid': 5 of its 10 rows are predicted correctly, 3 as 'top'.")]
    text = sentences([[9, 1, 0], [2, 4, 3], [0, 0, 10]])[0][1]
    assert text.startswith("p is least often right on 'low': 9 of its 10")
    assert sentences([[10, 0, 0], [2, 4, 3], [0, 0, 10]]) == []


def test_groups_are_told_apart_only_where_every_group_is_clearly_near_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    results = judged("a_score_that_tells_only_groups_apart")

    def kinds(value: float, reach: float) -> list[str]:
        """Return what is said where one group has another ROC AUC, with these limits about it."""
        last = max(k for k, row in enumerate(results.rows) if row.slice is not None)
        rows = [row.model_copy(update={"value": value, "lower": value - reach, "upper": value + reach})
                if k == last else row for k, row in enumerate(results.rows)]
        with monkeypatch.context() as patch:
            return [kind for kind, _ in only(results.model_copy(update={"rows": rows}), "ranking_within_groups", patch)]

    overall = next(row.value for row in results.rows if row.slice is None and row.metric == "roc_auc")
    assert overall is not None
    assert kinds((0.5 + overall) / 2 - EDGE, 0.02) == ["fails"]
    assert kinds((0.5 + overall) / 2 + EDGE, 0.02) == []
    assert kinds(0.5, 0.45) == []


def test_measures_agree_where_one_model_is_best_or_two_are_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    results = judged("measures_that_disagree_on_the_best_model")

    def sentences(brier_of_old: float) -> int:
        rows = [row.model_copy(update={"value": brier_of_old}) if (row.metric, row.model) == ("brier", "old") else row
                for row in results.rows]
        with monkeypatch.context() as patch:
            return len(only(results.model_copy(update={"rows": rows}), "best_by_measure", patch))

    of_new = next(row.value for row in results.rows if (row.metric, row.model) == ("brier", "new"))
    assert of_new is not None
    assert [sentences(of_new + change) for change in (EDGE, 0.0, -EDGE)] == [1, 0, 0]


def test_a_level_is_free_only_where_no_cost_is_a_gain(monkeypatch: pytest.MonkeyPatch) -> None:
    results = judged("a_level_that_is_free_by_the_cost_table")
    with monkeypatch.context() as patch:
        assert [kind for kind, _ in only(results, "free_level", patch)] == ["fails"]
    gains = [cost.model_copy(update={"cost": -1.0}) for cost in results.costs]
    assert only(results.model_copy(update={"costs": gains}), "free_level", monkeypatch) == []


@pytest.mark.parametrize(("lower", "upper", "kind", "words"), [
    (0.8, 0.9 - EDGE, "fails", "not kept"), (0.8, 0.9, "undecided", "do not decide"),
    (0.9, 0.95, "undecided", "do not decide"), (0.9 + EDGE, 0.95, "passes", "kept"),
    (None, None, "undecided", "do not decide"),
])
def test_a_bound_is_kept_broken_or_open_by_the_interval_on_new_rows(
    monkeypatch: pytest.MonkeyPatch, lower: float | None, upper: float | None, kind: str, words: str,
) -> None:
    results = replaced(judged("a_bound_that_new_rows_break"), "specificity", value=0.87, lower=lower, upper=upper)
    said = only(results, "bounds_kept", monkeypatch)
    if lower is None:
        assert said == []
        return
    (found, text), = said
    assert (found, words in text) == (kind, True)


def test_rows_that_chose_a_threshold_do_not_judge_it(monkeypatch: pytest.MonkeyPatch) -> None:
    results = judged("a_bound_that_new_rows_break")
    thresholds = [row.model_copy(update={"chosen_on": "d"}) for row in results.thresholds]
    assert only(results.model_copy(update={"thresholds": thresholds}), "bounds_kept", monkeypatch) == []


@pytest.mark.parametrize(("counts_of", "expected"), [
    ([[5, 0, 1], [2, 0, 3], [0, 0, 4]], ["p never predicts 'mid' (5 rows)."]),
    ([[5, 0, 1], [2, 1, 3], [0, 0, 4]], []),
    ([[5, 0, 1], [0, 0, 0], [0, 0, 4]], []),  # a level that does not occur
    ([[5, 0, 0], [1, 0, 0], [2, 0, 0]], ["p never predicts 'mid' (1 row) and 'top' (2 rows)."]),
])
def test_a_level_is_never_predicted(
    runs: dict[str, Results], monkeypatch: pytest.MonkeyPatch, counts_of: list[list[float]], expected: list[str],
) -> None:
    results = runs["multiclass"]
    tables = [table.model_copy(update={"counts": counts_of}) for table in results.confusion]
    said = only(results.model_copy(update={"confusion": tables}), "levels_never_predicted", monkeypatch)
    assert [text for _, text in said] == expected


@pytest.mark.parametrize(("counts_of", "many"), [
    ([[5, 0, 0], [0, 3, 0], [0, 0, 4]], 1), ([[5, 0, 0], [0, 3, 1], [0, 0, 4]], 0),
    ([[5, 0, 0], [0, 0, 0], [0, 0, 0]], 0),
])
def test_no_error_at_all_is_suspect_unless_one_level_occurs(
    runs: dict[str, Results], monkeypatch: pytest.MonkeyPatch, counts_of: list[list[float]], many: int,
) -> None:
    results = runs["multiclass"]
    tables = [table.model_copy(update={"counts": counts_of}) for table in results.confusion]
    assert len(only(results.model_copy(update={"confusion": tables}), "perfection", monkeypatch)) == many


def test_warnings_of_one_code_that_say_different_things_are_counted_apart(
    runs: dict[str, Results], monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = {"dataset": "d", "rows": 3, "outcomes": 1, "epsilon": 1e-15, "nothing": 1e-16, "measures": ["Log loss"]}
    rows = [Warned.of("clipped", model=model, **parts, **case)
            for model, case in (("p", {"case": "certain"}), ("q", {"case": "certain"}), ("r", {}))]
    texts = [text for _, text in only(runs["binary"].model_copy(update={"warnings": rows}), "warnings", monkeypatch)]
    assert [text.endswith(" 1 more warning is of this kind.") for text in texts] == [True, False]
    assert texts[0].startswith("p on d was certain of 3 rows and wrong on 1 of them.")


def test_a_share_with_limits_that_would_print_alike_has_a_decimal_more(runs: dict[str, Results]) -> None:
    row = next(row for row in runs["binary"].rows if row.lower is not None)
    ends = [row.model_copy(update={"value": 0.9011, "lower": lower, "upper": 0.9049}) for lower in (0.8979, 0.8949)]
    assert [_percent(end) for end in ends] == ["90.1% (89.8–90.5%)", "90.1% (89.5–90.5%)"]
    assert _percent(row.model_copy(update={"value": 0.32, "lower": 0.26, "upper": 0.37})) == "32% (26–37%)"


def test_warnings_are_passed_on_once_and_not_where_a_finding_says_them(
    runs: dict[str, Results], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = [Warned.of_text("clipped", "d, p: 3 were clipped"), Warned.of_text("clipped", "d, q: 1 was"),
             Warned.of_text("worse-than-chance", "d, p: below one half"), Warned.of_text("one-class", "one.")]
    results = runs["binary"].model_copy(update={"warnings": given})
    assert [text for _, text in only(results, "warnings", monkeypatch)] == [
        "p: 3 were clipped. 1 more warning is of this kind.", "one."]


@pytest.mark.parametrize(("left_out", "unknown", "texts"), [
    (0, 0, []), (1, 0, ["1 of 600 rows of d (0.2%) were left out: a model has no prediction for them."]),
    (0, 1, ["1 row was left out of d: a value that the condition needs is missing."]),
])
def test_rows_left_out_are_counted(
    runs: dict[str, Results], monkeypatch: pytest.MonkeyPatch, left_out: int, unknown: int, texts: list[str],
) -> None:
    results = runs["binary"]
    datasets = [row.model_copy(update={"excluded_incomplete": left_out, "unknown_where": unknown})
                for row in results.datasets]
    said = only(results.model_copy(update={"datasets": datasets}), "rows_left_out", monkeypatch)
    assert [text for _, text in said] == texts


def test_every_rule_says_what_it_checks() -> None:
    assert all(rule.checks.endswith(".") and rule.checks[:1].isupper() for rule in rules())


def test_what_is_decided_of_the_same_numbers_twice_stands_once_among_the_first() -> None:
    planted = FAULTS["overconfident"]()
    spec = planted.spec | {"metrics": ["calibration_slope"]}
    gated = spec | {"gates": [{"metric": "calibration_slope", "min": 0.9}]}
    alone, after_gate = (next(
        finding.weight for finding in evalpipe.run(keys, frames=planted.frames).findings
        if finding.code == "probabilities-spread") for keys in (spec, gated))
    assert after_gate == pytest.approx(alone / 2, abs=0.06)


@pytest.mark.parametrize(("upper", "words"), [
    (-0.06, "Alone, the effect would exceed the margin of 0.05; corrected for all tests of the run, it may not."),
    (-0.04, "Significant, but perhaps too small to matter (margin 0.05)."),
])
def test_what_the_correction_leaves_open_is_not_called_small(upper: float, words: str) -> None:
    row = SimpleNamespace(value=-0.3, lower=-0.5, upper=upper, level=0.95)
    _, note = against_margin(row, 0, 0.05, lambda *_: iter([finding("fails", 2, "It is worse.", "groups")]))
    said, = note.say(None, [row])
    assert (said.kind, said.text) == ("note", f"It is worse. {words}")


def test_a_warning_has_labels_and_says_why_groups_lack_a_value(example: Callable[[str], Path]) -> None:
    results = Results.read(example("slices") / "results.json")
    texts = [finding.text for finding in results.findings]
    assert ("Logistic regression: 5 groups have no value of some measures: no predicted events; no events or no "
            "non-events; no events. 1 more warning is of this kind.") in texts
    row, = [row for row in Results.read(example("recalibration") / "results.json").findings
            if "was certain" in row.text]
    assert row.text.startswith("Naive Bayes on evaluation was certain of 30 rows and wrong on 8 of them. ")


def test_a_slope_that_rests_on_rows_at_probability_1_says_so() -> None:
    """30 rows with probability 1, of which 8 are no events, make a slope of 0.3 of one of 1."""
    frame = events(64)
    certain = pl.DataFrame({**{name: frame[name][:30] for name in frame.columns if name not in ("y", "p")},
                            "y": [0] * 8 + [1] * 22, "p": [1.0] * 30}).select(frame.columns)
    texts, slopes = [], []
    for rows in (frame, pl.concat([frame, certain.cast(dict(frame.schema))])):
        results = evalpipe.run(spec_of({"d": rows}, "binary", models=BINARY), frames={"d": rows})
        listed = evalpipe.run(spec_of({"d": rows}, "binary", models=BINARY, metrics=["calibration_slope"]),
                              frames={"d": rows})
        (row,) = (row for row in results.diagnostics if row.metric == "calibration_slope")
        (same,) = listed.rows
        assert (row.value, row.lower, row.upper, row.method) == (same.value, same.lower, same.upper, "robust")
        slopes.append(row.value or 0.0)
        texts.append([finding.text for finding in results.findings if finding.code == "probabilities-spread"])
    assert texts[0] == []
    (text,) = texts[1]
    assert slopes[1] < 0.5
    assert text.endswith(
        f"; ideal: 1. It rests on 30 rows at probability 0 or 1, without which it is {fixed(slopes[0], 2)}.")
