"""Laws of the declared interval methods: each has its words, what it is for, and what it needs is there to be had."""

from __future__ import annotations

from typing import Any, Literal, get_args, get_type_hints

import pytest

from evalpipe.chapters.curves.spec import Binomial
from evalpipe.engine.support import NAMES
from evalpipe.intervals import LIMITS
from evalpipe.intervals.declare import EVERY, interval, registry
from evalpipe.metrics import registry as metrics
from evalpipe.metrics.declare import Interval as Kind
from evalpipe.metrics.declare import shared_fits
from evalpipe.metrics.values import Gaps
from evalpipe.plan.measures import choose
from evalpipe.spec.core_keys import Intervals
from evalpipe.statistics.summary import statistics

OF_DIFFERENCES = {"paired_t", "none_differs", "tango", "miettinen_nurminen", "bootstrap_error", "recovered"}
OF_FITS = {"fits", "bootstrap_fits"}
"""Limits of measures over several fits of a model, and of those that bootstrap fits correct for optimism."""

OF_CLUSTERS = {"cluster_t", "judged_t", "judged_score", "weighted_score"}
"""Limits of whatever measure, of rows in clusters, and where judges label rows."""

NORMS = get_args(get_type_hints(Gaps, {"Floats": Any, "Literal": Literal})["norm"])


@pytest.mark.parametrize("name", registry)
def test_every_method_has_words_and_a_source(name: str) -> None:
    declared = registry[name]
    assert declared.title
    assert declared.short
    assert declared.text.endswith(".")
    assert (declared.ref is None) == (declared.name == "none")


def test_a_method_is_for_measures_or_names_limits_of_differences_or_fits() -> None:
    assert {name for name, method in registry.items() if not method.for_} == (
        OF_DIFFERENCES | OF_FITS | OF_CLUSTERS)


def test_every_kind_that_a_metric_may_declare_has_a_method() -> None:
    kinds = {kind for method in registry.values() for kind in method.for_}
    assert kinds == {*get_args(Kind), *NORMS, EVERY}


def test_what_a_method_needs_is_given_by_name_or_is_a_statistic() -> None:
    needs = {need for method in registry.values() if method.for_ or method.name in OF_CLUSTERS
             for need in method.needs}
    assert needs - NAMES <= {*statistics, *shared_fits}


def test_a_spec_asks_for_the_methods_that_say_so() -> None:
    asked = get_args(Intervals.model_fields["method"].annotation)
    assert asked == ("auto", *(name for name, method in registry.items() if method.asked))


def test_the_bins_of_calibration_may_have_the_methods_of_proportions() -> None:
    asked = tuple(name for name, method in registry.items() if method.asked and "proportion" in method.for_)
    assert get_args(Binomial) == asked, "list them in `Binomial` of evalpipe/chapters/curves/spec.py"


def test_every_metric_gets_a_method_under_any_circumstances() -> None:
    for metric in metrics:
        for obstacle in ("uncertain", "clusters", "reweighted", "averaged", "weights", "weighted_even_bins"):
            for asked in get_args(Intervals.model_fields["method"].annotation):
                kinds = () if metric.interval is None else (metric.interval, *(["l1"] if metric.of_gaps else []))
                name, reason = choose(kinds, asked, [obstacle])  # type: ignore[list-item]
                assert name in registry
                assert reason


def test_a_name_is_declared_once() -> None:
    with pytest.raises(ValueError, match=r"^the name 'exact' of an interval method is taken$"):
        interval("exact", title="", text="", ref=None)(lambda: None)


def test_the_binomial_methods_take_shapes_that_broadcast() -> None:
    for function in LIMITS.values():
        lower, upper = function([0, 3, 9], 9, 0.95)
        assert lower.shape == upper.shape == (3,)
        assert (lower <= upper).all()
