"""The profiles are whole: every need names a field or an evidence, every item is one line, no word claims too much."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from evalpipe.card.statements import PLACES
from evalpipe.chapters.standards.evidence import EVIDENCE
from evalpipe.chapters.standards.spec import FOLDER, Profile, ProfileName, profiles
from evalpipe.words.card_fields import FIELDS, LISTED

CLAIMS = re.compile("compliant|compliance|certif", re.IGNORECASE)
ITEMS = {
    "model_cards_2019": 9, "eu_ai_act_annex_iv": 23, "nist_ai_rmf": 39, "sr_26_2": 16, "tripod_ai": 52,
    "stard_2015": 34, "iso_42001": 36, "hugging_face": 25,
}


def test_every_file_is_a_profile_that_the_spec_knows() -> None:
    assert {file.stem for file in FOLDER.iterdir()} == set(get_args(ProfileName)) == set(ITEMS)
    assert [profile.name for profile in profiles()] == list(get_args(ProfileName))


@pytest.mark.parametrize("profile", profiles(), ids=lambda profile: profile.name)
def test_a_profile_has_all_its_items_each_with_its_needs(profile: Profile) -> None:
    ids = [item.id for item in profile.items]

    assert len(ids) == len(set(ids)) == ITEMS[profile.name]
    assert all(profile.title and profile.edition and profile.prefix for _ in "x")
    for item in profile.items:
        assert item.needs
        assert 0 < len(item.asks) <= 130
        assert "\n" not in item.asks
        assert item.asks[0].isupper()
        assert not item.asks.endswith(".")


@pytest.mark.parametrize("profile", profiles(), ids=lambda profile: profile.name)
def test_every_need_names_a_field_or_an_evidence(profile: Profile) -> None:
    known = {*(f"card.{key}" for key in FIELDS | LISTED), *(f"evidence.{key}" for key in EVIDENCE)}

    assert {name for item in profile.items for need in item.needs for name in need} <= known


def test_every_evidence_is_asked_for_by_some_standard() -> None:
    named = {name for profile in profiles() for item in profile.items for need in item.needs for name in need}

    assert {f"evidence.{name}" for name in EVIDENCE} <= named
    assert set(FIELDS) - {name.removeprefix("card.") for name in named} == {"classification"}


def test_no_two_standards_share_the_letters_before_their_items() -> None:
    labels = [f"{profile.prefix}{item.id}" for profile in profiles() for item in profile.items]

    assert len(labels) == len(set(labels))


def test_the_mapping_that_rests_on_secondary_sources_says_so() -> None:
    (remark,) = (profile.remark for profile in profiles() if profile.name == "sr_26_2")

    assert "secondary sources" in remark


def test_annex_iv_has_the_points_of_the_regulation() -> None:
    (profile,) = (profile for profile in profiles() if profile.name == "eu_ai_act_annex_iv")

    assert [item.id for item in profile.items] == [
        *(f"1{letter}" for letter in "abcdefgh"), *(f"2{letter}" for letter in "abcdefgh"),
        *(str(number) for number in range(3, 10))]


def test_every_field_has_a_section() -> None:
    assert {field.section for field in FIELDS.values()} == set(PLACES)


def test_nothing_that_is_written_claims_conformity(root: Path) -> None:
    files = [*FOLDER.glob("*.yaml"), *(root / "templates").glob("*.*ml"), root / "docs" / "standards.md",
             *(root / "evalpipe" / "card").rglob("*.py"), *(root / "evalpipe" / "chapters").rglob("*.py"),
             *(root / "evalpipe" / "findings").glob("*.py"), root / "evalpipe" / "words" / "card_fields.py"]

    assert len(files) > 60
    assert [str(file) for file in files if CLAIMS.search(file.read_text(encoding="utf-8"))] == []
