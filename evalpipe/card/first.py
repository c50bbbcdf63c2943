"""The first screen of the card: what the evidence says, the key measures, and the facts a reader asks for first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.dots import dot_plots
from evalpipe.card.method import weighting
from evalpipe.card.page import Aside, BlockGroup, Bullets, Code, Facts, Heading, Link, Section, Strong, Verdict
from evalpipe.card.prose import opening
from evalpipe.card.sign_off import signed, status
from evalpipe.card.stated import PLACES, missing
from evalpipe.card.tables import evaluated
from evalpipe.card.wording import MISSING, joined
from evalpipe.chapters import functions
from evalpipe.results.signatures import EVIDENCE_DIGITS
from evalpipe.words import numbers
from evalpipe.words.fields import FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.page import Block, Cell
    from evalpipe.results import Results
    from evalpipe.results.findings import Finding, FindingKind
    from evalpipe.results.signatures import Signature

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
