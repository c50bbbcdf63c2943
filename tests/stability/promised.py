"""What releases promise to keep, read off the code: `python tests/stability/promised.py` writes it before a release.

Every part maps a name to what is promised of it, such as the types that a key has. Of a later version each name must be
there with at least these; `broken` says in sentences what is not.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import evalpipe
from evalpipe import errors
from evalpipe.cli.app import app
from evalpipe.cli.documents import DOCUMENTS, json_schema_of
from evalpipe.cli.exit import ENDINGS
from evalpipe.findings import rules
from evalpipe.metrics import registry
from evalpipe.results import Results
from evalpipe.words.sentences import TEMPLATES

if TYPE_CHECKING:
    from collections.abc import Iterator

Promises = dict[str, dict[str, list[str]]]

FILE = Path(__file__).parent / "1.0.json"
MODULES = {"evalpipe": evalpipe.__all__, "evalpipe.sklearn": ["card"], "evalpipe.mlflow": ["log"],
           "evalpipe.errors": ["EvalpipeError", "UsageError", "SpecError", "DataError", "InternalError"]}
METHODS = ("read", "from_json", "to_json", "frame", "estimates", "headline", "findings", "verdict", "holds",
           "evidence_sha256")
"""The public methods and properties of `evalpipe.Results`."""

MEASURES = {json.dumps(metric.name) for metric in registry}
MANY = 20
"""The names of measures as a schema has them: where a key takes more than so many, "measure" stands for them."""


def of_schema(schema: dict[str, Any], mark: str) -> dict[str, list[str]]:
    """Return the types of each key of a JSON Schema by its path.

    The types include ``mark``: "always" for keys that every object has, "optional" for those that one may lack.
    """
    found: dict[str, set[str]] = {}
    for path, types in keys_of(schema, "", mark, schema.get("$defs", {}), ()):
        found.setdefault(path, set()).update(types)
    return {path: sorted(types - MEASURES | {"measure"} if len(types & MEASURES) > MANY else types)
            for path, types in sorted(found.items())}


def keys_of(
    node: dict[str, Any], path: str, mark: str, definitions: dict[str, Any], parents: tuple[str, ...]
) -> Iterator[tuple[str, list[str]]]:
    """Yield the path and the types of each key within a part of a schema; what contains itself ends there."""
    name = node.get("$ref", "").removeprefix("#/$defs/")
    if name and name not in parents:
        yield from keys_of(definitions[name], path, mark, definitions, (*parents, name))
    if path:
        kinds = node.get("type", [])
        values = [*node.get("enum", ()), *([node["const"]] if "const" in node else ())]
        yield path, [json.dumps(value) for value in values] or ([kinds] if isinstance(kinds, str) else kinds)
    within = [(part, path) for word in ("anyOf", "oneOf", "allOf") for part in node.get(word, ())]
    for key, inner in node.get("properties", {}).items():
        here = f"{path}.{key}".removeprefix(".")
        if (key in node.get("required", ())) == (mark == "always"):
            yield here, [mark]
        within.append((inner, here))
    within += [(inner, f"{path}.*") for inner in node.get("patternProperties", {}).values()]
    within += [(inner, f"{path}[]") for inner in node.get("prefixItems", ())]
    within += [(node[word], path + sign) for word, sign in (("items", "[]"), ("additionalProperties", ".*"))
               if isinstance(node.get(word), dict)]
    for inner, here in within:
        yield from keys_of(inner, here, mark, definitions, parents)


def of_call(name: str, function: Any) -> Iterator[tuple[str, list[str]]]:
    """Yield a function and its parameters: whether they may be left out, and given by position."""
    yield name, ["callable"]
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name not in ("self", "cls"):
            by_place = parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
            by_name = parameter.kind != parameter.POSITIONAL_ONLY
            may_miss = parameter.default is not parameter.empty
            words = {"by name": by_name, "by place": by_place, "optional": may_miss}
            yield f"{name}({parameter.name})", [word for word, holds in words.items() if holds]


def python_names() -> Iterator[tuple[str, list[str]]]:
    """Yield the public names of Python."""
    for module, names in MODULES.items():
        for name in names:
            value = getattr(importlib.import_module(module), name)
            if inspect.isclass(value):
                bases = [base.__name__ for base in value.__mro__[1:] if hasattr(errors, base.__name__)]
                yield f"{module}.{name}", bases
            elif callable(value):
                yield from of_call(f"{module}.{name}", value)
            else:
                yield f"{module}.{name}", [type(value).__name__]
    for name in METHODS:
        method = getattr(Results, name)
        if callable(method):
            yield from of_call(f"evalpipe.Results.{name}", method)
        else:
            yield f"evalpipe.Results.{name}", ["property"]


def commands() -> Iterator[tuple[str, list[str]]]:
    """Yield each command and its options, with the choices that they have."""
    for name, command in sorted(app.commands.items()):
        yield name, []
        for number, option in enumerate(command.params):
            choices = option.type.choices if isinstance(option.type, click.Choice) else ()
            is_argument = isinstance(option, click.Argument)
            may_miss = [] if option.required else ["optional"]
            for spelling in [f"argument {number + 1}"] if is_argument else [*option.opts, *option.secondary_opts]:
                yield f"{name} {spelling}", [*may_miss, *sorted(map(str, choices))]


def codes() -> Iterator[str]:
    """Yield the codes of errors, and those of warnings, reasons and findings."""
    raisers = r"\b(?:(?:Usage|Spec|Data|Internal)Error\.of|Problem|problem|idle|refer)"
    calls = re.compile(raisers + r"""\([^"']*?"([a-z0-9-]+)",""")
    for file in sorted(Path(evalpipe.__file__).parent.rglob("*.py")):
        yield from (f"error {code}" for code in calls.findall(file.read_text(encoding="utf-8")))
    yield from (f"sentence {code}" for code in TEMPLATES)
    yield from (f"finding {rule.code}" for rule in rules())


def exit_codes() -> dict[str, list[str]]:
    """Return the exit code of each kind of error, and of each signal."""
    kinds = {name: str(getattr(errors, name).exit_code) for name in MODULES["evalpipe.errors"]}
    return {name: [code] for name, code in (kinds | {name: str(code) for name, (_, code) in ENDINGS.items()}).items()}


def promised() -> Promises:
    """Return what this version has of each part."""
    spec, results = json_schema_of("spec"), json_schema_of("results")
    return {
        "key of the spec": of_schema(spec, "optional"), "key of results.json": of_schema(results, "always"),
        "key of --format json": {
            f"{kind}: {path}": types for kind in sorted(DOCUMENTS) if kind != "results"
            for path, types in of_schema(json_schema_of(kind), "always").items()},
        "Python name": dict(python_names()), "command": dict(commands()),
        "measure": {metric.name: sorted(metric.aliases) for metric in registry},
        "code": {code: [] for code in sorted(set(codes()))}, "exit code": exit_codes(),
    }


def broken(before: Promises, now: Promises) -> list[str]:
    """Return a sentence for each name of an earlier version that has gone, or is no longer what it was."""
    end = "deprecate it first, docs/stability.md"
    lost = []
    for part, names in before.items():
        for name, kinds in names.items():
            if name not in now[part]:
                lost.append(f"the {part} '{name}' of 1.0 is gone: {end}")
            elif gone := sorted(set(kinds) - set(now[part][name])):
                lost.append(f"the {part} '{name}' of 1.0 is no longer {', '.join(gone)}: {end}")
    for part in ("key of the spec", "Python name", "command"):
        lost += [f"the {part} '{name}' is new and not optional, but callers of 1.0 do not give it: give it a default"
                 for name, kinds in now[part].items()
                 if name not in before[part] and "optional" not in kinds and is_asked_for(name, before[part])]
    return lost


def is_asked_for(name: str, before: dict[str, list[str]]) -> bool:
    """Tell whether a new name is a parameter of a function, an argument of a command, or a top key of the spec."""
    if "(" in name or " " in name:
        return re.split(r"[( ]", name)[0] in before
    return "." not in name and "[" not in name


def text_of(promises: Promises) -> str:
    """Return promises as the text of the file, a name a line."""
    parts = [f" {json.dumps(part)}: {{\n" + ",\n".join(
        f"  {json.dumps(name)}: {json.dumps(kinds)}" for name, kinds in names.items()) + "\n }"
        for part, names in promises.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    FILE.write_text(text_of(promised()), encoding="utf-8")
