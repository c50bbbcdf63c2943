"""Compiled templates: evalpipe's own are kept for the cards that follow, those of others are not."""

from __future__ import annotations

from evalpipe.card.assets import templates_folder
from evalpipe.templating.files import BLOCKS, PACKAGED, PAGE, Templates
from evalpipe.templating.sandbox import PACKAGED_TEMPLATES, Bounded

EXTENDING = '{% extends "evalpipe/card.html" %}'


def test_own_templates_are_kept_by_their_source_and_those_of_others_are_not() -> None:
    PACKAGED_TEMPLATES.codes.clear()
    environment = Bounded(Templates("look", {PAGE: EXTENDING}), templates_folder())
    environment.get_template(PAGE)
    assert PACKAGED_TEMPLATES.codes == {}

    environment.get_template(f"{PACKAGED}{BLOCKS}")
    (kept,) = PACKAGED_TEMPLATES.codes.values()
    Bounded(Templates("look", {PAGE: EXTENDING}), templates_folder()).get_template(f"{PACKAGED}{BLOCKS}")
    assert list(PACKAGED_TEMPLATES.codes.values()) == [kept]


def test_a_template_of_others_with_the_name_of_an_own_one_is_not_taken_for_it() -> None:
    name, ours = f"{PACKAGED}{BLOCKS}", Templates("look", {PAGE: EXTENDING})
    macros = set(vars(Bounded(ours, templates_folder()).get_template(name).module))
    assert macros
    assert Bounded(Templates("look", {name: "{{ 6 * 7 }}"}), templates_folder()).get_template(name).render() == "42"
    assert set(vars(Bounded(ours, templates_folder()).get_template(name).module)) == macros
