"""The parts of the card and its sections in their order, and the card that they make."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, get_args

from evalpipe.card import (
    data,
    dataset_results,
    definitions,
    findings,
    further,
    method,
    models,
    provenance,
    reference_list,
    sign_off,
)
from evalpipe.card.first import identity
from evalpipe.card.masthead import masthead, short_spec, subject
from evalpipe.card.page import Code, Part, Section
from evalpipe.card.plugged import sections_of_plugins
from evalpipe.chapters import functions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.card.page import Block, Cell
    from evalpipe.results import Results
    from evalpipe.results.signatures import Signature
    from evalpipe.templating.files import Templates

TITLES: dict[Part, str] = {
    "use": "Use and limits", "results": "Results", "groups": "Groups", "calibration": "Calibration",
    "comparison": "Comparison", "decisions": "Decisions", "data": "Data", "model": "Model",
    "risks": "Risks and oversight", "monitoring": "Monitoring", "findings": "Findings and limitations",
    "changes": "Change log", "sign_off": "Sign-off", "appendix": "Appendix",
}
"""What the parts are called in the contents."""


@dataclass(frozen=True, slots=True)
class Card:
    """A card: what stands above the contents, and the sections in their order."""

    title: str
    description: str
    generator: str
    identity: Cell
    masthead: tuple[Block | Section, ...]
    sections: tuple[Section, ...]
    foot: Cell

    @property
    def parts(self) -> tuple[tuple[str, tuple[Section, ...]], ...]:
        """The parts that have sections, with their titles."""
        return tuple((TITLES[part], tuple(together))
                     for part, together in groupby(self.sections, key=lambda section: section.part))


def card_of(results: Results, signatures: Sequence[Signature] = (), templates: Templates | None = None) -> Card:
    """Write the card: what stands above the contents, and every section that there is something for.

    It says which ``templates`` of others its page and PDF are made with.
    """
    version = f"evalpipe {results.evalpipe_version}"
    return Card(
        title=results.title, generator=version,
        description=f"{_described(results)}; {subject(results)}",
        identity=identity(results, signatures),
        masthead=tuple(masthead(results, signatures)),
        sections=tuple(_sections(results, signatures, templates)),
        foot=(f"{results.name}, spec ", short_spec(results), f", {version}. Every number on this card is in ",
              Code("results.json"), "."),
    )


def _described(results: Results) -> str:
    """Say what the card is of: models, or candidates where there are no predictions."""
    models = ", ".join(model.label for model in results.models)
    return f"Evaluation of {models}" if models else f"Ranking of {len(results.candidates.ranking):,} candidates"


def _sections(
    results: Results, signatures: Sequence[Signature], templates: Templates | None
) -> list[Section]:
    """Return the sections of the card by part; those of a part in the order in which they are written here."""
    before = (dataset_results,)
    after = (data, models, findings, further, method, definitions, reference_list)
    written = [section for sections in (
        *(room.sections for room in before), *functions("card", "sections"), *(room.sections for room in after))
        for section in sections(results)]
    written += [*provenance.sections(results, templates), sign_off.section(results, signatures)]
    written += sections_of_plugins(results, [section.anchor for section in written])
    order = get_args(Part)
    return sorted(written, key=lambda section: order.index(section.part))
