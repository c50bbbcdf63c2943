"""What the card says recalibration gains, sentence by sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from chapters.recalibrate.variants import change
from evalpipe.chapters.recalibrate.card_verdict import PROPER_LOSSES, Conclusion, conclusion
from evalpipe.metrics import registry as metrics
from evalpipe.results import Comparison, Estimate, Results

if TYPE_CHECKING:
    from collections.abc import Callable

D, M = "validation", "model_0"


@pytest.fixture(scope="module")
def judge(results: Results) -> Callable[..., Conclusion]:
    """Return the verdict on differences made by hand."""

    def said(*found: Comparison, rows: tuple[Estimate, ...] = ()) -> Conclusion:
        changes = {"comparisons": list(found), "rows": [*results.rows, *rows]}
        return conclusion(results.model_copy(update=changes), D, M)

    return said


def test_a_gain_names_the_method_that_gains_most_by_each_loss_and_counts_the_others(judge: Any) -> None:
    said = judge(
        change(D, M, "logistic", "brier", -0.016), change(D, M, "isotonic", "brier", -0.0219),
        change(D, M, "beta", "brier", -0.021), change(D, M, "beta", "log_loss", -0.235),
        change(D, M, "isotonic", "log_loss", -0.1), change(D, M, "spline", "log_loss", -0.1),
    )
    assert said == Conclusion("recalibration is a real gain.", (
        "Brier score falls most with isotonic, by 0.022 (0.016–0.028).",
        "Log loss falls most with beta, by 0.235 (0.229–0.241); two further methods gain as well.",
    ))


def test_a_single_further_method_gains_in_the_singular(judge: Any) -> None:
    said = judge(change(D, M, "logistic", "brier", -0.02), change(D, M, "beta", "brier", -0.03))
    assert said.sentences == (
        "Brier score falls most with beta, by 0.030 (0.024–0.036); one further method gains as well.",
    )


def test_a_single_method_gains_without_most(judge: Any) -> None:
    said = judge(change(D, M, "logistic", "brier", -0.02))
    assert said.sentences == ("Brier score falls with logistic, by 0.020 (0.014–0.026).",)


def test_methods_that_change_nothing_beside_a_gain_are_named(judge: Any) -> None:
    said = judge(
        change(D, M, "logistic", "brier", -0.02), change(D, M, "beta", "brier", 0.001, "undecided"),
        change(D, M, "platt", "brier", 0.002, "undecided"),
    )
    assert said.headline == "recalibration is a real gain."
    assert said.sentences[-1] == "With beta and platt, every interval of the difference includes zero."


def test_no_gain_says_that_every_interval_includes_zero(judge: Any) -> None:
    said = judge(
        change(D, M, "logistic", "brier", 0.001, "undecided"), change(D, M, "logistic", "log_loss", 0.001, "undecided")
    )
    assert said == Conclusion("recalibration is no real gain.", (
        "No method improves Brier score or Log loss: every interval of the difference includes zero.",))


def test_what_is_within_its_margin_is_no_gain(judge: Any) -> None:
    within = {"margin": 0.02, "margin_verdict": "within"}
    said = judge(change(D, M, "logistic", "brier", -0.01, "equivalent", **within))
    assert said.sentences == (
        "No method improves Brier score: every interval of the difference includes zero or lies within its margin.",)
    said = judge(change(D, M, "logistic", "brier", -0.01, "equivalent", **within),
                 change(D, M, "beta", "brier", -0.01, "undecided", margin=0.02))
    (sentence,) = said.sentences
    assert sentence == (
        "No method improves Brier score: no difference is clearly beyond zero after correction for their number, or "
        "lies within its margin.")


def test_an_interval_beyond_zero_that_the_number_of_differences_leaves_undecided_is_told(judge: Any) -> None:
    said = judge(change(D, M, "logistic", "brier", -0.01, "undecided"))
    assert said.sentences == (
        "No method improves Brier score: no difference is clearly beyond zero after correction for their number.",)


def test_a_loss_says_which_method_makes_it_worst(judge: Any) -> None:
    said = judge(change(D, M, "logistic", "brier", 0.02, "worse"), change(D, M, "beta", "brier", 0.03, "worse"))
    assert said == Conclusion("recalibration makes it worse.", (
        "No method improves Brier score.",
        "Brier score rises most with beta, by 0.030 (0.024–0.036); one further method makes it worse as well.",
    ))


def test_a_loss_with_one_method_alone_is_not_laid_on_all(judge: Any) -> None:
    said = judge(change(D, M, "logistic", "brier", 0.02, "worse"), change(D, M, "beta", "brier", 0.001, "undecided"))
    assert said.headline == "recalibration makes it worse with some methods, and no better with the others."
    assert said.sentences[-1] == "With beta, every interval of the difference includes zero."


def test_a_loss_that_recalibration_leaves_undefined_is_told(judge: Any) -> None:
    said = judge(change(D, M, "beta", "brier", -0.02), change(D, M, "beta", "log_loss", None, "undecided"))
    assert said == Conclusion("recalibration is a real gain.", (
        "Brier score falls with beta, by 0.020 (0.014–0.026).", "With beta, Log loss has no value to compare."))


def test_gains_and_losses_of_different_methods_are_both_told(judge: Any) -> None:
    said = judge(change(D, M, "logistic", "brier", -0.02), change(D, M, "beta", "brier", 0.03, "worse"))
    assert said == Conclusion("recalibration is a real gain with some methods, not with all.", (
        "Brier score falls with logistic, by 0.020 (0.014–0.026).",
        "Brier score rises with beta, by 0.030 (0.024–0.036).",
    ))


def test_a_method_that_gains_by_one_loss_and_loses_by_another_is_no_plain_gain(judge: Any) -> None:
    said = judge(change(D, M, "beta", "brier", -0.02), change(D, M, "beta", "log_loss", 0.03, "worse"))
    assert said.headline == "recalibration is a gain by one measure and a loss by another."
    assert [sentence.split(" with")[0] for sentence in said.sentences] == ["Brier score falls", "Log loss rises"]


def test_without_intervals_or_without_a_proper_score_there_is_no_verdict(judge: Any, results: Results) -> None:
    none = {"lower": None, "upper": None, "method": "none"}
    assert judge(change(D, M, "beta", "brier", -0.02, "undecided", **none)) == Conclusion(
        "no verdict.", ("The differences have no intervals, so there is no verdict.",))
    assert judge(change(D, M, "beta", "accuracy", 0.02)) == Conclusion("no verdict.", (
        "No proper score, such as the Brier score or the log loss, is among the metrics, so there is no verdict.",))
    number = results.model_copy(update={"levels": [], "task": "regression", "event": None})
    assert conclusion(number, D, M).sentences == (
        "No proper loss of a mean, such as RMSE or MSE, is among the metrics, so there is no verdict.",)


def test_only_this_model_this_dataset_and_all_rows_count(judge: Any) -> None:
    said = judge(
        change("rare-season", M, "beta", "brier", -0.02), change(D, "model_1", "beta", "brier", -0.02),
        change(D, M, "beta", "brier", -0.02, slice={"season": "a"}),
        change(D, M, "original", "brier", -0.02, baseline="model_1"),
    )
    assert said.headline == "no verdict."


def test_a_loss_that_rises_when_better_is_a_gain(results: Results) -> None:
    skill = results.metrics[9].model_copy(update={
        "name": "brier_skill", "title": "Brier skill score", "direction": "maximize"})
    found = results.model_copy(update={
        "metrics": [*results.metrics, skill], "comparisons": [change(D, M, "beta", "brier_skill", 0.05)]})
    assert conclusion(found, D, M).sentences == ("Brier skill score rises with beta, by 0.050 (0.044–0.056).",)


@pytest.mark.parametrize(("metric", "value", "sentence"), [
    ("calibration_slope", 0.31, ("Without it, probabilities are overconfident (too extreme): calibration slope 0.31 "
     "(0.27–0.35).")),
    ("calibration_slope", 1.31, ("Without it, probabilities are underconfident (too close together): calibration "
                                 "slope 1.31 (1.27–1.35).")),
    ("calibration_slope", 0.98, "Without it, the calibration slope, 0.98 (0.94–1.02), agrees with 1."),
    ("calibration_in_the_large", 0.2, ("Without it, probabilities are too low on average: calibration in the large "
                                       "0.20 (0.16–0.24).")),
    ("calibration_in_the_large", -0.2, ("Without it, probabilities are too high on average: calibration in the large "
                                        "−0.20 (−0.24 to −0.16).")),
    ("linear_calibration_slope", 0.5, ("Without it, predictions are too extreme: slope of the calibration line 0.50 "
     "(0.46–0.54).")),
])  # fmt: skip
def test_the_calibration_of_the_original_is_told_where_it_was_measured(
    judge: Any, metric: str, value: float, sentence: str
) -> None:
    own: dict[str, Any] = {"dataset": D, "model": M, "metric": metric, "params": {}, "value": value, "level": 0.95,
                           "method": "percentile", "n": 9, "events": 4, "status": "ok"}
    e = Estimate(**own, lower=value - 0.04, upper=value + 0.04)
    others = (e.model_copy(update={"model": "model_1"}), e.model_copy(update={"variant": "beta"}))
    assert judge(change(D, M, "beta", "brier", -0.02), rows=(e, *others)).sentences[1:] == (sentence,)


def test_both_measures_of_calibration_share_a_sentence_and_one_without_limits_is_only_told(judge: Any) -> None:
    own: dict[str, Any] = {"dataset": D, "model": M, "params": {}, "level": None, "method": "none", "n": 9,
                           "events": 4, "status": "ok", "lower": None, "upper": None}
    rows = (Estimate(**own, metric="calibration_slope", value=0.5),
            Estimate(**own, metric="calibration_in_the_large", value=0.125))
    assert judge(rows=rows).sentences[1:] == (
        "Without it, the calibration slope is 0.500; the calibration in the large is 0.125.",)


def test_every_measure_named_in_words_exists() -> None:
    named = {name for losses in PROPER_LOSSES for name in losses}
    assert named <= {metric if isinstance(metric, str) else metric.name for metric in metrics}
