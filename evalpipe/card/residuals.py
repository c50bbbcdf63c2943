"""Quantiles of residuals: a row for each share of the rows, with two columns for each model, plain and absolute."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.base import constants
from evalpipe.card.page import Column, Heading, Row, Table, Text
from evalpipe.card.tables import MODELS_ABREAST, curves_of, shown, with_limits
from evalpipe.results.curves.residual_kinds import KindQuantiles
from evalpipe.results.curves.residuals import ResidualQuantiles
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.page import Block
    from evalpipe.results import ModelSummary, Results
    from evalpipe.results.curves import Column as Values

SIZES = {"probability_rmse": "RMSE", "probability_mae": "MAE", "probability_mad": "MAD (median)"}
"""The measures of how large residuals of probabilities are, with their heads."""


def residual_blocks(results: Results, dataset: str) -> Iterator[Block]:
    """Write the quantiles of a dataset's residuals, at most `MODELS_ABREAST` models in a table; nothing without any."""
    curves = {c.model: c for c in curves_of(results, dataset, ResidualQuantiles) if c.variant == "original"}
    models = [model for model in results.models if model.name in curves]
    if not models:
        return
    unit = f" All in {results.unit}." if results.unit else ""
    if results.levels:
        yield Heading("Residuals of probabilities")
        yield _sizes(results, dataset)
    yield Heading("Residual quantiles")
    yield Text(f"{_meaning(results)} Each row gives one quantile of the residuals and, separately, of the absolute "
               f"residuals, interpolated between rows (R's type 7). 50% is the median.{unit}", "lead")
    for start in range(0, len(models), MODELS_ABREAST):
        together = models[start : start + MODELS_ABREAST]
        yield _table(results, dataset, together, [curves[model.name] for model in together])
    for kind in ("deviance", "pearson"):
        yield from _of_kind(results, dataset, kind)


def _of_kind(results: Results, dataset: str, kind: str) -> Iterator[Block]:
    """Write the quantiles of residuals of a kind; nothing without any."""
    curves = {c.model: c for c in curves_of(results, dataset, KindQuantiles, f"{kind}_residual_quantiles")
              if c.variant == "original"}
    models = [model for model in results.models if model.name in curves]
    if not models:
        return
    name = kind.capitalize()
    yield Heading(f"{name} residual quantiles")
    clipped = sum(curve.notes.clipped or 0.0 for curve in curves.values())
    if clipped:
        many = "probability of the true level is" if clipped == 1 else "probabilities of the true level are"
        yield Text(f"{numbers.count(clipped)} {many} below {constants.CLIP:g} and "
                   f"{'counts' if clipped == 1 else 'count'} as that.", "lead")
    for start in range(0, len(models), MODELS_ABREAST):
        together = models[start : start + MODELS_ABREAST]
        yield _table(results, dataset, together, [curves[model.name] for model in together], f"{name} residual")


def _meaning(results: Results) -> str:
    """Say what a residual is, and what its sign tells."""
    if not results.levels:
        return "Residual = observed − predicted; above zero, the prediction was too low."
    if results.event is None:
        return "The residual of a row is 1 − the probability of its true level, so it is never below zero."
    return "The residual of a row is 1 − p for an event and −p for the others."


def _sizes(results: Results, dataset: str) -> Table:
    """Write how large the residuals of probabilities are, model by model, with limits."""
    sizes = {(e.model, e.metric): e for e in (*results.rows, *results.diagnostics)
             if e.dataset == dataset and e.variant == "original" and e.slice is None and e.metric in SIZES}
    rows = [Row((model.label, *(shown(sizes[model.name, metric]) for metric in SIZES)))
            for model in results.models if all((model.name, metric) in sizes for metric in SIZES)]
    columns = Column("Model", style="what"), *(Column(head, "num") for head in SIZES.values())
    return Table(f"Size of the residuals on {dataset}{with_limits(results, rows)}", columns, tuple(rows), "compared",
                 stacked=True)


def _table(
    results: Results, dataset: str, models: Sequence[ModelSummary],
    curves: Sequence[ResidualQuantiles | KindQuantiles], name: str = "",
) -> Table:
    """Write the quantiles of some models; those of a residual with a ``name`` have no unit."""
    shares = [f"{100 * (share or 0):.0f}%" for share in curves[0].points.share]
    largest = max(abs(value) for curve in curves for value in curve.points.residual if value is not None)
    digits = numbers.significant(largest, 4)
    pairs = ((curve.points.residual, curve.points.absolute_residual) for curve in curves)
    values = [_column(column, digits) for pair in pairs for column in pair]
    columns = [Column("Share of rows", "num")]
    for model in models:
        columns += [Column(head, "num", over=model.label) for head in ("Residual", "Absolute")]
    unit = f", in {results.unit}" if results.unit and not name else ""
    return Table(
        f"{name or 'Residual'} quantiles on {dataset}{unit}", tuple(columns),
        tuple(map(Row, zip(shares, *values, strict=True))), "gain",
        label=f"{name or 'Residual'} quantiles of {', '.join(model.label for model in models)} on {dataset}",
    )


def _column(values: Values, digits: int) -> list[str]:
    return ["–" if value is None else numbers.fixed(value, digits) for value in values]
