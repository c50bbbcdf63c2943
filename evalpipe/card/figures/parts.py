"""In which part of the card each figure of a dataset stands, by its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.card.page import Part
    from evalpipe.results import Results

PLACES: Mapping[Part, frozenset[int]] = {
    "results": frozenset({20, 30, 200}),
    "calibration": frozenset({80, 100, 110, 130, 154, 156, 160, 180, 182, 190, 192, 194, 196, 198, 203, 206, 230}),
    "decisions": frozenset({40, 70}),
    "data": frozenset({170}),
    "appendix": frozenset({10, 45, 50, 60, 90, 120, 140, 150, 152, 210, 220}),
}
"""The places of the figures of each part; what shows a table or another figure in a further form is in the appendix."""

CURVES: Mapping[Part, frozenset[str]] = {
    "results": frozenset({"roc", "pr", "residual_histogram"}),
    "calibration": frozenset({
        "calibration_uniform", "calibration_window", "calibration_logistic", "calibration_spline",
        "calibration_isotonic", "cumulative_calibration_uniform", "histogram", "top_label_calibration_uniform",
        "observed_predicted", "residual_predicted", "rootogram", "deviance_residual_predicted",
        "pearson_residual_predicted", "scale_location", "half_normal",
        "residual_against", "residual_order",
    }),
    "decisions": frozenset({"thresholds", "net_benefit"}),
    "appendix": frozenset({
        "gain", "lift", "calibration_quantile", "refinement", "ks", "gain_table", "residual_ecdf", "residual_box",
        "residual_quantiles",
    }),
}
"""The curves that the figures of a part draw: there is such a figure where the results hold one of them."""


def has_curves(results: Results, dataset: str, part: Part) -> bool:
    """Tell whether a dataset has a curve that figures of a part draw."""
    return any(curve.dataset == dataset and curve.slice is None and curve.curve in CURVES[part]
               for curve in results.curves)
