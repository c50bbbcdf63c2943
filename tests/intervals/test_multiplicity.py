"""Adjusted p-values against statsmodels, and the laws they keep."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from evalpipe.intervals.multiplicity import benjamini_hochberg, holm

METHODS = [("holm", holm), ("fdr_bh", benjamini_hochberg)]
FAMILIES = st.lists(st.floats(0, 1) | st.sampled_from([0.0, 0.01, 0.5, 1.0]), min_size=1, max_size=20)
both = pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])


@pytest.mark.parametrize(("name", "adjust"), METHODS)
@pytest.mark.parametrize("seed", range(5))
def test_statsmodels_agrees(name: str, adjust: Any, seed: int) -> None:
    p = np.round(np.random.default_rng(seed).beta(0.4, 2, 25), 2)  # rounded, so that some are tied
    # 1e-12: the same products in another order.
    assert adjust(p) == pytest.approx(multipletests(p, method=name)[1], abs=1e-12)


def test_the_figures_of_an_example_by_hand() -> None:
    p = [0.04, 0.01, 0.03, 0.005]
    assert holm(p) == pytest.approx([0.06, 0.03, 0.06, 0.02])  # 4 * .005, 3 * .01, 2 * .03, and no less after it
    assert benjamini_hochberg(p) == pytest.approx([0.04, 0.02, 0.04, 0.02])  # .04, .03 * 4/3, .01 * 2, .005 * 4


@both
def test_shapes_are_kept_and_nan_is_no_test(adjust: Any) -> None:
    p = np.array([[0.01, np.nan, 0.04], [0.02, 0.5, np.nan]])
    found = adjust(p)
    assert found.shape == p.shape
    assert (np.isnan(found) == np.isnan(p)).all()
    assert found[~np.isnan(p)] == pytest.approx(adjust(p[~np.isnan(p)]))
    assert adjust([]).shape == (0,)
    assert float(adjust(0.03)) == 0.03
    assert np.isnan(adjust([np.nan, np.nan])).all()


@both
@given(FAMILIES)
def test_adjusting_keeps_the_order_and_never_lowers(adjust: Any, family: list[float]) -> None:
    p = np.array(family)
    found = adjust(p)
    order = np.argsort(p)
    assert (np.diff(found[order]) >= 0).all()
    assert ((found >= p) & (found <= 1)).all()
    assert (found[:, None] == found)[p[:, None] == p].all()  # equal before, equal after


@both
@given(FAMILIES, st.randoms(use_true_random=False))
def test_the_order_of_tests_does_not_matter(adjust: Any, family: list[float], chance: Any) -> None:
    p = np.array(family)
    moved = np.array(chance.sample(range(len(p)), len(p)))
    assert (adjust(p[moved]) == adjust(p)[moved]).all()


@given(FAMILIES)
def test_holm_lies_between_the_false_discovery_rate_and_bonferroni(family: list[float]) -> None:
    p = np.array(family)
    # 1e-15: m - i + 1 and m / i are rounded apart.
    assert (benjamini_hochberg(p) <= holm(p) + 1e-15).all()
    assert (holm(p) <= np.minimum(p * len(p), 1)).all()


@pytest.mark.parametrize("seed", range(20))
def test_weighted_holm_rejects_what_its_steps_reject_at_every_error(seed: int) -> None:
    """The adjusted p-value is the least error at which the procedure, written out, rejects; tolerance 1e-12."""
    generator = np.random.default_rng(seed)
    p, weights = generator.random(6) ** 3, generator.random(6) + 0.1
    adjusted = holm(p.tolist(), weights.tolist())

    def rejected(error: float) -> set[int]:
        left, done = float(weights.sum()), set[int]()
        for k in np.argsort(p / weights):
            if p[k] > error * weights[k] / left + 1e-12:
                break
            done.add(int(k))
            left -= float(weights[k])
        return done

    for error in adjusted[adjusted < 1]:
        assert rejected(float(error)) == set(np.flatnonzero(adjusted <= error + 1e-12).tolist())
    assert holm(p, [3.0] * 6) == pytest.approx(holm(p), rel=1e-12)
