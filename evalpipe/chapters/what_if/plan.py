"""Whether the page lets its reader move the threshold and the prevalence."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalpipe.spec.spec import Spec


def what_if_plan(spec: Spec) -> bool:
    """Tell whether the page has sliders: for a binary outcome, unless the spec says no."""
    return spec.task == "binary" and spec.report.what_if is not False


PARTS = (what_if_plan,)
