"""The verdict at the head of the card."""

from __future__ import annotations

import re
from typing import Any

import pytest

from card.blocks import column, rows, table
from engine.runs import BOTH, intervals, people, run
from evalpipe.card.html import html_page
from evalpipe.card.page import Bullets, plain
from evalpipe.card.summary import verdict
from evalpipe.chapters.gates import card
from evalpipe.chapters.gates.card import FOLDED, MOST, run_verdict, sections, verdict_lines
from evalpipe.chapters.gates.card_sentences import headline
from evalpipe.cli.summary import print_findings
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
    places = [page.index(text) for text in ("</h1>", '<section id="verdict"', found[0], '<section id="dataset-1"')]
    assert places == sorted(places)
    return " ".join(re.sub(r"<[^>]*>", " ", found[0]).split())


FAILED = "Not good enough: Brier score 0.10 (0.05–0.15) for Naive Bayes on validation, required at most 0.2"


@pytest.mark.parametrize(
    ("kinds", "sentence"),
    [
        (["pass"], "Good enough: the requirement is met"),
        (["fail"], FAILED),
        (["inconclusive"], "Not settled: 1 of 1 requirement undecided"),
        (["skipped"], "Nothing was judged: 1 requirement skipped"),
        (["pass"] * 3, "Good enough: all 3 requirements are met"),
        (["pass"] * 2, "Good enough: both requirements are met"),
        (["pass", "pass", "skipped"], "Good enough: 2 of 3 requirements met, 1 skipped"),
        (["skipped", "skipped"], "Nothing was judged: 2 requirements skipped"),
        (["fail", "fail", *["pass"] * 6, "inconclusive"], f"{FAILED}. 2 of 9 requirements failed, 1 undecided"),
        (["pass", "inconclusive", "inconclusive", "skipped"], "Not settled: 2 of 4 requirements undecided, 1 skipped"),
        (["warn", "inconclusive", "inconclusive", "skipped"],
         f"{FAILED}. 1 of 4 requirements failed (a warning), 2 undecided"),
    ],
)
def test_the_headline_says_what_failed_and_how_many(results: Results, kinds: list[str], sentence: str) -> None:
    assert headline(results.model_copy(update={"gates": [gate(kind) for kind in kinds]})) == sentence


WORDS = {"event": "survivor", "row": "person", "predicted": "said to survive"}


@pytest.mark.parametrize(("metric", "keys", "sentence"), [
    ("sensitivity", {}, "finds {tp} of {events} events"),
    ("sensitivity", {"words": WORDS}, "finds {tp} of {events} survivors"),
    ("specificity", {}, "is right on {tn} of {others} non-events"),
    ("precision", {}, "is right on {tp} of {predicted} rows predicted as '1'"),
    ("precision", {"words": WORDS}, "is right on {tp} of {predicted} people said to survive"),
    ("accuracy", {"words": WORDS}, "is right on {right} of 400 people"),
    ("accuracy", {"models": BOTH}, "q is right on "),
])
def test_rates_are_told_as_counts(metric: str, keys: dict[str, Any], sentence: str) -> None:
    frame = people(400)
    judged = run(frame, metrics=[metric], intervals=intervals(100), gates=[{"metric": metric, "min": 0.99}], **keys)
    event, predicted = frame["y"] == 1, frame["p"] >= 0.5
    counts = {"tp": (event & predicted).sum(), "tn": (~event & ~predicted).sum(), "events": event.sum(),
              "others": (~event).sum(), "predicted": predicted.sum(), "right": (event == predicted).sum()}
    assert headline(judged).startswith(f"Not good enough: {sentence.format(**counts)}")
    assert ", required at least 0.99" in headline(judged)


@pytest.mark.parametrize("keys", [
    {"weight": {"column": "heavy"}}, {"equivocal": 0.1},
    {"gates": [{"metric": "sensitivity", "min": 0.99, "name": "S"}]},
])
def test_what_is_no_count_of_whole_rows_is_told_as_a_rate(keys: dict[str, Any]) -> None:
    spec = {"gates": [{"metric": "sensitivity", "min": 0.99}]} | keys
    assert re.match(r"Not good enough: (S, )?Sensitivity 0\.\d+ \(", headline(
        run(people(400), metrics=["sensitivity"], intervals=intervals(100), **spec)))


def test_a_change_is_told_as_one_and_weighed_by_what_it_is_beyond(results: Results) -> None:
    fell = gate("fail", metric="brier", against="../nightly", limit={"max_decrease": 0.08}, observed=-0.32, lower=-0.38,
                upper=-0.25)
    low = gate("fail", 2, name="Finds fraud", limit={"min": 0.39}, observed=0.1)
    alone, both = [headline(results.model_copy(update={"gates": gates})) for gates in ([fell], [fell, low])]
    assert alone == ("Not good enough: Brier score changed by −0.32 (−0.38 to −0.25) for Naive Bayes on validation, "
                     "required a fall of at most 0.08")
    # 0.29 beyond its limit, against 0.24.
    assert both.startswith("Not good enough: Finds fraud, Brier score 0.10 (0.05–0.15) for Naive Bayes")


def test_the_group_is_named_that_is_harmed_most() -> None:
    judged = run(people(2000), metrics=["sensitivity"], intervals=intervals(100), slices=["s"], gates=[
        {"metric": "sensitivity", "min": 0.9, "slices": "all"}])
    harm = {row.slice["s"]: (0.9 - row.value) * next(part.n for part in judged.slices if part.slice == row.slice)
            for row in judged.rows if row.slice is not None and row.value is not None}
    assert headline(judged).startswith(f"Not fit for s = {max(harm, key=lambda name: harm[name])}: finds ")


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
    verdict = gate("warn", name="Contract", slice={"young": "true", "cap": "< 5"})
    ((_, (line,)),) = verdict_lines(young.model_copy(update={"gates": [verdict]}))
    assert line.text == (f"gate {verdict.gate} failed (severity warn): Contract, Naive Bayes on validation, young, "
                         "cap < 5: the reason of warn <b>&")


def test_a_gate_of_many_nights_says_how_many_and_a_change_says_since_when(results: Results) -> None:
    nights = {"evidence": 50.0, "kept": 0.1, "threshold": 20.0, "level": 0.05, "alarms": 1, "basis": "exact",
              "recent": 9.0, "waiting": 0, "nights_sha256": "0" * 64}
    judged = [gate("fail", on="sequence", sequence=nights | seen) for seen in (
        {"nights": 24, "since": "2026-11-01"}, {"nights": 1, "since": "2026-11-24"})]
    changed = gate("fail", against="last", against_as_of="2026-11-23", limit={"max_increase": 0.05})

    heads = [headline(results.model_copy(update={"gates": [one]})) for one in (*judged, changed)]
    assert [head.partition(" for Naive Bayes on validation")[2] for head in heads] == [
        ", required at most 0.2 (24 nights since 2026-11-01)", ", required at most 0.2 (1 night)",
        " since 2026-11-23, required a rise of at most 0.05"]


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


def test_a_gate_on_groups_names_the_worst_of_each_model(results: Results) -> None:
    gates = [gate("fail", limit={"min": 0.5}, observed=observed, lower=observed - 0.05, upper=observed + 0.05,
                  model=model, slice={"s": label})
             for model in ("model_0", "model_1") for label, observed in (("a", 0.4), ("b", 0.2), ("c", 0.3))]
    (told,), names = list(card.failed(results, gates)), [f"{model.label} on validation" for model in results.models]
    value = "0.20 (0.15–0.25)"
    assert told.text == (f"Brier score: {value} for {names[0]}, s = b; {value} for {names[1]}, s = b and 4 more; "
                         "required at least 0.5.")
    assert len(told.estimates) == len(gates)
    on_all_rows = [gate("fail", limit={"min": 0.5}, model=model) for model in ("model_0", "model_1")]
    assert " more; required" not in next(card.failed(results, on_all_rows)).text


def test_a_gate_that_fails_for_want_of_an_interval_to_trust_says_so(results: Results) -> None:
    because = {"code": "unreliable", "because": {"code": "biased-by-resampling"}}
    (told,) = card.failed(results, [gate("fail", reason=because)])
    assert told.text.endswith("required at most 0.2. An interval that cannot be trusted counts as failed.")
    (other,) = card.failed(results, [gate("fail")])
    assert other.text.endswith("required at most 0.2.")


def first_lines(results: Results) -> tuple[list[str], str]:
    """Return the findings of the first screen as texts, and the line below them."""
    findings, below = (block for block in verdict(results).blocks if isinstance(block, Bullets))
    return [plain(item) for item in findings.items], plain(below.items[0])  # type: ignore[arg-type]


@pytest.mark.parametrize(("models", "keys", "kept"), [
    ({"p": BOTH["p"]}, {}, False), (BOTH, {}, True), ({"p": BOTH["p"]}, {"on": "value"}, False),
])
def test_the_finding_that_repeats_the_headline_is_left_out(
    models: dict[str, Any], keys: dict[str, Any], kept: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """It stays where it names more than the headline, as of a second model that failed."""
    results = run(people(300), models=models, metrics=["roc_auc"], gates=[{"metric": "roc_auc", "min": 0.99, **keys}])
    texts, below = first_lines(results)
    assert headline(results).startswith("Not good enough: ROC AUC 0.")
    assert any(text.startswith("✗ ROC AUC: ") for text in texts) is kept
    assert below.startswith("Evidence of the verdict, All ") is not kept
    assert any(finding.code == "gates" for finding in results.findings)  # it stands among all findings
    print_findings(results)
    assert ("✗ ROC AUC: " in capsys.readouterr().out) is kept


def test_a_check_that_a_gate_requires_is_stated_once() -> None:
    results = run(people(300), models={"p": BOTH["p"]}, metrics=["roc_auc"], gates=[{"check": "unchecked"}])
    texts, below = first_lines(results)
    stated = headline(results).removeprefix("Not good enough: ").split(". ")[0]
    assert not any(stated in text or "The check" in text for text in texts)
    assert below.startswith("Evidence of the verdict")
