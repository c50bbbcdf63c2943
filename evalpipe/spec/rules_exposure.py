"""Checks of the exposure of counts: the rates that need it, and what cannot be done with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft


def check_exposure(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of rates without an exposure, or beside a prediction, and of recalibration with one."""
    spec, problem = draft.spec, draft.tree.problem
    if spec.task != "count":
        return
    for name, model in draft.models.items():
        here = ("models", name, "rate")
        if model.rate is not None and model.prediction is not None:
            yield problem("two-predictions", f"the model '{name}' has both 'prediction' and 'rate'", *here, key=True,
                          hint="remove one of the two; the expected count is the rate times the exposure")
        elif model.rate is not None and spec.exposure is None:
            message = f"the model '{name}' gives a rate, but no exposure is declared"
            hint = ("add 'exposure: …' to the spec, or name the column of the expected count of each row under "
                    "'prediction'")
            yield problem("rate-without-exposure", message, *here, key=True, hint=hint)
    if spec.exposure is not None and spec.recalibrate is not None:
        message = "counts with an exposure cannot be recalibrated: the recalibrators see no exposure"
        yield problem("recalibrated-exposure", message, "recalibrate", key=True, hint="remove one of the two")
