"""The first screen of the card: what the evidence says, the key measures as dot plots, the facts asked for first.

The section of all findings, by kind with links to their evidence, follows.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.method import weighting
from evalpipe.card.page import (
    Aside,
    BlockGroup,
    Bullets,
    Code,
    Dot,
    DotPlot,
    Facts,
    Heading,
    Link,
    Section,
    Strong,
    Text,
    Verdict,
)
from evalpipe.card.sign_off import signed, status
from evalpipe.card.statements import PLACES, missing, opening
from evalpipe.card.tables import evaluated, key_measures, shown
from evalpipe.card.wording import MISSING, capital, joined, names_of
from evalpipe.chapters import functions
from evalpipe.results.signatures import EVIDENCE_DIGITS
from evalpipe.words import numbers
from evalpipe.words.card_fields import FIELDS
from evalpipe.words.spelling import clipped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.page import Block, Cell
    from evalpipe.results import Estimate, Results
    from evalpipe.results.document import Finding, FindingKind
    from evalpipe.results.signatures import Signature


MOST_LINES = 10
"""The lines of a plot on the first screen."""

MOST_PLOTS = 3
MOST_GATED = 2
"""The plots on the first screen: of key measures on all rows, and of measures with gates or in groups."""

LEAST_WIDTH = 0.1
"""The narrowest axis of a measure from 0 to 1, and of another measure as a share of its largest value, so that small
differences are not drawn as large ones."""

TICKS = 4
"""About so many ticks stand below a plot."""

EDGE, LETTER = 8, 7
"""Per cent of a plot's width: where numbers of ticks are set inward, and a digit of them with its share of a gap."""


def dot_plots(results: Results) -> tuple[DotPlot, ...]:
    """Draw the measures that gates are on, or else the first of the key measures, on all rows and in groups."""
    _, dataset = next(evaluated(results))
    gated = [gate.metric for gate in results.gates if gate.metric is not None and gate.against is None]
    wanted = list(dict.fromkeys(gated)) or list(key_measures(results))
    scopes = [groups for groups in (_by_scope(results, dataset.name, metric) for metric in wanted) if groups]
    if gated or any(len(groups) > 1 for groups in scopes):
        kept = scopes[:MOST_GATED]
    else:
        kept = scopes[: max(1, MOST_LINES // max(len(results.models), MOST_LINES // MOST_PLOTS))]
    return tuple(_plot(results, *_worst(results, groups, MOST_LINES // len(kept))) for groups in kept)


def _by_scope(results: Results, dataset: str, metric: str) -> list[list[Estimate]]:
    """Return the estimates of a measure, all models of a group together: those of all rows first."""
    rows = [row for row in results.rows if row.dataset == dataset and row.metric == metric and row.value is not None
            and row.variant == "original" and row.class_ is None]
    scopes: dict[str, list[Estimate]] = {}
    for row in rows:
        if (row.params, row.average) == (rows[0].params, rows[0].average):
            scopes.setdefault("" if row.slice is None else str(row.slice), []).append(row)
    return [scopes[name] for name in sorted(scopes, key=bool)]


def _worst(results: Results, groups: Sequence[list[Estimate]], most: int) -> tuple[list[Estimate], str]:
    """Return the first group and of the others the worst, about ``most`` lines, and say how many are left out."""
    first, *others = groups
    direction = next(metric.direction for metric in results.metrics if metric.name == first[0].metric)
    sign = {"maximize": 1, "minimize": -1}.get(direction, 0)
    room = max(most - len(first), len(first)) // max(len(first), 1)
    ordered = sorted(others, key=lambda group: min(sign * (row.value or 0.0) for row in group))[:room]
    kept = [group for group in others if group in ordered]
    which = "worst" if sign else "first"
    said = f"{which} of {len(others)} groups is"
    if len(kept) != 1:
        said = f"{len(kept)} {which} of {len(others)} groups are"
    return [row for group in (first, *kept) for row in group], f"The {said} drawn." if len(kept) < len(others) else ""


def _plot(results: Results, rows: Sequence[Estimate], left_out: str) -> DotPlot:
    names, first = names_of(results), rows[0]
    limits = sorted({value for gate in results.gates if (gate.metric, gate.params, gate.average) == (
        first.metric, first.params, first.average) and gate.against is None for value in gate.limit.values()})
    low, high = _range(results, rows, limits)
    models = [model.name for model in results.models]
    place = 100 / (high - low)

    def at(value: float | None) -> float | None:
        return None if value is None else round((value - low) * place, 2)

    whole = all(row.slice is None for row in rows)
    dots = tuple(
        Dot(_label(results, row, whole=whole), at(row.value) or 0.0, at(row.lower), at(row.upper), shown(row),
            models.index(row.model)) for row in rows)
    ticks = _apart([(at(tick) or 0.0, numbers.plain(tick)) for tick in _ticks(low, high)])
    required = f"Dashed line: required limit, {' and '.join(map(numbers.plain, limits))}." if limits else ""
    title = capital(names.measure(first.metric, first.params, first.average))
    return DotPlot(title, dots, tuple(at(limit) or 0.0 for limit in limits), ticks,
                   " ".join(filter(None, (required, left_out))))


def _label(results: Results, row: Estimate, *, whole: bool) -> str:
    """Name what a dot is of: its model, its group, or both; all are of the ``whole`` where none is of a group."""
    names = names_of(results)
    if whole:
        return clipped(names.model(row.model))
    scope = "All" if row.slice is None else capital(names.label(row.slice))
    return f"{scope}, {clipped(names.model(row.model))}" if len(results.models) > 1 else scope


def _range(results: Results, rows: Sequence[Estimate], limits: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the axis: those of the limits with some room, within 0 and 1 of a proportion."""
    lowest, highest = next(metric.range for metric in results.metrics if metric.name == rows[0].metric)
    ends = [end for row in rows for end in (row.lower, row.value, row.upper) if end is not None] + list(limits)
    room = 0.08 * (max(ends) - min(ends)) or 0.1 * abs(ends[0]) or 0.1
    low, high = min(ends) - room, max(ends) + room
    within = (lowest, highest) == (0, 1)
    least = LEAST_WIDTH * (1 if within else max(map(abs, ends)))
    spare = max(least - (high - low), 0.0) / 2
    return (max(low - spare, 0.0), min(high + spare, 1.0)) if within else (low - spare, high + spare)


def _apart(ticks: Sequence[tuple[float, str]]) -> tuple[tuple[float, str], ...]:
    """Leave out ticks at the edges whose numbers, which are set inward, would meet the next one."""
    first, last = 0, len(ticks)
    if last > 2 and ticks[0][0] < EDGE and ticks[1][0] - ticks[0][0] < len(ticks[0][1]) * LETTER:
        first = 1
    if last - first > 2 and ticks[-1][0] > 100 - EDGE and ticks[-1][0] - ticks[-2][0] < len(ticks[-1][1]) * LETTER:
        last -= 1
    return tuple(ticks[first:last])


def _ticks(low: float, high: float) -> Iterator[float]:
    """Yield round numbers from ``low`` to ``high``, about `TICKS` of them."""
    rough = (high - low) / TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.999)
    for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1):
        yield round(k * step, 12)


MOST_FINDINGS = 5
"""The findings on the first screen; all stand further down."""

REQUIREMENTS = "use"
"""The section of the finding that no gate is declared, which the headline says where it is so."""

EVIDENCE = "evidence"
"""The style of the fingerprint of the results, which names the whole of it."""

SIGNS: dict[FindingKind, tuple[str, str]] = {
    "holds": ("✓", "holds"), "fails": ("✗", "fails"), "open": ("?", "open"), "same": ("=", "same"),
    "note": ("•", "remark"),
}
"""The sign of each kind of finding, and what a screen reader says for it."""


def identity(results: Results, signatures: Sequence[Signature] = ()) -> Cell:
    """Write the line that tells this document from others: id, day, evidence, status."""
    stated = results.statement
    document = stated.id or f"{results.name[:3].upper()}-{results.spec_sha256[:EVIDENCE_DIGITS]}"
    day = f"as of {results.as_of}" if results.as_of else "as of: no day is stated"
    evidence = Code(results.evidence_sha256[:EVIDENCE_DIGITS], results.evidence_sha256, EVIDENCE)
    return ("Model card", Aside(document, "document"), Aside(day), Aside(("evidence ", evidence)),
            status(results, signatures))


def verdict(results: Results) -> Section:
    """Write the box with the verdict of the gates and the findings that matter most, with links to their evidence."""
    sign, headline = _headline(results)
    chosen = [finding for finding in results.findings if results.gates or finding.section != REQUIREMENTS]
    items = tuple(sentence(finding) for finding in chosen[:MOST_FINDINGS])
    more = len(results.findings) - len(items)
    rest = (Link(f"All {len(results.findings)} findings", "findings"),) if more > 0 else ()
    blocks: tuple[Block, ...] = (Bullets(items, "findings"),)
    if rest:
        blocks += (Bullets((rest,), "findings more"),)
    return Section("verdict", Verdict(headline, sign), blocks, f"gates {_style(results)}")


def _headline(results: Results) -> tuple[str, str]:
    """Join what chapters say of the whole run; the sign is of what failed, where anything did."""
    said = [part for say in reversed(functions("card", "run_verdict")) for part in say(results)]  # gates first
    sign = next((sign for sign, _ in said if sign == "✗"), said[0][0])
    return sign, "; ".join(sentence for _, sentence in said)


def _style(results: Results) -> str:
    """Return the colour of the box: of gates, and of standards that fall short; else of the findings."""
    if results.gates or results.verdict == "fail":
        return results.verdict
    return "warn" if any(finding.kind == "fails" for finding in results.findings) else "indeterminate"


def sentence(finding: Finding) -> Cell:
    """Write a finding with its sign and a link to its evidence."""
    sign, word = SIGNS[finding.kind]
    whose = "" if finding.plugin is None else f"(Plugin {finding.plugin}.) "
    return (Verdict("", sign, f"finding {word}"), f"{finding.text} {whose}", Link("Evidence", finding.section))


def at_a_glance(results: Results, signatures: Sequence[Signature] = ()) -> BlockGroup:
    """Write the key measures as a figure beside the facts that a reader asks for first, and what signers decided."""
    others = (block for glance in functions("card", "glance") for block in glance(results))
    figure = BlockGroup(dot_plots(results) if results.datasets else tuple(others), "at-a-glance")
    in_short = BlockGroup((Heading("In short"), Facts(tuple(_facts(results, signatures)))), "in-short")
    return BlockGroup((figure, in_short, *signed(signatures)), "first")


def _facts(results: Results, signatures: Sequence[Signature]) -> Iterator[tuple[str, Cell]]:
    yield "Intended use", _stated(results, "intended_use")
    yield "Not for", _stated(results, "not_for")
    yield from _outcome(results)
    yield from (fact for facts in functions("card", "outcome") for fact in facts(results))
    if results.datasets:
        yield "Evaluated on", _evaluated_on(results)
        yield "Models", joined([model.label for model in results.models])
    yield "Owner", _stated(results, "owner")
    if not signatures:
        yield "Signed", Strong(MISSING, "missing")


def _stated(results: Results, key: str) -> Cell:
    """Write what is stated under a key in a line, or that it is missing."""
    text = getattr(results.statement, key)
    return missing(results, key) if text is None else opening(results, text, PLACES[FIELDS[key].section].anchor)


def _outcome(results: Results) -> Iterator[tuple[str, Cell]]:
    """Say what is predicted, how rows are classified, and what they count."""
    if not results.datasets:
        yield "Outcome", results.task
    elif not results.levels:
        yield "Outcome", results.task + (f", in {results.unit}" if results.unit else ", unit not stated")
    elif results.event is None:
        yield f"Levels{' in ascending order' if results.task == 'ordinal' else ''}", ", ".join(results.levels)
    else:
        yield "Event", f"{results.event} (else {results.other})"
        yield "Decision", _decision(results)
    if results.weight is not None:
        yield "Case weights", weighting(results)
    if results.exposure is not None:
        unit = results.exposure.get("unit")
        yield "Exposure", (f"column {results.exposure['column']}{f', in {unit}' if unit else ''}; the expected count "
                           "of a row is of its whole exposure")


def _decision(results: Results) -> str:
    """Say from which score on rows are predicted as events."""
    rules = {model.threshold_rule or (
        "as the model predicts" if model.threshold is None else f"at least {numbers.given(model.threshold)}")
        for model in results.models}
    return f"{results.event}: {rules.pop()}" if len(rules) == 1 else "each model has its own rule: see Models"


def _evaluated_on(results: Results) -> str:
    """Say on how many rows, and whether any of them was in training."""
    sizes = [f"{numbers.count(dataset.n)} rows of {dataset.name}" + (
        "" if dataset.events is None else f", {numbers.count(dataset.events)} events")
        for _, dataset in evaluated(results)]
    others = [dataset.name for dataset in results.datasets if dataset.role != "evaluate"]
    checked = f"none is in {joined(others)}" if others else "not compared with training data"
    return f"{'; '.join(sizes)}; {checked}"


KIND_HEADINGS: dict[FindingKind, str] = {
    "fails": "What fails", "open": "What these data do not decide", "holds": "What holds",
    "same": "What cannot be told apart", "note": "What to know",
}
"""The headings of the kinds of findings, in their order."""


def finding_sections(results: Results) -> Iterator[Section]:
    """Write the findings, and in the appendix every warning word for word; neither without any."""
    if results.findings:
        yield Section("findings", "Findings and limitations", (
            Text(_finding_lead(results), "lead"), *_finding_blocks(results)), part="findings")
    if results.warnings:
        yield Section("warnings", "Warnings of the run", (
            Bullets(tuple((Code(warning.code), f" {warning.message}") for warning in results.warnings)),),
            part="appendix")


def _finding_lead(results: Results) -> str:
    """Say how sure the findings are."""
    error = wording.level(1 - results.intervals.level)
    return ("Findings are computed from the results. Gates and comparisons have the verdicts of their tables. All "
            "other tested findings are corrected for their number (Holm): the chance that any of them is false is at "
            f"most {error}. Each interval is of one number, at {wording.level(results.intervals.level)}.")


def _finding_blocks(results: Results) -> Iterator[Block]:
    for kind, heading in KIND_HEADINGS.items():
        items = tuple(sentence(finding) for finding in results.findings if finding.kind == kind)
        if items:
            yield Heading(heading)
            yield Bullets(items, "findings")
