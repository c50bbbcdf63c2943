"""What templates of others may reach: the parts of a card, plain values, and the helpers of Jinja; nothing behind them.

Jinja's sandbox keeps private attributes away. A card holds functions too, which draw its figures, and these hold the
results, whose methods can read files; so what may be looked into, and called, is listed here.
"""

from __future__ import annotations

from dataclasses import is_dataclass
from types import BuiltinMethodType, MethodType
from typing import TYPE_CHECKING, Any

from jinja2.environment import TemplateModule
from jinja2.filters import _GroupTuple
from jinja2.runtime import BlockReference, LoopContext, Macro, TemplateReference, Undefined
from jinja2.utils import Cycler, Joiner, Namespace
from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Iterable

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
