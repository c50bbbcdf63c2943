"""Contrasts against statsmodels, published figures and brute force; their p-values, limits and verdicts agree."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import ndtri, xlogy
from scipy.stats import beta, norm
from scipy.stats import t as student
from statsmodels.stats.contingency_tables import mcnemar

from evalpipe.intervals.bootstrap import bootstrap_error
from evalpipe.intervals.contrasts import (
    Contrast,
    IndependentProportions,
    NoneDiffers,
    PairedProportions,
    Wald,
    equivalence_p_value,
    margin_verdict,
    verdict,
)

CONTRASTS: list[Contrast] = [
    NoneDiffers(20, 1.0), NoneDiffers(3.5, 4.0),
    Wald(0.3, 0.1), Wald(-0.3, 0.1, 12.0), Wald(0.0, 2.5, 3.0), PairedProportions(1, 7, 21),
    PairedProportions(43, 0, 86), PairedProportions(0, 0, 50), PairedProportions(12, 12, 24),
    IndependentProportions(56, 70, 48, 80), IndependentProportions(0, 30, 9, 900, 0.97),
    IndependentProportions(30, 30, 0, 30), IndependentProportions(0, 8, 0, 5), IndependentProportions(1, 2, 3, 1000),
]


@pytest.mark.parametrize("contrast", CONTRASTS)
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.9999])
def test_limits_are_the_differences_whose_p_value_is_one_less_the_level(contrast: Contrast, level: float) -> None:
    limits = contrast.limits(level)
    assert limits is not None
    assert limits[0] <= contrast.value <= limits[1]
    end = getattr(contrast, "scale", 1.0) if not isinstance(contrast, Wald) else math.inf
    for limit, side in zip(limits, (-1, 1), strict=True):
        if abs(limit) < end * (1 - 1e-9):  # else the end of the range, where no difference is rejected
            # The p-value of a difference by 1e-12 from the limit moves by less than 1e-6 of itself.
            assert contrast.p(limit) == pytest.approx(1 - level, rel=1e-6)
            assert contrast.p(limit + side * 1e-3 * min(1, end - abs(limit))) <= 1 - level
    assert (contrast.p(0.0) < 1 - level) == (not limits[0] <= 0 <= limits[1])


@pytest.mark.parametrize("contrast", CONTRASTS)
@pytest.mark.parametrize("margin", [0.0, 0.01, 0.1, 0.4])
def test_a_verdict_is_given_where_the_interval_decides(contrast: Contrast, margin: float) -> None:
    limits = contrast.limits(0.95)
    assert limits is not None
    p = equivalence_p_value(contrast, margin)
    said = verdict(contrast.value, p, contrast.p(0.0), 0.95, margin, "maximize")
    inside = margin > 0 and -margin < limits[0] and limits[1] < margin
    expected = "equivalent" if inside else "better" if limits[0] > 0 else "worse" if limits[1] < 0 else "undecided"
    beyond = max(limits[0], -limits[1]) > margin
    where = "within" if inside else "beyond" if beyond else "undecided"
    assert said == expected
    assert margin_verdict(said, p, 0.95, margin) == (where if margin and said != "undecided" else None)


POSITIONS = [
    (-0.35, -0.15, "worse", "beyond"), (-0.20, -0.02, "worse", "undecided"), (-0.08, -0.02, "equivalent", "within"),
    (-0.15, 0.05, "undecided", None), (-0.08, 0.05, "equivalent", "within"), (-0.15, 0.15, "undecided", None),
    (-0.05, 0.15, "undecided", None), (0.02, 0.08, "equivalent", "within"), (0.02, 0.20, "better", "undecided"),
    (0.15, 0.35, "better", "beyond"),
]
"""Intervals about zero and a margin of 0.1, of a measure whose high values are better: the verdict, and of the margin.

They stand in docs/methods.md too."""


@pytest.mark.parametrize(("lower", "upper", "said", "where"), POSITIONS)
def test_each_position_of_an_interval_has_its_verdict(lower: float, upper: float, said: str, where: str | None) -> None:
    """The test of an interval that is wholly within, wholly beyond, or excludes zero is that interval's own."""
    middle, error = (lower + upper) / 2, (upper - lower) / 2 / ndtri(0.975)
    turned = {"better": "worse", "worse": "better"}
    for direction, sign in (("maximize", 1), ("minimize", 1), ("maximize", -1)):
        contrast = Wald(sign * middle, error)
        expected = said if (direction == "maximize") == (sign > 0) else turned.get(said, said)
        p = equivalence_p_value(contrast, 0.1)
        found = verdict(contrast.value, p, contrast.p(0.0), 0.95, 0.1, cast("Any", direction))
        assert (found, margin_verdict(found, p, 0.95, 0.1)) == (expected, where), (direction, sign)
    p = equivalence_p_value(Wald(middle, error), 0.1)
    plain = verdict(middle, p, Wald(middle, error).p(0.0), 0.95, 0.1, "none")
    assert plain == (said if where == "within" else "no_direction" if where == "beyond" else "undecided")


def test_no_p_value_has_a_floor() -> None:
    assert 0 < Wald(1.0, 0.05).p(0.0) < 1e-80
    assert 0 < PairedProportions(250, 3, 900).p(0.0) < 1e-40
    assert 0 < IndependentProportions(145, 156, 23, 130).p(0.0) < 1e-30


@pytest.mark.parametrize(("b", "c", "n"), [(1, 7, 21), (40, 13, 300), (5, 5, 10), (9, 0, 9)])
def test_of_no_difference_paired_proportions_are_tested_by_mcnemar(b: int, c: int, n: int) -> None:
    theirs = mcnemar([[0, b], [c, n - b - c]], exact=False, correction=False).pvalue
    assert PairedProportions(b, c, n).p(0.0) == pytest.approx(theirs, rel=1e-9)


def test_paired_proportions_have_the_limits_of_the_literature() -> None:
    """Fagerland, Lydersen & Laake (2014), table 6: airway hyper-responsiveness, 1 and 7 of 21: (-0.517, -0.026)."""
    assert PairedProportions(1, 7, 21).limits(0.95) == pytest.approx((-0.517, -0.026), abs=5e-4)
    # Without disagreement the score is -n d / sqrt(n d (1 - d)): z^2 / (n + z^2).
    z = norm.ppf(0.975)
    end = z**2 / (50 + z**2)
    assert PairedProportions(0, 0, 50).limits(0.95) == pytest.approx((-end, end), abs=1e-9)


def test_two_proportions_have_the_limits_of_the_literature() -> None:
    """Newcombe (1998), Statistics in Medicine 17, table II, method 6: 56/70 and 48/80: (0.0528, 0.3382)."""
    assert IndependentProportions(56, 70, 48, 80).limits(0.95) == pytest.approx((0.0528, 0.3382), abs=5e-5)


def test_of_no_difference_two_proportions_are_tested_by_pearson_with_one_row_less() -> None:
    x, m, y, n = 7, 34, 1, 34
    pooled = (x + y) / (m + n)
    score = (x / m - y / n) / math.sqrt(pooled * (1 - pooled) * (1 / m + 1 / n)) * math.sqrt((m + n - 1) / (m + n))
    assert IndependentProportions(x, m, y, n).p(0.0) == pytest.approx(2 * norm.sf(score), rel=1e-9)
    assert IndependentProportions(x, m, y, n, 0.25).p(0.0) == pytest.approx(2 * norm.sf(score), rel=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_two_proportions_are_tested_at_the_most_likely_ones_that_differ_so(seed: int) -> None:
    generator = np.random.default_rng(seed)
    m, n = generator.integers(3, 200, 2)
    x, y, gap = generator.integers(0, m + 1), generator.integers(0, n + 1), generator.uniform(-0.9, 0.9)
    def unlikely(p: float) -> float:
        terms = (xlogy(y, p), xlogy(n - y, 1 - p), xlogy(x, p + gap), xlogy(m - x, 1 - p - gap))
        return -float(sum(terms))

    bounds = max(0.0, -gap), min(1.0, 1 - gap)
    low = minimize_scalar(unlikely, bounds=bounds, method="bounded", options={"xatol": 1e-13}).x
    variance = (low * (1 - low) / n + (low + gap) * (1 - low - gap) / m) * (m + n) / (m + n - 1)
    p = 2 * norm.sf(abs(x / m - y / n - gap) / math.sqrt(variance))
    # The search stops at 1e-8 of the optimum, where the log likelihood is flat.
    assert IndependentProportions(int(x), int(m), int(y), int(n)).p(gap) == pytest.approx(p, rel=1e-4, abs=1e-12)


def test_walds_test_is_normal_or_students() -> None:
    assert Wald(0.3, 0.1).p(0.1) == pytest.approx(2 * norm.sf(2), rel=1e-12)
    assert Wald(0.3, 0.1).limits(0.9) == pytest.approx(norm.interval(0.9, 0.3, 0.1), rel=1e-12)
    assert Wald(0.3, 0.1, 4).p(0.1) == pytest.approx(2 * student.sf(2, 4), rel=1e-12)
    assert Wald(0.3, 0.1, 4).limits(0.9) == pytest.approx(student.interval(0.9, 4, 0.3, 0.1), rel=1e-12)


@pytest.mark.parametrize("error", [0.0, 1e-16, math.nan])
def test_without_an_error_there_is_neither_p_value_nor_interval_nor_verdict(error: float) -> None:
    contrast = Wald(0.3, error)
    assert math.isnan(contrast.p(0.0))
    assert contrast.limits(0.95) is None
    assert verdict(0.3, equivalence_p_value(contrast, 0.1), contrast.p(0.0), 0.95, 0.1, "maximize") == "untested"


def test_the_error_of_replicates_is_the_normals_with_as_wide_a_middle() -> None:
    drawn = norm.ppf((np.arange(4000) + 0.5) / 4000) * 0.7 + 3
    assert bootstrap_error(drawn) == pytest.approx(0.7, rel=2e-3)  # quantiles of 4000 draws are between two of them
    # Five more of 4000 on one side move a quantile that leaves 100 by a fiftieth of the error.
    assert bootstrap_error(np.r_[drawn, [1e9] * 5, [np.nan] * 9]) == pytest.approx(0.7, rel=2e-2)
    assert math.isnan(bootstrap_error(np.array([np.nan, 1.0])))


def test_a_difference_that_no_row_shows_has_the_limits_of_no_event() -> None:
    contrast = NoneDiffers(20, 1.0)
    lower, upper = contrast.limits(0.95)
    # The exact limit of 0 of 20, Clopper & Pearson (1934).
    assert (-lower, upper) == (pytest.approx(beta(1, 20).ppf(0.975), rel=1e-12),) * 2
    assert contrast.p(0.0) == 1
    assert contrast.p(upper) == pytest.approx(0.05, rel=1e-12)
    assert NoneDiffers(20, 1.0).p(2.0) == 0


def test_the_test_by_the_bootstrap_keeps_its_level() -> None:
    generator = np.random.default_rng(8)
    values = generator.normal(0, 1, (2000, 1))
    drawn = values + generator.normal(0, 1, (2000, 499))
    found = np.array([Wald(float(v[0]), bootstrap_error(row)).p(0.0) for v, row in zip(values, drawn, strict=True)])
    for share in (0.001, 0.05, 0.2, 0.5):  # 4 standard errors of a share of 2000
        assert (found <= share).mean() == pytest.approx(share, abs=4 * math.sqrt(share * (1 - share) / 2000))


@pytest.mark.parametrize(
    ("value", "p", "margin", "up", "down", "none"),
    [
        (0.05, 0.01, 0.1, "equivalent", "equivalent", "equivalent"),
        (0.05, 0.05, 0.1, "undecided", "undecided", "undecided"),
        (0.2, 0.01, 0.1, "better", "worse", "no_direction"),
        (-0.2, 0.01, 0.1, "worse", "better", "no_direction"),
        (0.2, 0.3, 0.1, "undecided", "undecided", "undecided"),
        (0.02, 0.0499, 0.0, "better", "worse", "no_direction"),
        (0.02, 0.05, 0.0, "undecided", "undecided", "no_direction"),
        (0.02, math.nan, 0.0, "untested", "untested", "untested"),
    ],
)
def test_a_verdict_goes_by_its_p_value(
    value: float, p: float, margin: float, up: str, down: str, none: str
) -> None:
    kinds: tuple[Any, ...] = ("maximize", "minimize", "none")
    assert tuple(verdict(value, p, p, 0.95, margin, kind) for kind in kinds) == (up, down, none)
