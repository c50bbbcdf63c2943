from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalpipe.words import numbers


@pytest.mark.parametrize(
    ("value", "lower", "upper", "text"),
    [
        (0.5563, 0.4961, 0.6154, ("0.56", "0.50–0.62")),  # half the width is 0.06: one digit
        (0.8013, 0.7651, 0.8329, ("0.80", "0.77–0.83")),
        (0.1491, 0.1352, 0.1634, ("0.149", "0.135–0.163")),  # half the width is 0.014: its first digit is 1
        (0.3, 0.28, 0.32, ("0.30", "0.28–0.32")),  # in floats half the width is 0.01999…96, and still counts as 0.02
        (0.5, 0.1, 0.9, ("0.5", "0.1–0.9")),
        (-0.25, -0.31, 0.04, ("−0.25", "−0.31 to 0.04")),
        (0.0123, -0.01, 0.02, ("0.012", "−0.010 to 0.020")),
        (0.99996, 0.99985, 1.0, ("0.99996", "0.99985–1.00000")),
        (0.9996, 0.98, 1.0, ("0.9996", "0.9800–1.0000")),  # with fewer decimals it would read as 1
        (0.0004, 0.0, 0.02, ("0.0004", "0.0000–0.0200")),
        (1.0, 0.98, 1.0, ("1.000", "0.980–1.000")),
        (0.0, 0.0, 0.02, ("0.000", "0.000–0.020")),
        (1e-9, 0.0, 0.05, ("0.00", "0.00–0.05")),  # six decimals do not tell it from 0
        (0.123456, 0.1234, 0.1235, ("0.12346", "0.12340–0.12350")),
        (0.25, 0.25, 0.25, ("0.250", "0.250–0.250")),
        (0.04, -0.003, 0.08, ("0.040", "−0.003 to 0.080")),  # with fewer decimals the lower limit would lose its sign
        (1234.5, 1200.0, 1300.0, ("1,234", "1,200–1,300")),
        (16460.3, 13088.2, 20753.1, ("16,460", "13,088–20,753")),
    ],
)
def test_an_interval_has_the_decimals_that_half_its_width_supports(
    value: float, lower: float, upper: float, text: tuple[str, str]
) -> None:
    assert numbers.interval(value, lower, upper) == text


def test_whole_numbers_are_written_without_decimals() -> None:
    assert numbers.interval(7.0, 3.0, 12.0, whole=True) == ("7", "3–12")
    assert numbers.interval(7.0, 3.5, 12.5, whole=True) == ("7", "4–12")
    assert numbers.interval(7.0, 6.5, 8.5, whole=True) == ("7.0", "6.5–8.5")


def test_a_limit_does_not_read_as_what_it_is_judged_against() -> None:
    assert numbers.interval(0.78, 0.7496, 0.81, apart=(0.75,)) == ("0.7800", "0.7496–0.8100")
    assert numbers.interval(0.78, 0.75, 0.81, apart=(0.75,)) == ("0.78", "0.75–0.81")
    assert numbers.signed_interval(0.04, 0.0004, 0.08) == ("+0.0400", "+0.0004 to +0.0800")
    assert numbers.signed_interval(0.04, 1e-9, 0.08) == ("+0.04", "0.00 to +0.08")


@pytest.mark.parametrize(("column", "decimals"), [
    ([(0.56, 0.50, 0.62), (0.5, 0.1, 0.9), (0.149, 0.135, 0.163), (0.8, 0.77, 0.83)], 2),  # two, one, three and two
    ([(0.56, 0.50, 0.62), (0.149, 0.135, 0.163)], 3),  # of two the one that needs more
    ([(0.56, 0.50, 0.62), (0.52, 0.45, 0.6), (0.9971, 0.97, 1.0)], 3),  # with two decimals it would read as 1
    ([(0.56, 0.50, 0.62), (1.0, 0.9, 1.0), (0.0, 0.0, 0.1)], 2),  # these are 1 and 0
    ([(1.0, 1.0, 1.0), (1.0, 1.0, 1.0), (0.75, 0.64, 0.84)], 2),  # intervals without width say nothing
    ([(1.0, 1.0, 1.0)], 3), ([(0.56, 0.50, 0.62), (0.123456, None, None), (None, None, None)], 2),
    ([(0.5, None, None)], 3), ([(None, None, None)], 0), ([], 0), ([(283.2, 277.0, 289.0)], 0),
])
def test_numbers_below_each_other_share_the_decimals_that_most_intervals_support(
    column: list[tuple[float | None, float | None, float | None]], decimals: int
) -> None:
    assert numbers.column_decimals(column) == decimals


def test_numbers_side_by_side_share_the_most_decimals_that_one_needs() -> None:
    assert numbers.most_decimals([(0.56, 0.50, 0.62), (0.5, 0.485, 0.515), (None, None, None)]) == 3
    assert numbers.most_decimals([(0.56, 0.50, 0.62), (0.12345, None, None)]) == 2
    assert numbers.most_decimals([(0.0123, None, None), (0.5, None, None)]) == 4


@pytest.mark.parametrize(("limits", "decimals"), [
    ((9.999,), 3), ((10.0,), 1), ((99.5,), 1), ((123.4,), 0), ((-9.5,), 3), ((0.00123,), 5),
    ((0.5, 0.4, None), 3), ((0.5, None, 0.6), 3), ((0.25, 0.25, 0.25), 3),  # no width says nothing
    ((0.5, 0.48, 0.52), 2), ((0.5, 0.481, 0.519), 3), ((5.0, 1.0, 9.0), 0),
])
def test_the_decimals_follow_from_the_width_or_the_size(limits: tuple[float | None, ...], decimals: int) -> None:
    assert numbers.decimals(*limits) == decimals  # type: ignore[arg-type]


@pytest.mark.parametrize(("value", "digits", "decimals"), [
    (250, 3, 0), (25, 3, 1), (2.5, 3, 2), (0.3, 1, 1), (0.03, 2, 3), (0, 2, 1), (1000, 3, 0), (-0.3, 2, 2),
])
def test_significant_digits_are_counted_from_the_first_that_is_not_nought(
    value: float, digits: int, decimals: int
) -> None:
    assert numbers.significant(value, digits) == decimals


@pytest.mark.parametrize(("written", "text"), [
    (numbers.number(1.5), "1.500"), (numbers.number(1.5, 3), "1.500"), (numbers.number(1.5, 4), "1.5000"),
    (numbers.with_limits(0.56, 0.5, 0.62), "0.56 (0.50–0.62)"), (numbers.with_limits(0.56, None, 0.62), "0.560"),
    (numbers.with_limits(0.56, 0.5, None), "0.560"), (numbers.with_limits(0.56, None, None, least=4), "0.5600"),
    (numbers.with_limits(0.56, 0.5, 0.62, least=3), "0.560 (0.500–0.620)"),
    (numbers.with_limits(0.78, 0.7496, 0.81, apart=(0.75,)), "0.7800 (0.7496–0.8100)"),
    (numbers.interval(0.56, 0.5, 0.62, places=1), ("0.6", "0.5–0.6")),
    (numbers.interval(7.0, 3.0, 12.0, whole=True, places=2), ("7", "3–12")),
    (numbers.interval(7.0, 3.0, 12.0, places=2), ("7.00", "3.00–12.00")),
    (numbers.signed_interval(0.5, None, 0.6), ("+0.500", None)),
    (numbers.signed_interval(0.5, 0.4, None), ("+0.500", None)),
    (numbers.signed_interval(0.5, 0.4, 0.6, 3), ("+0.500", "+0.400 to +0.600")),
    (numbers.signed_with_limits(0.5, 0.4, 0.6), "+0.50 (+0.40 to +0.60)"),
    (numbers.signed_with_limits(-40, None, None), "−40.0"),
])
def test_a_number_is_written_with_its_limits_where_it_has_both(written: object, text: object) -> None:
    assert written == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.32216, "0.32216"), (0.5, "0.5"), (1 / 3, "0.333"), (0.8825514999999999, "0.883"), (0.1 + 0.2, "0.3"),
     (0.0012345678, "0.00123"), (711 / 2207, "0.322")],
)
def test_a_prevalence_or_a_threshold_has_its_own_few_digits_or_three(value: float, text: str) -> None:
    assert numbers.given(value) == text


def test_a_range_has_a_dash_unless_an_end_has_a_sign() -> None:
    ends = [("0.50", "0.62"), ("−0.01", "0.02"), ("0.00", "+0.02"), ("0", "1,000")]
    assert [numbers.ranged(*pair) for pair in ends] == ["0.50–0.62", "−0.01 to 0.02", "0.00 to +0.02", "0–1,000"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5523, "0.552"), (0.07083, "0.0708"), (0.00012345, "0.000123"), (0.0, "0.000"), (1.0, "1.000"),
        (-3.14159, "−3.142"), (15.26, "15.3"), (1234.56, "1,235"),
    ],
)
def test_a_number_alone_has_three_digits(value: float, text: str) -> None:
    assert numbers.number(value) == text


def test_counts_have_thousands_separators_and_weights_one_decimal() -> None:
    assert [numbers.count(x) for x in (6107, 6107.0, 1234.56, 0)] == ["6,107", "6,107", "1,234.6", "0"]


def test_per_cent_of_nothing_is_a_dash() -> None:
    assert [numbers.percent(1, 3), numbers.percent(0, 5), numbers.percent(0, 0)] == ["33.3%", "0.0%", "–"]


@pytest.mark.parametrize(("share", "whole", "floored", "given"), [
    (0.0, "0%", "0%", "0%"), (0.001, "<1%", "0.1%", "0.1%"), (0.005, "<1%", "0.5%", "0.5%"),
    (0.006, "1%", "0.6%", "0.6%"), (0.29, "29%", "29%", "29%"), (0.12345, "12%", "12.3%", "12.345%"),
    (0.9999, "100%", "99.9%", "99.99%"), (1.0, "100%", "100%", "100%"),
])
def test_a_share_in_per_cent_is_rounded_or_never_more_than_it_is(
    share: float, whole: str, floored: str, given: str
) -> None:
    assert numbers.whole_percent(share * 1000, 1000) == whole
    assert (numbers.floored_percent(share), numbers.given_percent(share)) == (floored, given)
    assert numbers.whole_percent(share, 0) == "–"


@pytest.mark.parametrize(("value", "decimals", "text", "with_sign"), [
    (0, 2, "0.00", "0.00"), (0.004, 2, "0.00", "0.00"), (0.006, 2, "0.01", "+0.01"), (-0.004, 2, "0.00", "0.00"),
    (-0.4, 0, "0", "0"), (-0.006, 2, "−0.01", "−0.01"), (1234567.89, 1, "1,234,567.9", "+1,234,567.9"),
    (-1000, 0, "−1,000", "−1,000"),
])
def test_what_rounds_to_nothing_has_no_sign(value: float, decimals: int, text: str, with_sign: str) -> None:
    assert (numbers.fixed(value, decimals), numbers.signed(value, decimals)) == (text, with_sign)


@pytest.mark.parametrize(("value", "exact", "plain"), [
    (0.1 + 0.2, "0.30000000000000004", "0.3"), (1e-6, "0.000001", "0.000001"), (9.9e-7, "9.9e−07", "9.9e−07"),
    (0, "0", "0"), (5.0, "5", "5"), (-0.25, "−0.25", "−0.25"), (1e14, "100000000000000", "100000000000000"),
    (1e15, "1000000000000000", "1000000000000000"), (1e16, "1e+16", "1e+16"),
    (0.12345678901, "0.12345678901", "0.123456789"),
])
def test_an_exact_number_has_all_its_digits_and_a_plain_one_ten(value: float, exact: str, plain: str) -> None:
    assert (numbers.exact(value), numbers.plain(value)) == (exact, plain)


@pytest.mark.parametrize(("value", "text"), [
    (0.0099, "below 0.01"), (0.01, "0.01"), (1, "1"), (3.14159, "3.1"), (20, "20"), (99.4, "99"), (99.6, "100"),
    (100, "100"), (1234.5, "1,234"),
])
def test_evidence_has_two_digits_or_all_before_the_point(value: float, text: str) -> None:
    assert numbers.evidence(value) == text


@pytest.mark.parametrize(("size", "text"), [
    (0, "0 KB"), (12, "0.012 KB"), (1e3, "1 KB"), (99e3, "99 KB"), (99.6e3, "100 KB"), (999e3, "999 KB"), (1e6, "1 MB"),
    (1.54e6, "1.5 MB"), (99.4e9, "99 GB"), (99.7e9, "100 GB"), (1e12, "1 TB"), (250e12, "250 TB"),
])
def test_bytes_are_in_the_largest_unit_that_they_fill(size: float, text: str) -> None:
    assert numbers.bytes_text(size) == text


def test_ranges_name_their_ends() -> None:
    ends: list[tuple[float | None, float | None]] = [
        (0, 1), (-1, 1), (0, None), (None, 0), (None, None), (0.1 + 0.2, None), (None, -1), (1, None)]
    assert [numbers.bounds(*end) for end in ends] == [
        "0 to 1", "−1 to 1", "0 or more", "0 or less", "unbounded", "0.3 or more", "−1 or less", "1 or more",
    ]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_exact_text_reads_back_as_the_same_number(value: float) -> None:
    assert float(numbers.exact(value).replace(numbers.MINUS, "-")) == value


@given(st.floats(-1e6, 1e6), st.floats(0, 10))
def test_the_written_value_is_the_value_to_its_last_digit(value: float, half: float) -> None:
    text, _ = numbers.interval(value, value - half, value + half)
    decimals = len(text.partition(".")[2])
    assert math.isclose(float(text.replace(",", "").replace(numbers.MINUS, "-")), value, abs_tol=0.5001 * 10**-decimals)
    assert "-" not in text


@pytest.mark.parametrize(
    ("value", "said"), [(None, "–"), (0.0, "< 0.001"), (0.00099, "< 0.001"), (0.001, "0.001"), (0.0494, "0.049"),
                        (0.0495, "0.0495"), (0.04961, "0.0496"), (0.0504, "0.0504"), (0.0506, "0.051"), (1.0, "1.000")],
)
def test_a_p_value_has_three_digits(value: float | None, said: str) -> None:
    assert numbers.p_value(value) == said


@pytest.mark.parametrize(
    ("value", "lower", "upper", "said"),
    [
        (0.0123, 0.0080, 0.0166, ("+0.012", "+0.008 to +0.017")), (-0.25, -0.5, 0.0, ("−0.2", "−0.5 to 0.0")),
        (0.0, -0.01, 0.01, ("0.000", "−0.010 to +0.010")), (-40.0, None, None, ("−40.0", None)),
    ],
)
def test_a_difference_has_a_sign_unless_it_is_zero(
    value: float, lower: float | None, upper: float | None, said: tuple[str, str | None]
) -> None:
    assert numbers.signed_interval(value, lower, upper) == said
