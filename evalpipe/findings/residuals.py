"""Findings on the residuals of predicted numbers: whether they fan out, follow a curve, or form groups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.findings import weights
from evalpipe.findings.claims import Claim
from evalpipe.findings.rules import rule
from evalpipe.findings.words import anchor, by_dataset, finding, of_model, of_models
from evalpipe.results.curves.residuals import ResidualPredicted
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import Results
    from evalpipe.results.findings import Finding


@rule
def residuals_fan_out(results: Results) -> Iterator[Claim]:
    """Whether residuals are equally spread for small and large predictions."""
    yield from (Claim(curve, fanning, curve.notes.fan_p_value) for curve in _residuals(results)
                if curve.notes.fan_p_value is not None)


@rule
def residuals_follow_a_curve(results: Results) -> Iterator[Claim]:
    """Whether residuals follow a curve along the predictions."""
    yield from (Claim(curve, curved, curve.notes.curve_p_value) for curve in _residuals(results)
                if curve.notes.curve_p_value is not None)


@rule
def residuals_form_groups(results: Results) -> Iterator[Claim]:
    """Whether the residuals have more than one peak, as when an important feature is missing."""
    yield from (Claim(curve, grouped, curve.notes.peak_p_value) for curve in _residuals(results)
                if curve.notes.peak_p_value is not None)


def _residuals(results: Results) -> Iterator[ResidualPredicted]:
    for curve in results.curves:
        if isinstance(curve, ResidualPredicted) and curve.slice is None and curve.variant == "original":
            yield curve


def fanning(results: Results, rows: Sequence[ResidualPredicted]) -> Iterator[Finding]:
    """Say how far residuals spread where predictions are low and where they are high."""
    for same in by_dataset(rows):
        spreads = [f"{numbers.number(curve.notes.spread_low or 0.0)} for the lowest third of the predictions, "
                   f"{numbers.number(curve.notes.spread_high or 0.0)} for the highest"
                   f"{f' ({of_model(results, curve)})' if len(same) > 1 else ''}" for curve in same]
        grow = all((curve.notes.spread_high or 0.0) > (curve.notes.spread_low or 0.0) for curve in same)
        text = (f"Residuals of {of_models(results, same)} {'fan out' if grow else 'spread unevenly'}: their standard "
                f"deviation is {'; '.join(spreads)}.")
        yield finding("note", weights.RESIDUALS, text, anchor(results, same[0]))


def curved(results: Results, rows: Sequence[ResidualPredicted]) -> Iterator[Finding]:
    """Say that residuals follow a curve."""
    for same in by_dataset(rows):
        text = (f"Residuals of {of_models(results, same)} follow a curve along the predictions: in some ranges "
                "predictions are too high, in others too low.")
        yield finding("fails", weights.RESIDUALS, text, anchor(results, same[0]))


def grouped(results: Results, rows: Sequence[ResidualPredicted]) -> Iterator[Finding]:
    """Say that residuals form groups, and what to look for."""
    for same in by_dataset(rows):
        text = (f"Residuals of {of_models(results, same)} form groups: their distribution has more than one peak. A "
                "feature may be missing.")
        yield finding("fails", weights.RESIDUALS, text, anchor(results, same[0]))
