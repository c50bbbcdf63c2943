"""What the card says of earlier nights: the trend with its control limits, findings and figures; the run before."""

from __future__ import annotations

import math
from datetime import date
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.figures.axes import day_axis, number_axis
from evalpipe.card.figures.context import or_nan, with_series
from evalpipe.card.figures.labels import LineLabel, label_lines
from evalpipe.card.figures.panel import columns
from evalpipe.card.figures.svg import Clauses, drawing, more_models_than_inks, series_of
from evalpipe.card.method import Procedure
from evalpipe.card.page import (
    Aside,
    Bullets,
    Code,
    Column,
    Figures,
    Group,
    Row,
    Section,
    Sparkline,
    Sparklines,
    Strong,
    Table,
    Text,
)
from evalpipe.card.palette import colour_index
from evalpipe.card.tables import better_side, evaluated, metric_of, ranged
from evalpipe.card.wording import MOST_NAMED, joined, more_models, names_of, nouns_of
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, Unless, rule, unless_key
from evalpipe.findings.words import earlier_range, finding, grouped, moved_to, on_dataset
from evalpipe.results.signatures import EVIDENCE_DIGITS
from evalpipe.words import numbers
from evalpipe.words.spelling import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalpipe.card.figures.axes import Axis
    from evalpipe.card.figures.panel import Panel
    from evalpipe.card.figures.svg import Drawing, KeyEntry, Series
    from evalpipe.card.page import Block, Cell
    from evalpipe.chapters.trend.records import ChangedKey, ChangedMeasure, DatasetBefore, Since, Trend, TrendLine
    from evalpipe.results import Results
    from evalpipe.results.document import DatasetSummary, Finding


LIMITS = Procedure(
    "Control limits",
    "The variance of a night is the sum of two. That of sampling is the variance of one observation, as the intervals "
    "of the nights have it on average, over its observations: a small night has wide limits. That between nights is "
    "what earlier nights vary beyond this. The centre is their mean, each weighted by how precise it is. Limits are so "
    "many standard errors from the centre, its own error among them, and not beyond what a measure can be. "
    "Where nothing changes, about 1 night in 300 is beyond 3 standard errors, each measure of each model on its own. "
    "Nights that resemble each other are named.", reference="Spiegelhalter (2005)")
"""How control limits are made."""

DIGITS = 8
"""Digits of the hash of the earlier nights."""


def sections(results: Results) -> Iterator[Section]:
    """Yield the section on the trend; nothing where the spec declares none."""
    trend = results.trend
    if not trend.lines:
        return
    blocks: list[Block] = [Text(_lead_sentence(results), "lead")]
    blocks += [Text(finding.text) for finding in results.findings if finding.section == "trend"]
    if trend.nights:
        blocks.append(Figures(partial(trend_figures, results)))
    blocks += [_table(results), Text(_limits_text(trend), "small")]
    yield Section("trend", "Trend over nights", tuple(blocks), part="monitoring")


MOST_SPARKS = 4
"""Lines over nights on the first screen, those beyond their limits first."""


SPARK_EDGE = 5
"""Pixels above and below a line, for its marker."""


def glance(results: Results) -> Iterator[Sparklines]:
    """Yield sparklines of the first measures over the shown nights, for the first screen of the card."""
    trend = results.trend
    if not trend.nights or not trend.shown:
        return
    ordered = sorted(trend.lines, key=lambda line: line.position not in ("above", "below"))[:MOST_SPARKS]
    several = len(results.models) > 1
    sparks = []
    for line in ordered:
        label = measure_of(results, line) + (f", {model_of(results, line)}" if several else "")
        index = colour_index([model.name for model in results.models].index(line.model), len(results.models))
        points, band = _sparkline_points(line, trend.shown + 1)
        sparks.append(Sparkline(wording.capital(label), points, band, _spark_text(line, trend.shown), index))
    band_text = " The band is the control limits of this night." if any(spark.band for spark in sparks) else ""
    days = f"From {trend.nights[-trend.shown].as_of} to {results.as_of}, marked."
    yield Sparklines(f"Trend over {earlier_nights(trend.shown)}", tuple(sparks), f"{days}{band_text}")


def _sparkline_points(
    line: TrendLine, count: int
) -> tuple[tuple[tuple[float, float] | None, ...], tuple[float, float] | None]:
    """Return the points of a sparkline, the last ``count`` nights, and the band of the last control limits.

    A point is (x, y): x from 0 to 100, y from the top; None for a night without a value. The band is (top,
    bottom), None without limits.
    """
    values = line.value[-count:]
    limits = (line.limit_lower[-1], line.limit_upper[-1]) if line.limit_lower else (None, None)
    known = [value for value in (*values, *limits) if value is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    per_unit = (Sparkline.HIGH - 2 * SPARK_EDGE) / ((high - low) or 1.0)

    def height(value: float) -> float:
        """Return the y of a value, from the top of the sparkline."""
        return round(Sparkline.HIGH - SPARK_EDGE - (value - low) * per_unit, 2)

    points = tuple(None if value is None else (round(100 * index / (count - 1), 2), height(value))
                   for index, value in enumerate(values))
    lower, upper = limits
    return points, None if lower is None or upper is None else (height(upper), height(lower))


def _spark_text(line: TrendLine, shown: int) -> str:
    """Return the value of tonight and the range before it: "0.57; was 0.87–0.96"."""
    tonight = "undefined" if line.value[-1] is None else numbers.fixed(line.value[-1], _digits(line))
    earlier = [value for value in line.value[-shown - 1 : -1] if value is not None]
    if not earlier:
        return tonight
    low, high = (numbers.fixed(end(earlier), _digits(line)) for end in (min, max))
    return f"{tonight}; was {low if low == high else numbers.ranged(low, high)}"


def _digits(line: TrendLine) -> int:
    """Return the number of decimals with which the newest value is written beside its interval."""
    newest = ((value, lower, upper) for value, lower, upper in zip(
        reversed(line.value), reversed(line.lower), reversed(line.upper), strict=True) if value is not None)
    return numbers.most_decimals(islice(newest, 1))


def _limits_text(trend: Trend) -> str:
    """Return the text on what the control limits are made of, or why there are none."""
    if trend.sigma is None:
        return "No control limits were asked for."
    nights = ("all earlier nights that are read" if trend.baseline is None
              else f"the nights from {trend.baseline[0]} to {trend.baseline[1]}, before this one")
    few = f"With fewer than {trend.min_nights} nights there are none."
    return (f"Control limits say how far a night of its size varies where nothing changes. They come from {nights}, "
            f"never from this one: the centre is their mean, and the limits are {numbers.plain(trend.sigma)} standard "
            f"errors from it, widened where nights vary more than their intervals explain. {few} A night beyond them "
            "is unusual; whether that matters, the gates say.")


def _table(results: Results) -> Table:
    """Return the table of this night with its centre and limits, measure by measure."""
    limited = any(line.limit_lower for line in results.trend.lines)
    columns = (Column("Model", style="what"), Column("This night", "num"), Column("Centre", "num", shown=limited),
               Column("Control limits", "num", shown=limited), Column("Earlier nights", "num"),
               Column("This night is", shown=limited))
    rows: list[Row | Group] = []
    for lines in lines_by_measure(results.trend.lines):
        rows.append(Group(measure_of(results, lines[0])))
        for line in lines:
            centre = "–" if line.centre is None else ranged(line.centre)
            limits: Cell = control_limits_text(line)
            if line.dispersion is not None and line.dispersion > 1:
                wider = f"widened {numbers.fixed(line.dispersion, 2)} times by variation between nights"
                limits = (control_limits_text(line), Aside(wider, "definition"))
            rows.append(Row((model_of(results, line), tonight_text(line), centre, limits, numbers.count(line.counted),
                             line.position or "–")))
    return Table("This night and its control limits", columns, tuple(rows), "compared", stacked=True)


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield the method note on control limits, where any line has them."""
    if any(line.limit_lower for line in results.trend.lines):
        yield LIMITS


def _lead_sentence(results: Results) -> Cell:
    """Return the opening sentence of the section: which nights the trend covers, or why there are none."""
    trend = results.trend
    if trend.sha256 is None:
        return "No earlier night was read: this run has no output folder, whose ledger would hold them."
    if not trend.nights:
        return (f"The ledger has no run of {results.name} of a day before {results.as_of}: the trend begins with this "
                "night.")
    first, last = trend.nights[-trend.shown].as_of, trend.nights[-1].as_of
    span = f" from {first} to {last}" if trend.shown > 1 else f", {last}"
    what = (f"{results.as_of} after {earlier_nights(trend.shown)}{span}: of each day the run of {results.name} that "
            "the ledger recorded last. Their numbers are in ")
    return what, Code("results.json"), f" with a sha256 that begins with {trend.sha256[:DIGITS]}."


NO_TREND = unless_key("no-trend", "trend")
NO_SHIFT = Unless("no-shift", by_results=lambda results: results.trend.shift is None)


@rule("fails", "note", "passes", unless=(NO_TREND,), claims_all=True)
def control(results: Results) -> Iterator[Claim]:
    """Whether each measure of this night is within its control limits."""
    finding_of_position = {"within": within_limits_finding, "above": beyond, "below": beyond}
    for line in results.trend.lines:
        if line.position is not None:
            yield Claim(line, finding_of_position[line.position])
        elif line.reason is not None:
            yield Claim(line, too_few_nights_finding)


@rule("note", unless=(NO_TREND, NO_SHIFT))
def shift(results: Results) -> Iterator[Claim]:
    """Whether so many nights in a row lie on one side of the centre as the spec takes for a shift."""
    for line in results.trend.lines:
        is_beyond_limits = line.position in ("above", "below")  # which is told already
        if results.trend.shift is not None and line.run >= results.trend.shift and not is_beyond_limits:
            yield Claim(line, shift_findings)


@rule("note", unless=(NO_TREND,), claims_all=True)
def alike(results: Results) -> Iterator[Claim]:
    """Whether nights resemble the night before them, which control limits take as independent."""
    for line in results.trend.lines:
        if line.autocorrelation_p_value is not None:
            yield Claim(line, autocorrelation_findings, line.autocorrelation_p_value)


def autocorrelation_findings(results: Results, lines: Sequence[TrendLine]) -> Iterator[Finding]:
    """Yield a finding on each measure whose nights are autocorrelated at lag 1, with the models."""
    for group in grouped(lines, lambda line: measure_of(results, line)):
        named = _of_first_models(
            group, lambda line: f"{numbers.fixed(line.autocorrelation or 0.0, 2)} of {model_of(results, line)}")
        text = (f"{measure_of(results, group[0])} resembles that of the night before: autocorrelation {named}, over "
                f"{earlier_nights(group[0].counted)}. Nights beyond the control limits then come in groups.")
        yield finding("note", weights.UNCHECKED, text, "trend", group)


def beyond(results: Results, lines: Sequence[TrendLine]) -> Iterator[Finding]:
    """Yield a finding on each measure that is above, or below, its control limits, with its models."""
    for group in grouped(lines, lambda line: (measure_of(results, line), line.position)):
        models_text = _of_first_models(group, lambda line: _move_text(results, line))
        text = f"{wording.capital(measure_of(results, group[0]))} {models_text}."
        # Beyond the limits on the side that is worse; on either side where none is better.
        better = {"maximize": "above", "minimize": "below"}.get(metric_of(results, group[0].metric).direction)
        is_worse = group[0].position != better
        weight = weights.OUT_OF_CONTROL if is_worse else weights.BETTER_THAN_LIMITS
        yield finding("fails" if is_worse else "note", weight, text, "trend", group)


def _move_text(results: Results, line: TrendLine) -> str:
    """Return how tonight's value moved: "fell to 0.57 (0.50–0.64), below its control limits of …; it was …".

    Where a gate on the measure fails, its verdict says the rest, so the text is on the control limits alone.
    """
    earlier = line.value[-results.trend.shown - 1 : -1]
    of_model = f"of {model_of(results, line)} " if len(results.models) > 1 else ""
    if any(gate.verdict == "fail" and line.is_of(gate) for gate in results.gates):
        return f"{of_model}is {line.position} its control limits of {control_limits_text(line)}"
    before = earlier_range(earlier, _digits(line))
    return (f"{of_model}{moved_to(line.value[-1] or 0.0, earlier)} {tonight_text(line)}, {line.position} its control "
            f"limits of {control_limits_text(line)}{f'; it was {before}' if before else ''}")


def within_limits_finding(results: Results, lines: Sequence[TrendLine]) -> Iterator[Finding]:
    """Yield the finding on how many measures are within their control limits."""
    count, total = len(lines), len(results.trend.lines)
    if total == 1:
        subject = f"{measure_of(results, lines[0])} of {model_of(results, lines[0])} is within its"
    elif count == total:
        subject = f"All {total} measures by model are within their"
    else:
        subject = f"{count} of {total} measures by model {'is within its' if count == 1 else 'are within their'}"
    fewest, most = (numbers.count(end(line.counted for line in lines)) for end in (min, max))
    nights = most if fewest == most else numbers.ranged(fewest, most)
    text = f"{subject} control limits, which {nights} earlier nights give."
    yield finding("passes", weights.WITHIN_LIMITS, text, "trend", lines)


def too_few_nights_finding(results: Results, lines: Sequence[TrendLine]) -> Iterator[Finding]:
    """Yield the finding that too few nights were recorded for control limits."""
    most = max(line.counted for line in lines)
    verb = "are" if most > 1 else "is"
    how_many = f"there {verb} {earlier_nights(most)}" if most else "there is no earlier night"
    text = f"Whether this night is unusual is not known: limits need {results.trend.min_nights} nights, and {how_many}."
    yield finding("note", weights.UNCHECKED, text, "trend", lines)


def shift_findings(results: Results, lines: Sequence[TrendLine]) -> Iterator[Finding]:
    """Yield a finding on each measure that many nights in a row have been on one side of its centre."""
    for group in grouped(lines, lambda line: (measure_of(results, line), _side(line))):
        models_text = _of_first_models(group, lambda line: f"{line.run} of {model_of(results, line)}, whose centre is "
                                 f"{numbers.number(line.centre or 0.0)}")
        text = (f"{measure_of(results, group[0])} has been {_side(group[0])} its centre for many nights in a row: "
                f"{models_text}.")
        yield finding("note", weights.SHIFT, text, "trend", group)


def _of_first_models(lines: Sequence[TrendLine], text_of: Callable[[TrendLine], str]) -> str:
    """Return ``text_of`` each of the first lines, joined by semicolons, and how many more models there are."""
    return "; ".join(map(text_of, lines[:MOST_NAMED])) + more_models("; ", len(lines))


def _side(line: TrendLine) -> str:
    """Return "above" or "below": on which side of the centre line tonight's value lies."""
    return "above" if (line.value[-1] or 0.0) > (line.centre or 0.0) else "below"


def measure_of(results: Results, line: TrendLine) -> str:
    """Return the name of the measure of a line, with the dataset where several are evaluated."""
    name = names_of(results).measure(line.metric, line.params, line.average)
    several = sum(dataset.role == "evaluate" for dataset in results.datasets) > 1
    return f"{name} on {line.dataset}" if several else name


def model_of(results: Results, line: TrendLine) -> str:
    """Return the name of the model of a line."""
    return names_of(results).model_of(line)


def lines_by_measure(lines: Sequence[TrendLine]) -> list[list[TrendLine]]:
    """Return the lines in groups of one measure on one dataset, in the order of the measures."""
    return list(grouped(lines, lambda line: (line.dataset, line.metric, tuple(line.params.items()), line.average)))


def tonight_text(line: TrendLine) -> str:
    """Return the value of tonight, the last of a line, with its interval as text."""
    if line.value[-1] is None:
        return "undefined"
    return numbers.with_limits(line.value[-1], line.lower[-1], line.upper[-1])


def control_limits_text(line: TrendLine) -> str:
    """Return the control limits of tonight, the last of a line, as text, such as "0.78 to 0.88"."""
    if not line.limit_lower or line.limit_lower[-1] is None or line.limit_upper[-1] is None:
        return "none"
    lower, upper = line.limit_lower[-1], line.limit_upper[-1]
    digits = numbers.decimals(lower, upper, line.value[-1] or 0.0)
    return f"{numbers.fixed(lower, digits)} to {numbers.fixed(upper, digits)}"


def earlier_nights(count: int) -> str:
    """Return a number of nights as text, such as "1 earlier night"."""
    return f"{numbers.count(count)} earlier night{'' if count == 1 else 's'}"


def is_beyond_control_limits(line: TrendLine, night_index: int) -> bool:
    """Tell whether the value of a night is beyond its control limits; ``night_index`` may count from the end."""
    if not line.limit_lower:
        return False
    value, lower, upper = line.value[night_index], line.limit_lower[night_index], line.limit_upper[night_index]
    return None not in (value, lower, upper) and not (lower or 0.0) <= (value or 0.0) <= (upper or 0.0)


ABREAST, HIGH = 3, 2
"""Sheets of a figure, side by side where there is room, and panels on each; further measures have a figure more."""

HEIGHT = 190.0
"""Pixels of a panel."""

BAND = "Control limits"
"""The name of the band of control limits in a figure."""

DENSE = 60
"""Nights from which on markers are left out but for those that matter."""

APART = 0.22
"""Days between the bars of two models on the same night, where nights are few."""


def trend_figures(results: Results) -> Iterator[Drawing]:
    """Yield figures of every measure of the trend against the day, the models together."""
    measures = lines_by_measure(results.trend.lines)
    if more_models_than_inks(results.models):
        measures = [[line] for lines in measures for line in lines]
    for start in range(0, len(measures), ABREAST * HIGH):
        yield _trend_figure(results, measures[start : start + ABREAST * HIGH], start)


def _trend_figure(results: Results, measures: Sequence[Sequence[TrendLine]], start: int) -> Drawing:
    """Return a figure with a panel for each measure: its values and control limits over the nights that are shown.

    ``start`` is the number of measures in figures before this one; it keeps the ids of figures apart.
    """
    models = series_of([(model.name, model.label) for model in results.models])
    nights = results.trend.nights[len(results.trend.nights) - results.trend.shown :]
    days = [*(date.fromisoformat(night.as_of) for night in nights), date.fromisoformat(results.as_of or "")]

    sheets = columns(
        day_axis(days), [_value_axis(results, lines) for lines in measures], HEIGHT, ABREAST,
        lambda drawn, number: _draw_lines(drawn, results, with_series(models, measures[number]), days),
        lambda drawn, number, named: _name_lines(drawn, results, with_series(models, measures[number]), days, named))
    limited = any(line.limit_lower for lines in measures for line in lines)
    limits = (f" The band is from {numbers.plain(results.trend.sigma or 0.0)} standard errors below the centre to as "
              "many above it, for a night of that size, the dashed line the centre; an empty marker is a night beyond "
              "the band.") if limited else ""
    if unsettled := results.trend.unsettled_days(days, tonight=any(row.unsettled for row in results.label_arrival)):
        limits += f" Shaded: {counted(len(unsettled), 'night')} with rows whose outcomes were still waited for."
    caption = (f"Each measure by the day that a night is about; bars are its {wording.level(results.intervals.level)} "
               f"intervals. The large marker is {results.as_of}, which this card is about.{limits}")
    sentences = [_line_sentence(results, line) for lines in measures for line in lines]
    alt = f"Trend over {len(days)} nights, {days[0]} to {days[-1]}. {' '.join(sentences)}"
    texts = _trend_finding(results, [line for lines in measures for line in lines], sentences), caption, alt
    return drawing(f"trend-{start}", "Trend", texts, sheets)


def _trend_finding(results: Results, lines: Sequence[TrendLine], sentences: Sequence[str]) -> Clauses:
    """Return the finding of a trend figure, measures beyond their limits first; ``sentences`` at length."""
    lines = sorted(lines, key=lambda line: not is_beyond_control_limits(line, -1))
    short = []
    for line in lines:
        name = f"{measure_of(results, line)}, {model_of(results, line)}"
        limits = f", {line.position} {control_limits_text(line)}" if line.position is not None else ""
        short.append(f"{name}: {tonight_text(line)}{limits}")
    return Clauses(tuple(short), "line", (" ".join(sentences[:2]),))


def _line_sentence(results: Results, line: TrendLine) -> str:
    """Return the sentence on where tonight lies, and how many earlier nights were beyond the limits."""
    text = f"{measure_of(results, line)}, {model_of(results, line)}: {tonight_text(line)}"
    if line.position is None:
        return f"{text}; no control limits, {earlier_nights(line.counted)}."
    nights_beyond = sum(is_beyond_control_limits(line, night_index) for night_index in range(len(line.value) - 1))
    earlier = earlier_nights(nights_beyond) if nights_beyond else "no earlier night"
    return f"{text}, {line.position} the control limits of {control_limits_text(line)}; {earlier} beyond theirs."


def _draw_lines(
    panel: Panel, results: Results, pairs: Sequence[tuple[Series, TrendLine]], days: Sequence[date],
) -> None:
    """Draw the limits of each model, then its intervals, then its values, and tonight above all."""
    dense = len(days) > DENSE
    for day in results.trend.unsettled_days(days, tonight=any(row.unsettled for row in results.label_arrival)):
        panel.span(day.toordinal() - 0.5, day.toordinal() + 0.5, kind="faint")
    x_of_days = [float(day.toordinal()) for day in days]
    for series, line in pairs:
        if line.limit_lower:
            panel.band(x_of_days, _last_values(line.limit_lower, days), _last_values(line.limit_upper, days),
                       series.ink, "faint")
            panel.rule(series.ink, y=line.centre, dash="5 3")
    for number, (series, line) in enumerate(pairs):
        x_of_model = [x + (0.0 if dense else APART * (number - (len(pairs) - 1) / 2)) for x in x_of_days]
        low, high = _last_values(line.lower, days), _last_values(line.upper, days)
        panel.ranges(x_of_model, low, high, series.ink, kind="hair" if dense else "range")
        value = _last_values(line.value, days)
        panel.marks(x_of_model[:-1], value[:-1], series.ink, series.marker, size=1 if dense else 3,
                    kind="solid" if dense else "mark")
        beyond = [index for index in range(len(days) - 1) if is_beyond_control_limits(line, index - len(days))]
        panel.marks([x_of_model[index] for index in beyond], [value[index] for index in beyond], series.ink,
                    series.marker, size=2.2 if dense else 3.5, kind="hollow")
        panel.marks(x_of_model[-1:], value[-1:], series.ink, series.marker, size=6,
                    kind="ring" if line.position in ("above", "below") else "mark")
        texts = [day.isoformat() for day in days]
        panel.record_days(f"{measure_of(results, line)}, {series.label}", texts, value=value, lower=low, upper=high)


def _name_lines(
    panel: Panel, results: Results, pairs: Sequence[tuple[Series, TrendLine]], days: Sequence[date], named: set[str],
) -> list[KeyEntry]:
    """Write beside the lines the names that are not yet ``named`` on the sheet: the models, the limits, the centre.

    Returns entries of a key for models without room. A model that has a panel of its own is named by its axis.
    """
    x = [float(day.toordinal()) for day in days]
    boxes = [(panel.across(at) - 4, panel.down(high), panel.across(at) + 4, panel.down(low)) for _, line in pairs
             for at, low, high in zip(x, _last_values(line.lower, days), _last_values(line.upper, days),
                                      strict=True) if not math.isnan(low + high)]
    parts = [(series.name, LineLabel(series.label, series.ink, x, _last_values(line.value, days), scattered=True))
             for series, line in pairs if not more_models_than_inks(results.models)]
    models = [label for name, label in parts if name not in named]
    limits = [(series, line) for series, line in pairs if line.limit_lower and BAND not in named][:1]
    others = [label for series, line in limits for label in (
        LineLabel(BAND, series.ink, x * 2, [limit for limits in (line.limit_lower, line.limit_upper)
                                            for limit in _last_values(limits, days)], scattered=True),
        LineLabel("Centre", series.ink, x, [or_nan(line.centre)] * len(x)))]
    named.update((name for name, _ in parts), [BAND] if others else [])
    return label_lines(panel, models, others, boxes)


def _last_values(values: Sequence[float | None], days: Sequence[date]) -> list[float]:
    """Return the last ``len(days)`` values, with NaN for None."""
    return [or_nan(value) for value in values[-len(days) :]]


def _value_axis(results: Results, lines: Sequence[TrendLine]) -> Axis:
    """Return the axis of a measure, named with the side on which it is better."""
    count = results.trend.shown + 1
    values = [or_nan(value) for line in lines for column in (
        line.value, line.lower, line.upper, line.limit_lower, line.limit_upper) for value in column[-count:]]
    model = f", {model_of(results, lines[0])}" if more_models_than_inks(results.models) else ""
    name = f"{measure_of(results, lines[0])}{model}{better_side(results, lines[0].metric)}"
    return number_axis(name, values, most=4, room=0.06)


MOST_KEYS = 5
"""The changed keys of the spec that are named."""


def after_findings(results: Results) -> Iterator[Bullets]:
    """Yield a line each on data, numbers and spec; nothing where the ledger has no run before."""
    since = results.since
    if since is None:
        return
    run = f"the last run ({since.results_sha256[:EVIDENCE_DIGITS]})" if since.results_sha256 else since.as_of
    version = "" if since.evalpipe_version == results.evalpipe_version else (
        f"; evalpipe {since.evalpipe_version} → {results.evalpipe_version}")
    yield Bullets((
        (Strong(f"Data since {run}: "), f"{_data_text(results, since)}."),
        (Strong("Numbers: "), f"{_numbers_text(results, since)}."),
        (Strong("Spec: "), f"{_spec_text(since.spec)}{version}."),
    ), "findings more small")


def _data_text(results: Results, since: Since) -> str:
    """Return what is different in the data: rows and events of each evaluated dataset, and rows of the others."""
    evaluated_names = [dataset.name for _, dataset in evaluated(results)]
    if since.same_files:
        rows = sum(dataset.n for dataset in results.datasets if dataset.name in evaluated_names)
        return f"the same {nouns_of(results).counted_rows(rows)}"
    if since.datasets is None:
        return "not compared; the ledger does not have the rows of that run"
    before = {dataset.dataset: dataset for dataset in since.datasets}
    parts = []
    for dataset in results.datasets:
        then = before.pop(dataset.name, None)
        label = f"{dataset.name}: " if len(results.datasets) > 1 else ""
        if then is None:
            parts.append(f"{dataset.name} is new")
        elif dataset.name in evaluated_names or then.rows != dataset.n:
            parts.append(f"{label}{_dataset_text(results, dataset, then)}")
    parts += [f"{name} is gone" for name in before]
    return "; ".join(parts)


def _dataset_text(results: Results, dataset: DatasetSummary, then: DatasetBefore) -> str:
    """Return how a dataset differs: "412 more rows (5,695 → 6,107), events 31% → 29%"."""
    nouns, more = nouns_of(results), dataset.n - then.rows
    if more:
        noun = nouns.row if abs(more) == 1 else nouns.rows
        text = (f"{numbers.count(abs(more))} {'more' if more > 0 else 'fewer'} {noun} ({numbers.count(then.rows)} → "
                f"{numbers.count(dataset.n)})")
    else:
        text = f"{nouns.counted_rows(dataset.n)} as before, in other files"
    if dataset.events is None or then.events is None:
        return text
    shares = (numbers.percent(then.events, then.rows), numbers.percent(dataset.events, dataset.n))
    return f"{text}, {nouns.events} {shares[0] if shares[0] == shares[1] else ' → '.join(shares)}"


def _numbers_text(results: Results, since: Since) -> str:
    """Return which measures moved by more than both intervals explain, with earlier and present value; or that none."""
    if not since.compared:
        return "no measure has an interval in both runs"
    if since.unchanged == since.compared:
        return "the same" if since.compared == 1 else f"all {since.compared:,} measures are the same"
    changes = [_change_text(results, measure) for measure in since.measures]
    if not since.moved:
        return f"no measure moved by more than the intervals explain; the most: {changes[0]}"
    lead = ": " if since.moved <= len(changes) else "; the most: "
    return (f"{since.moved:,} of {counted(since.compared, 'measure')} moved by more than the intervals explain{lead}"
            f"{joined(changes)}")


def _change_text(results: Results, measure: ChangedMeasure) -> str:
    """Return a measure with its value before and that of now: "ROC AUC of Forest 0.87 → 0.57 (0.50–0.64)"."""
    names = names_of(results)
    row = results.estimate_about[measure.about]
    of_model = f" of {names.model_of(row)}" if len(results.models) > 1 or row.variant != "original" else ""
    name = names.measure(row.metric, row.params, row.average)
    value = row.value or 0.0
    least = next((digits for digits in range(numbers.MOST_DECIMALS)
                  if numbers.fixed(value, digits) != numbers.fixed(measure.before, digits)), numbers.MOST_DECIMALS)
    now = numbers.with_limits(value, row.lower, row.upper, least=least)
    digits = len(now.partition(" ")[0].partition(".")[2])
    return f"{name}{of_model}{on_dataset(results, row.dataset)} {numbers.fixed(measure.before, digits)} → {now}"


def _spec_text(keys: Sequence[ChangedKey] | None) -> str:
    """Return which keys of the spec are different: "differs in gates (1 new), seed and slices (new)"."""
    if keys is None:
        return "not compared; the ledger does not have the keys of that run"
    if not keys:
        return "the same"
    shown = [_key_text(key) for key in keys[:MOST_KEYS]]
    more = [f"{len(keys) - MOST_KEYS} more"] if len(keys) > MOST_KEYS else []
    return f"differs in {joined([*shown, *more])}"


def _key_text(key: ChangedKey) -> str:
    """Return a key of the spec, with what became of it: new, gone, or so many entries of its list new or gone."""
    counts = [f"{count} {word}" for count, word in ((key.added, "new"), (key.removed, "gone")) if count]
    return f"{key.key} ({', '.join(counts)})" if counts else key.key if key.change == "changed" else (
        f"{key.key} ({key.change})")
