"""What is compared with what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.chapters.compare.spec import Compare

if TYPE_CHECKING:
    from evalpipe.spec.spec import Spec

MOST_MODELS = 6
"""The most models of which every pair is compared unless the spec asks for it: 15 pairs."""


def compare_plan(spec: Spec) -> Compare | None:
    """Return what a spec compares, with margins by the canonical names of measures; None where it compares nothing.

    Every pair of a few models is compared where the spec names no baseline.
    """
    compare = spec.compare or Compare()
    by_default = compare.baseline is None and 1 < len(spec.models) <= MOST_MODELS
    pairs = "none" if compare.pairs == "auto" and not by_default else compare.pairs
    if pairs == "none" and compare.baseline is None and compare.baseline_dataset is None:
        return None
    margins = {spec.measures[name].name: margin for name, margin in compare.margins.items()}
    return compare.model_copy(update={"margins": margins, "pairs": pairs})


PLANNED = {"compare": compare_plan}
