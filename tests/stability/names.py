"""The names that others rely on, read from the code: of Python, of the spec, of results.json, of commands and codes."""

from __future__ import annotations

import importlib
import inspect
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import evalpipe
from evalpipe.chapters.checks.spec import CODES
from evalpipe.cli.app import app
from evalpipe.metrics import registry
from evalpipe.metrics.other_names import OTHER_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

DOCS = Path(__file__).parents[2] / "docs"
MODULES = ("evalpipe", "evalpipe.sklearn", "evalpipe.mlflow")


def stable_names() -> dict[str, list[str]]:
    """Return all names by kind, sorted; a function stands beside each of its parameters."""
    kinds = {
        "python": _of_python(), "spec": _of_schema("spec"), "results.json": _of_schema("results"),
        "commands": _of_commands(), "checks": CODES,
        "measures": [name for entry in registry for name in (entry.name, *entry.aliases)] + list(OTHER_NAMES)}
    return {kind: sorted(set(names)) for kind, names in kinds.items()}


def _of_python() -> Iterator[str]:
    """Yield the public functions with the parameters that each has, and the public attributes of the results."""
    for module in MODULES:
        members = vars(importlib.import_module(module))
        defined = [name for name, value in members.items()
                   if not name.startswith("_") and getattr(value, "__module__", None) == module]
        for name in members.get("__all__", defined):
            value = getattr(importlib.import_module(module), name)
            if inspect.isfunction(value):
                yield f"{module}.{name}()"
                yield from (f"{module}.{name}({parameter})" for parameter in inspect.signature(value).parameters)
            else:
                yield f"{module}.{name}"
    results = evalpipe.Results
    public = [name for name in vars(results) if not name.startswith("_") and not name.startswith("model_")]
    yield from (f"evalpipe.Results.{name}" for name in (*results.model_fields, *public))


def _of_schema(kind: str) -> Iterator[str]:
    """Yield the path of each key of a JSON Schema."""
    schema = json.loads((DOCS / f"{kind}.schema.json").read_text(encoding="utf-8"))
    yield from _keys(schema, schema["$defs"], "", ())


def _keys(node: Mapping[str, Any], definitions: Mapping[str, Any], path: str, within: tuple[str, ...]) -> Iterator[str]:
    """Yield the paths of the keys under a node of a schema; ``within`` are the definitions that it stands in."""
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        if name not in within:
            yield from _keys(definitions[name], definitions, path, (*within, name))
        return
    for key, value in node.get("properties", {}).items():
        yield f"{path}.{key}".lstrip(".")
        yield from _keys(value, definitions, f"{path}.{key}", within)
    for branch in (*node.get("anyOf", ()), *node.get("oneOf", ()), *node.get("allOf", ())):
        yield from _keys(branch, definitions, path, within)
    for key, suffix in ("items", "[]"), ("additionalProperties", ".*"):
        if isinstance(node.get(key), dict):
            yield from _keys(node[key], definitions, f"{path}{suffix}", within)


def _of_commands() -> Iterator[str]:
    """Yield each command, with its arguments and options."""
    for name, command in app.commands.items():
        yield from _of_command(f"evalpipe {name}", command)


def _of_command(name: str, command: click.Command) -> Iterator[str]:
    """Yield a command by its name, its arguments and options, and those of the commands below it."""
    yield name
    for below, other in getattr(command, "commands", {}).items():
        yield from _of_command(f"{name} {below}", other)
    for parameter in command.params:
        if isinstance(parameter, click.Argument):
            yield f"{name} {parameter.human_readable_name}"
        else:
            yield from (f"{name} {option}" for option in parameter.opts)
