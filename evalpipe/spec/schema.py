"""The JSON Schema of a spec file, and the canonical form of a spec."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from evalpipe.base.digests import json_sha256
from evalpipe.metrics import registry
from evalpipe.metrics.declare import PREVALENCE
from evalpipe.spec.field_types import IdleWithout
from evalpipe.spec.measures import EXPRESSION_NAME, MEASURE
from evalpipe.spec.spec import ALONE, ANY_NAME, Spec, applies
from evalpipe.tasks import MANY, SCORES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.metrics.declare import Metric
    from evalpipe.spec.field_types import SpecPart
    from evalpipe.spec.messages import Schema

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_REFERENCE = {"type": "string", "pattern": r"\$\{(env:|date\})",
              "description": "A reference to an environment variable, ${env:NAME} or ${env:NAME:-default}, or to the "
              "day under as_of, ${date}."}
_EXTENDS = {
    "type": "string", "minLength": 1, "title": "Extends",
    "description": "Another spec file, relative to this one. This file's mappings merge into it; its lists and values "
    "replace.",
}
COMPUTING = ("workers", "backend", "address")
"""Keys of `engine` that say who computes, and change no result."""
_DEMANDS = ("required", "minProperties")


def model_schema() -> Schema:
    """Return the schema of a resolved spec, from the models; callers share it and must not change it."""
    return _schema_with(tuple(registry))


@cache
def _schema_with(_: tuple[Metric, ...]) -> Schema:
    """Make the schema of a resolved spec while the registry holds these metrics."""
    return _with_measures(Spec.model_json_schema(), registry.json_schema())


def json_schema() -> Schema:
    """Return the JSON Schema (draft 2020-12) of what a spec file may contain, with every metric registered now.

    Beyond the models, a file may hold ``extends`` (then no key is required) and references to environment variables.
    """
    written = Spec.model_json_schema()
    schema, demands = _for_files(written), _demands(written, written["$defs"])
    # A file that extends another need not hold every key: what is required stands under `then`, for others alone.
    for part in (schema, *schema["$defs"].values()):
        for word in _DEMANDS:
            part.pop(word, None)
    for part in schema["properties"].values():
        part.pop("minProperties", None)
    head = {"$schema": DIALECT, "$id": "urn:evalpipe:spec:1", "title": "evalpipe spec",
             "description": schema["description"]}
    # Every measure may be taken at a prevalence, whose forms are long too: one definition, which all refer to.
    prevalence = _for_files(PREVALENCE)
    measure = _with_references(_for_files(registry.json_schema()), {"anyOf": prevalence["anyOf"]}, "at")
    schema = _with_measures(schema, measure)
    schema["properties"] = {"extends": _EXTENDS, **schema["properties"]}
    goal = _for_files(_goal_schema(written["$defs"]["GoalRule"]))
    schema["$defs"] |= {"GoalRule": goal, "at": prevalence, "reference": _REFERENCE}
    return {
        **head,
        **{k: v for k, v in schema.items() if k not in head},
        "if": {"not": {"required": ["extends"]}},
        "then": {**demands, **_with_or_without_predictions(demands["required"]),
                 "allOf": [_require_of_outcome(["binary"], "event"), _require_of_outcome(list(MANY), "levels")]},
    }


def _goal_schema(goal: Schema) -> Schema:
    """Return the schema of a goal as a file holds it: the options of its measure stand beside its own keys."""
    options: dict[str, list[Any]] = {}
    for form in registry.json_schema()["anyOf"][1:]:
        for key, part in form["properties"].items():
            alternatives = options.setdefault(key, [])
            alternatives += [part] if key != "metric" and part not in alternatives else []
    names = [name for form in registry.json_schema()["anyOf"][1:] for name in form["properties"]["metric"]["enum"]]
    measure = {"description": goal["properties"]["metric"].get("description", ""),
               "anyOf": [{"enum": names}, EXPRESSION_NAME]}
    options_of_measures = {
        key: parts[0] if len(parts) == 1 else {"anyOf": parts} for key, parts in options.items() if parts}
    return {**goal, "properties": {**goal["properties"], **options_of_measures, "metric": measure}}


def _with_or_without_predictions(required: list[str]) -> Schema:
    """Require the keys of predictions, those of scores, or none of them where there are candidates with goals."""
    predicted = [key for key in required if key not in ALONE]
    without = {"not": {"anyOf": [{"required": [key]} for key in predicted]}}
    of_scores = {"required": [*(key for key in predicted if applies((key,), SCORES[0])), "score"],
                 "properties": {"task": {"enum": list(SCORES)}}}
    return {"required": [key for key in required if key in ALONE],
            "anyOf": [{"required": predicted}, of_scores, {"required": ["candidates", "desirability"], **without}]}


def _with_references(node: Any, form: Schema, name: str) -> Any:
    """Copy a schema, with a reference to the definition of a name in place of the ``form``, wherever it has that."""
    if isinstance(node, list):
        return [_with_references(item, form, name) for item in node]
    if not isinstance(node, dict):
        return node
    copied = {key: _with_references(item, form, name) for key, item in node.items()}
    if any(copied.get(key) != item for key, item in form.items()):
        return copied
    return {**{key: item for key, item in copied.items() if key not in form}, "$ref": f"#/$defs/{name}"}


def _with_measures(schema: Schema, measure: Schema) -> Schema:
    """Add the definition of a measure, to which all places refer, for its forms are long."""
    marked: Schema = _with_references(schema, {"$comment": MEASURE}, "metric")
    marked["$defs"]["metric"] = measure
    return marked


def _require_of_outcome(tasks: list[str], key: str) -> Schema:
    """Require a key of the outcome where the task is one of these."""
    return {
        "if": {"properties": {"task": {"enum": tasks}}, "required": ["task"]},
        "then": {"properties": {"outcome": {"required": [key]}}},
    }


def _for_files(node: Any) -> Any:
    """Copy a schema; let references stand for numbers and choices, and refuse names that patterns do not cover."""
    if isinstance(node, list):
        return [_for_files(item) for item in node]
    if not isinstance(node, dict):
        return node
    scalar = node.get("type") in ("number", "integer", "boolean")
    if scalar or "enum" in node or "const" in node or "pattern" in node:
        # An environment variable may give any single value, but its reference is a text.
        about = {key: node[key] for key in ("title", "description", "default") if key in node}
        plain = {key: value for key, value in node.items() if key not in about}
        return {**about, "anyOf": [plain, {"$ref": "#/$defs/reference"}]}
    copied: Schema = {}
    for word, value in node.items():
        if word in ("properties", "patternProperties", "$defs"):
            copied[word] = {name: _for_files(item) for name, item in value.items()}
        else:
            copied[word] = value if word in ("propertyNames", "default") else _for_files(value)
    if isinstance(copied.get("patternProperties"), dict):
        copied["additionalProperties"] = False
    return copied


def _demands(node: Schema, defs: Schema) -> Schema:
    """Return only the parts of a schema that require keys; a file that extends another need not have them."""
    if "$ref" in node:
        return _demands(defs[node["$ref"].rsplit("/", 1)[1]], defs)
    demands: Schema = {word: node[word] for word in _DEMANDS if word in node}
    options = [_demands(option, defs) for option in node.get("anyOf", ())]
    if sum("required" in option for option in options) > 1:  # of several mappings, what is written is one
        demands["anyOf"] = options
    else:
        demands.update({word: value for option in options for word, value in option.items()})
    properties = {k: _demands(v, defs) for k, v in node.get("properties", {}).items() if k not in ("metrics", "metric")}
    properties = {key: value for key, value in properties.items() if value}
    inner = next((_demands(v, defs) for v in node.get("patternProperties", {}).values()), {})
    return {
        **demands,
        **({"properties": properties} if properties else {}),
        **({"additionalProperties": inner} if inner else {}),
    }


def resolved(spec: Spec) -> dict[str, object]:
    """Return the spec as plain JSON values: defaults filled in, metrics under their canonical names with all options.

    Options that a metric takes from the spec stay absent, and so does `COMPUTING`; loading gives the rest again.
    """
    document = spec.model_dump(mode="json")
    for model in document["models"].values():
        for key in [key for key in model if not applies(("models", ANY_NAME, key), spec.task)]:
            del model[key]
        # Keys that a task came to have after others had them.
        added = ("probabilities", "scores", "renormalise") if spec.task == "binary" else ("scale",)
        for key in [key for key in added if key in model and not model[key]]:
            del model[key]
    # Keys that would say nothing are left out, so that the hash of a spec is that of what it asks for.
    thresholded = "threshold" in spec.model_fields_set or any(
        "probabilities" in spec.gives_with_variants(model) for model in spec.models.values())
    idle = {"ledger", *_idle_keys(spec)}
    if not applies(("threshold",), spec.task) or not thresholded:
        idle.add("threshold")
    if spec.task in SCORES:
        idle |= {name for name in Spec.model_fields if not applies((name,), spec.task)}
    if spec.alone:
        idle |= Spec.model_fields.keys() - ALONE
    for key in COMPUTING:
        del document["engine"][key]
    for key in _idle_keys(spec.report):
        del document["report"][key]
    return {name: document[name] for name in Spec.model_fields if name in document and name not in idle}


def _idle_keys(part: SpecPart) -> Iterator[str]:
    """Yield the keys of a mapping that have no effect, because a key that they need is absent."""
    for name, field in type(part).model_fields.items():
        for mark in field.metadata:
            if isinstance(mark, IdleWithout) and not any(getattr(part, key) for key in mark.keys or (name,)):
                yield name


def spec_sha256(spec: Spec) -> str:
    """Return the SHA-256 of the resolved spec's canonical JSON: sorted keys, no spaces."""
    return json_sha256(resolved(spec))
