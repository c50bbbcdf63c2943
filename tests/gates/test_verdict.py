"""The verdict on one number, for every way to judge it, at and about the limits."""

from __future__ import annotations

import math

import pytest

from evalpipe.gates.verdict import Bounds, Seen, verdict

LOW, HIGH, BOTH = Bounds(0.75, math.inf), Bounds(-math.inf, 0.75), Bounds(0.7, 0.8)
MORE = "more rows would be needed to tell"


def seen(value: float | None, lower: float | None = None, upper: float | None = None, **more: object) -> Seen:
    return Seen(value, lower, upper, 0.95, "exact", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("bounds", "limits", "said", "words"),
    [
        (LOW, (0.76, 0.80), "pass", "0.780 (0.760 to 0.800) lies wholly above 0.75"),
        (LOW, (0.75, 0.80), "pass", "0.775 (0.750 to 0.800) lies wholly at or above 0.75"),
        (LOW, (0.74, 0.80), "indeterminate", f"0.770 (0.740 to 0.800) reaches from below to above 0.75: {MORE}"),
        (LOW, (0.70, 0.74), "fail", "0.720 (0.700 to 0.740) lies wholly below 0.75"),
        (HIGH, (0.70, 0.74), "pass", "0.720 (0.700 to 0.740) lies wholly below 0.75"),
        (HIGH, (0.70, 0.75), "pass", "0.725 (0.700 to 0.750) lies wholly at or below 0.75"),
        (HIGH, (0.70, 0.76), "indeterminate", f"0.730 (0.700 to 0.760) reaches from below to above 0.75: {MORE}"),
        (HIGH, (0.76, 0.80), "fail", "0.780 (0.760 to 0.800) lies wholly above 0.75"),
        (BOTH, (0.72, 0.78), "pass", "0.750 (0.720 to 0.780) lies wholly between 0.7 and 0.8"),
        (BOTH, (0.70, 0.80), "pass", "0.750 (0.700 to 0.800) lies wholly between 0.7 and 0.8"),
        (BOTH, (0.50, 0.60), "fail", "0.550 (0.500 to 0.600) lies wholly below 0.7"),
        (BOTH, (0.85, 0.95), "fail", "0.900 (0.850 to 0.950) lies wholly above 0.8"),
        (BOTH, (0.68, 0.78), "indeterminate", f"0.730 (0.680 to 0.780) reaches from below to above 0.7: {MORE}"),
        (BOTH, (0.72, 0.82), "indeterminate", f"0.770 (0.720 to 0.820) reaches from below to above 0.8: {MORE}"),
        (BOTH, (0.68, 0.82), "indeterminate", f"0.750 (0.680 to 0.820) reaches below 0.7 and above 0.8: {MORE}"),
    ],
)
def test_a_whole_interval_is_judged(bounds: Bounds, limits: tuple[float, float], said: str, words: str) -> None:
    assert verdict(bounds, "interval", seen(sum(limits) / 2, *limits)) == (said, words)


@pytest.mark.parametrize(
    ("on", "bounds", "said", "words"),
    [
        ("value", LOW, "pass", "0.760 (0.740 to 0.780) is at least 0.75"),
        ("value", HIGH, "fail", "0.760 (0.740 to 0.780) is above 0.75"),
        ("value", BOTH, "pass", "0.760 (0.740 to 0.780) is at least 0.7 and at most 0.8"),
        ("lower", LOW, "fail", "0.760 (0.740 to 0.780) has a lower limit that is below 0.75"),
        ("lower", HIGH, "pass", "0.760 (0.740 to 0.780) has a lower limit that is at most 0.75"),
        ("upper", LOW, "pass", "0.760 (0.740 to 0.780) has an upper limit that is at least 0.75"),
        ("upper", HIGH, "fail", "0.760 (0.740 to 0.780) has an upper limit that is above 0.75"),
    ],
)
def test_one_number_alone_passes_or_fails(on: str, bounds: Bounds, said: str, words: str) -> None:
    assert verdict(bounds, on, seen(0.76, 0.74, 0.78)) == (said, words)  # type: ignore[arg-type]


@pytest.mark.parametrize("bounds", [LOW, HIGH, Bounds(0.75, 0.75)])
@pytest.mark.parametrize("on", ["interval", "value", "lower", "upper"])
def test_a_limit_that_is_reached_is_kept(bounds: Bounds, on: str) -> None:
    assert verdict(bounds, on, seen(0.75, 0.75, 0.75))[0] == "pass"  # type: ignore[arg-type]


def test_rounding_of_a_difference_does_not_miss_a_limit_that_is_reached() -> None:
    difference = 0.8 - 0.7  # 0.10000000000000009
    assert difference > 0.1
    assert verdict(Bounds(-math.inf, 0.1), "value", Seen(difference, reference=0.7, signed=True))[0] == "pass"
    assert verdict(Bounds(-math.inf, 0.1), "value", Seen(0.1 + 1e-9, reference=0.7, signed=True))[0] == "fail"


def test_small_numbers_are_told_from_their_limits() -> None:
    assert verdict(Bounds(-math.inf, 1e-14), "value", Seen(2e-14))[0] == "fail"
    assert verdict(Bounds(-math.inf, 0.0), "value", Seen(1e-300))[0] == "fail"


def test_a_number_is_written_with_as_many_decimals_as_tell_it_from_its_limit() -> None:
    assert verdict(LOW, "value", Seen(0.7499))[1] == "0.7499 is below 0.75"
    assert verdict(LOW, "lower", seen(0.8, 0.74996, 0.85))[1] == (
        "0.80000 (0.74996 to 0.85000) has a lower limit that is below 0.75")
    assert verdict(LOW, "value", Seen(0.7499999999))[1] == "0.750000 is below 0.75"


def test_a_difference_has_its_sign() -> None:
    found = Seen(0.004, -0.001, 0.009, 0.95, "percentile", reference=0.2, signed=True)
    assert verdict(Bounds(-math.inf, 0.01), "interval", found) == (
        "pass", "+0.004 (−0.001 to +0.009) lies wholly below +0.01")
    assert verdict(Bounds(-0.0005, math.inf), "interval", found)[1].startswith(
        "+0.0040 (−0.0010 to +0.0090) reaches from below to above −0.0005")


@pytest.mark.parametrize("on", ["interval", "value", "lower", "upper"])
def test_what_is_undefined_is_indeterminate_unless_the_gate_says_otherwise(on: str) -> None:
    nothing = Seen(None, status="undefined", reason="no predicted events")
    said = {way: verdict(LOW, on, nothing, way) for way in ("indeterminate", "fail", "pass")}  # type: ignore[arg-type]
    assert said == {
        "indeterminate": ("indeterminate", "is undefined: no predicted events"),
        "fail": ("fail", "is undefined: no predicted events, which counts as failed"),
        "pass": ("pass", "is undefined: no predicted events, which counts as passed"),
    }


def test_too_few_rows_are_indeterminate_whatever_holds_for_the_undefined() -> None:
    few = Seen(None, status="insufficient", reason="12 rows, fewer than the 30 of slice_rules.min_rows")
    assert verdict(LOW, "value", few, "fail") == (
        "indeterminate", "is not given: 12 rows, fewer than the 30 of slice_rules.min_rows")


@pytest.mark.parametrize("on", ["interval", "lower", "upper"])
def test_without_an_interval_only_the_value_can_be_judged(on: str) -> None:
    bare = Seen(0.9, reason="the spec asks for none")
    assert verdict(LOW, "value", bare) == ("pass", "0.900 is at least 0.75")
    assert verdict(LOW, on, bare) == (  # type: ignore[arg-type]
        "indeterminate", "0.900 has no interval to judge: the spec asks for none")
    weak = seen(0.9, 0.9, 0.9, status="degenerate", reason="the same in all replicates")
    assert verdict(LOW, on, weak) == (  # type: ignore[arg-type]
        "indeterminate", "0.900 (0.900 to 0.900) has an interval that cannot be relied on: the same in all replicates")
    assert verdict(LOW, "value", weak)[0] == "pass"
