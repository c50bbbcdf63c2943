"""The card's section on the models: their columns, thresholds and zones, and what the spec states of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.page import BlockGroup, Facts, Heading, Section
from evalpipe.chapters import functions
from evalpipe.words import numbers
from evalpipe.words.spelling import clipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.card.page import Block
    from evalpipe.results import ModelSummary, Results

SCALES = {
    "logit": "logit: log odds, turned into a probability by the logistic function",
    "margin": "margin: a distance from a boundary, turned into a probability by the logistic function",
}
"""How a raw score became a probability, by the name of its scale."""


def sections(results: Results) -> Iterator[Section]:
    """Write the section."""
    if not results.models:
        return
    models = tuple(BlockGroup(tuple(_model(results, model)), "model") for model in results.models)
    yield Section("models", "Models", (BlockGroup(models, "models"),), part="model")


def _model(results: Results, model: ModelSummary) -> Iterator[Block]:
    of_chapters = (fact for facts in functions("card", "facts") for fact in facts(results, model))
    yield Heading(model.label)
    yield Facts((
        ("Name in the spec", model.name), *_columns(model), *_scale(results, model), *of_chapters))
    if model.characteristics:
        yield Heading("Characteristics stated in the spec", 4)
        yield Facts(tuple(
            (clipped(name.replace("_", " ")), wording.scalar(value)) for name, value in model.characteristics.items()))


def _columns(model: ModelSummary) -> Iterator[tuple[str, str]]:
    """Name the columns of a model; those of the levels' probabilities together."""
    columns: dict[str, list[str]] = {}
    for kind, column in model.columns.items():
        plural = {"probability of": "probabilities", "score of": "scores (softmax)"}.get(" ".join(kind.split()[:2]))
        name = f"Columns of the {plural}" if plural else f"Column of the {wording.COLUMNS.get(kind, kind)}"
        columns.setdefault(name, []).append(column)
    return ((name, ", ".join(together)) for name, together in columns.items())


def _scale(results: Results, model: ModelSummary) -> Iterator[tuple[str, str]]:
    if model.scale == "percent":
        yield "Scale of the probabilities", "percents, divided by 100"
    elif "score" in model.columns:
        yield "Scale of the score", SCALES.get(model.scale or "", "none: a rank alone")
        norm = results.spec.get("models", {}).get(model.name, {}).get("norm")
        if norm is not None:
            yield "Norm of the weights", f"{numbers.given(norm)}, by which the score is divided"
