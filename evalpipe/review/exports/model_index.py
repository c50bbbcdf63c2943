"""Hugging Face: the `model-index` of a model, as the front matter of its README."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.review.exports.declare import Export, Files

if TYPE_CHECKING:
    from evalpipe.review.exports.declare import ExportedRun


def write(exported: ExportedRun) -> Files:
    """Return the README's front matter for Hugging Face, as in card.md; raises UsageError for several models."""
    from evalpipe.card.markdown import front_matter

    return {EXPORT.file: f"{front_matter(exported.results, exported.only)}\n"}


EXPORT = Export(
    name="model-index", title="Hugging Face model-index", version="of huggingface_hub 0.30",
    file="README.md", media_type="text/markdown",
    holds="The front matter of the README of a model on the Hub, which shows the measures beside the model.",
    reference="https://github.com/huggingface/hub-docs/blob/main/modelcard.md",
    validator="huggingface_hub: `ModelCard`, and its list of results there and back",
    places={
        "`model-index[0].name`": "the label of the model",
        "`results[].task`": "`task`: tabular-classification or tabular-regression; `title`",
        "`results[].dataset`": "each evaluated dataset; the sha256 of its first file is its revision",
        "`metrics[].type`, `name`, `value`": "the measure, its title with its options, and `value`",
        "`metrics[].args`": "the options, `average`, `lower`, `upper`, `level`, the interval's method, and `n`",
        "`license_name`": "`card.licence`",
    },
    lacks=(
        "an estimate that is not defined: an index has no value for it",
        "slices and single classes: the index is of whole datasets",
        "an interval: it stands among the arguments of the measure, and the Hub does not show it",
        "comparisons, gates, curves and what people state",
        "the sha256 of further files of a dataset",
    ),
    write=write, models="one",
)
