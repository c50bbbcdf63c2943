"""What is done with checks: which of them are silenced, and why."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StrictStr

from evalpipe.base.records import UNWRITTEN, After
from evalpipe.spec.field_types import SpecPart

CODES = (
    "standards", "labels-not-random", "labels-uneven", "judge-biased", "labels-worth", "late-labels-differ",
    "benchmark-saturated", "few-items-differ", "epochs-differ", "items-leaked", "prevalence-declared",
    "probabilities-carried-over", "bounds-kept", "rows-without-class", "cheaper-than-one-level", "free-level",
    "recalibration-judged", "pairs-compared", "models-compared", "datasets-compared", "fits-differ",
    "fits-against-models", "measures-apparent", "reference-rates-reached", "most-desirable", "goals-reached",
    "best-candidate", "candidates-ranked", "groups-against-gates", "groups-against-others", "groups-searched",
    "groups-too-small", "best-steps-differ", "step-not-best", "training-contents", "rows-repeated",
    "groups-undeclared", "clusters-undeclared", "value-shared", "gates", "dependent-nights", "control", "shift",
    "alike", "probabilities-on-average", "probabilities-spread", "confidence", "better-than-trivial",
    "better-than-persistence", "levels-never-predicted", "ranking", "perfection", "worst-class",
    "ranking-within-groups", "best-by-measure", "numbers-on-average", "numbers-spread", "dispersion", "zeros",
    "residuals-fan-out", "residuals-follow-a-curve", "residuals-form-groups", "rows-left-out", "rows-shared",
    "warnings", "gone", "outcome-drift", "performance-drift", "prediction-drift", "requirements", "unchecked",
)
"""The code of every check, in the order in which they are made. What each looks for stands with its rule."""

OF_GATES = ("gates", "requirements")
"""The checks that depend on the gates, so that no gate can require them."""

Silence = Annotated[StrictStr, Field(min_length=1, max_length=1000)]
"""Why a check is silenced."""


class CheckRules(SpecPart):
    """What is done with the checks that every run makes."""

    silence: Annotated[
        dict[StrictStr, Silence], Field(min_length=1, json_schema_extra={"propertyNames": {"enum": list(CODES)}})]
    """Checks whose findings are left out, by code, each with the reason. [findings.md](findings.md) lists the codes.
    The card counts a silenced check, and shows the reason and what it would say. It is made all the same: other
    findings stay as they are."""


class ChecksKeys(SpecPart):
    """Keys of a spec."""

    checks: Annotated[CheckRules | None, After("gates"), UNWRITTEN] = None
    """Which checks are silenced, and why."""
