"""Keys of evalpipe are no words of the card: variants, options and columns are written as people say them."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from engine.runs import intervals, people, run
from evalpipe.card.html import html_page
from evalpipe.card.wording import names_of
from evalpipe.results import Results
from evalpipe.results.document import Warned
from evalpipe.words.sentences import sentence

CODE = {"code", "pre", "script", "style", "title", "option"}
"""Elements that hold code to copy, or names that the author of a spec chose."""

KEYED = re.compile(r"[A-Za-z]\w*_\w+")


class Visible(HTMLParser):
    """Collects the texts of a page that people see or hear, code left out."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in CODE:
            self._open.append(tag)
        self.texts += [value for name, value in attrs if name in ("aria-label", "alt") and value]

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if not self._open:
            self.texts.append(data)


@pytest.fixture(scope="module")
def results() -> Results:
    return run(
        people(240), models={"first_model": {"probability": "p", "label": "Forest"}}, slices=["s"],
        slice_rules={"min_rows": 60}, metrics=["brier", "pr_auc", {"metric": "partial_roc_auc", "high": 0.1}],
        recalibrate={"fit_on": {"folds": 3}, "methods": ["logistic_spline", {"method": "isotonic_bagged", "bags": 10}]},
        intervals=intervals(100))


def test_no_key_of_evalpipe_is_a_word_of_the_card(results: Results) -> None:
    page = Visible()
    page.feed(html_page(results).decode())
    keyed = {word for text in page.texts for word in KEYED.findall(text)}
    # Of the author's names there is one: the key of the model, in the table of what was evaluated.
    assert keyed - {"first_model"} == set()
    text = " ".join(page.texts)
    assert "logistic spline: in " in text
    assert "isotonic bagged" in text
    assert "over = false positive rate" in text


def test_a_warning_on_a_variant_has_the_label_of_its_model(results: Results) -> None:
    for entry, label in (("first_model", "Forest"), ("first_model+isotonic_bagged", "Forest (isotonic bagged)")):
        said = sentence("degenerate/mean", dataset="d", model=entry, metric="brier", average=None, class_=None,
                        because="x")
        warned = Warned.model_construct(code="degenerate", message=said)
        assert names_of(results).warning(warned).startswith(f"d, {label}: Brier score is no mean")
