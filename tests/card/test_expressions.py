"""A measure that is an expression stands on the card like any other, with what it is computed from."""

from __future__ import annotations

import html
import re
from functools import cache

import evalpipe
from engine.runs import intervals, people, run

RATIO = {"name": "ratio", "expression": "recall/f2", "of": {"f2": {"metric": "f_beta", "beta": 2}}, "range": [0, None],
         "direction": "maximize", "title": "Recall over F2"}
LONG = {"name": "long_sum", "expression": " + ".join(["balanced_accuracy"] * 9)}


@cache
def page() -> str:
    results = run(people(150), metrics=[RATIO, LONG], intervals=intervals(100))
    return evalpipe.render(results, ["html"])["card.html"].decode()


def words(part: str) -> str:
    """Return the words of a part of a page, without its pictures."""
    bare = re.sub(r"<svg.*?</svg>", "", part, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", bare)).split())


def defined(name: str) -> str:
    """Return the definition of a measure as it stands on the page."""
    (part,) = re.findall(rf'<h3 id="measure-{name}">.*?</div>', page(), re.DOTALL)
    return str(part)


def test_its_row_says_what_it_is_computed_from() -> None:
    (row,) = [row for row in re.findall(r"<tr.*?</tr>", page(), re.DOTALL) if "Computed from Sensitivity" in row]

    assert words(row).startswith("Recall over F2 Computed from Sensitivity and f2 (f_beta, beta = 2) as recall / f2.")
    assert words(row).endswith("higher 150 bootstrap")


def test_its_definition_has_formula_range_and_interval_and_cites_nobody() -> None:
    part = defined("ratio")

    assert r'<title id="formula-ratio-title">\frac{\mathrm{Sensitivity}}{\mathrm{f2}}</title>' in part
    assert words(part).endswith(
        "Range 0 or more. Higher is better. Undefined when one of its measures is undefined or it divides by zero. "
        "Interval: percentile bootstrap (computed anew in every replicate from its measures, which are drawn "
        "together).")


def test_the_measures_that_it_is_of_are_defined_too() -> None:
    assert words(defined("sensitivity")).startswith("Sensitivity sensitivity Share of the events")
    assert words(defined("f_beta")).startswith("F-beta f_beta")


def test_a_formula_that_would_leave_the_line_is_text_alone() -> None:
    assert "<svg" not in defined("long_sum")
    assert f"Computed from Balanced accuracy as {LONG['expression']}." in words(defined("long_sum"))
