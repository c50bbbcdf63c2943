"""The first screen of the card: what the evidence says, the key measures as dot plots, the facts asked for first.

The section of all findings, by kind with links to their evidence, follows.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.comments import Discussion
from evalpipe.card.figures.axes import ticks_between
from evalpipe.card.method import weighting_text
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
    StackedBars,
    Table,
    Text,
    Verdict,
    plain,
)
from evalpipe.card.palette import colour_index
from evalpipe.card.sign_off import rejecting_signatures, reservations, status
from evalpipe.card.statements import PLACES, missing, opening
from evalpipe.card.tables import NO_LINKS, EvidenceLinks, below, evaluated, key_measures, shown
from evalpipe.card.wording import capital, joined, names_of, nouns_of
from evalpipe.chapters import functions
from evalpipe.results.comments import VERDICT
from evalpipe.results.document import ORDER
from evalpipe.results.signatures import EVIDENCE_DIGITS
from evalpipe.words import numbers
from evalpipe.words.card_fields import FIELDS
from evalpipe.words.spelling import clipped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.base.records import Scalar
    from evalpipe.card.page import Block, Cell, Piece
    from evalpipe.results import Estimate, Results
    from evalpipe.results.comments import Comment
    from evalpipe.results.document import CheckKind, Finding, FindingKind
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
    """Return dot plots of the measures that gates judge, or else of key measures, on all rows and in slices.

    Those of gates that failed come first, on the dataset where one did; without gates, that of the first finding that
    fails. Where a group failed, its measure is drawn alone, with as many groups as there is room for.
    """
    judged = [gate for gate in results.gates if gate.metric is not None and gate.against is None]
    judged.sort(key=lambda gate: ORDER.index(gate.outcome), reverse=True)
    failed = [gate for gate in judged if gate.outcome == "fail"]
    first = None if judged else _first_failure(results)
    dataset = failed[0].dataset if failed else next(evaluated(results))[1].name if first is None else first.dataset
    metrics = list(dict.fromkeys(gate.metric for gate in judged if gate.metric)) or list(
        dict.fromkeys([*([] if first is None else [first.metric]), *key_measures(results)]))
    by_measure = [groups for groups in (_estimates_by_slice(results, dataset, metric) for metric in metrics) if groups]
    group = None if first is None or first.slice is None else first
    if group or any(gate.slice is not None and gate.metric == metrics[0] for gate in failed):
        plotted = by_measure[:1]
    elif judged or any(len(groups) > 1 for groups in by_measure):
        plotted = by_measure[:MOST_GATED]
    else:
        plotted = by_measure[: max(1, MOST_LINES // max(len(results.models), MOST_LINES // MOST_PLOTS))]
    most = MOST_LINES // max(len(plotted), 1)
    return tuple(_dot_plot(results, *_first_and_worst(results, groups, most, group, least=number == 0))
                 for number, groups in enumerate(plotted))


def _first_failure(results: Results) -> Estimate | None:
    """Return the estimate that the first failing finding names first; None of a measure without a best end.

    A measure with an ideal value in the middle of its range, such as a calibration slope, tells nothing in a plot of
    better and worse.
    """
    named = next((finding.estimates for finding in results.findings
                  if finding.kind == "fails" and finding.estimates), [])
    has_best_end = {metric.name for metric in results.metrics if metric.direction in ("maximize", "minimize")}
    return next((row for row in results.rows if row.about in {subject.about for subject in named[:1]}
                 and row.metric in has_best_end and row.value is not None and row.variant == "original"), None)


def _estimates_by_slice(results: Results, dataset: str, metric: str) -> list[list[Estimate]]:
    """Return the estimates of a measure as lists, of the models, for all rows first and then for each slice."""
    rows = [row for row in results.rows if row.dataset == dataset and row.metric == metric and row.value is not None
            and row.variant == "original" and row.class_ is None]
    groups: dict[str, list[Estimate]] = {}
    for row in rows:
        if (row.params, row.average) == (rows[0].params, rows[0].average):
            groups.setdefault("" if row.slice is None else str(row.slice), []).append(row)
    return [groups[name] for name in sorted(groups, key=bool)]


def _first_and_worst(
    results: Results, groups: Sequence[list[Estimate]], most: int, named: Estimate | None = None, *,
    least: int = 1,
) -> tuple[list[Estimate], str]:
    """Return the estimates of all rows and of the worst slices, about ``most``, and a sentence on those left out.

    There are as many slices as there is room for, and ``least`` at least.
    ``groups`` are lists of the models' estimates, for all rows first. The slice of a finding, ``named``, comes
    first among equally bad ones.
    """
    all_rows, *others = groups
    direction = next(metric.direction for metric in results.metrics if metric.name == all_rows[0].metric)
    sign = {"maximize": 1, "minimize": -1}.get(direction, 0)
    room = max((most - len(all_rows)) // len(all_rows), least)
    worst = sorted(others, key=lambda group: (min(sign * (row.value or 0.0) for row in group),
                                              named is None or group[0].slice != named.slice))[:room]
    rows = [row for group in (all_rows, *worst) for row in group]
    if len(worst) in (0, len(others)):
        return rows, ""
    which = f"{'worst' if sign else 'first'} of {len(others)} groups"
    return rows, f"The {which} is drawn." if len(worst) == 1 else f"The {len(worst)} {which} are drawn."


def _dot_plot(results: Results, rows: Sequence[Estimate], left_out: str) -> DotPlot:
    """Return the dot plot of the estimates of one measure; ``left_out`` is a sentence on groups that are not drawn."""
    names, first = names_of(results), rows[0]
    marked, note = next((ranking for ranked in functions("card", "ranked") if (
        ranking := ranked(results, rows)) is not None), ([(row, "") for row in rows], ""))
    limits = sorted({value for gate in results.gates if (gate.metric, gate.params, gate.average) == (
        first.metric, first.params, first.average) and gate.against is None for value in gate.limit.values()})
    low, high = _axis_ends(results, rows, limits)
    per_unit = 100 / (high - low)

    def across(value: float) -> float:
        """Return the place of a value across the plot, in per cent of its width."""
        return round((value - low) * per_unit, 2)

    models, places = [model.name for model in results.models], below(rows)
    grouped = any(row.slice is not None for row in rows)
    dots = []
    for row, mark in marked:
        label = f"{clipped(names.model(row.model))}{mark}"
        if grouped:
            group = "All" if row.slice is None else capital(names.label(row.slice))
            label = f"{group}, {label}" if len(models) > 1 else group
        dots.append(Dot(label, across(row.value or 0.0), None if row.lower is None else across(row.lower),
                        None if row.upper is None else across(row.upper), shown(row, places=places),
                        colour_index(models.index(row.model), len(models))))
    ticks = [(across(value), numbers.plain(round(value, 12))) for value, _ in ticks_between(low, high, TICKS)]
    required = f"Dashed line: required limit, {' and '.join(map(numbers.plain, limits))}." if limits else ""
    measure = capital(names.measure(first.metric, first.params, first.average))
    several = len(list(evaluated(results))) > 1
    return DotPlot(
        f"{measure}, {first.dataset}" if several else measure, tuple(dots), tuple(map(across, limits)),
        _non_overlapping_ticks(ticks), " ".join(filter(None, (required, note, left_out))))


def _axis_ends(results: Results, rows: Sequence[Estimate], limits: Sequence[float]) -> tuple[float, float]:
    """Return the ends of an axis that holds all intervals and limits with some room; from 0 to 1 of a proportion."""
    lowest, highest = next(metric.range for metric in results.metrics if metric.name == rows[0].metric)
    ends = [end for row in rows for end in (row.lower, row.value, row.upper) if end is not None] + list(limits)
    margin = 0.08 * (max(ends) - min(ends)) or 0.1 * abs(ends[0]) or 0.1
    low, high = min(ends) - margin, max(ends) + margin
    is_proportion = (lowest, highest) == (0, 1)
    least_width = LEAST_WIDTH * (1 if is_proportion else max(map(abs, ends)))
    missing_width = max(least_width - (high - low), 0.0) / 2
    low, high = low - missing_width, high + missing_width
    return (max(low, 0.0), min(high, 1.0)) if is_proportion else (low, high)


def _non_overlapping_ticks(ticks: Sequence[tuple[float, str]]) -> tuple[tuple[float, str], ...]:
    """Return ticks, (place, text), without any at an edge whose number would overlap that of the next tick."""
    first, last = 0, len(ticks)
    if last > 2 and ticks[0][0] < EDGE and ticks[1][0] - ticks[0][0] < len(ticks[0][1]) * LETTER:
        first = 1
    if last - first > 2 and ticks[-1][0] > 100 - EDGE and ticks[-1][0] - ticks[-2][0] < len(ticks[-1][1]) * LETTER:
        last -= 1
    return tuple(ticks[first:last])


MOST_FINDINGS = 5
"""The findings on the first screen; all stand further down."""

REQUIREMENTS = "use"
"""The section of the finding that no gate is declared, which the headline says where it is so."""

EVIDENCE = "evidence"
"""The style of the fingerprint of the results, which names the whole of it."""

SIGNS: dict[FindingKind, tuple[str, str]] = {
    "passes": ("✓", "passes"), "fails": ("✗", "fails"), "undecided": ("?", "undecided"),
    "equivalent": ("=", "equivalent"),
    "note": ("•", "remark"),
}
"""The sign of each kind of finding, and what a screen reader says for it."""


def identity(results: Results, signatures: Sequence[Signature] = ()) -> Cell:
    """Return the line that identifies the document: id, day, evidence, status."""
    stated = results.statement
    document = stated.id or f"{results.name[:3].upper()}-{results.spec_sha256[:EVIDENCE_DIGITS]}"
    day = f"as of {results.as_of}" if results.as_of else "as of: no day is stated"
    evidence = Code(results.evidence_sha256[:EVIDENCE_DIGITS], results.evidence_sha256, EVIDENCE)
    return ("Model card", Aside(document, "document"), Aside(day), Aside(("evidence ", evidence)),
            status(results, signatures))


def verdict(
    results: Results, signatures: Sequence[Signature] = (), evidence: EvidenceLinks = NO_LINKS,
    comments: Sequence[Comment] = (),
) -> Section:
    """Return the box with the verdict of the run and the findings that matter most, with links to their evidence.

    It has the colour of gates, and of standards that fall short; without either, of the findings. What a signer rejects
    is not green.
    """
    discussion = Discussion(results, signatures, comments)
    verdicts = [part for say in reversed(functions("card", "run_verdict")) for part in say(results)]  # gates first
    sign = next((sign for sign, _ in verdicts if sign == "✗"), verdicts[0][0])
    headline = "; ".join(sentence for _, sentence in verdicts)
    in_headline, chosen = split_by_headline(results)[0], first_findings(results)
    blocks: list[Block] = [*reservations(signatures), Bullets(
        tuple((*sentence(finding, evidence), *discussion.link(finding)) for finding in chosen[:MOST_FINDINGS]),
        "findings")]
    rest: list[Piece] = []
    if in_headline:
        rest += [Link("Evidence of the verdict", in_headline[0].section), ", "]
    if len(results.findings) > len(chosen[:MOST_FINDINGS]):
        rest += [Link(f"All {len(results.findings)} findings", "findings")]
    if results.checks:
        rest += [", " if rest else "", Link(f"{len(results.checks)} checks", CHECKS), f": {outcome_counts(results)}"]
    blocks += [Bullets((tuple(rest),), "findings more")] if rest else []
    blocks += lists_after_findings(results)
    blocks += discussion.on(VERDICT)
    if results.gates or results.verdict == "fail":
        style: str = results.verdict
    else:
        style = "warn" if any(finding.kind == "fails" for finding in results.findings) else "inconclusive"
    style = "rejected" if rejecting_signatures(signatures) and style != "fail" else style
    return Section("verdict", Verdict(headline, sign), tuple(blocks), f"gates {style}")


def lists_after_findings(results: Results) -> list[Bullets]:
    """Return the lists below the first findings, such as what has changed since the run before."""
    return [bullets for say in functions("card", "after_findings") for bullets in say(results)]


def texts_after_findings(results: Results) -> list[str]:
    """Return the lists below the first findings as sentences, as for a terminal."""
    return [plain(item) for bullets in lists_after_findings(results) for item in bullets.items]  # type: ignore[arg-type]  # words, no blocks


def first_findings(results: Results) -> list[Finding]:
    """Return the findings for the first screen, without what the headline and the facts state already."""
    return [finding for finding in split_by_headline(results)[1] if finding.code != "unchecked" and (
        results.gates or finding.section != REQUIREMENTS)]


def split_by_headline(results: Results) -> tuple[list[Finding], list[Finding]]:
    """Return two lists of findings: those that the headline states already, and the others."""
    stated = [finding for repeating in functions("card", "in_headline") for finding in repeating(results)]
    return stated, [finding for finding in results.findings if finding not in stated]


def sentence(finding: Finding, evidence: EvidenceLinks) -> tuple[Piece, ...]:
    """Return a finding as pieces of a line: its sign, its text, and a link to its evidence."""
    sign, word = SIGNS[finding.kind]
    whose = "" if finding.plugin is None else f"(Plugin {finding.plugin}.) "
    return (Verdict("", sign, f"finding {word}"), f"{finding.text} {whose}", evidence.link(finding))


def at_a_glance(results: Results) -> BlockGroup:
    """Return the top of the card: key measures as a figure, and the facts in short."""
    plots = dot_plots(results) if results.datasets else ()
    others = [block for glance in functions("card", "glance") for block in glance(results)]
    tables = tuple(block for block in others if isinstance(block, Table))
    figure = BlockGroup((*plots, *(block for block in others if block not in tables)), "at-a-glance")
    facts = tuple(_facts(results))
    in_short = BlockGroup((Heading("In short"), Facts(facts)), "in-short")
    lines_of_facts = sum(1 + len(plain(text)) // FACT_LETTERS for _, text in facts)
    lines_of_figure = sum(len(block.dots) + 3 if isinstance(block, DotPlot) else
                          2 * len(block.bars) + 2 if isinstance(block, StackedBars) else 0 for block in figure.blocks)
    is_longer = lines_of_figure > lines_of_facts
    under = (BlockGroup(tables, "under"),) if tables else ()
    return BlockGroup((figure, in_short, *under), "first figures-longer" if is_longer else "first")


FACT_LETTERS = 36
"""Letters of a line of the facts on paper."""


def _facts(results: Results) -> Iterator[tuple[str, Cell]]:
    """Yield (term, text) of the facts that a reader looks for first: use, outcome, rows, models, owner."""
    yield "Intended use", _stated_or_missing(results, "intended_use")
    yield "Not for", _stated_or_missing(results, "not_for")
    not_compared = [*([] if results.slices or results.worst_slices else ["groups (no slices)"]),
                    *([] if results.since else ["an earlier run (none known)"])]
    if results.datasets and not_compared:
        yield "Not compared", " and ".join(not_compared)
    if results.inputs and all(file.sha256 for file in results.inputs):  # data in memory cannot be read again
        yield "Recompute", (Code("evalpipe verify . --recompute"),)
    yield from _outcome_facts(results)
    yield from (fact for facts in functions("card", "outcome") for fact in facts(results))
    if results.datasets:
        nouns = nouns_of(results)
        dataset_sizes = [", ".join((
            f"{nouns.counted_rows(dataset.n + (dataset.without_outcome or 0))} of {dataset.name}",
            *([f"{numbers.count(dataset.n)} with an outcome"] if dataset.without_outcome else []),
            *([] if dataset.events is None else [f"{numbers.count(dataset.events)} {nouns.events}"])))
            for _, dataset in evaluated(results)]
        other_datasets = [dataset.name for dataset in results.datasets if dataset.role != "evaluate"]
        comparison = f"none is in {joined(other_datasets, 'or')}" if other_datasets else (
            "not compared with training data")
        if any(row.verdict == "shared" for row in results.shared_contents):
            comparison = "some are in rows used for fitting, under other ids"
        if any(row.leaked for row in results.leaked_items):
            comparison = f"the text of some is in {joined(other_datasets, 'or')}"
        yield "Evaluated on", f"{'; '.join(dataset_sizes)}; {comparison}"
    if results.datasets:
        yield "Models", joined([model.label for model in results.models])
    yield "Owner", _stated_or_missing(results, "owner")


USUAL_OPTIONS = {"gain": "linear", "relevant_from": 1.0}
"""The defaults of measures of ranked lists."""


def _score_facts(results: Results) -> Iterator[tuple[str, Cell]]:
    """Yield (term, text) on what a score means: its range and unit, and which is better."""
    scale = results.spec.get("score") or {}
    span = scale.get("range")
    within = "" if span is None else f", from {numbers.given(span[0])} to {numbers.given(span[1])}"
    unit = f", in {scale['unit']}" if scale.get("unit") else ""
    measure = scale.get("of")
    what = _query_score(**measure) if measure else "a number for each item"
    yield "Score", f"{what}{within}{unit}; {scale.get('better')} is better"
    if scale.get("success") is not None:
        beyond = "less" if scale["better"] == "lower" else "more"
        yield "Success", f"a score of {numbers.given(scale['success'])} or {beyond}"


def _query_score(metric: str, k: int | None = None, **options: Scalar) -> str:
    """Return what a measure of ranked lists is of one query: "NDCG of the first 10 documents of each query"."""
    title = "NDCG" if metric == "ndcg" else capital(
        metric.removeprefix("mean_").removesuffix("_at").replace("_", " "))
    first = "" if k is None else f" of the first {'document' if k == 1 else f'{numbers.count(k)} documents'}"
    unusual = {name: value for name, value in options.items() if value != USUAL_OPTIONS.get(name)}
    return wording.measure(f"{title}{first} of each query", unusual)


def _outcome_facts(results: Results) -> Iterator[tuple[str, Cell]]:
    """Yield (term, text) on the outcome: its event, levels or unit, the decision rule, weights and exposure."""
    if not results.datasets:
        yield "Outcome", results.task
    elif results.spec.get("score"):
        yield from _score_facts(results)
    elif not results.levels:
        yield "Outcome", results.task + (f", in {results.unit}" if results.unit else ", unit not stated")
    elif results.event is None:
        yield f"Levels{' in ascending order' if results.task == 'ordinal' else ''}", ", ".join(results.levels)
    else:
        yield "Event", f"{results.event} (else {results.other})"
        rules = {model.threshold_rule or (
            "as the model predicts" if model.threshold is None else f"at least {numbers.given(model.threshold)}")
            for model in results.models}
        yield "Decision", (f"{results.event}: {rules.pop()}" if len(rules) == 1
                           else "each model has its own rule: see Models")
    if results.weight is not None:
        yield "Case weights", weighting_text(results)
    if results.exposure is not None:
        unit = results.exposure.get("unit")
        yield "Exposure", (f"column {results.exposure['column']}{f', in {unit}' if unit else ''}; the expected count "
                           "of a row is of its whole exposure")


def _stated_or_missing(results: Results, key: str) -> Cell:
    """Return the beginning of the text stated under a key, or that it is missing."""
    text = getattr(results.statement, key)
    return missing(results, key) if text is None else opening(results, text, PLACES[FIELDS[key].section].anchor)


CHECKS = "checks"
"""The anchor of the section on checks."""

COUNTED: dict[CheckKind, str] = {
    "fails": "✗", "undecided": "?", "passes": "✓", "note": "with a note", "clear": "clear",
    "not-applicable": "not applicable", "silenced": "silenced",
}
"""What stands behind the number of checks of each kind, in this order."""


def outcome_counts(results: Results) -> str:
    """Return how many checks have each outcome: "2 ✗ · 3 ? · 15 ✓ · 10 clear · 16 not applicable"."""
    kinds = Counter(check.kind for check in results.checks)
    return " · ".join(f"{kinds[kind]} {word}" for kind, word in COUNTED.items() if kinds[kind])


KIND_HEADINGS: dict[FindingKind, str] = {
    "fails": "What fails", "undecided": "What these data do not decide", "passes": "What holds",
    "equivalent": "What is equivalent", "note": "What to know",
}
"""The headings of the kinds of findings, in their order."""


def finding_sections(results: Results, evidence: EvidenceLinks, discussion: Discussion) -> Iterator[Section]:
    """Yield a section of all findings, with the comments on them; nothing where there is none."""
    if results.findings:
        error = wording.level(1 - results.intervals.level)
        blocks: list[Block] = [Text(
            "Findings are computed from the results. Gates and comparisons have the verdicts of their tables. All "
            "other tested findings are corrected for their number (Holm): the chance that any of them is false is at "
            f"most {error}. Each interval is of one number, at {wording.level(results.intervals.level)}.", "lead")]
        for kind, heading in KIND_HEADINGS.items():
            lines = [(finding, sentence(finding, evidence)) for finding in results.findings if finding.kind == kind]
            blocks += [Heading(heading), *discussion.listed(lines)] if lines else []
        yield Section("findings", "Findings and limitations", tuple(blocks), part="findings")


def warning_sections(results: Results) -> Iterator[Section]:
    """Yield a section of all warnings; nothing where there is none."""
    if results.warnings:
        names = names_of(results)
        yield Section("warnings", "Warnings of the run", (
            Bullets(tuple((Code(warning.code), f" {names.warning(warning)}") for warning in results.warnings)),),
            part="appendix")
