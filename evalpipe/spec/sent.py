"""A spec as text, with where its keys were written, so that another process makes the same plan of it."""

from __future__ import annotations

import json
from dataclasses import astuple
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from evalpipe.base.origin import Origin
from evalpipe.errors import Place
from evalpipe.spec.load import load

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.base.origin import Loc
    from evalpipe.spec.models import Spec


def to_text(spec: Spec) -> str:
    """Return a spec as JSON; its paths start where they did here, wherever it is read.

    The ledger is left out: only the process of a run records it, and its reference may have no value elsewhere.
    """
    origin = spec.origin
    folders = {name: str(folder.absolute()) for name, folder in origin.folders.items()}
    # Of a spec without a file paths start from the working folder, which is another one elsewhere.
    path = Path.cwd() / "spec" if origin.path is None else origin.path.absolute()
    return json.dumps({
        "spec": spec.model_dump(mode="json", exclude_unset=True, exclude={"ledger"}), "path": str(path),
        "newest": origin.newest, "folders": folders, "values": _listed(origin.values), "keys": _listed(origin.keys),
        "environment": sorted(origin.environment, key=str),
    }, separators=(",", ":"))


def from_text(text: str) -> Spec:
    """Return the spec that was made text, checked again; raises SpecError."""
    document: dict[str, Any] = json.loads(text)
    folders = {name: Path(folder) for name, folder in document["folders"].items()}
    environment = frozenset(map(tuple, document["environment"]))
    values, keys = _places(document["values"]), _places(document["keys"])
    origin = Origin(Path(document["path"]), values, keys, MappingProxyType(folders), environment, document["newest"])
    return load(document["spec"], origin=origin)


def _listed(places: Mapping[Loc, Place]) -> list[Any]:
    return [[loc, *astuple(place)] for loc, place in places.items()]


def _places(listed: list[Any]) -> Mapping[Loc, Place]:
    return MappingProxyType({tuple(loc): Place(*place) for loc, *place in listed})
