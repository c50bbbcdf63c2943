"""What people state stands on the card, field by field, and what is missing is said."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evalpipe.card.contents import card_of
from evalpipe.card.page import BlockGroup, Facts, plain
from evalpipe.card.statements import PLACES
from evalpipe.words.card_fields import FIELDS, LISTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalpipe.card.page import Block
    from evalpipe.results import Results

ALWAYS = ["intended_use", "not_for", "source", "monitoring"]


def facts(blocks: Iterable[Block]) -> Iterator[tuple[str, str]]:
    for block in blocks:
        if isinstance(block, BlockGroup):
            yield from facts(block.blocks)
        elif isinstance(block, Facts):
            yield from ((term, plain(text)) for term, text in block.entries)


def stating(results: Results, **fields: object) -> Results:
    return results.model_copy(update={"statement": type(results.statement)(**fields)})


def section(results: Results, anchor: str) -> list[tuple[str, str]]:
    """Return the facts of a section of the card; none where it is not there."""
    return [fact for part in card_of(results).sections if part.anchor == anchor for fact in facts(part.blocks)]


@pytest.fixture(scope="module")
def unstated(results: Results) -> dict[str, dict[str, str]]:
    """Return the facts of each section of a card that states nothing."""
    return {part.anchor: dict(facts(part.blocks)) for part in card_of(stating(results)).sections}


@pytest.mark.parametrize("key", FIELDS)
def test_each_field_stands_under_its_title_in_its_section(results: Results, key: str) -> None:
    field = FIELDS[key]
    shown = section(stating(results, **{key: f"What is said of {key}."}), PLACES[field.section].anchor)

    assert (field.title, f"What is said of {key}.") in shown


@pytest.mark.parametrize("key", FIELDS)
def test_a_field_that_is_not_stated_is_shown_as_missing_where_it_always_is_and_else_not(
    unstated: dict[str, dict[str, str]], key: str
) -> None:
    field = FIELDS[key]
    shown = unstated.get(PLACES[field.section].anchor, {})

    assert shown.get(field.title) == ("MISSING" if key in ALWAYS else None)


def test_a_card_that_states_nothing_has_no_empty_section(results: Results) -> None:
    stated = {place.anchor for place in PLACES.values()}
    anchors = [part.anchor for part in card_of(stating(results)).sections if part.anchor in stated]

    assert anchors == ["use", "data", "monitoring"]


def test_limits_that_are_not_stated_are_missing(results: Results) -> None:
    assert ("Limits", "MISSING") in section(stating(results), "use")


def test_the_sections_stand_in_the_order_of_their_parts(results: Results) -> None:
    everything = dict.fromkeys(FIELDS, "stated")
    anchors = [part.anchor for part in card_of(stating(results, **everything)).sections]
    own = [place.anchor for place in PLACES.values()]

    assert [anchor for anchor in anchors if anchor in own] == own


def test_no_two_fields_have_one_title() -> None:
    titles = [field.title for field in (FIELDS | LISTED).values()]

    assert sorted(set(titles)) == sorted(titles)


def test_names_that_are_stated_stand_where_people_sign(results: Results) -> None:
    signed = stating(results, developer="Ada", validator="Grace", owner="Bank")
    table = next(part for part in card_of(signed).sections if part.anchor == "sign-off").blocks[0]

    assert [(row.cells[0], plain(row.cells[1])) for row in table.rows] == [
        ("Developer", "Ada"), ("Validator", "Grace"), ("Owner", "Bank"), ("Approver", "")]
