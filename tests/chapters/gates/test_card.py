"""The verdict at the head of the card."""

from __future__ import annotations

import re

import pytest

from card.blocks import column, rows, table
from evalpipe.card.html import html_page
from evalpipe.card.page import Bullets, plain
from evalpipe.card.summary import verdict
from evalpipe.card.wording import names_of
from evalpipe.chapters.gates import card
from evalpipe.chapters.gates.card import FOLDED, MOST, headline, run_verdict, sections, word_and_reason
from evalpipe.results import Gate, Results

VERDICTS = {
    "fail": {"verdict": "fail", "severity": "fail"}, "warn": {"verdict": "fail", "severity": "warn"},
    "inconclusive": {"verdict": "inconclusive", "severity": "fail"},
    "skipped": {"verdict": "skipped", "severity": "fail", "observed": None, "lower": None, "upper": None},
    "pass": {"verdict": "pass", "severity": "fail"},
}


def gate(kind: str, number: int = 1, **keys: object) -> Gate:
    base: dict[str, object] = {
        "metric": "brier", "dataset": "validation", "model": "model_0", "gate": number, "on": "interval",
        "limit": {"max": 0.2}, "observed": 0.1, "lower": 0.05, "upper": 0.15, "level": 0.95, "method": "percentile",
        "reason": {"code": "text", "text": f"the reason of {kind} <b>&"},
    }
    return Gate(**base | VERDICTS[kind] | keys)  # type: ignore[arg-type]


def box(results: Results, *gates: Gate) -> str:
    """Return the text of the section, without markup."""
    page = html_page(results.model_copy(update={"gates": list(gates), "curves": []})).decode()
    found = re.search(r'<section id="gates".*?</section>', page, re.DOTALL)
    assert found is not None
    places = [page.index(text) for text in ("</h1>", '<section id="verdict"', '<section id="dataset-1"', found[0])]
    assert places == sorted(places)
    return " ".join(re.sub(r"<[^>]*>", " ", found[0]).split())


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        (["pass"], "The gate held"),
        (["fail"], "The gate failed"),
        (["inconclusive"], "The gate is inconclusive"),
        (["skipped"], "The gate was skipped"),
        (["pass"] * 3, "Every gate held: 3 checks"),
        (["pass", "pass", "skipped"], "Every gate held: 2 checks, 1 was skipped"),
        (["skipped", "skipped"], "2 of 2 gate checks were skipped"),
        (["fail", "fail", *["pass"] * 6, "inconclusive"], "2 of 9 gate checks failed, 1 is inconclusive"),
        (["pass", "inconclusive", "inconclusive", "skipped"],
         "No gate failed, 2 of 4 checks are inconclusive, 1 was skipped"),
        (["warn", "inconclusive", "inconclusive", "skipped"],
         "1 of 4 gate checks failed with severity warn, 2 are inconclusive, 1 was skipped"),
    ],
)
def test_the_headline_counts(kinds: list[str], said: str) -> None:
    assert headline([gate(kind) for kind in kinds]) == said


def test_the_worst_stand_first_each_with_its_reason(results: Results) -> None:
    text = box(results, *(gate(kind) for kind in reversed(VERDICTS)))
    assert text.startswith(
        "Gates Gates, with 95% intervals Verdict Gate Observed Reason ✗ failed Brier score at most 0.2 "
        "Naive Bayes on validation 0.10 (0.05–0.15) the reason of fail &lt;b&gt;&amp; ▲ failed"
    )
    places = [text.index(f"the reason of {kind} &lt;b&gt;&amp;") for kind in VERDICTS]
    assert places == sorted(places)


@pytest.mark.parametrize(("worst", "sign"), [("fail", "✗"), ("warn", "▲"), ("inconclusive", "?"), ("pass", "✓")])
def test_the_whole_has_the_sign_of_the_worst(results: Results, worst: str, sign: str) -> None:
    judged = results.model_copy(update={"gates": [gate("pass"), gate(worst), gate("skipped")]})
    assert (verdict(judged).style, plain(verdict(judged).title)[0]) == (f"gates {worst}", sign)
    assert [sign_of for sign_of, _ in run_verdict(judged)] == [sign]


def test_a_row_tells_slice_class_limit_and_what_is_judged(results: Results) -> None:
    text = box(
        results,
        gate("fail", slice={"season": "a"}, on="lower", limit={"min": 0.5, "max": 0.9}, variant="isotonic"),
        gate("warn", name="Held by contract", metric="sensitivity", average="none", class_="edible"),
        gate("pass", against="model_0", model="model_1", limit={"max_increase": 0.01}, observed=0.004, lower=-0.001,
             upper=0.009),
        gate("pass", against="../nightly", limit={"max_decrease": 0.01}, lower=None, upper=None),
        gate("pass", metric=None, desirability="overall", limit={"min": 0.1}),
    )
    assert "at least 0.5 and at most 0.9 by its lower limit Naive Bayes (isotonic) on validation, season = a" in text
    assert "Held by contract at most 0.2 Naive Bayes on validation, edible, severity warn" in text
    assert "Brier score rises by at most 0.01 against Naive Bayes Gradient boosting" in text
    assert "+0.004 (−0.001 to +0.009)" in text
    assert "Brier score falls by at most 0.01 against ../nightly Naive Bayes on validation +0.100 the" in text
    assert "Overall desirability at least 0.1" in text


def test_many_are_counted_by_gate(results: Results) -> None:
    many = [gate("pass", 1) for _ in range(40)] + [gate("inconclusive", 1) for _ in range(20)] + [gate("fail", 2)]
    (section,) = sections(results.model_copy(update={"gates": many}))
    verdicts = [verdict.text for verdict in column(table([section]), "Verdict")]
    assert verdicts == ["failed", *["inconclusive"] * (FOLDED - 1)]
    assert section.blocks[-1] == Bullets(("Brier score at most 0.2: 20 inconclusive, 40 held",), "small")
    text = box(results, *many)
    assert "These are the worst 12 of 61 checks; all are in results.json" in text
    (failing,) = sections(results.model_copy(update={"gates": [gate("fail") for _ in range(100)]}))
    assert len(rows(table([failing]))) == MOST
    assert failing.blocks[-1] == Bullets(("Brier score at most 0.2: 100 failed",), "small")


def test_the_sentence_says_how_many_are_listed(results: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card, "FOLDED", 7)
    text = box(results, *(gate("pass", number) for number in range(1, 9)))
    assert "These are the worst 7 of 8 checks; " in text


def test_the_terminal_calls_slices_and_measures_what_the_card_calls_them(results: Results) -> None:
    young = results.model_copy(update={"spec": results.spec | {"slices": [{"name": "young", "where": "age < 30"}]}})
    names, verdict = names_of(young), gate("warn", name="Contract", slice={"young": "true", "cap": "< 5"})
    assert word_and_reason(names, verdict) == (
        "failed (severity warn)", "Contract, Naive Bayes on validation, young, cap < 5: the reason of warn <b>&")


def test_a_card_without_gates_says_that_there_is_no_verdict(results: Results) -> None:
    page = html_page(results.model_copy(update={"curves": []})).decode()
    assert 'id="gates"' not in page
    assert plain(verdict(results).title) == "? No verdict: no gate says how good is good enough"


def test_the_method_of_the_limits_is_explained(results: Results) -> None:
    bare = results.model_copy(update={"curves": []})
    page = html_page(bare.model_copy(update={"gates": [gate("pass", method="recovered")]})).decode()
    assert "Recovery of variances" in page
    assert "Zou, G. Y. &amp; Donner, A. (2008)" in page
    assert "Recovery of variances" not in html_page(bare).decode()
