"""Cases of specs: the text of a spec, mutated in structure and value."""

from __future__ import annotations

import copy
import random
from collections.abc import Sequence

import yaml

from fuzz.bases import Base
from fuzz.nodes import Pool, mutate, scalar, spots

FEW = {"replicates": 100, "bags": 20}
"""Options that only make a run long, and what they become."""


def spec_case(bases: Sequence[Base], values: Pool, rng: random.Random) -> tuple[Base, bytes]:
    """Make a case: the spec it started from and the bytes that take its place."""
    base = rng.choice([base for base in bases if base.runs or rng.random() < 0.05])
    if base.tree is None:
        return base, _scratch(base.text, rng)
    tree = copy.deepcopy(base.tree)
    shorten(tree, html=rng.random() < 0.03)
    gentle = rng.random() < 0.6
    for _ in range(rng.choice([1, 1, 1, 1, 2, 2, 3, 5, 8])):
        mutate(tree, rng, values, gentle=gentle)
    tame(tree)
    try:
        text = yaml.serialize(tree, Dumper=yaml.SafeDumper, allow_unicode=True, width=200)
    except (yaml.YAMLError, RecursionError):
        text = base.text
    return base, _scratch(text, rng) if rng.random() < 0.12 else text.encode(errors="replace")


def shorten(tree: yaml.Node, *, html: bool) -> None:
    """Ask for few replicates and, but for a few cases, no card."""
    if not isinstance(tree, yaml.MappingNode):
        return
    held = {key.value: value for key, value in tree.value if isinstance(key, yaml.ScalarNode)}
    intervals = held.get("intervals")
    if intervals is None:
        tree.value.append((scalar("intervals"), scalar("{replicates: 100}")))
    elif isinstance(intervals, yaml.MappingNode) and "replicates" not in [key.value for key, _ in intervals.value]:
        intervals.value.append((scalar("replicates"), scalar("100")))
    tree.value[:] = [(key, value) for key, value in tree.value if key.value != "report"]
    tree.value.append((scalar("report"), scalar("{formats: [html, junit]}" if html else "{formats: []}")))


def tame(tree: yaml.Node) -> None:
    """Take out what only makes a run long: many replicates, the PDF, the wait for a scheduler that is not there."""
    if isinstance(tree, yaml.MappingNode) and "report" not in [key.value for key, _ in tree.value]:
        tree.value.append((scalar("report"), scalar("{formats: []}")))
    for spot in list(spots(tree)):
        node = spot.node
        if not isinstance(node, yaml.ScalarNode):
            continue
        if spot.key in FEW and node.value.isdigit() and 200 < int(node.value[:9]) <= 1_000_000:
            node.value = str(FEW[spot.key])
        elif spot.key == "formats[]" and node.value == "pdf":
            node.value = "junit"
        elif spot.key == "backend" and node.value == "dask":
            node.value = "local"


def _scratch(text: str, rng: random.Random) -> bytes:
    """Change a text by lines and characters, or as bytes."""
    lines = text.splitlines(keepends=True) or [""]
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    at = rng.randrange(len(text) + 1)
    sign = rng.choice(
        [
            "\t",
            " ",
            ":",
            "'",
            '"',
            "{",
            "}",
            "[",
            "]",
            "&a ",
            "*a ",
            "!",
            "|",
            ">",
            "#",
            "---\n",
            "...",
            "%",
            "@",
            "`",
            "\x00",
            "\r",
            "\x85",
            "\u2028",
            "\ufeff",
            "🚢",
            "<<: *a\n",
            "? ",
            "- ",
        ]
    )
    raw = (text[:at] + sign + text[at:]).encode()
    return rng.choice(
        [
            raw,
            (text[:at] + text[at + rng.randrange(1, 9) :]).encode(),
            "".join([*lines[:i], lines[j], *lines[i:]]).encode(),
            "".join([*lines[:i], *lines[i + 1 :]]).encode(),
            "".join([*lines[:i], "\t" + lines[i].lstrip(), *lines[i + 1 :]]).encode(),
            "".join([*lines[:i], "  " + lines[i], *lines[i + 1 :]]).encode(),
            text.replace("\n", "\r\n").encode(),
            text.encode("utf-16"),
            b"\xef\xbb\xbf" + text.encode(),
            text.encode()[:at],
            raw[:at] + bytes([rng.randrange(256)]) + raw[at:],
            b"",
            text.encode() * 2,
        ]
    )
