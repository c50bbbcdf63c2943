"""What is compared with what."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalpipe.chapters.compare.spec import Compare
    from evalpipe.spec.spec import Spec


def compare_plan(spec: Spec) -> Compare | None:
    """Return what a spec compares, with margins by the canonical names of measures; None where it compares nothing."""
    if spec.compare is None:
        return None
    measures = spec.measures
    margins = {measures[name].name: margin for name, margin in spec.compare.margins.items()}
    return spec.compare.model_copy(update={"margins": margins})
