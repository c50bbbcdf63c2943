"""What the card says of the prevalence: what is declared, what was observed, the figures, and what is found."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from evalpipe.card import wording
from evalpipe.card.figures.axes import HALVES, unit_axis
from evalpipe.card.figures.context import Context, column, context_of, or_nan
from evalpipe.card.figures.curves import MOST, Band, left_out_sentence, readable
from evalpipe.card.figures.labels import LineLabel, label_lines, label_on_lines
from evalpipe.card.figures.panel import DASHES, DOTS, RowLabel, grid, panel, rows
from evalpipe.card.figures.svg import Clauses, Sheet, drawing, more_models_than_inks
from evalpipe.card.page import Column, Figures, Heading, Row, Section, Table, Text
from evalpipe.card.tables import curves_of, evaluated, labels, limited, overall, ranged, row_anchor, shown, with_limits
from evalpipe.card.wording import joined, names_of, observed_share, share
from evalpipe.findings import weights
from evalpipe.findings.claims import NOT_BINARY, Claim, Unless, p_apart, p_beyond, rule, unless_key
from evalpipe.findings.words import finding, measures
from evalpipe.results.curves.events import PredictiveValues
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evalpipe.card.figures.svg import Drawing, Series
    from evalpipe.card.page import Block
    from evalpipe.chapters.prevalence.records import PredictiveLine, Prior
    from evalpipe.results import Estimate, ObservedShare, Results
    from evalpipe.results.document import Finding


if TYPE_CHECKING:
    Measure = tuple[str, str | None, tuple[tuple[str, object], ...], str]
    """A metric, its average, its options but for the prevalence, and a model."""

SAMPLE = "In the sample"
MOST_LEVELS = 6
"""The levels whose shares are listed at the head of the card; of more a table in the annex lists them."""

FACTOR = math.log(2)
"""How far log odds may be off at the declared prevalence: 0.5 is then no less than 0.33, a convention of evalpipe."""

LEVEL = "calibration_in_the_large"
"""The measure of whether probabilities hold on average, in log odds."""

SHIFT = "prior_shift"
"""The recalibrator that moves probabilities to another prevalence."""

ABREAST = 4
"""The most prevalences in a table; more go to a further one."""

WEIGHED = (
    "Measures at a prevalence reweight each class to its share. This is right where only the mix of the classes "
    "differs, and wrong where the classes themselves differ."
)
DRAWN = (
    "Limits at the declared prevalence include both the sampling error and the uncertainty of the prior: each "
    "bootstrap replicate draws its own prevalence."
)


def outcome(results: Results) -> Iterator[tuple[str, str]]:
    """Yield pairs of term and text for the card's head: the declared prevalence, and if binary the observed one."""
    prior, evaluated_names = results.prevalence, [dataset.name for _, dataset in evaluated(results)]
    observed = "; ".join(
        f"{wording.observed_share(share.value, share.lower, share.upper)} in {share.dataset}"
        for share in results.observed
        if share.dataset in evaluated_names and results.event is not None and share.level == results.event)
    if prior is not None:
        if prior.levels is None:
            shares = _event_prevalence(prior)
        elif len(prior.levels) <= MOST_LEVELS:
            shares = ", ".join(f"{level}: {wording.share(prior.levels[level])}" for level in results.levels)
        else:
            verb = "stated" if prior.dataset is None else "estimated"
            shares = f"{verb} for each of {len(prior.levels)} levels"
        yield "Declared prevalence", f"{shares} ({f'source: {prior.source}' if prior.source else 'source not stated'})"
    elif results.levels and not observed:
        yield "Declared prevalence", "not declared"
    if observed:
        by_outcomes = " by outcomes" if results.label_worth else ""
        yield ("Observed prevalence", observed) if prior else (
            f"Prevalence{by_outcomes}", f"{observed}; none declared")


def sections(results: Results) -> Iterator[Section]:
    """Yield the sections on prevalence; none where none is declared and no measure is reweighted to one."""
    prior = results.prevalence
    if prior is None and not any("prevalence" in e.params for e in results.rows):
        return
    has_drawn_priors = prior is not None and prior.level is not None and any(e.lower is not None for e in results.rows)
    lead = f"{_declared_sentence(results)}{f' {DRAWN}' if has_drawn_priors else ''} {WEIGHED}"
    columns = (Column("Dataset"), Column("Level"), Column("Observed", "num"), Column("Declared", "num"))
    rows = tuple(
        Row((share.dataset, share.level, ranged(share.value, share.lower, share.upper, least=numbers.USUAL_DIGITS),
             "–" if prior is None else _level_prevalence(prior, share.level)))
        for share in results.observed)
    table = Table(f"Observed and declared prevalence{with_limits(results, rows)}", columns, rows)
    has_many_levels = len(results.levels) > MOST_LEVELS  # a figure of the data shows their shares
    blocks: list[Block] = [Text(lead, "lead"), *(() if has_many_levels else (table,))]
    for _, dataset in evaluated(results):
        tables = list(_tables(results, dataset.name))
        blocks += [Heading(dataset.name), *tables] if tables else []
    yield Section("prevalence", "Prevalence", tuple(blocks), part="decisions")
    if has_many_levels:
        yield Section("prevalence-levels", "Prevalence of each level", (table,), part="appendix")
    for index, (anchor, dataset) in enumerate(evaluated(results)):
        has_all = index == 0 and prior is not None and prior.value is not None
        if has_all or any(curves_of(results, dataset.name, PredictiveValues)):
            yield Section(f"prevalence-{anchor.rpartition('-')[2]}", f"Figures of prevalence on {dataset.name}", (
                Figures(partial(prevalence_figures, results, dataset.name, first=index == 0)),), part="appendix")


def _declared_sentence(results: Results) -> str:
    """Return the sentences on which prevalence is declared, and where it comes from."""
    prior = results.prevalence
    if prior is None:
        return "No prevalence is declared for where the models will be used."
    source = f"Source: {prior.source.rstrip('.')}." if prior.source else "Its source is not stated."
    limits = _limits_sentence(results, prior)
    if prior.levels is None:
        verb = "is taken to be" if prior.beta is None or prior.dataset is not None else "is"
        return (f"Where the models will be used, the share of {results.event} {verb} {_event_prevalence(prior)}. "
                f"{source}{limits}")
    shares = ", ".join(f"{level} {_level_prevalence(prior, level)}" for level in results.levels)
    estimated = f", {_estimated_from(prior)}" if prior.dataset is not None else ""
    return (f"Where the models will be used, the shares of the levels are taken to be: {shares}{estimated}. "
            f"{source}{limits}")


def _estimated_from(prior: Prior) -> str:
    """Return the text on the dataset that gives the prevalence: "estimated from the 1,200 rows of train"."""
    return f"estimated from the {numbers.count(prior.rows or 0)} rows of {prior.dataset}"


def _limits_sentence(results: Results, prior: Prior) -> str:
    """Return the sentence on how limits of a prevalence estimated from a dataset are made; empty of any other."""
    if prior.dataset is None or prior.level is None:
        return ""
    kind = f"Beta({', '.join(map(numbers.number, prior.beta))})" if prior.beta is not None else "Dirichlet"
    weighted = results.weight is not None and results.weight["kind"] == "importance"
    clustered = any(dataset.clusters is not None for dataset in results.datasets)
    source = "as many independent rows of equal weight as leave it so uncertain" if weighted or clustered else (
        "the rows of each level")
    return (f" Its {wording.level(prior.level)} limits are those of a {kind} distribution, whose parameters are "
            f"{source}.")


def _event_prevalence(prior: Prior) -> str:
    """Return the declared prevalence of the event as text, with its distribution or dataset if it is uncertain."""
    mean = wording.share(prior.value or 0.0)
    if prior.dataset is not None:
        return f"{_level_prevalence(prior, next(iter(prior.limits)))}, {_estimated_from(prior)}"
    if prior.beta is None:
        return mean
    _, low, high = _share_and_limits(prior.value or 0.0, *next(iter(prior.limits.values())))
    parameters, level = ", ".join(map(numbers.plain, prior.beta)), wording.level(prior.level or 0.0)
    return f"uncertain: a Beta({parameters}) distribution with mean {mean}, {level} of it between {low} and {high}"


def _level_prevalence(prior: Prior, level: str) -> str:
    """Return the declared prevalence of a level as text, with its limits where it is uncertain."""
    share = (prior.value or 0.0) if prior.levels is None else prior.levels[level]
    if level not in prior.limits:
        return wording.share(share)
    written, lower, upper = _share_and_limits(share, *prior.limits[level])
    return f"{written} ({numbers.ranged(lower, upper)})"


def _share_and_limits(share: float, lower: float, upper: float) -> tuple[str, str, str]:
    """Return an uncertain prevalence and its limits as texts of the same decimals, no fewer than the prevalence has."""
    digits = max(numbers.decimals(share), numbers.decimals(share, lower, upper))
    return numbers.fixed(share, digits), numbers.fixed(lower, digits), numbers.fixed(upper, digits)


def _tables(results: Results, dataset: str) -> Iterator[Table]:
    """Yield tables of the measures that are also taken at a prevalence, a column for each, that of the sample first."""
    measures: dict[Measure, dict[str, Estimate]] = {}
    estimates = [e for e in overall(results, dataset) if e.class_ is None]
    for e in estimates:
        measures.setdefault(_measure_key(e), {})[_prevalence_head(results, e)] = e
    weighed = {measure: by_head for measure, by_head in measures.items() if set(by_head) != {SAMPLE}}
    # A measure without its last part, the model: the models of one measure stand together.
    order = list(dict.fromkeys(measure[:-1] for measure in weighed))
    lines = [weighed[measure] for measure in sorted(weighed, key=lambda measure: order.index(measure[:-1]))]
    heads = dict.fromkeys(_prevalence_head(results, e) for e in estimates if _measure_key(e) in weighed)
    ordered = sorted(heads, key=lambda head: head != SAMPLE)
    for start in range(0, len(ordered), ABREAST):
        abreast = ordered[start : start + ABREAST]
        rows = tuple(_measure_row(results, by_head, abreast) for by_head in lines if by_head.keys() & set(abreast))
        columns = (Column("Measure"), Column("Model", shown=len(results.models) > 1),
                   *(Column(head, "num") for head in abreast))
        yield Table(f"Measures by prevalence on {dataset}{with_limits(results, rows)}", columns, rows,
                    rest="estimates.csv")


def _measure_key(e: Estimate) -> Measure:
    """Return the key of a measure of a model, which is the same at any prevalence."""
    options = tuple((name, value) for name, value in e.params.items() if name != "prevalence")
    return e.metric, e.average, options, e.model


def _prevalence_head(results: Results, e: Estimate) -> str:
    """Return the head of the column of an estimate: its prevalence, and whether it is the declared one."""
    prevalence, prior = e.params.get("prevalence"), results.prevalence
    if prevalence is None:
        return SAMPLE
    declared: float | str | None = None if prior is None else prior.value
    if prior is not None and prior.levels is not None:
        declared = ", ".join(f"{level} {prior.levels[level]:g}" for level in results.levels)
    head = wording.capital(wording.at_prevalence(prevalence))
    return f"{head} (declared)" if prevalence == declared else head


def _measure_row(results: Results, by_head: Mapping[str, Estimate], heads: Iterable[str]) -> Row:
    """Return the row of a measure of a model at each prevalence; a dash where there is no estimate."""
    e = next(e for e in by_head.values() if "prevalence" in e.params)
    (metric,) = (metric for metric in results.metrics if metric.name == e.metric)
    options = {name: value for name, value in e.params.items() if name != "prevalence"}
    title = wording.measure(metric.title.removesuffix(" (sample)"), options, e.average)
    at_heads = [by_head.get(head) for head in heads]
    least = numbers.most_decimals(limited(e) for e in at_heads if e is not None)
    return Row((title, labels(results)[e.model], *(
        "–" if e is None else shown(e, whole=metric.is_whole, least=least) for e in at_heads)),
        anchor=row_anchor("prevalence", [e for e in at_heads if e is not None]))


VALUES = {"ppv": "PPV", "npv": "NPV"}
STROKES = ("", "9 3", DASHES, "3 3", DOTS)
"""How the lines of the rates are drawn, from the lowest to the highest."""


def prevalence_figures(results: Results, dataset: str, *, first: bool = True) -> tuple[Drawing, ...]:
    """Return the figures of predictive values of a dataset; if it is the ``first``, also that of all prevalences."""
    context = context_of(results, dataset)
    drawings = (prevalences_figure(context) if first else None, by_prevalence_figure(context),
                by_rate_figure(context, "sensitivity"), by_rate_figure(context, "specificity"))
    return tuple(drawing for drawing in drawings if drawing is not None)


def prevalences_figure(context: Context) -> Drawing | None:
    """Return the figure of the observed share of events in each dataset and the declared prevalence, if any."""
    observed = [(d.name, d.prevalence) for d in context.results.datasets if d.prevalence is not None]
    prior = context.results.prevalence
    if prior is None or prior.value is None or not observed:
        return None
    bars = [*((f"{name}, observed", value) for name, value in observed), ("declared", prior.value)]
    limits = {f"{share.dataset}, observed": (share.lower, share.upper) for share in context.results.observed}
    limits["declared"] = next(iter(prior.limits.values()), (None, None))  # of the event, the first of two levels
    limited = ", with limits" if any(low is not None for low, _ in limits.values()) else ""
    caption = (
        f"Share of {context.results.event} in each dataset, against the prevalence declared for where the model will "
        f"be used{limited}. Measures at the declared prevalence, such as PPV, apply where the model will be used."
    )
    alt = "Prevalence of the event. " + " ".join(f"{name}: {_share_text(name, value)}." for name, value in bars)
    sheet = Sheet()
    plot = rows(sheet, [RowLabel(name) for name, _ in bars], unit_axis("Share of events"), right_margin=10)
    for middle, (name, value) in zip(plot.middles, bars, strict=True):
        low, high = limits.get(name, (None, None))
        shape = "s" if name == "declared" else "o"
        if low is not None and high is not None:
            plot.panel.ranges([middle], [low], [high], "ink", upright=False)
        plot.panel.marks([value], [middle], "ink", shape)
        plot.panel.record_values(name, value=[value], lower=[or_nan(low)], upper=[or_nan(high)])
        # The number stands right of the range, or left of it where that ends near the edge of the figure.
        offset, anchor = (9, "") if (high or value) < 0.8 else (-9, "end")
        end = plot.panel.across((low if anchor else high) or value)
        sheet.write(end + offset, plot.panel.top + middle + 4.5, _share_text(name, value), "ink", anchor)
    finding = Clauses(tuple(f"{name}: {_share_text(name, value)}" for name, value in bars), "dataset")
    texts = finding, caption, alt
    return drawing(f"d{context.place}-prevalence", "Observed and declared prevalence", texts, [sheet])


def _share_text(name: str, value: float) -> str:
    """Return a prevalence as text: as the spec gives it where ``name`` is "declared", else rounded."""
    return wording.share(value) if name == "declared" else numbers.number(value)


def by_prevalence_figure(context: Context) -> Drawing | None:
    """Return the figure of ppv and npv of each model against the prevalence; None without such curves."""
    pairs = context.curves(PredictiveValues)
    if not pairs:
        return None
    sentences = [_predictive_value_sentence(*pair) for pair in pairs]
    alt = f"Predictive values by prevalence on {context.dataset.name}. {' '.join(sentences)}"
    sheets = [_predictive_value_sheet(context, pairs, name, label) for name, label in VALUES.items()]
    prior = context.results.prevalence
    level = next((curve.notes.level for _, curve in pairs if curve.notes.level is not None), None)
    band = f" with {wording.level(level)} limits by the delta method" if level is not None else ""
    declared = "; dashed line: declared prevalence" if prior is not None else ""
    shaded = ""
    if prior is not None and prior.beta is not None and prior.limits:
        shaded = f" {wording.level(prior.level or 0.0)} of the declared distribution is shaded."
    hidden = "" if len(pairs) > MOST else left_out_sentence([series for series, _ in pairs], _bands_of(pairs, "ppv"))
    caption = (f"PPV and NPV at every prevalence of {context.results.event}{band}. Dotted line: observed prevalence"
               f"{declared}.{shaded}{hidden}")
    finding = context.finding_text(pairs, _values_where_used, again=lambda curve: _values_where_used(curve, again=True))
    texts = finding, caption, alt
    return drawing(f"d{context.place}-predictive", "Predictive values by prevalence", texts, sheets)


def _bands_of(pairs: Sequence[tuple[Series, PredictiveValues]], name: str) -> dict[str, Band]:
    """Return the band of each model about its predictive values of this ``name``, "ppv" or "npv"."""
    columns = {series.name: curve.points.columns for series, curve in pairs}
    return {model: Band(column(values["prevalence"]), column(values[f"{name}_lower"]), column(values[f"{name}_upper"]))
            for model, values in columns.items()}


def _predictive_value_sheet(
    context: Context, pairs: list[tuple[Series, PredictiveValues]], name: str, label: str,
) -> Sheet:
    """Return the sheet of one predictive value against the prevalence, a line for each model or, of many, a panel.

    ``name`` is "ppv" or "npv", shown as ``label``. The only model is named by the title: a marker beside its name would
    look like a point of the curve.
    """
    sheet, has_many, is_single, prior = Sheet(), len(pairs) > MOST, len(pairs) == 1, context.results.prevalence
    x, y = unit_axis("Prevalence", HALVES) if has_many else unit_axis("Prevalence"), unit_axis(label)
    if has_many:
        axes = x, unit_axis(label, HALVES)
        panels = grid(sheet, [axes] * len(pairs), [(series.label, "ink") for series, _ in pairs])
    else:
        panels = [panel(sheet, x, y, title=pairs[0][0].label if is_single else "")] * len(pairs)
    labels, bands, is_shared = [], _bands_of(pairs, name), not (has_many or is_single)
    banded = readable(bands) if is_shared else list(bands)
    for plot, (series, curve) in zip(panels, pairs, strict=True):
        prevalences, value = (column(curve.points.columns[key]) for key in ("prevalence", name))
        if series.name in banded:
            bands[series.name].draw(plot, series.ink)
        dash = series.dash if is_shared else ""
        plot.line(prevalences, value, series.ink, name=series.label, dash=dash)
        labels.append(LineLabel(series.label, series.ink, prevalences, value, dash=dash))
    for plot in panels if has_many else panels[:1]:
        plot.rule("ink", x=or_nan(pairs[0][1].notes.observed), dash=DOTS)
        if prior is not None and prior.value is not None:
            plot.rule("ink", x=prior.value, dash=DASHES)
            if prior.beta is not None and prior.limits:
                plot.span(*next(iter(prior.limits.values())))
    if not has_many:
        rules = [LineLabel("Observed", "ink", [or_nan(pairs[0][1].notes.observed)] * 2, [0.0, 1.0],
                           kind="thin", dash=DOTS)] if context.dataset.prevalence is not None else []
        if prior is not None and prior.value is not None:
            rules.append(LineLabel("Declared", "ink", [prior.value] * 2, [0.0, 1.0], kind="thin", dash=DASHES))
        names, unnamed = ([], labels) if is_single else (labels, [])
        sheet.key(label_lines(panels[0], names, rules, unnamed=unnamed))
    return sheet


def _predictive_value_sentence(series: Series, curve: PredictiveValues) -> str:
    """Return the sentence on a model's predictive values at the observed and at the declared prevalence."""
    notes, parts = curve.notes, []
    for which, prevalence, ppv, npv in (
        ("observed", notes.observed, notes.ppv_observed, notes.npv_observed),
        ("declared", notes.declared, notes.ppv_declared, notes.npv_declared),
    ):
        if prevalence is not None:
            write = wording.share if which == "declared" else numbers.number
            parts.append(f"at the {which} prevalence {write(prevalence)} PPV {_number_or_undefined(ppv)} and NPV "
                         f"{_number_or_undefined(npv)}")
    return f"{series.label}: {'; '.join(parts)}."


def _values_where_used(curve: PredictiveValues, *, again: bool = False) -> str:
    """Return a model's predictive values at the declared or else the observed prevalence, which ``again`` omits."""
    notes = curve.notes
    which, ppv, npv = ("declared", notes.ppv_declared, notes.npv_declared) if notes.declared is not None else (
        "observed", notes.ppv_observed, notes.npv_observed)
    values = f"PPV {_number_or_undefined(ppv)} and NPV {_number_or_undefined(npv)}"
    return values if again else f"{values} at the {which} prevalence"


def _number_or_undefined(value: float | None) -> str:
    return "undefined" if value is None else numbers.number(value)


def by_rate_figure(context: Context, rate: str) -> Drawing | None:
    """Return the figure of ppv and npv at the declared prevalence along a rate; None where none is declared.

    ``rate`` is sensitivity or specificity; there is a line for each of some values of the other.
    """
    prior, pairs = context.results.prevalence, context.curves(PredictiveValues)
    lines = [line for line in prior.lines if line.by == rate] if prior is not None else []
    if not lines or not pairs or prior is None or prior.value is None:
        return None
    other = lines[0].other
    numbered = joined([f"{number} {series.label}" for number, (series, _) in enumerate(pairs, 1)])
    caption = (
        f"PPV and NPV of any model at the declared prevalence {wording.share(prior.value)}, by its {rate}, with "
        f"its {other} on the lines. Marks: the models{f', {numbered}' if more_models_than_inks(pairs) else ''}."
    )
    alt = f"Predictive values at the declared prevalence by {rate}, {context.dataset.name}. " + " ".join(
        f"{series.label}: {rate} {numbers.number(_rate_of(curve, rate))}, {other} "
        f"{numbers.number(_rate_of(curve, other))}." for series, curve in pairs)
    sheets = [_by_rate_sheet(lines, pairs, rate, name, label) for name, label in VALUES.items()]
    finding = context.finding_text(pairs, _declared_values, at_length=lambda curve: (
        f"{_declared_values(curve)} at its {rate} {numbers.number(_rate_of(curve, rate))}"))
    title = f"Predictive values by {rate} at the declared prevalence"
    return drawing(f"d{context.place}-predictive-{rate}", title, (finding, caption, alt), sheets)


def _declared_values(curve: PredictiveValues) -> str:
    """Return a model's predictive values at the declared prevalence in a few words."""
    ppv, npv = map(_number_or_undefined, (curve.notes.ppv_declared, curve.notes.npv_declared))
    return f"PPV {ppv} and NPV {npv}"


def _by_rate_sheet(
    lines: list[PredictiveLine], pairs: list[tuple[Series, PredictiveValues]], rate: str, value: str, label: str
) -> Sheet:
    """Return the sheet of ppv or npv (``value``, shown as ``label``) along sensitivity or specificity (``rate``).

    It has one line for each fixed value of the other rate, and a mark for each model.
    """
    sheet, labels = Sheet(), []
    plot = panel(sheet, unit_axis(rate.capitalize()), unit_axis(f"{label}, lines by {lines[0].other}"))
    for index, line in enumerate(lines):
        x, height, dash = column(line.points["rate"]), column(line.points[value]), STROKES[index % len(STROKES)]
        plot.line(x, height, "muted", dash=dash, name=f"{line.other.capitalize()} {numbers.plain(line.at)}")
        labels.append(LineLabel(numbers.plain(line.at), "muted", x, height, dash=dash))
    models: list[LineLabel] = []
    for number, (series, curve) in enumerate(pairs, 1):
        at = _rate_of(curve, rate), or_nan(curve.notes.ppv_declared if value == "ppv" else curve.notes.npv_declared)
        plot.marks(at[:1], at[1:], series.ink, series.marker, size=5.5, name=series.label)
        # Thin lines to more names than there are inks would be a web.
        name = str(number) if more_models_than_inks(pairs) else series.label
        models += [] if math.isnan(sum(at)) else [LineLabel(name, series.ink, at[:1], at[1:])]
    boxes = label_on_lines(plot, labels, models)
    sheet.key(label_lines(plot, models, occupied=boxes, unnamed=labels))
    return sheet


def _rate_of(curve: PredictiveValues, rate: str) -> float:
    """Return the sensitivity or specificity of a model at its threshold; NaN where it has none."""
    return or_nan(curve.notes.sensitivity if rate == "sensitivity" else curve.notes.specificity)


class Share(NamedTuple):
    """A share of a level, observed or declared, with its limits; a declared one without limits is exact."""

    level_of_outcome: str
    dataset: str
    value: float
    lower: float | None
    upper: float | None
    level: float | None


Pair = tuple[Share, Share]


@rule("note", unless=(unless_key("no-prevalence", "prevalence"),), claims_all=True)
def prevalence_declared(results: Results) -> Iterator[Claim]:
    """Whether the declared prevalence equals that of the evaluated rows."""
    for row in results.observed:
        declared = _declared_share(results, row)
        if declared is not None and row.lower is not None:
            observed = Share(row.level, row.dataset, row.value, row.lower, row.upper, row.confidence)
            yield Claim((declared, observed), differs, p_apart(declared, observed))


def _declared_share(results: Results, row: ObservedShare) -> Share | None:
    """Return the declared share of the level of a row; None where no prevalence is declared for that level."""
    prior = results.prevalence
    if prior is None or (results.task == "binary" and row.level != results.event):
        return None
    value = prior.value if prior.levels is None else prior.levels.get(row.level)
    if value is None:
        return None
    lower, upper = prior.limits.get(row.level, (value, value))
    return Share(row.level, row.dataset, value, lower, upper, prior.level or row.confidence)


def differs(_: Results, rows: Sequence[Pair]) -> Iterator[Finding]:
    """Yield a finding on each dataset with levels declared to be more or less frequent than in its rows."""
    for dataset in dict.fromkeys(observed.dataset for _, observed in rows):
        shares = [f"'{observed.level_of_outcome}' declared {share(declared.value)}, observed "
                  f"{observed_share(observed.value, observed.lower, observed.upper)}"
                  for declared, observed in rows if observed.dataset == dataset]
        text = (f"The declared prevalence differs from that of {dataset}: {joined(shares)}. Measures apply at the "
                "observed prevalence unless they name another.")
        yield finding("note", weights.PRIOR, text, "prevalence")


SHIFTED = Unless("shifted", by_results=lambda results: any(row.method == SHIFT for row in results.recalibration))


@rule("fails", unless=(NOT_BINARY, unless_key("no-prevalence", "prevalence"), SHIFTED), claims_all=True)
def probabilities_carried_over(results: Results) -> Iterator[Claim]:
    """Whether probabilities hold at the declared prevalence: there their odds may be off by a factor of two at most."""
    prior = None if SHIFTED.holds(results) else results.prevalence
    for row in () if prior is None or prior.value is None else measures(results, LEVEL, prevalence=prior.value):
        yield Claim(row, not_carried_over, 1.0 if abs(row.value) <= FACTOR else p_beyond(
            row, math.copysign(FACTOR, row.value)))


MOST_TIMES = 1_000_000
"""The largest factor that is written as it is."""


def _times_text(log_factor: float) -> str:
    """Return the factor exp(``log_factor``) as text, such as "36.6" or "more than 1,000,000"."""
    return (f"more than {numbers.count(MOST_TIMES)}" if log_factor > math.log(MOST_TIMES)
            else numbers.fixed(math.exp(log_factor), 1))


def not_carried_over(results: Results, rows: Sequence[Any]) -> Iterator[Finding]:
    """Yield a finding for each model whose odds are wrong at the declared prevalence: which way, and by what factor."""
    observed = {row.dataset: row.value for row in results.observed if row.level == results.event}
    for row in rows:
        way, times = ("high", -row.value) if row.value < 0 else ("low", row.value)
        declared = share(row.params["prevalence"])
        text = (f"The probabilities of {names_of(results).model(row.model)} do not carry over to the declared "
                f"prevalence {declared}: {row.dataset} has {numbers.number(observed[row.dataset])}. At {declared} "
                f"their odds are {_times_text(times)} times too {way}. '{SHIFT}' under 'recalibrate' corrects them, "
                "where only the mix of the classes differs.")
        yield finding("fails", weights.NOT_CARRIED_OVER, text, "prevalence", [row])
