"""Intervals, bands and tests: binomial, from a known variance, by the bootstrap, of two models on the same rows."""

from evalpipe.intervals.analytic import (
    auc_variance,
    folded_limits,
    logit_bootstrap,
    logit_limits,
    predictive_error,
)
from evalpipe.intervals.bands import pointwise_band, simultaneous_band
from evalpipe.intervals.binomial import LIMITS, clopper_pearson, jeffreys, wilson
from evalpipe.intervals.contrasts import (
    Contrast,
    IndependentProportions,
    PairedProportions,
    Wald,
    bootstrap_error,
    p_of_verdict,
    verdict,
)
from evalpipe.intervals.limits import (
    basic_limits,
    bca_limits,
    doubtful,
    excluding,
    kish,
    monte_carlo_error,
    percentile_limits,
    studentised_limits,
)
from evalpipe.intervals.multiplicity import benjamini_hochberg, holm
from evalpipe.intervals.noise import (
    UNSEEN,
    Noise,
    binomial_bins_limits,
    corrected_limits,
    drawn_noise,
    including,
    noncentral_cdf,
    noncentral_limits,
    rate_variances,
    square_noise,
)
from evalpipe.intervals.paired import (
    Difference,
    delong_covariance,
    diebold_mariano,
    diebold_mariano_sums,
    mcnemar,
    paired_auc,
)
from evalpipe.intervals.recovered import recovered_limits
from evalpipe.intervals.resampling import (
    Design,
    block_counts,
    blocks,
    jackknife_counts,
    replicate_weights,
    split,
    stream,
)

__all__ = [
    "LIMITS", "UNSEEN", "Contrast", "Design", "Difference", "IndependentProportions", "Noise", "PairedProportions",
    "Wald", "auc_variance", "basic_limits", "bca_limits", "benjamini_hochberg", "binomial_bins_limits",
    "block_counts", "blocks", "bootstrap_error", "clopper_pearson", "corrected_limits", "delong_covariance",
    "diebold_mariano", "diebold_mariano_sums", "doubtful", "drawn_noise", "excluding", "folded_limits", "holm",
    "including", "jackknife_counts", "jeffreys", "kish", "logit_bootstrap", "logit_limits", "mcnemar",
    "monte_carlo_error", "noncentral_cdf", "noncentral_limits", "p_of_verdict", "paired_auc", "percentile_limits",
    "pointwise_band",
    "predictive_error", "rate_variances", "recovered_limits", "replicate_weights", "simultaneous_band", "split",
    "square_noise", "stream", "studentised_limits", "verdict", "wilson",
]
