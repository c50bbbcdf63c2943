"""What the results answer of the items of standards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.chapters.standards.evidence import answering_anchor
from evalpipe.chapters.standards.plan import standards_plan
from evalpipe.chapters.standards.records import StandardCompleteness, StandardItem

if TYPE_CHECKING:
    from evalpipe.chapters.standards.plan import StandardPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.results import Results


def with_standards(plan: Plan, results: Results) -> Results:
    """Return the results with the completeness of each standard added; unchanged where the spec names none."""
    standards = [completeness(standard, results) for standard in plan.part(standards_plan)]
    return results.model_copy(update={"standards": standards}) if standards else results


def completeness(standard: StandardPlan, results: Results) -> StandardCompleteness:
    """Return how much of a standard results answer: its items, the share of applicable ones, the verdict."""
    items = [_item_record(standard, index, results) for index in range(len(standard.profile.items))]
    counts = {status: sum(item.status == status for item in items)
              for status in ("present", "missing", "not_applicable")}
    share = counts["present"] / (counts["present"] + counts["missing"])
    verdict = None if standard.rule.require is None else "pass" if share >= standard.rule.require else "fail"
    return StandardCompleteness(
        profile=standard.profile.name, title=standard.profile.title, edition=standard.profile.edition,
        remark=standard.profile.remark, completeness=share, **counts, require=standard.rule.require, verdict=verdict,
        items=items)


def _item_record(standard: StandardPlan, index: int, results: Results) -> StandardItem:
    """Return the record of a standard's item, by its index: present, missing or not applicable, and where."""
    item = standard.profile.items[index]
    reason = standard.rule.not_applicable.get(item.id)
    answers = {" | ".join(names): next(filter(None, (answering_anchor(results, name) for name in names)), None)
               for names in item.needs}
    missing = [need for need, anchor in answers.items() if anchor is None]
    status = "not_applicable" if reason is not None else "missing" if missing else "present"
    return StandardItem(
        id=item.id, label=f"{standard.profile.prefix}{item.id}", asks=item.asks, status=status, needs=list(answers),
        where=list(dict.fromkeys(filter(None, answers.values()))) if reason is None else [],
        missing=missing if reason is None else [], reason=reason)
