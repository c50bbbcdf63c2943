"""Results in formats of others: one declaration for each format, with what goes where and what has no place in it.

An export reads `results.json` and the manifest, and computes nothing; the same results give the same bytes. To add one,
declare it in a file of this folder and name it here.
"""

from __future__ import annotations

from evalpipe.review.exports import (
    chai,
    cyclonedx,
    dvc,
    every_eval_ever,
    in_toto,
    model_index,
    openlineage,
    openmetrics,
)
from evalpipe.review.exports.declare import Export

__all__ = ["EXPORTS", "Export"]

EXPORTS: dict[str, Export] = {file.EXPORT.name: file.EXPORT for file in (
    cyclonedx, chai, model_index, openlineage, in_toto, every_eval_ever, openmetrics, dvc)}
"""Every format by its name, in the order of the help."""
