"""The rules that findings come from: each a function that yields claims of the results."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from evalpipe.findings.claims import Claim
    from evalpipe.results import Results

    Claims = Callable[[Results], Iterable[Claim]]


@dataclass(frozen=True, slots=True)
class Rule:
    """What is looked for in every run: its name, what it checks in a sentence, and the function that claims it."""

    name: str
    checks: str
    claims: Claims


registry: dict[str, Rule] = {}
"""Every rule, by name, in the order of declaration."""


def rule(claims: Claims) -> Claims:
    """Declare a rule: a function of the results that yields claims; the first line of its docstring says of what."""
    name = claims.__name__
    if name in registry and registry[name].claims.__module__ != claims.__module__:
        raise ValueError(f"two rules of findings are called {name!r}")
    registry[name] = Rule(name, (claims.__doc__ or "").strip().splitlines()[0], claims)
    return claims
