"""The templates that a card is rendered with where they are not evalpipe's own."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, nodes

from evalpipe.base.digests import text_sha256
from evalpipe.card.assets import templates_folder, text
from evalpipe.errors import DataError, UsageError
from evalpipe.templating.files import BLOCKS, STYLES, Templates, folder_of, problem_at, read_templates
from evalpipe.templating.sandbox import check_templates
from evalpipe.templating.styles import hiding_problems, selector_names
from evalpipe.words.spelling import closest, listed, quoted

if TYPE_CHECKING:
    import os

    from evalpipe.results import Results

NAMES = re.compile(r'\b(?:class|id)="([^"]*)"')

PLAIN = Templates("", {})
"""No templates of others: evalpipe's own alone."""


def templates_in_results(results: Results) -> Templates:
    """Return the custom templates in results, with the same checks as those of a folder.

    Raises DataError where a text does not have the sha256 that the results name, UsageError where one is refused.
    """
    for template in results.appearance.templates:
        if text_sha256(template.text) != template.sha256:
            message = f"the template {quoted(template.name)} in results.json is not the one whose sha256 it holds"
            hint = "run the evaluation again, or render the card with --no-template"
            raise DataError.of("not-results", message, hint)
    texts = {template.name: template.text for template in results.appearance.templates}
    folder_name = results.spec.get("report", {}).get("template") or "results.json"
    return _checked(Templates(folder_of(str(folder_name), next(iter(texts))), texts)) if texts else PLAIN


def templates_in_folder(folder: str | os.PathLike[str]) -> Templates:
    """Read the custom templates of a folder, or one file; raises UsageError where there is none, or one is refused."""
    return _checked(read_templates(Path(folder), str(folder)))


def _checked(templates: Templates) -> Templates:
    """Return templates that are valid and fit evalpipe's own; raises UsageError with what is wrong."""
    check_templates(templates)
    check_fit(templates)
    return templates


@cache
def card_names() -> frozenset[str]:
    """Return the classes and ids that evalpipe's own templates name and its style sheets style."""
    pages = [file.read_text(encoding="utf-8") for file in templates_folder().glob("*.html")]
    in_sheets = [selector_names(file.read_text(encoding="utf-8")) for file in templates_folder().glob("*.css")]
    in_pages = [name for page in pages for names in NAMES.findall(page) for name in names.split()]
    return frozenset(in_pages).union(*in_sheets)


def check_fit(templates: Templates) -> None:
    """Raise UsageError where custom templates do not fit evalpipe's own.

    That is where rules of a theme could hide elements of evalpipe, or a macro of ``blocks.html`` is named like a kind
    of block that does not exist.
    """
    faults = hiding_problems(templates.texts.get(STYLES, ""), card_names())
    problems = [problem_at(templates, STYLES, *fault) for fault in faults]
    macro_names = [macro.name for macro in _macros(text(BLOCKS))]
    for macro in _macros(templates.texts.get(BLOCKS, "")):
        if macro.name[0].isupper() and macro.name not in macro_names:
            guess = closest(macro.name, macro_names)
            kinds = [name for name in macro_names if name[0].isupper()]
            hint = f"did you mean '{guess}'?" if guess else f"the kinds are {listed(kinds, 'and')}"
            message = f"no kind of block is called {quoted(macro.name)}"
            problems.append(problem_at(templates, BLOCKS, macro.lineno, message, hint))
    if problems:
        raise UsageError(*problems)


def _macros(source: str) -> list[nodes.Macro]:
    return [node for node in Environment(autoescape=True).parse(source).body if isinstance(node, nodes.Macro)]
