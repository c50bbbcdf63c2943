"""What is checked of templates before anything is rendered: that they are valid, and ask for nothing they may not."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from jinja2 import TemplateSyntaxError, nodes

from evalpipe.errors import Place, Problem, UsageError
from evalpipe.templating.files import BLOCKS, CODE, PACKAGED, PAGE, STYLES, named, placed
from evalpipe.templating.sandbox import NAMES, REFUSED_FILTERS, Bounded
from evalpipe.templating.styles import hiding_problems, style_problems
from evalpipe.words.spelling import closest, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from evalpipe.templating.files import Templates

OWN = (f"{PACKAGED}{PAGE}", f"{PACKAGED}{BLOCKS}")
"""evalpipe's own templates that others may extend and include."""

TRUSTED = ("safe_svg", "safe_json")
"""What lets markup through that evalpipe has made itself."""


def check_templates(templates: Templates) -> None:
    """Raise UsageError with every fault of the templates that can be seen without results."""
    problems = named(templates, _problems(templates))
    if problems:
        raise UsageError(*problems)


def _problems(templates: Templates) -> Iterator[Problem]:
    environment, used = Bounded(templates, None), {PAGE, BLOCKS}
    for name, text in templates.pages.items():
        try:
            tree = environment.parse(text, name)
            faults = list(_Checked(templates, name).faults(tree))
            yield from faults
            if not faults:
                environment.compile(text, name)
        except TemplateSyntaxError as error:
            message = f"this is not valid in a template: {(error.message or '').rstrip('.')}"
            yield placed(templates, name, error.lineno, message, "correct it; the language is that of Jinja")
            continue
        used |= {str(reference) for node in _references(tree) for reference in _targets(node)}
    for name in templates.pages:
        if name not in used:
            guess = closest(name, [PAGE, BLOCKS])
            hint = f"did you mean '{guess}'?" if guess else f"include it from {PAGE}, or remove it"
            yield Problem(CODE, "no other template uses this one", Place(templates.shown(name)), hint)
    if STYLES in templates.texts:
        sheet = templates.texts[STYLES]
        for line, message, hint in [*style_problems(sheet)] or hiding_problems(sheet, ()):
            yield placed(templates, STYLES, line, message, hint)


def _references(tree: Any) -> Iterator[Any]:
    yield from tree.find_all((nodes.Extends, nodes.Include, nodes.Import, nodes.FromImport))


def _targets(node: Any) -> Iterator[object]:
    """Yield the names of templates that a reference is to; None for one that is no plain text."""
    parts = node.template.items if isinstance(node.template, nodes.Tuple | nodes.List) else [node.template]
    yield from (part.value if isinstance(part, nodes.Const) else None for part in parts)


class _Checked:
    """The checks of one template."""

    def __init__(self, templates: Templates, name: str) -> None:
        self.templates = templates
        self.problem = partial(placed, templates, name)

    def faults(self, tree: Any) -> Iterator[Problem]:
        """Yield what the template asks for and may not have."""
        for node in _references(tree):
            yield from self.reference(node)
        for node in tree.find_all(nodes.ScopedEvalContextModifier):
            hint = "remove it; `write(…)` writes what evalpipe makes"
            message = "escaping is always on, or names of the data would become markup"
            yield self.problem(node.lineno, message, hint)
        for node in tree.find_all(nodes.Name):
            if node.name in TRUSTED:
                message = f"{quoted(node.name)} is for evalpipe's own templates alone"
                yield self.problem(node.lineno, message, "let `write(…)` write the block")
        for node in tree.find_all(nodes.Filter):
            if node.name in REFUSED_FILTERS:
                message = f"the filter {quoted(node.name)} is refused: {REFUSED_FILTERS[node.name]}"
                yield self.problem(node.lineno, message, "remove it")
        for node in tree.find_all((nodes.Getattr, nodes.Getitem, nodes.Filter)):
            attribute = _attribute(node)
            if attribute is not None and attribute.startswith("_"):
                message = f"attributes that begin with '_' are refused, as {quoted(attribute)} is"
                yield self.problem(node.lineno, message, f"remove it: {NAMES}")

    def reference(self, node: Any) -> Iterator[Problem]:
        """Check that a template takes in others of its folder, or evalpipe's own, and nothing else."""
        known = [*self.templates.pages, *OWN]
        for target in _targets(node):
            if target is None:
                message = "the name of a template must be a text in quotes"
                yield self.problem(node.lineno, message, "write the name itself")
            elif target not in known:
                guess = closest(str(target), known)
                hint = f"did you mean '{guess}'?" if guess else f"the templates here are {listed(known, 'and')}"
                yield self.problem(node.lineno, f"{quoted(str(target))} is no template of this folder", hint)


def _attribute(node: Any) -> str | None:
    """Return the attribute that an expression asks for by its name; None where it asks for none."""
    if isinstance(node, nodes.Getattr):
        return str(node.attr)
    part = node.arg if isinstance(node, nodes.Getitem) else node.args[0] if node.name == "attr" and node.args else None
    return part.value if isinstance(part, nodes.Const) and isinstance(part.value, str) else None
