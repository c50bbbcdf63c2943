"""The environment of custom templates: without code, without files, with markup escaped, and with an end.

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

    from jinja2 import Environment
    from jinja2.bccache import Bucket
    from jinja2.runtime import Context

    from evalpipe.templating.files import Templates


HELPERS = (BlockReference, Cycler, Joiner, LoopContext, Macro, Namespace, TemplateModule, TemplateReference,
           _GroupTuple)
PLAIN = (Markup, bool, dict, float, int, list, str, tuple, type(None))

CARD = "evalpipe.card."
"""The room whose frozen values a template may look into."""


def may_read_attributes(value: Any) -> bool:
    """Tell whether a template may read the attributes of a value."""
    kind = type(value)
    if kind in PLAIN or isinstance(value, HELPERS):
        return True
    # Frozen values alone: what can change, such as an edition, is no part of a card.
    return is_dataclass(kind) and kind.__module__.startswith(CARD) and vars(kind)["__dataclass_params__"].frozen


def may_call(function: Any, known: Iterable[object]) -> bool:
    """Tell whether a template may call a function: one of ``known``, a macro, or a method of a value it may look into.

    An undefined name may be called: it then raises its own error.
    """
    if isinstance(function, (*HELPERS, Undefined)) or any(function is other for other in known):
        return True
    method = getattr(function, "__wrapped__", function)  # Jinja wraps `str.format`
    return isinstance(method, MethodType | BuiltinMethodType) and may_read_attributes(method.__self__)


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
        """Start an empty cache of compiled templates; with ``packaged_only`` it keeps evalpipe's templates alone."""
        self.packaged_only = packaged_only
        self.codes: dict[str, bytes] = {}

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        """Return the key of a template in the cache; empty where it is not cached."""
        return super().get_cache_key(name, filename) if name.startswith(PACKAGED) or not self.packaged_only else ""

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load a compiled template into the bucket, if it is cached and of the same source."""
        if bucket.key in self.codes:
            bucket.bytecode_from_string(self.codes[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Cache the compiled template in Jinja's ``bucket``."""
        if bucket.key:
            self.codes[bucket.key] = bucket.bytecode_to_string()


PACKAGED_TEMPLATES = Compiled(packaged_only=True)
"""Evalpipe's own templates as `Bounded` runs them, which is not as they run by themselves."""


class Bounded(ImmutableSandboxedEnvironment):
    """The sandbox of custom templates; counts their steps, so that they end."""

    intercepted_binops = frozenset({"*", "**", "%", "+"})

    def __init__(self, templates: Templates, packaged: Path | None) -> None:
        """Load custom templates, and evalpipe's own from the folder ``packaged``, None for checks alone."""
        super().__init__(
            loader=FunctionLoader(_template_finder(templates, packaged)), autoescape=True, finalize=_as_printable,
            undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
            bytecode_cache=PACKAGED_TEMPLATES)
        self.custom_names = frozenset(templates.pages)
        self.steps = 0
        self.filters = {name: _without_large_numbers(filter_function) for name, filter_function in self.filters.items()
                        if name not in REFUSED_FILTERS} | {"counted": self.counted, "short": _checked_length}
        self.globals.pop("lipsum")  # by chance, and the same results give the same bytes

    def counted(self, items: Iterable[Any]) -> Iterator[Any]:
        """Yield the items of a template's loop, counting each; raises TooMuchError beyond `MOST_STEPS` in all loops."""
        for item in items:
            self.step()
            yield item

    def step(self) -> None:
        """Count a round of a loop or a call; raises TooMuchError beyond `MOST_STEPS`."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise TooMuchError(f"the template goes round loops, and calls macros, more than {MOST_STEPS:,} times")

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        """Return the syntax tree of a template; in a custom template loops and joined texts are limited by filters."""
        tree = super()._parse(source, name, filename)
        return _CountingTransformer().visit(tree) if name in self.custom_names else tree

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Tell whether a template may read an attribute of an object."""
        return may_read_attributes(obj) and super().is_safe_attribute(obj, attr, value)

    def is_safe_callable(self, obj: Any) -> bool:
        """Tell whether a template may call a function."""
        return may_call(obj, self.globals.values()) and super().is_safe_callable(obj)

    def call(self, context: Context, function: Any, /, *arguments: Any, **options: Any) -> Any:
        """Call a function for a template; a call by a custom template is a step."""
        if context.name in self.custom_names:
            self.step()
            if isinstance(getattr(function, "__self__", None), str):  # as `ljust`, which makes a text of any length
                _check_sizes(arguments)
        return super().call(context, function, *arguments, **options)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Compute an operation for a template; raises TooMuchError where the result could be huge."""
        lengths = [len(operand) for operand in (left, right) if isinstance(operand, str | list | tuple)]
        numbers = [operand for operand in (left, right) if isinstance(operand, int)]
        if operator == "+":
            return _checked_length(super().call_binop(context, operator, left, right))
        if operator != "*" and (lengths or any(abs(number) > MOST_EXPONENT for number in numbers)):
            raise TooMuchError(f"{operator!r} is refused with texts and large numbers")
        # A text or a list times a number repeats it.
        if lengths and numbers and lengths[0] * numbers[0] > MOST_CHARACTERS:
            raise TooMuchError(f"a template repeats nothing into more than {MOST_CHARACTERS:,} characters")
        return super().call_binop(context, operator, left, right)


class _CountingTransformer(NodeTransformer):
    """Adds to a template's syntax tree filters that count rounds of loops and check the length of joined texts."""

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802 - Jinja calls it by the name of the node
        """Add the filter that counts rounds to a loop."""
        self.generic_visit(node)
        node.iter = nodes.Filter(node.iter, "counted", [], [], None, None, lineno=node.lineno)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        """Add the filter that checks the length to a joined text."""
        self.generic_visit(node)
        return nodes.Filter(node, "short", [], [], None, None, lineno=node.lineno)


def _without_large_numbers(filter_function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a filter that raises TooMuchError for large numbers, such as a width in spaces."""
    @wraps(filter_function)
    def checked(*arguments: Any, **options: Any) -> Any:
        _check_sizes((*arguments, *options.values()))
        return filter_function(*arguments, **options)

    return checked


def _check_sizes(arguments: Iterable[Any]) -> None:
    """Raise TooMuchError where a number among the arguments, such as a width, exceeds `MOST_CHARACTERS`."""
    if any(isinstance(value, int) and abs(value) > MOST_CHARACTERS for value in arguments):
        raise TooMuchError(f"a template makes nothing of more than {MOST_CHARACTERS:,} characters")


def _checked_length(value: Any) -> Any:
    """Return a value; raises TooMuchError where it is a text or a list beyond `MOST_CHARACTERS`."""
    if isinstance(value, str | list | tuple) and len(value) > MOST_CHARACTERS:
        raise TooMuchError(f"a template joins nothing to more than {MOST_CHARACTERS:,} characters")
    return value


def _as_printable(value: Any) -> Any:
    """Return a text or number as a template may print it; raises NotPrintableError for other values.

    Others would show memory addresses. Texts lose characters that could deceive; TooMuchError for a very long text.
    """
    if isinstance(value, str) and len(value) > MOST_OF_PAGE:
        raise TooMuchError(f"a template prints nothing of more than {MOST_OF_PAGE:,} characters")
    if type(value) is str:
        return legible(value)
    if isinstance(value, str | int | float | Undefined) or value is None:
        return value
    raise NotPrintableError(f"a template prints texts and numbers, and this is a {type(value).__name__}")


def _template_finder(templates: Templates, packaged: Path | None) -> Callable[[str], Source]:
    """Return a function that loads a template by its name, from the custom ones or evalpipe's own."""
    packaged_files = {} if packaged is None else {f"{PACKAGED}{file.name}": file for file in packaged.glob("*.html")}

    def load(name: str) -> Source:
        """Return (source, file name, None) of a template; raises TemplateNotFound for an unknown name."""
        if name in templates.pages:
            return templates.pages[name], templates.shown(name), None
        if name not in packaged_files:
            raise TemplateNotFound(name)
        return packaged_files[name].read_text(encoding="utf-8"), str(packaged_files[name]), None

    return load


def rendered(templates: Templates, environment: Environment, values: Mapping[str, Any]) -> str:
    """Render the page of custom templates; raises UsageError at the line that fails or does not end."""
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
    """Turn an error that a custom template raises into a UsageError at its line."""
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
    """Return the problem, at its line, of an error raised by a custom template; None for an error raised elsewhere."""
    files = {templates.shown(name): name for name in templates.texts if name != STYLES}
    place, traceback = None, error.__traceback__
    while traceback is not None:  # the innermost line of a custom template
        name = files.get(traceback.tb_frame.f_code.co_filename)
        place = (name, traceback.tb_lineno) if name is not None else place
        traceback = traceback.tb_next
    if place is None:
        return None
    # A value is named by its class alone, without the module.
    reason = re.sub(r"evalpipe\.[\w.]+\.(?=\w+ object)", "", str(error).partition("\n")[0].rstrip("."))
    for kinds, message, hint in WORDS:
        if isinstance(error, kinds):
            return problem_at(templates, *place, message.format(reason or type(error).__name__), hint)
    return problem_at(templates, *place, f"the template fails: {type(error).__name__}: {reason}", "correct this line")


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
    """Yield problems of each template's syntax and references, of templates that none uses, and of the theme."""
    environment, used_names = Bounded(templates, None), {PAGE, BLOCKS}
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
        used_names |= {str(reference) for node in _reference_nodes(tree) for reference in _referenced_names(node)}
    for name in templates.pages:
        if name not in used_names:
            guess = closest(name, [PAGE, BLOCKS])
            hint = f"did you mean '{guess}'?" if guess else f"include it from {PAGE}, or remove it"
            yield Problem(CODE, "no other template uses this one", Place(templates.shown(name)), hint)
    if STYLES in templates.texts:
        sheet = templates.texts[STYLES]
        for line, message, hint in [*style_problems(sheet)] or hiding_problems(sheet, ()):
            yield problem_at(templates, STYLES, line, message, hint)


def _reference_nodes(tree: Any) -> Iterator[Any]:
    """Yield the syntax nodes of a template that refer to other templates: extends, include, import."""
    yield from tree.find_all((nodes.Extends, nodes.Include, nodes.Import, nodes.FromImport))


def _referenced_names(node: Any) -> Iterator[object]:
    """Yield the template names in a reference such as ``{% include %}``; None for a name that is no constant text."""
    parts = node.template.items if isinstance(node.template, nodes.Tuple | nodes.List) else [node.template]
    yield from (part.value if isinstance(part, nodes.Const) else None for part in parts)


class _TemplateChecks:
    """The checks of one template."""

    def __init__(self, templates: Templates, name: str) -> None:
        self.templates = templates
        self.problem = partial(problem_at, templates, name)

    def faults(self, tree: Any) -> Iterator[Problem]:
        """Yield problems in a syntax tree: bad references, escaping switched off, refused filters and so on."""
        for node in _reference_nodes(tree):
            yield from self.reference_faults(node)
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
            attribute = _attribute_read(node)
            if attribute is not None and attribute.startswith("_"):
                message = f"attributes that begin with '_' are refused, as {quoted(attribute)} is"
                yield self.problem(node.lineno, message, f"remove it: {NAMES}")

    def reference_faults(self, node: Any) -> Iterator[Problem]:
        """Yield a problem for each reference to a template that is neither in the folder nor evalpipe's own."""
        known = [*self.templates.pages, *OWN_TEMPLATES]
        for target in _referenced_names(node):
            if target is None:
                message = "the name of a template must be a text in quotes"
                yield self.problem(node.lineno, message, "write the name itself")
            elif target not in known:
                guess = closest(str(target), known)
                hint = f"did you mean '{guess}'?" if guess else f"the templates here are {listed(known, 'and')}"
                yield self.problem(node.lineno, f"{quoted(str(target))} is no template of this folder", hint)


def _attribute_read(node: Any) -> str | None:
    """Return the name of the attribute that an expression reads; None where it reads none by a constant name."""
    if isinstance(node, nodes.Getattr):
        return str(node.attr)
    names = [node.arg] if isinstance(node, nodes.Getitem) else node.args[:1] if node.name == "attr" else []
    return next((name.value for name in names if isinstance(name, nodes.Const) and isinstance(name.value, str)), None)
