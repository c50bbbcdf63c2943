"""Mutations of a spec as nodes of YAML: keys, values, parts of other specs."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import yaml

from fuzz.values import SCALARS

DEPTH = 20
"""How deep mutations look into a spec."""

Pool = Mapping[str, list[yaml.Node]]
"""The values that all specs have for a key."""


class Spot(NamedTuple):
    """A value in a tree: the collection that holds it, its place there, its key (of a list's, "[]" behind), itself."""

    parent: Any
    index: int
    key: str
    node: yaml.Node


def spots(node: yaml.Node | None, key: str = "", depth: int = 0) -> Iterator[Spot]:
    """Yield every value of a tree down to `DEPTH`: a tree may hold itself."""
    if depth == DEPTH:
        return
    if isinstance(node, yaml.MappingNode):
        for i, (name, value) in enumerate(node.value):
            inner = name.value if isinstance(name, yaml.ScalarNode) else ""
            yield Spot(node, i, inner, value)
            yield from spots(value, inner, depth + 1)
    elif isinstance(node, yaml.SequenceNode):
        for i, value in enumerate(node.value):
            yield Spot(node, i, key + "[]", value)
            yield from spots(value, key + "[]", depth + 1)


def pool(trees: Iterable[yaml.Node]) -> dict[str, list[yaml.Node]]:
    """Gather the values of every key in all trees; of keys at the top behind a slash too."""
    found: dict[str, list[yaml.Node]] = {}
    for tree in trees:
        for spot in spots(tree):
            found.setdefault(spot.key, []).append(spot.node)
            if spot.parent is tree:
                found.setdefault(f"/{spot.key}", []).append(spot.node)
    return found


def scalar(text: str) -> yaml.Node:
    """Return the node of a text, as a plain one where it is no YAML."""
    try:
        node = yaml.compose(text, yaml.SafeLoader)
    except yaml.YAMLError:
        node = None
    return node or yaml.ScalarNode("tag:yaml.org,2002:null", "")


def put(spot: Spot, node: yaml.Node) -> None:
    """Replace the value at a spot."""
    old = spot.parent.value[spot.index]
    spot.parent.value[spot.index] = (old[0], node) if isinstance(spot.parent, yaml.MappingNode) else node


def _hostile(rng: random.Random, spot: Spot, _: Pool, __: list[Spot]) -> None:
    put(spot, scalar(rng.choice(SCALARS)))


def _nudge(rng: random.Random, spot: Spot, pool: Pool, held: list[Spot]) -> None:
    """Change a number, or misspell a text."""
    numbers = [other for other in held if isinstance(other.node, yaml.ScalarNode) and _number(other.node) is not None]
    if not numbers:
        _typo(rng, spot, pool, held)
        return
    chosen = rng.choice([other for other in numbers if other.key != "replicates" or rng.random() < 0.1] or numbers)
    was = _number(chosen.node) or 0.0
    new = rng.choice(
        [0, 1, -1, 2, -was, was * 10, was + 1, was - 1, 1 - was, 0.5, was / 10, was * 1e300, was * 1e-300]
    )
    whole = chosen.node.value.isdigit() and rng.random() < 0.9 and abs(new) < 1e15
    integral = whole or (abs(new) < 1e15 and new == int(new))
    put(chosen, scalar(repr(int(new)) if integral else f"{new!r}"))


def _number(node: yaml.Node) -> float | None:
    try:
        value = float(node.value)
    except (TypeError, ValueError):
        return None
    return value if abs(value) < 1e308 else None


def _typo(rng: random.Random, spot: Spot, _: Pool, __: list[Spot]) -> None:
    if isinstance(spot.node, yaml.ScalarNode) and spot.node.value:
        text, at = spot.node.value, rng.randrange(len(spot.node.value))
        new = rng.choice([text[:at] + text[at + 1 :], text.upper(), text + " ", text[:at] + "é" + text[at:]])
        put(spot, yaml.ScalarNode("tag:yaml.org,2002:str", new))


def _delete(_: random.Random, spot: Spot, __: Pool, ___: list[Spot]) -> None:
    del spot.parent.value[spot.index]


def _duplicate(rng: random.Random, spot: Spot, _: Pool, __: list[Spot]) -> None:
    spot.parent.value.insert(rng.randrange(len(spot.parent.value) + 1), copy.deepcopy(spot.parent.value[spot.index]))


def _rename(rng: random.Random, spot: Spot, pool: Pool, _: list[Spot]) -> None:
    if isinstance(spot.parent, yaml.MappingNode):
        key = rng.choice([rng.choice(sorted(pool)), spot.key[:-1], spot.key.upper(), "", "1", "é", "a b", "[x]"])
        spot.parent.value[spot.index] = (yaml.ScalarNode("tag:yaml.org,2002:str", key), spot.node)


def _move(rng: random.Random, spot: Spot, _: Pool, held: list[Spot]) -> None:
    """Take a key out and put it into another map, or swap two values."""
    other = rng.choice(held)
    if (
        isinstance(spot.parent, yaml.MappingNode)
        and isinstance(other.parent, yaml.MappingNode)
        and rng.random() < 0.5
    ):
        other.parent.value.append(copy.deepcopy(spot.parent.value[spot.index]))
        del spot.parent.value[spot.index]
    else:
        first, second = copy.deepcopy(spot.node), copy.deepcopy(other.node)
        put(spot, second)
        if other.index < len(other.parent.value):
            put(other, first)


def _wrap(rng: random.Random, spot: Spot, _: Pool, __: list[Spot]) -> None:
    """Swap the type: a value in a list or a map, a list's first item, a deep nest."""
    if isinstance(spot.node, yaml.SequenceNode) and spot.node.value and rng.random() < 0.5:
        put(spot, spot.node.value[0])
        return
    node = spot.node
    for _ in range(rng.choice([1, 1, 1, 2, 5, 60, 300])):
        key = yaml.ScalarNode("tag:yaml.org,2002:str", rng.choice(["value", "a", "column", "metric"]))
        node = (
            yaml.SequenceNode("tag:yaml.org,2002:seq", [node])
            if rng.random() < 0.6
            else yaml.MappingNode("tag:yaml.org,2002:map", [(key, node)])
        )
    put(spot, node)


def _alias(rng: random.Random, spot: Spot, _: Pool, held: list[Spot]) -> None:
    """Let two places share one node, so that it is written as an anchor and an alias."""
    put(spot, rng.choice(held).node)


def _splice(rng: random.Random, spot: Spot, pool: Pool, _: list[Spot]) -> None:
    """Take what another spec has under this key."""
    if spot.key in pool:
        put(spot, copy.deepcopy(rng.choice(pool[spot.key])))


def _graft(rng: random.Random, _: Spot, pool: Pool, held: list[Spot]) -> None:
    """Add a key of another spec, at the top or in some map."""
    maps = [held[0].parent] * 3 + [other.parent for other in held if isinstance(other.parent, yaml.MappingNode)]
    key = rng.choice(sorted(key for key in pool if key.isidentifier()))
    pair = (yaml.ScalarNode("tag:yaml.org,2002:str", key), copy.deepcopy(rng.choice(pool[key])))
    rng.choice(maps).value.append(pair)


def _part(rng: random.Random, _: Spot, pool: Pool, held: list[Spot]) -> None:
    """Give the spec a part that another has, in place of its own."""
    key, top = rng.choice([part for part in PARTS if f"/{part}" in pool]), held[0].parent
    top.value[:] = [pair for pair in top.value if not isinstance(pair, tuple) or pair[0].value != key]
    if isinstance(top, yaml.MappingNode):
        top.value.append((yaml.ScalarNode("tag:yaml.org,2002:str", key), copy.deepcopy(rng.choice(pool[f"/{key}"]))))


PARTS = (
    "prevalence",
    "weight",
    "cluster",
    "threshold",
    "equivocal",
    "metrics",
    "intervals",
    "no_information",
    "costs",
    "profit",
    "slices",
    "slice_rules",
    "worst_slices",
    "recalibrate",
    "compare",
    "reference_rates",
    "desirability",
    "gates",
    "engine",
)
"""Keys at the top of a spec that any spec may have."""


def _measure(rng: random.Random, spot: Spot, pool: Pool, held: list[Spot]) -> None:
    """Ask for another measure."""
    from evalpipe.metrics import registry

    names = sorted(metric.name for metric in registry)
    asked = [
        other for other in held if other.key in {"metric", "metrics[]"} and isinstance(other.node, yaml.ScalarNode)
    ]
    if not asked:
        _nudge(rng, spot, pool, held)
        return
    put(rng.choice(asked), yaml.ScalarNode("tag:yaml.org,2002:str", rng.choice(names)))


Mutation = Callable[[random.Random, Spot, Pool, list[Spot]], None]

ROUGH: dict[Mutation, int] = {
    _hostile: 6,
    _nudge: 3,
    _typo: 1,
    _delete: 3,
    _duplicate: 2,
    _rename: 2,
    _move: 2,
    _wrap: 2,
    _alias: 1,
    _splice: 3,
    _graft: 2,
    _measure: 2,
}
"""Each mutation with how often it is chosen."""

GENTLE: dict[Mutation, int] = {_nudge: 4, _splice: 4, _measure: 6, _delete: 2, _part: 6, _hostile: 1}
"""Those that often leave a spec that runs."""


def mutate(tree: yaml.Node, rng: random.Random, values: Pool, *, gentle: bool) -> None:
    """Change a tree once."""
    held = list(spots(tree))
    if not held:
        return
    often = GENTLE if gentle else ROUGH
    chosen = rng.choices(list(often), list(often.values()))[0]
    with suppress(RecursionError):  # a tree that holds itself, or is very deep, stays as far as it was changed
        chosen(rng, rng.choice(held), values, held)
