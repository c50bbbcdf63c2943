"""The digits on the cards of the examples: the rule, coded here again, and one form of each prevalence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_EVEN, Context, Decimal
from html import unescape
from pathlib import Path
from typing import NamedTuple

import pytest

from evalpipe.results import Results

CONFIGS = sorted(path.stem for path in (Path(__file__).resolve().parents[2] / "configs").glob("*.yaml"))
MOST = 6
EXAMINED = 200
"""Estimates whose digits are examined on all cards together, at the least."""

VALUE = re.compile(
    r'<data value="(?P<exact>[^"]+)" title="(?P=exact)">(?P<shown>[^<]+)</data>(?:<sup>\w+</sup>)?'
    r' <span class="interval">\((?P<limits>[^)]+)\)</span>')
MEASURES = re.compile(r"<table[^>]*>\s*<caption><b>(?:Key measures|Measures) on .*?</table>", re.DOTALL)
BY_MODEL = "by-model"
"""The style of a table with models as rows, whose columns are measures."""


class Printed(NamedTuple):
    """A number of a card: its exact digits, and what is shown of it and of its limits."""

    exact: str
    shown: str
    limits: str


@pytest.fixture(scope="module")
def card(example: Callable[[str], Path]) -> Callable[[str], str]:
    """Return the card of a config by its name."""
    return lambda name: (example(name) / "card.html").read_text(encoding="utf-8")


def decimals(value: float, lower: float, upper: float) -> int:
    """Code the rule apart from the code: one digit of half the width, two where the first of them is 1."""
    half = Context(prec=9).divide(Decimal(repr(upper)) - Decimal(repr(lower)), Decimal(2))
    places = min(max(-half.adjusted() + (half.as_tuple().digits[0] == 1), 0), MOST)
    for more in range(places, MOST + 1):
        if told(value, 0.0, more) and told(value, 1.0, more) and told(value, -1.0, more) and all(
                limit >= 0 or told(limit, 0.0, more) for limit in (lower, upper)):
            return more
    return places


def told(value: float, other: float, places: int) -> bool:
    """Tell whether a number is another one, or does not read as it."""
    return value == other or rounded(value, places) != rounded(other, places)


def rounded(value: float, places: int) -> Decimal:
    """Round a number to decimals."""
    return abs(Decimal(value).quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN)) * (1 if value > 0 else -1)


def written(value: float, places: int) -> str:
    """Write a number with these decimals, a true minus sign and commas."""
    number = rounded(value, places)
    return ("−" if number < 0 else "") + f"{abs(number):,.{places}f}"


Cells = list[list[Printed]]
"""Numbers with intervals, those of each measure as a list."""


def measures(html: str) -> Iterator[tuple[Cells, bool]]:
    """Yield the measures of each table, and whether they stand in its columns, with models as rows."""
    for table in MEASURES.findall(html):
        by_row = [[Printed(*map(unescape, match.groups())) for match in VALUE.finditer(row)]
                  for row in re.findall(r"<tr.*?</tr>", table.partition("<tfoot")[0], re.DOTALL)]
        of_rows = [cells for cells in by_row if cells]
        in_columns = BY_MODEL in table.partition(">")[0]
        yield [list(column) for column in zip(*of_rows, strict=True)] if in_columns else of_rows, in_columns


Known = list[tuple[float, float, float, Printed]]


def agreed(needed: list[tuple[float, float, float]]) -> int:
    """Code the rule of a column: what most intervals support, more where a value would read as 0 or 1."""
    usual = sorted(decimals(*numbers) for numbers in needed)[len(needed) // 2]
    return next(places for places in range(usual, MOST + 1) if all(
        told(abs(value), 0.0, places) and told(abs(value), 1.0, places) for value, _, _ in needed))


def expected_places(known: list[Known], bounded: set[float], *, in_columns: bool) -> list[int]:
    """Return the decimals of each measure: those agreed on in its column, or the most of its row.

    In a column of measures, those ``bounded`` by −1 and 1 agree.
    """
    shared = [numbers[:3] for cells in known for numbers in cells if numbers[0] in bounded]
    return [0 if not cells else agreed([numbers[:3] for numbers in cells]) if in_columns else agreed(shared) if (
        cells[0][0] in bounded) else max(decimals(*numbers[:3]) for numbers in cells) for cells in known]


def test_200_estimates_on_the_cards_are_written_by_the_rule(
    example: Callable[[str], Path], card: Callable[[str], str]
) -> None:
    examined, faults = 0, []
    for name in CONFIGS:
        results = Results.read(example(name) / "results.json")
        estimates = [e for e in results.rows if e.value is not None and e.slice is None and e.class_ is None]
        limits = {e.value: (e.lower, e.upper) for e in estimates if e.lower is not None}
        ranges = {metric.name: metric.range for metric in results.metrics}
        bounded = {e.value for e in estimates if e.value is not None and None not in ranges[e.metric]
                   and min(ranges[e.metric]) >= -1 and max(ranges[e.metric]) <= 1}  # type: ignore[type-var]
        for table, in_columns in measures(card(name)):
            exact = [[(float(cell.exact.replace("−", "-")), cell) for cell in cells] for cells in table]
            known = [[(value, *map(float, map(str, limits[value])), cell) for value, cell in cells if value in limits]
                     for cells in exact]
            for cells, places, shown in zip(
                    known, expected_places(known, bounded, in_columns=in_columns), table, strict=True):
                for value, lower, upper, cell in cells if len(cells) == len(shown) else []:
                    whole = all(number.is_integer() for number in (value, lower, upper))
                    low, high = (written(limit, 0 if whole else places) for limit in (lower, upper))
                    between = " to " if "−" in low + high else "–"
                    expected = (written(value, 0 if whole else places), f"{low}{between}{high}")
                    examined += 1
                    faults += [] if (cell.shown, cell.limits) == expected else [(name, expected, cell)]

    assert faults == []
    assert examined >= EXAMINED


KEPT = re.compile(r"<caption><b>(?:Observed and declared prevalence|Levels of the outcome|Thresholds)")
"""The tables in which prevalences and thresholds stand; in others are estimates, counts and shares of rows."""


def prose(html: str) -> str:
    """Return what a card says outside of the spec, of tables of estimates, and of the limits of other numbers."""
    html = re.sub(r"<(pre|style|script)\b.*?</\1>", " ", html, flags=re.DOTALL)
    html = re.sub(r"<table.*?</table>", lambda m: m[0] if KEPT.search(m[0]) else " ", html, flags=re.DOTALL)
    html = re.sub(r"<(?:/td|/th|/dt|/dd|/p|/li|/figcaption|/text|/desc|/title)>", " | ", html)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", "", html)))


def prevalences(results: Results) -> dict[float, str]:
    """Return each prevalence of the results, with the one form that it may have."""
    prior = results.prevalence
    given = [] if prior is None else [*(prior.levels or {}).values(), prior.value]
    given += [e.params["prevalence"] for e in results.rows if isinstance(e.params.get("prevalence"), float)]
    observed = [share for dataset in results.datasets for share in (
        dataset.prevalence, *(level.weight / dataset.total_weight for level in dataset.levels))]
    return {value: three(value) for value in observed if value is not None} | {
        value: shortest(value) for value in given if value is not None}


def thresholds(results: Results) -> dict[float, str]:
    """Return each threshold of the results, with the one form that it may have."""
    values = [model.threshold for model in results.models] + [row.value for row in results.thresholds]
    values += [cut for row in results.confusion for cut in (row.threshold, *row.cuts)]
    return {value: shortest(value) for value in values if value is not None}


def shortest(value: float) -> str:
    """Write a number in full where it has at most six digits, else with three."""
    text = f"{Context(prec=6).create_decimal(repr(value)).normalize():f}"
    return text if abs(float(text) - value) <= 1e-12 * abs(value) else three(value)


def three(value: float) -> str:
    """Write a number with three digits, and at least three decimals."""
    return written(value, max(3, 2 - Decimal(repr(value)).adjusted()) if value else 3)


def others(value: float) -> set[str]:
    """Return forms that a share might have: with two to eight decimals, in per cent, in full."""
    per_cent = {f"{written(100 * value, places)}{sign}" for places in range(4) for sign in ("%", " %")}
    return per_cent | {written(value, places) for places in range(2, 9)} | {repr(value)}


def stands(form: str, text: str, before: str = "") -> bool:
    """Tell whether a number stands in a text in this form, where it is given right behind certain words."""
    behind = rf"(?:{before})s?(?:[ :(|]| of| is| are| at least)*" if before else ""
    return re.search(rf"{behind}(?<![\d.,−+–]){re.escape(form)}(?!\d|%|[.,]\d)", text) is not None


def digits(form: str) -> int:
    """Count the digits of a number that is written, zeros at its ends apart."""
    return len(re.sub(r"\D", "", form).strip("0"))


@pytest.mark.parametrize("name", CONFIGS)
def test_one_prevalence_threshold_or_level_is_written_one_way(
    name: str, example: Callable[[str], Path], card: Callable[[str], str]
) -> None:
    results, text = Results.read(example(name) / "results.json"), prose(card(name))
    level = f"{100 * results.intervals.level:g}%"
    levels = {results.intervals.level: level}
    known = {"prevalence": prevalences(results), "threshold": thresholds(results), "[Ll]evel": levels}
    forms = {form for values in known.values() for form in values.values()}

    for word, values in known.items():
        for value in values:
            for form in others(value) - forms:
                assert not stands(form, text, word), form
                assert digits(form) < 3 or not stands(form, text), form  # two digits may be those of another number
    assert stands(level, text)
    assert not re.search(r"\d\.\d{9}", text)


def test_a_prevalence_in_two_forms_is_seen() -> None:
    wrong = others(0.32216) - {"0.32216"}

    def seen(said: str) -> bool:
        return any(stands(form, said, "prevalence") or (digits(form) > 2 and stands(form, said)) for form in wrong)

    for said in ("prevalence 0.32,", "67.8% and 32.2% of them", "declared 0.322160 |", "Prevalences | 0.3222 |"):
        assert seen(said), said
    for said in ("prevalence 0.32216 (declared)", "at 0.32216, and 10.3222", "sensitivity 0.32"):
        assert not seen(said), said


WRITTEN = r"[−+]?\d[\d,]*(?:\.(\d+))?"
WITH_LIMITS = re.compile(rf"{WRITTEN} \({WRITTEN}(?:–| to ){WRITTEN}\)")
ALONG_ROWS = {
    "slices": "worst slices of", "prevalence": "Measures by prevalence on",
    "thresholds": "Thresholds, and the measures", "campaign": "Cost of a row of", "equivocal": "", "audit": "",
}
"""Cards, each with the start or a part of the caption of tables whose rows hold one measure, or costs, in all cells."""

NO_MEASURE = {"Rank", "n", "Events", "Slice", "Adjusted p", "Measure", "Model", "Predictions"}


def rows_of_tables(html: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each row of the tables of a card, as its cells by the head of their column, after the table's caption."""
    for table in re.findall(r"<table.*?</table>", html, re.DOTALL):
        heads, *rows = ([re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", "", cell))).strip()
                         for cell in re.findall(r"<t[hd].*?</t[hd]>", row, re.DOTALL)]
                        for row in re.findall(r"<tr.*?</tr>", table, re.DOTALL))
        caption = re.sub(r"<[^>]*>", "", table.partition("</caption>")[0])
        yield from ((caption, dict(zip(heads, row, strict=False))) for row in rows)


@pytest.mark.parametrize("name", ALONG_ROWS)
def test_a_number_has_the_decimals_of_its_limits_and_those_of_one_measure_agree(
    name: str, card: Callable[[str], str]
) -> None:
    seen, of_measure = 0, 0
    for caption, row in rows_of_tables(card(name)):
        for cell in row.values():
            for match in WITH_LIMITS.finditer(cell):
                seen += 1
                assert len({len(places or "") for places in match.groups()}) == 1, (caption, cell)
        if ALONG_ROWS[name] and ALONG_ROWS[name] in caption:
            places = {len(decimals or "") for head, cell in row.items() if head not in NO_MEASURE
                      for decimals in re.findall(rf"(?<![\w.]){WRITTEN}(?![\d%])", cell)}
            of_measure += len(row) > 2
            assert len(places) <= 1, (caption, row)
    assert seen > 20
    assert of_measure > 0 or not ALONG_ROWS[name]


def test_rates_at_marks_agree_down_a_column(card: Callable[[str], str]) -> None:
    rates = [row for caption, row in rows_of_tables(card("thresholds")) if "Rates at marked thresholds" in caption]
    for head in rates[-1]:
        if head != "Threshold":
            places = {len(decimals or "") for row in rates if len(row) > 1
                      for decimals in re.findall(WRITTEN, row[head])}
            assert len(places) == 1, (head, places)
