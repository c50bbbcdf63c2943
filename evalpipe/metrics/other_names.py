"""Names that texts and libraries give to measures, where a name means several of them, another scale, or none here.

A name that means one measure exactly is an alias, in the declaration of the measure.
"""

from __future__ import annotations

from typing import NamedTuple


class OtherName(NamedTuple):
    """What others mean by a name.

    ``measures`` are those here that it may mean; a spec has those of its task. Where none here is meant but an
    ``expression`` is, they are those of the expression. ``meaning`` says who means what.
    """

    measures: tuple[str, ...]
    meaning: str
    expression: str | None = None


_NAMES = {
    # of numbers
    "mad median_absolute_deviation": OtherName(("median_absolute_error", "probability_mad"),
        "in Explanatory Model Analysis the median absolute residual; mad() of R is the spread about the median"),
    "mspe": OtherName(("mse", "brier"),
        ("in Explanatory Model Analysis the MSE on test data; elsewhere the mean squared percentage error, which is "
         "not here")),
    "rmspe": OtherName(("rmse", "probability_rmse"),
        ("in Explanatory Model Analysis the RMSE on test data; elsewhere the root mean squared percentage error, which "
         "is not here")),
    "sse rss residual_sum_of_squares sum_of_squares": OtherName(("mse",), "the MSE is their mean over the rows"),
    "mean_absolute_deviation": OtherName(("mae", "probability_mae"), "of residuals their mean size"),
    "bias mean_bias mean_bias_error": OtherName(("mean_error", "calibration_in_the_large", "frequency_bias"),
        ("mean_error is truth minus prediction, often the reverse is meant; calibration_in_the_large is on the log "
         "odds; frequency_bias is the ratio of predicted to observed events")),
    "rmsle root_mean_squared_log_error root_mean_squared_logarithmic_error": OtherName(("msle",),
        "the root of msle", "sqrt(msle)"),
    "mean_absolute_percentage_error": OtherName(("mape",),
        "in per cent here, a share in scikit-learn and torchmetrics"),
    "symmetric_mean_absolute_percentage_error": OtherName(("smape",), "in per cent here, a share in torchmetrics"),
    "mean_percentage_error": OtherName(("mpe",),
        "in per cent, positive where predictions of a positive truth are too low"),
    "mdape median_absolute_percentage_error": OtherName((),
        "no median of percentage errors is here; median_absolute_error is in the unit of the outcome"),
    "wape wmape weighted_mean_absolute_percentage_error": OtherName((),
        "mae divided by the mean of the truth, which is no measure"),
    "mase": OtherName((), "it compares rows with the rows before them, and no measure here depends on their order"),
    "rae relative_absolute_error": OtherName(("d2_absolute_error",),
        ("d2_absolute_error is 1 minus the MAE relative to that of the median; elsewhere it is relative to that of the "
         "mean")),
    "rse relative_squared_error": OtherName(("r2",),
        ("the squared error relative to that of the mean; the residual standard error counts the parameters of a fit, "
         "which predictions do not tell"), "1 - r2"),
    "rrse root_relative_squared_error": OtherName(("r2",),
        "the root of the squared error relative to that of the mean", "sqrt(1 - r2)"),
    "r_squared rsquared coefficient_of_determination": OtherName(("r2", "nagelkerke_r2"),
        "r2 is the share of the variation that is explained; rsq is the squared correlation"),
    "adjusted_r2 adj_r2 r2_adjusted adjusted_r_squared aic bic aicc mallows_cp": OtherName((),
        "it counts the parameters of the fit, which predictions do not tell"),
    "pearson pearsonr pearson_corrcoef correlation corr": OtherName(("rsq",), "rsq is its square, which has no sign"),
    "spearman spearmanr spearman_corrcoef kendall kendall_tau kendall_rank_corrcoef": OtherName(("c_index", "roc_auc"),
        "no rank correlation is here; c_index is the share of the pairs of rows that are ranked as the truth is"),
    "concordance cindex harrell_c harrells_c": OtherName(("c_index", "roc_auc"),
        "c_index is the share of the pairs of rows that are ranked as the truth is; of events that is roc_auc"),
    "concordance_correlation concordance_corrcoef lins_ccc": OtherName(("ccc",), "Lin's concordance correlation"),
    "chi_squared chi2": OtherName(("pearson_chi2",), "Pearson's statistic of counts"),
    "log_cosh log_cosh_error": OtherName((), "not here; huber_pseudo bends from squares to distances too"),
    # of predicted classes
    "confusion_matrix conf_mat": OtherName((), "no measure; the results and the card have it of each model"),
    "acc overall_accuracy mean_accuracy subset_accuracy exact_match": OtherName(("accuracy",),
        "the share of the rows whose level is predicted"),
    "average_accuracy": OtherName(("accuracy_ovr", "balanced_accuracy"),
        ("Explanatory Model Analysis (15.10) means accuracy_ovr, which of two levels is the accuracy; Machine Learning "
         "Refined averages the accuracies of the classes, balanced_accuracy")),
    "class_accuracy per_class_accuracy accuracy_per_class": OtherName(("sensitivity",),
        "{metric: sensitivity, average: none}; of two levels sensitivity is that of the event, specificity the other"),
    "bacc": OtherName(("balanced_accuracy",), "the mean of the sensitivities of the classes"),
    "balanced_error_rate ber": OtherName(("balanced_accuracy",),
        "the mean of the error rates of the classes", "1 - balanced_accuracy"),
    "err classification_error misclass misclassification_error": OtherName(("error_rate",),
        "the share of the rows whose level is not predicted"),
    "hamming_loss hamming_distance": OtherName(("error_rate",),
        "of one level a row, the Hamming loss is the error rate"),
    "fdr false_discovery_rate false_alarm_ratio": OtherName(("precision",),
        "the share of the predicted events that are none", "1 - precision"),
    "for false_omission_rate": OtherName(("npv_sample",),
        "the share of events among the rows that are predicted as none", "1 - npv_sample"),
    "far false_alarm_rate pofd": OtherName(("false_positive_rate",),
        ("the false alarm rate is of the rows that are no events; the false alarm ratio, 1 - precision, is of those "
         "predicted as events")),
    "pod": OtherName(("sensitivity",), "the probability of detection"),
    "success_ratio": OtherName(("precision",), "the share of the predicted events that are events"),
    "hss": OtherName(("kappa",), "the Heidke skill score is Cohen's kappa"),
    "tss peirce hanssen_kuipers j_statistic": OtherName(("j_index",), "sensitivity + specificity - 1"),
    "dor": OtherName(("odds_ratio",), "the diagnostic odds ratio"),
    "iou": OtherName(("critical_success_index",), "TP / (TP + FP + FN), the Jaccard index"),
    "phi_coefficient": OtherName(("mcc",), "of two levels, Matthews' correlation is phi"),
    "lr_positive lr+ plr": OtherName(("positive_likelihood_ratio",), "sensitivity / (1 - specificity)"),
    "lr_negative nlr": OtherName(("negative_likelihood_ratio",), "(1 - sensitivity) / specificity"),
    "g_mean gmean geometric_mean geometric_mean_score": OtherName(("sensitivity", "specificity"),
        "the geometric mean of sensitivity and specificity", "sqrt(sensitivity * specificity)"),
    "fowlkes_mallows fowlkes_mallows_index fm": OtherName(("precision", "sensitivity"),
        "the geometric mean of precision and sensitivity", "sqrt(precision * sensitivity)"),
    "f2": OtherName(("f_beta",), "{metric: f_beta, beta: 2}"),
    "f0_5 f05": OtherName(("f_beta",), "{metric: f_beta, beta: 0.5}"),
    "f1_macro macro_f1": OtherName(("f1",), "{metric: f1, average: macro}"),
    "f1_micro micro_f1": OtherName(("f1",), "{metric: f1, average: micro}"),
    "f1_weighted weighted_f1": OtherName(("f1",), "{metric: f1, average: macro_weighted}"),
    "prevalence": OtherName((),
        ("the share of events is a fact of the data, which the results have for each dataset; the spec's 'prevalence' "
         "declares that of a population")),
    "detection_rate": OtherName(("precision", "detection_prevalence"),
        "in caret the share of all rows that are events and predicted so", "precision * detection_prevalence"),
    "positive_rate predicted_positive_rate rpp": OtherName(("detection_prevalence",),
        "the share of the rows that are predicted as events"),
    "qwk kappa_quadratic quadratic_kappa": OtherName(("weighted_kappa",),
        "{metric: weighted_kappa, weights: quadratic}, of ordered levels (task: ordinal)"),
    "linear_kappa kappa_linear": OtherName(("weighted_kappa",),
        "{metric: weighted_kappa, weights: linear}, of ordered levels (task: ordinal)"),
    "fleiss_kappa krippendorff krippendorff_alpha": OtherName((),
        "kappa compares one prediction with the truth; no measure here is of many raters"),
    "eer equal_error_rate": OtherName((),
        ("the rate at the threshold where false_positive_rate and false_negative_rate are the same, which the curve "
         "'thresholds' shows")),
    "recall_at_precision recall_at_fixed_precision sensitivity_at_precision": OtherName((),
        "choose the threshold instead, as in threshold: {maximize: sensitivity, subject_to: {precision: {min: 0.9}}}"),
    "precision_at_recall precision_at_fixed_recall precision_at_sensitivity": OtherName((),
        "choose the threshold instead, as in threshold: {maximize: precision, subject_to: {sensitivity: {min: 0.9}}}"),
    "demographic_parity equalized_odds equal_opportunity statistical_parity disparate_impact": OtherName((),
        "a difference between slices: list it under 'slice_rules', as one of 'disparities'"),
    # of probabilities and ranks
    "gini_index": OtherName(("predicted_gini", "gini_impurity", "gini"),
        ("Stat 406 means that of the probabilities, predicted_gini; Kuhn (15.7.2) that of the classes in a group, "
         "gini_impurity; beside the AUC (Kuhn 15.7.3) it is 2 AUC - 1, gini")),
    "gini_coefficient gini_score normalized_gini": OtherName(("gini", "gini_coef"),
        "of events 2 AUC - 1 (Explanatory Model Analysis), of numbers gini_coef"),
    "negative_log_likelihood neg_log_likelihood negative_loglik nll": OtherName(
        ("log_loss", "log_likelihood", "poisson_log_loss"),
        "log_loss is its mean over the rows (Kuhn 15.7.1); log_likelihood is the sum over the rows, with its own sign"),
    "loglik log_lik": OtherName(("log_likelihood",), "the sum over the rows"),
    "log_score logarithmic_score ignorance_score mxe": OtherName(("log_loss",),
        "the mean of -log p of the observed level"),
    "hinge_loss hinge squared_hinge exponential_loss focal_loss": OtherName((),
        "models are fitted with it; log_loss and brier judge probabilities"),
    "auroc area_under_roc area_under_curve wilcoxon mann_whitney": OtherName(("roc_auc",),
        "the area under the ROC curve"),
    "auprc aucpr auc_pr prauc area_under_pr_curve": OtherName(("average_precision", "pr_auc"),
        "average_precision adds up steps, as scikit-learn does; pr_auc joins the points by lines, which is optimistic"),
    "roc_auc_ovr roc_aunu": OtherName(("roc_auc",), "each class against the rest: {metric: roc_auc, average: macro}"),
    "roc_auc_ovr_weighted roc_aunp": OtherName(("roc_auc",),
        "each class against the rest: {metric: roc_auc, average: macro_weighted}"),
    "dxy": OtherName(("gini",), "Somers' D of events is 2 AUC - 1"),
    "ks_statistic ks_stat": OtherName(("ks",), "the Kolmogorov-Smirnov statistic"),
    "calibration_error": OtherName(("ece", "top_label_ece"),
        "torchmetrics means ece of two levels, top_label_ece of several"),
    "classwise_ece static_calibration_error sce": OtherName(("ece",),
        "each class against the rest: {metric: ece, average: macro}"),
    "hl_test hosmer_lemeshow_test": OtherName(("hosmer_lemeshow", "hosmer_lemeshow_p"),
        "the statistic, and its p-value"),
    "bss": OtherName(("brier_skill",), "the Brier skill score"),
    "quadratic_score": OtherName(("brier",), "the mean squared error of probabilities"),
    "spherical_score": OtherName((), "not here; log_loss and brier are proper scores too"),
    "crps": OtherName((), "it needs predicted distributions, which a column of predictions does not give"),
    "efron_r2": OtherName(("brier_skill",), "1 - the Brier score divided by that of the share of events"),
    "r2_bin": OtherName(("nagelkerke_r2",), "in Explanatory Model Analysis (15.8) that of Nagelkerke"),
    "pseudo_r2 cox_snell cox_snell_r2": OtherName(("nagelkerke_r2", "mcfadden_r2", "tjur_r2"),
        "there are several; nagelkerke_r2 is Cox and Snell's divided by the largest that it can be"),
    "residual_deviance": OtherName(("deviance", "poisson_deviance"), "the deviance of the predictions"),
    "mutual_information mutual_info information_gain": OtherName((),
        "not here; deviance_reduction is what the predictions tell of the outcome"),
    "lift_score": OtherName(("lift",), "of the highest scores: {metric: lift, at: 0.1}"),
    "top_decile_lift": OtherName(("lift",), "{metric: lift, at: 0.1}"),
    "cumulative_gain captured_response": OtherName(("gain",),
        "the share of the events among the highest scores: {metric: gain, at: 0.1}"),
    "dca decision_curve": OtherName(("net_benefit",), "net_benefit at one threshold; the curve 'net_benefit' at all"),
    "profit expected_profit": OtherName((), "the spec's key 'profit' gives it by depth"),
}

OTHER_NAMES = {name: other for names, other in _NAMES.items() for name in names.split()}
"""What others mean by a name, by the name in small letters with underscores."""

COUNTERPARTS = (
    ("mse", "ordinal_mse", "brier"), ("rmse", "ordinal_rmse", "probability_rmse"),
    ("mae", "ordinal_mae", "probability_mae"), ("median_absolute_error", "probability_mad"), ("c_index", "roc_auc"),
    ("hand_till_auc", "roc_auc"), ("r2", "nagelkerke_r2"), ("gini", "gini_coef"), ("poisson_log_loss", "log_loss"),
    ("accuracy_ovr", "accuracy"), ("bal_accuracy_ovr", "balanced_accuracy"), ("weighted_kappa", "kappa"),
)
"""Measures that are alike and are of other tasks: of a task, the first that it has is the counterpart of the rest."""
