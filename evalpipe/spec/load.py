"""Step 1: read a spec. Everything that is wrong is reported at once, each problem with its place."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from evalpipe.errors import SpecError, UsageError
from evalpipe.spec.check import check
from evalpipe.spec.explain import explain
from evalpipe.spec.layers import Layers
from evalpipe.spec.models import Spec
from evalpipe.spec.origin import Origin
from evalpipe.spec.overrides import apply
from evalpipe.spec.schema import model_schema
from evalpipe.spec.tree import Node, flatten, from_plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.errors import Problem
    from evalpipe.spec.tree import Tree

Source = str | os.PathLike[str] | Mapping[str, object] | Spec


def load(source: Source, overrides: Sequence[str] = (), environment: Mapping[str, str] | None = None) -> Spec:
    """Return the checked spec of a YAML file, a mapping or a spec, with ``overrides`` such as ``"seed=2"`` applied.

    References in files are replaced from ``environment``, that of the process where None; a mapping is taken as it is,
    and its ``extends`` and paths start from the working folder. Raises SpecError with every problem, in the order of
    the files and their lines.
    """
    layers = Layers(os.environ if environment is None else environment)
    root, path = _root(source, layers)
    problems = layers.problems
    if root is None:
        raise SpecError(*_ordered(problems, layers))
    root, refused = apply(root, overrides, layers.environment)
    problems += refused
    folders = {**layers.folders, **(source.origin.folders if isinstance(source, Spec) else {})}
    tree = flatten(root, path, folders)
    spec = None
    try:
        spec = Spec.model_validate(tree.data)
    except ValidationError as error:
        problems += _explained(error, tree, complete=layers.complete)
    problems += [problem for problem in check(tree) if layers.complete or problem.code != "missing-key"]
    if problems or spec is None:
        raise SpecError(*_ordered(problems, layers))
    spec._origin = tree.origin  # noqa: SLF001 - pydantic's private attributes are set so
    return spec


def _root(source: Source, layers: Layers) -> tuple[Node | None, Path | None]:
    """Return the nodes of a source, with all that it extends, and its path."""
    if isinstance(source, Spec):
        return from_plain(source.model_dump(exclude_unset=True), source.origin), source.origin.path
    if isinstance(source, Mapping):
        return layers.extended(from_plain(source, Origin()), Path()), None
    if isinstance(source, str | os.PathLike):
        shown = os.fspath(source)
        if isinstance(shown, str):
            return layers.file(Path(shown), shown), Path(shown)
    raise UsageError.of("wrong-type", f"a spec is a path, a mapping or a Spec, not {type(source).__name__}")


def _explained(error: ValidationError, tree: Tree, *, complete: bool) -> list[Problem]:
    """Translate pydantic's errors; where a file could not be read, absent keys may well be in it."""
    found = explain(error, tree, model_schema())
    return found if complete else [problem for problem in found if problem.code != "missing-key"]


def _ordered(problems: list[Problem], layers: Layers) -> list[Problem]:
    """Sort problems by file and line, without repetitions, and say how extended files were reached."""
    files = {name: number for number, name in enumerate(layers.folders)}

    def key(problem: Problem) -> tuple[int, int, int]:
        place = problem.place
        if place is None:
            return (-1, 0, 0)
        return (files.get(place.file, len(files)), place.line or 0, place.column or 0)

    noted = [
        replace(p, notes=(*p.notes, layers.notes[p.place.file])) if p.place and p.place.file in layers.notes else p
        for p in problems
    ]
    return sorted(dict.fromkeys(noted), key=key)
