"""Every interval method that a plan can choose is named, explained and referenced."""

from __future__ import annotations

from typing import get_args

from evalpipe.plan.methods import Method
from evalpipe.report import wording

OF_DIFFERENCES = {"paired_t", "tango", "miettinen_nurminen", "bootstrap_error", "recovered"}


def test_every_method_has_words() -> None:
    methods = {*get_args(Method), *OF_DIFFERENCES}
    assert set(wording.METHODS) == set(wording.SHORT_METHODS) == set(wording.METHOD_TEXTS) == methods
    assert set(wording.METHOD_REFERENCES) == methods - {"none"}
