"""What is stated, as a table of the results, and the slices that references need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.wording import absent_slice
from evalpipe.chapters.statement.plan import statement_plan
from evalpipe.chapters.statement.records import ReferredNumber, Stated
from evalpipe.errors import DataError, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.data.sample import Sample
    from evalpipe.engine.estimates import Evaluated
    from evalpipe.plan.plan import Plan


def tables(plan: Plan, _: Sequence[Evaluated]) -> dict[str, object]:
    """Return the stated texts word for word, with the numbers that they refer to, as field of the results."""
    stated = plan.part(statement_plan)
    numbers = [
        ReferredNumber(
            reference=number.reference, dataset=number.dataset, model=number.model, variant=number.variant,
            slice=None if number.slice is None else dict(number.slice), metric=number.entry.metric.name,
            params=dict(number.params), average=number.entry.average, class_=number.class_)
        for number in stated.numbers]
    return {"statement": Stated(**stated.values, numbers=numbers)}


def check_references(plan: Plan, samples: Sequence[Sample]) -> None:
    """Raise DataError with every reference in a text to a slice that no row is in, which the data alone tell."""
    problems = []
    for number in plan.part(statement_plan).numbers:
        sample = next(sample for sample in samples if sample.dataset == number.dataset)
        absent = None if number.slice is None else absent_slice(
            sample.dataset, number.slice, sample.slices)
        if absent is not None:
            message, hint = absent
            reference = " ".join(number.reference.split())
            problems.append(Problem("unknown-slice", f"{reference}: {message}", number.place, hint))
    if problems:
        raise DataError(*problems)
