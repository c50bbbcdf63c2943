"""The words of gates `on: sequence`: the evidence of the nights behind each verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.method import Procedure
from evalpipe.card.page import Aside, Column, Number, Row, Table
from evalpipe.card.wording import capital
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.wording import Names
    from evalpipe.chapters.gates.records import GateSequence
    from evalpipe.results import Gate


BETTING = ("Waudby-Smith, I. & Ramdas, A. (2024). Estimating means of bounded random variables by betting. Journal of "
           "the Royal Statistical Society Series B 86(1), 1–27.")


def nights(sequence: GateSequence) -> str:
    """Count the nights that a verdict rests on: "12 nights since 2026-11-10"."""
    counted = "1 night" if sequence.nights == 1 else f"{numbers.count(sequence.nights)} nights"
    return counted if sequence.since is None else f"{counted} since {sequence.since}"


def evidence(names: Names, gates: Sequence[Gate]) -> Iterator[Table]:
    """Write the evidence of the nights of each verdict that rests on them."""
    rows = tuple(
        Row(((gate.name or capital(names.subject(gate)), Aside(names.scope(gate), "definition")),
             _amount(gate.sequence.evidence), _amount(gate.sequence.kept), _amount(gate.sequence.threshold),
             nights(gate.sequence), gate.sequence.basis))
        for gate in gates if gate.sequence is not None)
    if rows:
        columns = (
            Column("Gate", style="what"), Column("Evidence that the limit is missed", "num"),
            Column("Evidence that the limit is kept", "num"), Column("Evidence needed", "num"), Column("Nights"),
            Column("Evidence is"),
        )
        yield Table("Evidence of all nights", columns, rows, stacked=True)


def _amount(value: float) -> Number:
    return Number(numbers.evidence(value), exact=numbers.exact(value))


def sequence_procedures(gates: Sequence[Gate]) -> Iterator[Procedure]:
    """Yield how the evidence of nights was made."""
    known = [gate.sequence for gate in gates if gate.sequence is not None]
    if not known:
        return
    first = known[0]
    yield Procedure("Gates judged by all nights", (
        "Each night bets against the limit. What a stake of 1 has become is the evidence: an e-value, whose mean is at "
        "most 1 while the limit is kept. The sizes of the bets and the night on which a fall begins are mixed. The "
        f"evidence reaches {numbers.evidence(first.threshold)} with a probability of {numbers.plain(first.level)} at "
        f"most over all {numbers.count(first.alarms)} limits together, however many independent nights there are "
        "(Ville 1939). A gate fails when the evidence that its limit is missed reaches it. It passes when that of the "
        "same bets the other way round does and recent nights say little against it."), BETTING)
    if any(sequence.basis == "asymptotic" for sequence in known):
        yield Procedure("Asymptotic evidence", (
            "Where rows are weighted, clustered or cross-fitted, or a measure is no mean of rows within bounds, the "
            "bets are on the value. Its distance from the limit in standard errors counts as if it were normal, less "
            "an allowance for what that leaves out. The standard error is that of half the interval, and nights of few "
            "rows count together."))
    if any(sequence.between_nights for sequence in known):
        yield Procedure("Nights that differ", (
            "The standard error of a night is that of its rows times how far the nights before differed, beside what "
            "their rows explain: from the differences of successive nights (von Neumann 1941)."))
