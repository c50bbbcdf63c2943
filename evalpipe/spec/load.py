"""Step 1: read a spec. Everything that is wrong is reported at once, each problem with its place."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from evalpipe.base.origin import Origin
from evalpipe.errors import SpecError, UsageError
from evalpipe.spec.databases import check_ledger, check_queries, with_references, without_passwords
from evalpipe.spec.day import on_day
from evalpipe.spec.draft import Draft
from evalpipe.spec.explain import explain
from evalpipe.spec.layers import Layers
from evalpipe.spec.models import Spec
from evalpipe.spec.overrides import FILE, apply
from evalpipe.spec.rules import check
from evalpipe.spec.schema import model_schema
from evalpipe.spec.text import STDIN
from evalpipe.spec.tree import Node, flatten, from_plain, without

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Callable, Iterable, Sequence

    from evalpipe.errors import Problem

EMPTY = (("gates",), ("slices",), ("costs",), ("desirability",), ("reference_rates",), ("standards",),
         ("slice_rules", "disparities"))
"""The lists that may be empty, which is as if they were not there."""

Source = str | os.PathLike[str] | Mapping[str, object] | Spec


def load(
    source: Source, overrides: Sequence[str] = (), environment: Mapping[str, str] | None = None,
    origin: Origin | None = None, as_of: str | dt.date | None = None,
    further: Callable[[Draft], Iterable[Problem]] | None = None,
) -> Spec:
    """Return the checked spec of a YAML file, a mapping or a spec, with ``overrides`` such as ``"seed=2"`` applied.

    The path ``-`` is the standard input, whose ``extends`` and paths start from the working folder.
    References in files are replaced: from ``environment``, that of the process where None, and by the day, which is
    ``as_of`` where given. A mapping is taken as it is; its ``extends`` and paths start from the working folder, or from
    where ``origin`` says. Raises SpecError with every problem, in the order of the files and their lines, those that
    ``further`` yields of a spec with problems among them.
    """
    layers = Layers(os.environ if environment is None else environment)
    root, path, newest = _root(source, layers, origin)
    problems = layers.problems
    if root is None:
        raise SpecError(*without_passwords(_ordered(problems, layers)))
    root, refused = apply(root, overrides, layers.environment)
    root, undated = on_day(root, as_of, source.as_of if isinstance(source, Spec) else None)
    problems += [*refused, *undated]
    known = source.origin if isinstance(source, Spec) else origin or Origin()
    root = _without_empty(with_references(root))
    tree = flatten(root, path, {**layers.folders, **known.folders}, FILE if overrides else newest)
    draft = Draft(tree)
    reported = _reported(draft, layers)
    problems += [problem for problem in reported if problem.severity == "error"]
    if problems:
        problems += further(draft) if further is not None else ()
        raise SpecError(*without_passwords(_ordered(problems, layers), draft))
    warnings = list(without_passwords((problem for problem in reported if problem.severity != "error"), draft))
    written = replace(tree.origin, files=(*known.files, *layers.files), overrides=(*known.overrides, *overrides))
    return _with_places(draft, written, _ordered(warnings, layers))


def _reported(draft: Draft, layers: Layers) -> list[Problem]:
    """Return what is wrong with each key, and across keys."""
    reported = [*(explain(draft.error, draft.tree, model_schema()) if draft.error else ()), *check(draft),
                *check_queries(draft, layers.environment), *check_ledger(draft, layers.environment)]
    if not layers.complete:  # absent keys may well be in a file that could not be read
        reported = [problem for problem in reported if problem.code != "missing-key"]
    return reported


def _with_places(draft: Draft, written: Origin, warnings: list[Problem]) -> Spec:
    """Return the spec with where its keys were written, what was read of files that it names, and what to warn of."""
    spec = draft.spec
    spec._origin, spec._texts = written, MappingProxyType(draft.texts)  # noqa: SLF001 - pydantic's private ones
    spec._templates, spec._plugins, spec._warnings = draft.templates, draft.plugins, tuple(warnings)  # noqa: SLF001
    spec._uris, spec._ledger_uri = MappingProxyType(draft.uris), draft.ledger  # noqa: SLF001
    return spec


def _root(
    source: Source, layers: Layers, origin: Origin | None
) -> tuple[Node | None, Path | None, str | None]:
    """Return the nodes of a source, with all that it extends, its path and the name shown for it."""
    if isinstance(source, Spec):
        plain = from_plain(source.model_dump(exclude_unset=True), source.origin)
        return plain, source.origin.path, source.origin.newest
    if isinstance(source, Mapping):
        known = origin or Origin()
        return layers.extended(from_plain(source, known), known.folder), known.path, known.newest
    if isinstance(source, str | os.PathLike):
        given = os.fspath(source)
        if isinstance(given, str):
            shown = STDIN if given == "-" else given
            return layers.file(Path(given), shown), None if given == "-" else Path(given), shown
    raise UsageError.of("wrong-type", f"a spec is a path, a mapping or a Spec, not {type(source).__name__}")


def _without_empty(root: Node) -> Node:
    """Leave out lists that are empty and need not be there: none is what they say.

    An empty list takes away what a base declares, so they go when all is merged.
    """
    for loc in EMPTY:
        node = root.at(loc)
        if node is not None and node.content == ():
            root = without(root, loc)
    return root


def _ordered(problems: list[Problem], layers: Layers) -> list[Problem]:
    """Sort problems by file and line, without repetitions, and say how extended files were reached."""
    files = {name: number for number, name in enumerate(layers.folders)}

    def key(problem: Problem) -> tuple[int, int, int]:
        place = problem.place
        return (files.get(place.file, len(files)), place.line or 0, place.column or 0) if place else (-1, 0, 0)

    noted = [
        replace(p, notes=(*p.notes, layers.notes[p.place.file])) if p.place and p.place.file in layers.notes else p
        for p in problems
    ]
    return sorted(dict.fromkeys(noted), key=key)
