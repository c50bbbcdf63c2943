"""Where templates of others run: without code, without files, with markup escaped, and with an end.

Jinja's sandbox keeps private attributes away. A card holds functions too, which draw its figures, and these hold the
results, whose methods can read files; so what may be looked into, and called, is listed here. Before anything is
rendered, templates are checked: that they are valid, and ask for nothing they may not.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import is_dataclass
from functools import partial, wraps
from types import BuiltinMethodType, MethodType
from typing import TYPE_CHECKING, Any

from jinja2 import (
    BytecodeCache,
    FunctionLoader,
    StrictUndefined,
    TemplateNotFound,
    TemplateSyntaxError,
    Undefined,
    UndefinedError,
    nodes,
)
from jinja2.environment import TemplateModule
from jinja2.exceptions import SecurityError
from jinja2.filters import _GroupTuple
from jinja2.runtime import BlockReference, LoopContext, Macro, TemplateReference
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Cycler, Joiner, Namespace
from jinja2.visitor import NodeTransformer
from markupsafe import Markup

from evalpipe.errors import EvalpipeError, Place, Problem, UsageError
from evalpipe.templating.files import BLOCKS, CODE, PACKAGED, PAGE, STYLES, in_file_order, problem_at
from evalpipe.templating.styles import hiding_problems, style_problems
from evalpipe.words.spelling import closest, legible, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path
    from types import TracebackType

    from jinja2 import Environment
    from jinja2.bccache import Bucket
    from jinja2.runtime import Context

    from evalpipe.templating.files import Templates


HELPERS = (BlockReference, Cycler, Joiner, LoopContext, Macro, Namespace, TemplateModule, TemplateReference,
           _GroupTuple)
PLAIN = (Markup, bool, dict, float, int, list, str, tuple, type(None))

CARD = "evalpipe.card."
"""The room whose frozen values a template may look into."""


def may_look_into(value: Any) -> bool:
    """Tell whether a template may see the attributes of a value."""
    kind = type(value)
    if kind in PLAIN or isinstance(value, HELPERS):
        return True
    # Frozen values alone: what can change, such as an edition, is no part of a card.
    return is_dataclass(kind) and kind.__module__.startswith(CARD) and vars(kind)["__dataclass_params__"].frozen


def may_call(function: Any, known: Iterable[object]) -> bool:
    """Tell whether a template may call a function: one of those ``known``, a macro, a method of what it may see.

    What is undefined says so itself when it is called.
    """
    if isinstance(function, (*HELPERS, Undefined)) or any(function is other for other in known):
        return True
    method = getattr(function, "__wrapped__", function)  # Jinja wraps `str.format`
    return isinstance(method, MethodType | BuiltinMethodType) and may_look_into(method.__self__)


if TYPE_CHECKING:
    Source = tuple[str, str, None]

MOST_STEPS = 1_000_000
"""How often templates of others may go round loops and call macros, all together."""

MOST_CHARACTERS = 1_000_000
"""The characters, or entries, of a value that a template may repeat into being."""

MOST_EXPONENT = 1_000
"""The largest number that a template may raise to a power, or to which."""

MOST_OF_PAGE = 100_000_000
"""The characters of a page."""

SHORTER = "let it go round what the page has"
NAMES = "a template has the names that docs/theming.md lists"


REFUSED_FILTERS = {
    "safe": "names of the data would become markup", "random": "the same results give the same bytes",
    "format": "it may make a text of any length",
}
"""The filters of Jinja that templates of others do not have, and why."""


class NotPrintableError(Exception):
    """A template prints what is neither a text nor a number."""


class TooMuchError(Exception):
    """A template goes on for too long, or makes too much."""


WORDS = (
    (NotPrintableError, "{}", "let `write(…)` write it"),
    (SecurityError, "the template asks for what it may not have: {}", NAMES),
    (TemplateNotFound, "'{}' is no template of this folder", "name a file of the folder"),
    (UndefinedError, "the template asks for what is not there: {}", NAMES),
    (TooMuchError, "{}", SHORTER),
    ((RecursionError, MemoryError, OverflowError), "the template does not end: {}", SHORTER),
)
"""What is said of the errors that a template may raise, and the way out."""


class Compiled(BytecodeCache):
    """Compiled templates in memory, by their names and sources, for the cards and formats that follow."""

    def __init__(self, *, packaged_only: bool = False) -> None:
        """Keep all templates, or with ``packaged_only`` those of evalpipe alone: others are told by their names."""
        self.packaged_only = packaged_only
        self.codes: dict[str, bytes] = {}

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """Return what a template is kept by, empty where it is not kept."""
        return super().get_cache_key(name, filename) if name.startswith(PACKAGED) or not self.packaged_only else ""

    def load_bytecode(self, bucket: Bucket) -> None:
        """Take the compiled template, if it is there and of the same source."""
        if bucket.key in self.codes:
            bucket.bytecode_from_string(self.codes[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a compiled template."""
        if bucket.key:
            self.codes[bucket.key] = bucket.bytecode_to_string()


PACKAGED_TEMPLATES = Compiled(packaged_only=True)
"""Evalpipe's own templates as `Bounded` runs them, which is not as they run by themselves."""


class Bounded(ImmutableSandboxedEnvironment):
    """Where templates of others run; counts what they do, so that they end."""

    intercepted_binops = frozenset({"*", "**", "%", "+"})

    def __init__(self, templates: Templates, packaged: Path | None) -> None:
        """Take these templates, and evalpipe's own in the folder ``packaged``."""
        super().__init__(
            loader=FunctionLoader(_template_finder(templates, packaged)), autoescape=True, finalize=_as_printable,
            undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
            bytecode_cache=PACKAGED_TEMPLATES)
        self.others = frozenset(templates.pages)
        self.steps = 0
        self.filters = {name: _without_large_numbers(filtered) for name, filtered in self.filters.items()
                        if name not in REFUSED_FILTERS} | {"counted": self.counted, "short": _not_too_long}
        self.globals.pop("lipsum")  # by chance, and the same results give the same bytes

    def counted(self, items: Iterable[Any]) -> Iterator[Any]:
        """Yield the items of a loop, as long as there are not too many in all."""
        for item in items:
            self.step()
            yield item

    def step(self) -> None:
        """Count a step; raises TooMuchError for one too many."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TooMuchError(f"the template goes round loops, and calls macros, more than {MOST_STEPS:,} times")

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree = super()._parse(source, name, filename)
        return _CountingTransformer().visit(tree) if name in self.others else tree

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Tell whether a template may see an attribute."""
        return may_look_into(obj) and super().is_safe_attribute(obj, attr, value)

    def is_safe_callable(self, obj: Any) -> bool:
        """Tell whether a template may call a function."""
        return may_call(obj, self.globals.values()) and super().is_safe_callable(obj)

    def call(self, context: Context, function: Any, /, *arguments: Any, **options: Any) -> Any:
        """Call a function for a template, and count it."""
        if context.name in self.others:
            self.step()
            if isinstance(getattr(function, "__self__", None), str):
                _check_sizes(arguments)
        return super().call(context, function, *arguments, **options)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Compute an operation for a template, but make no text or number without end."""
        sizes = [len(side) for side in (left, right) if isinstance(side, str | list | tuple)]
        numbers = [side for side in (left, right) if isinstance(side, int)]
        if operator == "+":
            return _not_too_long(super().call_binop(context, operator, left, right))
        if operator != "*" and (sizes or any(abs(number) > MOST_EXPONENT for number in numbers)):
            raise TooMuchError(f"{operator!r} is refused with texts and large numbers")
        if sizes and numbers and sizes[0] * numbers[0] > MOST_CHARACTERS:
            raise TooMuchError(f"a template repeats nothing into more than {MOST_CHARACTERS:,} characters")
        return super().call_binop(context, operator, left, right)


class _CountingTransformer(NodeTransformer):
    """Counts what goes round in a template, and measures what is joined to one text."""

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802 - Jinja calls it by the name of the node
        """Count the rounds of a loop."""
        self.generic_visit(node)
        node.iter = nodes.Filter(node.iter, "counted", [], [], None, None, lineno=node.lineno)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        """Measure what is joined."""
        self.generic_visit(node)
        return nodes.Filter(node, "short", [], [], None, None, lineno=node.lineno)


def _without_large_numbers(filtered: Callable[..., Any]) -> Callable[..., Any]:
    """Return a filter that takes no large numbers, such as those of spaces to add."""
    @wraps(filtered)
    def inner(*arguments: Any, **options: Any) -> Any:
        _check_sizes((*arguments, *options.values()))
        return filtered(*arguments, **options)

    return inner


def _check_sizes(arguments: Iterable[Any]) -> None:
    if any(isinstance(value, int) and abs(value) > MOST_CHARACTERS for value in arguments):
        raise TooMuchError(f"a template makes nothing of more than {MOST_CHARACTERS:,} characters")


def _not_too_long(value: Any) -> Any:
    """Let through what is not too long to be made longer."""
    if isinstance(value, str | list | tuple) and len(value) > MOST_CHARACTERS:
        raise TooMuchError(f"a template joins nothing to more than {MOST_CHARACTERS:,} characters")
    return value


def _as_printable(value: Any) -> Any:
    """Let texts, as they read, and numbers be printed, and nothing that would show an address in memory."""
    if isinstance(value, str) and len(value) > MOST_OF_PAGE:
        raise TooMuchError(f"a template prints nothing of more than {MOST_OF_PAGE:,} characters")
    if type(value) is str:
        return legible(value)
    if isinstance(value, str | int | float | Undefined) or value is None:
        return value
    raise NotPrintableError(f"a template prints texts and numbers, and this is a {type(value).__name__}")


def _template_finder(templates: Templates, packaged: Path | None) -> Callable[[str], Source]:
    """Return what finds a template by its name: among those of others, or evalpipe's own."""
    packaged_files = {} if packaged is None else {f"{PACKAGED}{file.name}": file for file in packaged.glob("*.html")}

    def load(name: str) -> Source:
        if name in templates.pages:
            return templates.pages[name], templates.shown(name), None
        if name not in packaged_files:
            raise TemplateNotFound(name)
        return packaged_files[name].read_text(encoding="utf-8"), str(packaged_files[name]), None

    return load


def rendered(templates: Templates, environment: Environment, values: Mapping[str, Any]) -> str:
    """Render the page; raises UsageError with the template, and its line, that goes wrong or does not end."""
    parts, size = [], 0
    with errors_at_places(templates):
        name = PAGE if PAGE in templates.texts else f"{PACKAGED}{PAGE}"
        for part in environment.get_template(name).generate(values):
            parts.append(part)
            size += len(part)
            if size > MOST_OF_PAGE:
                raise UsageError.of(CODE, f"the page would have more than {MOST_OF_PAGE:,} characters",
                                    hint=SHORTER)
    return "".join(parts)


@contextmanager
def errors_at_places(templates: Templates) -> Iterator[None]:
    """Let what goes wrong within templates of others be a UsageError with their place."""
    try:
        yield
    except EvalpipeError:
        raise
    except Exception as error:
        problem = _problem_of_error(templates, error)
        if problem is None:
            raise
        raise UsageError(problem) from None


def _problem_of_error(templates: Templates, error: Exception) -> Problem | None:
    """Return the problem of an error that was raised in one of the templates; None for one raised elsewhere."""
    where = _line_of_error(templates, error.__traceback__)
    if where is None:
        return None
    reason = re.sub(r"evalpipe\.[\w.]+\.(?=\w+ object)", "", str(error).partition("\n")[0].rstrip("."))
    for kinds, message, hint in WORDS:
        if isinstance(error, kinds):
            return problem_at(templates, *where, message.format(reason or type(error).__name__), hint)
    return problem_at(templates, *where, f"the template fails: {type(error).__name__}: {reason}", "correct this line")


def _line_of_error(templates: Templates, traceback: TracebackType | None) -> tuple[str, int] | None:
    """Return the template of others, and its line, in which an error was raised last."""
    files = {templates.shown(name): name for name in templates.texts if name != STYLES}
    last = None
    while traceback is not None:
        name = files.get(traceback.tb_frame.f_code.co_filename)
        last = (name, traceback.tb_lineno) if name is not None else last
        traceback = traceback.tb_next
    return last


OWN_TEMPLATES = (f"{PACKAGED}{PAGE}", f"{PACKAGED}{BLOCKS}")
"""evalpipe's own templates that others may extend and include."""

TRUSTED = ("safe_svg", "safe_json")
"""What lets markup through that evalpipe has made itself."""


def check_templates(templates: Templates) -> None:
    """Raise UsageError with every fault of the templates that can be seen without results."""
    problems = in_file_order(templates, _template_problems(templates))
    if problems:
        raise UsageError(*problems)


def _template_problems(templates: Templates) -> Iterator[Problem]:
    environment, used = Bounded(templates, None), {PAGE, BLOCKS}
    for name, text in templates.pages.items():
        try:
            tree = environment.parse(text, name)
            faults = list(_TemplateChecks(templates, name).faults(tree))
            yield from faults
            if not faults:
                environment.compile(text, name)
        except TemplateSyntaxError as error:
            message = f"this is not valid in a template: {(error.message or '').rstrip('.')}"
            yield problem_at(templates, name, error.lineno, message, "correct it; the language is that of Jinja")
            continue
        used |= {str(reference) for node in _references(tree) for reference in _referenced_names(node)}
    for name in templates.pages:
        if name not in used:
            guess = closest(name, [PAGE, BLOCKS])
            hint = f"did you mean '{guess}'?" if guess else f"include it from {PAGE}, or remove it"
            yield Problem(CODE, "no other template uses this one", Place(templates.shown(name)), hint)
    if STYLES in templates.texts:
        sheet = templates.texts[STYLES]
        for line, message, hint in [*style_problems(sheet)] or hiding_problems(sheet, ()):
            yield problem_at(templates, STYLES, line, message, hint)


def _references(tree: Any) -> Iterator[Any]:
    yield from tree.find_all((nodes.Extends, nodes.Include, nodes.Import, nodes.FromImport))


def _referenced_names(node: Any) -> Iterator[object]:
    """Yield the names of templates that a reference is to; None for one that is no plain text."""
    parts = node.template.items if isinstance(node.template, nodes.Tuple | nodes.List) else [node.template]
    yield from (part.value if isinstance(part, nodes.Const) else None for part in parts)


class _TemplateChecks:
    """The checks of one template."""

    def __init__(self, templates: Templates, name: str) -> None:
        self.templates = templates
        self.problem = partial(problem_at, templates, name)

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
            attribute = _attribute_asked_for(node)
            if attribute is not None and attribute.startswith("_"):
                message = f"attributes that begin with '_' are refused, as {quoted(attribute)} is"
                yield self.problem(node.lineno, message, f"remove it: {NAMES}")

    def reference(self, node: Any) -> Iterator[Problem]:
        """Check that a template takes in others of its folder, or evalpipe's own, and nothing else."""
        known = [*self.templates.pages, *OWN_TEMPLATES]
        for target in _referenced_names(node):
            if target is None:
                message = "the name of a template must be a text in quotes"
                yield self.problem(node.lineno, message, "write the name itself")
            elif target not in known:
                guess = closest(str(target), known)
                hint = f"did you mean '{guess}'?" if guess else f"the templates here are {listed(known, 'and')}"
                yield self.problem(node.lineno, f"{quoted(str(target))} is no template of this folder", hint)


def _attribute_asked_for(node: Any) -> str | None:
    """Return the attribute that an expression asks for by its name; None where it asks for none."""
    if isinstance(node, nodes.Getattr):
        return str(node.attr)
    part = node.arg if isinstance(node, nodes.Getitem) else node.args[0] if node.name == "attr" and node.args else None
    return part.value if isinstance(part, nodes.Const) and isinstance(part.value, str) else None
