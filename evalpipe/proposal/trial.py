"""Trying a spec before it is written: steps 1 to 3 of a run on its text, so that it runs as it is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, cast

from evalpipe.base.origin import Origin
from evalpipe.errors import InternalError, SpecError
from evalpipe.proposal.written import NOT_HERE
from evalpipe.spec.load import load
from evalpipe.spec.text import SpecText
from evalpipe.spec.tree import Node
from evalpipe.spec.yaml import parse

if TYPE_CHECKING:
    from evalpipe.plan.plan import Plan


def tried(text: str, target: str) -> Plan:
    """Read a spec's text as `evalpipe run` would read it from ``target``, plan it, and read and check its data.

    Returns the plan. Raises DataError for what is wrong with the data, and InternalError where the spec is refused.
    """
    from evalpipe.reading import read_all
    from evalpipe.run import plan

    document = parse(SpecText(target, text), os.environ)
    path = Path("spec.yaml") if target == NOT_HERE else Path(target)
    if document.root is None or document.problems:
        raise InternalError(*document.problems)
    try:
        planned = plan(load(cast("dict[str, object]", as_plain(document.root)), origin=Origin(path)))
    except SpecError as error:
        raise InternalError(*error.problems) from None
    read_all(planned)
    return planned


def as_plain(node: Node) -> object:
    """Return what a node of a spec stands for: mappings, lists and scalars."""
    if isinstance(node.content, dict):
        return {name: as_plain(value) for name, value in node.content.items()}
    if isinstance(node.content, tuple):
        return [as_plain(value) for value in node.content]
    return node.content
