from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalpipe import numbers


@pytest.mark.parametrize(
    ("value", "lower", "upper", "text"),
    [
        (0.78461, 0.77611, 0.79312, ("0.785", "0.776 to 0.793")),
        (0.5, 0.1, 0.9, ("0.500", "0.100 to 0.900")),
        (-0.25, -0.31, 0.04, ("−0.250", "−0.310 to 0.040")),
        (0.99996, 0.99985, 1.0, ("0.99996", "0.99985 to 1.00000")),
        (1.0, 0.98, 1.0, ("1.000", "0.980 to 1.000")),
        (0.0, 0.0, 0.02, ("0.000", "0.000 to 0.020")),
        (0.123456, 0.1234, 0.1235, ("0.12346", "0.12340 to 0.12350")),
        (1234.5, 1200.0, 1300.0, ("1,234", "1,200 to 1,300")),
    ],
)
def test_an_interval_has_two_digits_of_its_width(
    value: float, lower: float, upper: float, text: tuple[str, str]
) -> None:
    assert numbers.interval(value, lower, upper) == text


def test_whole_numbers_are_written_without_decimals() -> None:
    assert numbers.interval(7.0, 3.0, 12.0, whole=True) == ("7", "3 to 12")
    assert numbers.interval(7.0, 3.5, 12.0, whole=True) == ("7.000", "3.500 to 12.000")


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


def test_ranges_name_their_ends() -> None:
    ends: list[tuple[float | None, float | None]] = [(0, 1), (-1, 1), (0, None), (None, 0), (None, None)]
    assert [numbers.bounds(*end) for end in ends] == [
        "0 to 1", "−1 to 1", "from 0, unbounded", "unbounded, to 0", "unbounded",
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
    ("value", "said"), [(None, "–"), (0.0, "< 0.001"), (0.00099, "< 0.001"), (0.001, "0.001"), (0.04961, "0.050"),
                        (1.0, "1.000")],
)
def test_a_p_value_has_three_digits(value: float | None, said: str) -> None:
    assert numbers.p_value(value) == said


@pytest.mark.parametrize(
    ("value", "lower", "upper", "said"),
    [
        (0.0123, 0.0080, 0.0166, ("+0.0123", "+0.0080 to +0.0166")), (-0.25, -0.5, 0.0, ("−0.250", "−0.500 to 0.000")),
        (0.0, -0.01, 0.01, ("0.000", "−0.010 to +0.010")), (-40.0, None, None, ("−40.0", None)),
    ],
)
def test_a_difference_has_a_sign_unless_it_is_zero(
    value: float, lower: float | None, upper: float | None, said: tuple[str, str | None]
) -> None:
    assert numbers.signed_interval(value, lower, upper) == said
