"""The verdict on one number, for every way to judge it, at and about the limits."""

from __future__ import annotations

import math

import pytest

from chapters.gates.sentences import sentence_of
from evalpipe.chapters.gates import compute_verdict
from evalpipe.chapters.gates.records import Gate, GateLimits
from evalpipe.results.observed import Observed
from evalpipe.words.sentences import Sentence

LOW, HIGH, BOTH = GateLimits(0.75, math.inf), GateLimits(-math.inf, 0.75), GateLimits(0.7, 0.8)
OPEN = "so these data do not decide."


def verdict(
    limits: GateLimits, on: str, observed: Observed, undefined: str = "fail", *, against: str | None = None
) -> tuple[str, str]:
    """Return the verdict on a number, and what its sentence says after the name."""
    word, reason = compute_verdict.verdict(limits, on, observed, undefined)  # type: ignore[arg-type]
    keys = ("min", "max") if against is None else ("min_increase", "max_increase")
    gate = Gate(
        metric="x", dataset="d", model="m", gate=1, on=on, method=observed.method, level=observed.level,  # type: ignore[arg-type]
        limit={key: end for key, end in zip(keys, (limits.low, limits.high), strict=True) if math.isfinite(end)},
        observed=observed.value, lower=observed.lower, upper=observed.upper, reference=observed.reference,
        against=against, verdict=word, severity="fail", reason=reason)
    return word, sentence_of(gate).removeprefix("X").removeprefix(" minus that of the reference").removeprefix(
        " (two independent samples)")


def because(text: str) -> Sentence:
    return Sentence.read(text)


def seen(value: float | None, lower: float | None = None, upper: float | None = None, **more: object) -> Observed:
    return Observed(value, lower, upper, 0.95, "exact", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("limits", "interval", "said", "words"),
    [
        (LOW, (0.76, 0.80), "pass", ": 0.78 (0.76–0.80). The whole interval is above 0.75."),
        (LOW, (0.75, 0.80), "pass", ": 0.78 (0.75–0.80). The whole interval is at or above 0.75."),
        (LOW, (0.74, 0.80), "inconclusive", f": 0.77 (0.74–0.80). The interval includes 0.75, {OPEN}"),
        (LOW, (0.70, 0.74), "fail", ": 0.72 (0.70–0.74). The whole interval is below 0.75."),
        (HIGH, (0.70, 0.74), "pass", ": 0.72 (0.70–0.74). The whole interval is below 0.75."),
        (HIGH, (0.70, 0.75), "pass", ": 0.72 (0.70–0.75). The whole interval is at or below 0.75."),
        (HIGH, (0.70, 0.76), "inconclusive", f": 0.73 (0.70–0.76). The interval includes 0.75, {OPEN}"),
        (HIGH, (0.76, 0.80), "fail", ": 0.78 (0.76–0.80). The whole interval is above 0.75."),
        (BOTH, (0.72, 0.78), "pass", ": 0.75 (0.72–0.78). The whole interval is between 0.7 and 0.8."),
        (BOTH, (0.70, 0.80), "pass", ": 0.75 (0.70–0.80). The whole interval is between 0.7 and 0.8."),
        (BOTH, (0.50, 0.60), "fail", ": 0.55 (0.50–0.60). The whole interval is below 0.7."),
        (BOTH, (0.85, 0.95), "fail", ": 0.90 (0.85–0.95). The whole interval is above 0.8."),
        (BOTH, (0.68, 0.78), "inconclusive", f": 0.73 (0.68–0.78). The interval includes 0.7, {OPEN}"),
        (BOTH, (0.72, 0.82), "inconclusive", f": 0.77 (0.72–0.82). The interval includes 0.8, {OPEN}"),
        (BOTH, (0.68, 0.82), "inconclusive", f": 0.75 (0.68–0.82). The interval includes 0.7 and 0.8, {OPEN}"),
    ],
)
def test_a_whole_interval_is_judged(limits: GateLimits, interval: tuple[float, float], said: str, words: str) -> None:
    assert verdict(limits, "interval", seen(sum(interval) / 2, *interval)) == (said, words)


@pytest.mark.parametrize(
    ("on", "limits", "said", "words"),
    [
        ("value", LOW, "pass", ": 0.76 (0.74–0.78). The value is at least 0.75."),
        ("value", HIGH, "fail", ": 0.76 (0.74–0.78). The value is above 0.75."),
        ("value", BOTH, "pass", ": 0.76 (0.74–0.78). The value is at least 0.7 and at most 0.8."),
        ("lower", LOW, "fail", ": 0.76 (0.74–0.78). The lower limit is below 0.75."),
        ("lower", HIGH, "pass", ": 0.76 (0.74–0.78). The lower limit is at most 0.75."),
        ("upper", LOW, "pass", ": 0.76 (0.74–0.78). The upper limit is at least 0.75."),
        ("upper", HIGH, "fail", ": 0.76 (0.74–0.78). The upper limit is above 0.75."),
    ],
)
def test_one_number_alone_passes_or_fails(on: str, limits: GateLimits, said: str, words: str) -> None:
    assert verdict(limits, on, seen(0.76, 0.74, 0.78)) == (said, words)  # type: ignore[arg-type]


@pytest.mark.parametrize("limits", [LOW, HIGH, GateLimits(0.75, 0.75)])
@pytest.mark.parametrize("on", ["interval", "value", "lower", "upper"])
def test_a_limit_that_is_reached_is_kept(limits: GateLimits, on: str) -> None:
    assert verdict(limits, on, seen(0.75, 0.75, 0.75))[0] == "pass"  # type: ignore[arg-type]


def test_rounding_of_a_difference_does_not_miss_a_limit_that_is_reached() -> None:
    difference = 0.8 - 0.7  # 0.10000000000000009
    assert difference > 0.1
    assert verdict(GateLimits(-math.inf, 0.1), "value", Observed(difference, reference=0.7))[0] == "pass"
    assert verdict(GateLimits(-math.inf, 0.1), "value", Observed(0.1 + 1e-9, reference=0.7))[0] == "fail"


def test_small_numbers_are_told_from_their_limits() -> None:
    assert verdict(GateLimits(-math.inf, 1e-14), "value", Observed(2e-14))[0] == "fail"
    assert verdict(GateLimits(-math.inf, 0.0), "value", Observed(1e-300))[0] == "fail"


def test_a_number_is_written_with_as_many_decimals_as_tell_it_from_its_limit() -> None:
    assert verdict(LOW, "value", Observed(0.7499))[1] == ": 0.7499. The value is below 0.75."
    assert verdict(LOW, "lower", seen(0.8, 0.74996, 0.85))[1] == (
        ": 0.80000 (0.74996–0.85000). The lower limit is below 0.75.")
    assert verdict(LOW, "value", Observed(0.7499999999))[1] == ": 0.750000. The value is below 0.75."


def test_a_difference_has_its_sign() -> None:
    found = Observed(0.004, -0.001, 0.009, 0.95, "percentile", reference=0.2)
    assert verdict(GateLimits(-math.inf, 0.01), "interval", found, against="last") == (
        "pass", ": +0.004 (−0.001 to +0.009). The whole interval is below +0.01.")
    assert verdict(GateLimits(-0.0005, math.inf), "interval", found, against="last")[1].startswith(
        ": +0.0040 (−0.0010 to +0.0090). The interval includes −0.0005, ")


@pytest.mark.parametrize("on", ["interval", "value", "lower", "upper"])
def test_what_is_undefined_fails_unless_the_gate_says_otherwise(on: str) -> None:
    nothing = Observed(None, status="undefined", reason=because("no predicted events"))
    assert verdict(LOW, on, nothing)[0] == "fail"  # type: ignore[arg-type]
    said = {way: verdict(LOW, on, nothing, way) for way in ("fail", "inconclusive", "pass")}  # type: ignore[arg-type]
    assert said == {
        "fail": ("fail", " is undefined: no predicted events. This counts as failed."),
        "inconclusive": (
            "inconclusive", " is undefined: no predicted events. This leaves the gate inconclusive."),
        "pass": ("pass", " is undefined: no predicted events. This counts as passed."),
    }


@pytest.mark.parametrize("way", ["fail", "inconclusive", "pass"])
def test_too_few_rows_are_inconclusive_whatever_holds_for_the_undefined(way: str) -> None:
    few = Observed(None, status="insufficient", reason=because("12 rows, fewer than the 30 of slice_rules.min_rows"))
    assert verdict(LOW, "value", few, way) == (  # type: ignore[arg-type]
        "inconclusive",
        " is not given: 12 rows, fewer than the 30 of slice_rules.min_rows. This leaves the gate inconclusive.")


@pytest.mark.parametrize("on", ["interval", "lower", "upper"])
@pytest.mark.parametrize(("value", "said", "words"), [(0.9, "pass", "at least 0.75"), (0.1, "fail", "below 0.75")])
def test_without_an_interval_the_value_is_judged(on: str, value: float, said: str, words: str) -> None:
    bare = Observed(value, reason=because("the spec asks for none"))
    assert verdict(LOW, on, bare) == (said, (  # type: ignore[arg-type]
        f": {value:.3f}. There is no interval (the spec asks for none), so the value alone is judged: it is {words}."))
    assert verdict(LOW, "value", bare) == (said, f": {value:.3f}. The value is {words}.")


@pytest.mark.parametrize("on", ["interval", "lower", "upper"])
@pytest.mark.parametrize("value", [0.5, 0.9])
def test_an_interval_that_cannot_be_relied_on_fails_unless_the_gate_says_otherwise(on: str, value: float) -> None:
    weak = seen(value, value, value, status="degenerate", reason=because("the same in all replicates"))
    why = f": {value:.3f} ({value:.3f}–{value:.3f}). Its interval cannot be relied on: the same in all replicates."
    said = {way: verdict(LOW, on, weak, way) for way in ("fail", "inconclusive", "pass")}  # type: ignore[arg-type]
    words = ("pass", "at least 0.75") if value > 0.75 else ("fail", "below 0.75")
    assert said == {
        "fail": ("fail", f"{why} This counts as failed."),
        "inconclusive": ("inconclusive", f"{why} This leaves the gate inconclusive."),
        "pass": (words[0], f"{why} So the value alone is judged: it is {words[1]}."),
    }
    assert verdict(LOW, "value", weak)[0] == words[0]
    none = Observed(value, status="degenerate", reason=because("all rows are of one cluster"))
    assert verdict(LOW, on, none) == (  # type: ignore[arg-type]
        "fail", f": {value:.3f}. It has no interval: all rows are of one cluster. This counts as failed.")
