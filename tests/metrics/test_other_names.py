"""The names of the textbooks and of other libraries lead to the measure that they mean."""

from __future__ import annotations

import re

import pytest

from evalpipe.metrics import registry
from evalpipe.metrics.grammar import names_in, read_expression
from evalpipe.metrics.other_names import COUNTERPARTS, OTHER_NAMES
from evalpipe.tasks import CLASSES, NUMBERS

TASKS = {"b": "binary", "m": "multiclass", "o": "ordinal", "r": "regression", "c": "count"}
MEANT = """
mad b probability_mad, mad r median_absolute_error, mspe r mse, mspe b brier, rmspe r rmse, rmspe b
probability_rmse, median_absolute_deviation r median_absolute_error, sse r mse, bias r mean_error, mean_bias_error c
mean_error, mean_absolute_deviation r mae, mean_absolute_percentage_error r mape, mean_percentage_error r mpe,
symmetric_mean_absolute_percentage_error r smape, r_squared r r2, r_squared b nagelkerke_r2, pearson_corrcoef r rsq,
coefficient_of_determination r r2, concordance b roc_auc, concordance r c_index, cindex m roc_auc, lins_ccc r ccc,
spearman_corrcoef r c_index, kendall_tau r c_index, chi_squared c pearson_chi2, acc b accuracy, bacc m
balanced_accuracy, overall_accuracy m accuracy, subset_accuracy m accuracy, class_accuracy m sensitivity, err b
error_rate, classification_error b error_rate, hamming_loss m error_rate, far b false_positive_rate, pod b
sensitivity, hss b kappa, tss b j_index, peirce b j_index, j_statistic b j_index, dor b odds_ratio, iou b
critical_success_index, phi_coefficient b mcc, lr+ b positive_likelihood_ratio, F2 b f_beta, f0_5 b f_beta, macro_f1
m f1, rpp b detection_prevalence, predicted_positive_rate b detection_prevalence, qwk o weighted_kappa, linear_kappa
o weighted_kappa, loglik b log_likelihood, log_lik b log_likelihood, mxe b log_loss, log_score b log_loss,
gini_coefficient b gini, gini_coefficient r gini_coef, nll c poisson_log_loss, AUROC b roc_auc, mann-whitney b
roc_auc, roc_auc_ovr m roc_auc, roc_aunp m roc_auc, dxy b gini, ks_statistic b ks, calibration_error b ece,
classwise_ece m ece, bss b brier_skill, efron_r2 b brier_skill, r2_bin b nagelkerke_r2, residual_deviance b
deviance, lift_score b lift, cumulative_gain b gain, dca b net_benefit, mean_squared_eror b brier, gini_coeficient r
gini_coef, success_ratio b precision, rae r d2_absolute_error
"""
CHOICES = """
mad: median_absolute_error or probability_mad, gini_index b: predicted_gini; gini_impurity or gini,
average_accuracy m: accuracy_ovr or balanced_accuracy, nll b: log_loss or log_likelihood,
auprc b: average_precision or pr_auc, cox_snell_r2 b: nagelkerke_r2; mcfadden_r2 or tjur_r2,
hosmer_lemeshow_test b: hosmer_lemeshow or hosmer_lemeshow_p, calibration_error m: ece or top_label_ece
"""
NOT_HERE = """
hinge_loss focal_loss crps aic adjusted_r2 mase wape equal_error_rate recall_at_precision precision_at_recall
demographic_parity prevalence confusion_matrix log_cosh fleiss_kappa spherical_score expected_profit mutual_info
"""


@pytest.mark.parametrize("case", [case.strip() for case in MEANT.split(",")])
def test_a_name_of_others_leads_to_its_measure(case: str) -> None:
    name, task, measure = case.split()

    assert registry.advice(name, TASKS[task]).hint == f"did you mean '{measure}'?"


@pytest.mark.parametrize("case", [case.strip() for case in CHOICES.split(",")])
def test_a_name_of_several_measures_offers_each(case: str) -> None:
    name, choice = case.split(": ")
    name, _, task = name.partition(" ")
    advice = registry.advice(name, TASKS.get(task, ""))

    assert advice.hint == f"choose {choice.replace(';', ',')}"
    assert advice.notes[0].startswith(f"{name}: ")


@pytest.mark.parametrize("name", NOT_HERE.split())
def test_a_name_of_no_measure_is_explained_and_no_other_is_suggested(name: str) -> None:
    advice = registry.advice(name, "binary")

    assert advice.hint is None
    assert len(advice.notes) == 1


@pytest.mark.parametrize(("name", "measure"), [
    ("type_i_error", "false_positive_rate"), ("type_1_error", "false_positive_rate"),
    ("type_i_error_rate", "false_positive_rate"), ("type_ii_error", "false_negative_rate"),
    ("type_2_error", "false_negative_rate"), ("type_ii_error_rate", "false_negative_rate"),
    ("probability_of_detection", "sensitivity"), ("probability_of_false_detection", "false_positive_rate"),
    ("jaccard_index", "critical_success_index"), ("youden_index", "j_index"), ("quantile_loss", "pinball"),
    ("pinball_loss", "pinball"), ("concordance_correlation_coefficient", "ccc"),
])
def test_a_name_of_one_measure_alone_is_its_alias(name: str, measure: str) -> None:
    assert registry[name].name == measure


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_what_is_said_of_a_name_can_be_written(name: str) -> None:
    other = OTHER_NAMES[name]

    assert name not in registry, f"{name} is a metric here: take the name out of metrics/other_names.py"
    assert all(measure in registry for measure in other.measures)
    if other.expression is not None:
        assert {node.name for node in names_in(read_expression(other.expression))} == set(other.measures)
    for measure, options in re.findall(r"\{metric: (\w+)([^}]*)\}", other.meaning):
        given = dict(pair.split(": ") for pair in options.split(", ")[1:])
        assert registry[measure].sees == "event" or "average" not in given
        assert set(given) <= {*registry[measure].option_types, "average"}


def test_an_expression_is_offered_where_the_task_has_its_measures() -> None:
    hint = "declare it under 'metrics': {name: fdr, expression: 1 - precision}"

    assert registry.advice("FDR", "multiclass").hint == registry.advice("fdr").hint == hint
    assert registry.advice("fdr", "regression").hint is None


@pytest.mark.parametrize("names", COUNTERPARTS)
def test_a_counterpart_is_of_the_task(names: tuple[str, ...]) -> None:
    for name in names:
        for task in {*CLASSES, *NUMBERS} - set(registry[name].tasks):
            counterpart = registry.counterpart(name, task)
            assert counterpart is None or task in registry[counterpart].tasks
        assert any(registry.counterpart(other, registry[name].tasks[0]) is not None for other in names)


@pytest.mark.parametrize(("name", "task", "closest"), [
    ("qqqqqq", "", None), ("qqqqqq", "binary", None), ("acuracy", "", "accuracy"), ("acuracy", "binary", "accuracy"),
    ("rmsee", "regression", "rmse"),
])
def test_the_closest_name_is_none_or_one_of_the_task(name: str, task: str, closest: str | None) -> None:
    assert registry.closest(name, task) == closest
