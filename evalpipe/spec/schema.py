"""The JSON Schema of a spec file, and the canonical form of a spec."""

from __future__ import annotations

import copy
import hashlib
import json
from typing import TYPE_CHECKING, Any

from evalpipe import calibration
from evalpipe.chapters.desirability.spec import OWN, file_schema
from evalpipe.chapters.thresholds.spec import ThresholdRule
from evalpipe.metrics import registry
from evalpipe.metrics.written import PREVALENCE
from evalpipe.spec.choices import MEASURE
from evalpipe.spec.keys import applies
from evalpipe.spec.models import Spec
from evalpipe.spec.parts import gives
from evalpipe.tasks import MANY

if TYPE_CHECKING:
    from evalpipe.chapters.recalibrate.spec import MethodChoice
    from evalpipe.spec.choices import MetricChoice
    from evalpipe.spec.describe import Schema

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_REFERENCE = {
    "type": "string",
    "pattern": r"\$\{env:",
    "description": "A reference to an environment variable: ${env:NAME} or ${env:NAME:-default}.",
}
_EXTENDS = {
    "type": "string",
    "minLength": 1,
    "title": "Extends",
    "description": (
        "Another spec file, relative to this one. This file's mappings merge into it; its lists and values replace."
    ),
}
_DEMANDS = ("required", "minProperties")


def model_schema() -> Schema:
    """Return the schema of a resolved spec, straight from the models."""
    forms: Schema = _with_measures(Spec.model_json_schema(), registry.json_schema()["anyOf"])
    return forms


def json_schema() -> Schema:
    """Return the JSON Schema (draft 2020-12) of what a spec file may contain, with every metric registered now.

    Beyond the models, a file may hold ``extends`` (then no key is required) and references to environment variables.
    """
    written = Spec.model_json_schema()
    schema, demands = _for_files(written), _demands(written, written["$defs"])
    for part in (schema, *schema["$defs"].values()):
        for word in _DEMANDS:
            part.pop(word, None)
    for part in schema["properties"].values():
        part.pop("minProperties", None)
    first = {
        "$schema": DIALECT,
        "$id": "urn:evalpipe:spec:1",
        "title": "evalpipe spec",
        "description": schema["description"],
    }
    schema = _with_measures(schema, [{"$ref": "#/$defs/metric"}])
    schema["$defs"]["GoalRule"] = _for_files(file_schema(written["$defs"]["GoalRule"]))
    entry = _for_files(registry.json_schema())
    at = _for_files(PREVALENCE)
    schema["properties"] = {"extends": _EXTENDS, **schema["properties"]}
    schema["$defs"] |= {"metric": _with_prevalence(entry, at["anyOf"]), "at": at, "reference": _REFERENCE}
    return {
        **first,
        **{k: v for k, v in schema.items() if k not in first},
        "if": {"not": {"required": ["extends"]}},
        "then": {**demands, "allOf": [_of_outcome(["binary"], "event"), _of_outcome(list(MANY), "levels")]},
    }


def _with_measures(node: Any, forms: list[Any]) -> Any:
    """Put the forms of a measure wherever one is marked."""
    if isinstance(node, list):
        items = [_with_measures(item, forms) for item in node]
        return [form for item in items for form in (forms if item is forms else [item])]
    if not isinstance(node, dict):
        return node
    if node == {"$comment": MEASURE}:
        return forms
    if node.get("$comment") == MEASURE:
        return _one({key: value for key, value in node.items() if key != "$comment"}, forms)
    return {key: _one({}, value) if value is forms else value
            for key, value in ((key, _with_measures(value, forms)) for key, value in node.items())}


def _one(beside: Schema, forms: list[Any]) -> Schema:
    """Return a schema of any of several forms, or of the only one."""
    return {**beside, **(forms[0] if len(forms) == 1 else {"anyOf": forms})}


def _with_prevalence(node: Any, forms: list[Any]) -> Any:
    """Refer to the one definition of a prevalence wherever its forms stand."""
    if isinstance(node, list):
        return [_with_prevalence(item, forms) for item in node]
    if not isinstance(node, dict):
        return node
    if node.get("anyOf") == forms:
        return {**{key: value for key, value in node.items() if key != "anyOf"}, "$ref": "#/$defs/at"}
    return {key: _with_prevalence(value, forms) for key, value in node.items()}


def _of_outcome(tasks: list[str], key: str) -> Schema:
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
    if _is_scalar(node):
        about = {key: node[key] for key in ("title", "description", "default") if key in node}
        plain = {key: value for key, value in node.items() if key not in about}
        return {**about, "anyOf": [plain, {"$ref": "#/$defs/reference"}]}
    copied = {key: _inside(key, value) for key, value in node.items()}
    if isinstance(copied.get("patternProperties"), dict):
        copied["additionalProperties"] = False
    return copied


def _inside(word: str, value: Any) -> Any:
    """Copy what stands under a word of JSON Schema."""
    if word in ("properties", "patternProperties", "$defs"):
        return {name: _for_files(item) for name, item in value.items()}
    return value if word in ("propertyNames", "default") else _for_files(value)


def _is_scalar(node: Schema) -> bool:
    restricted = "enum" in node or "const" in node or "pattern" in node
    return restricted or node.get("type") in ("number", "integer", "boolean")


def _demands(node: Schema, defs: Schema) -> Schema:
    """Return only what a schema requires of mappings: a file that extends another is free of it."""
    if "$ref" in node:
        return _demands(defs[node["$ref"].rsplit("/", 1)[1]], defs)
    demands: Schema = {word: node[word] for word in _DEMANDS if word in node}
    for option in node.get("anyOf", ()):
        demands.update(_demands(option, defs))
    properties = {k: _demands(v, defs) for k, v in node.get("properties", {}).items() if k not in ("metrics", "metric")}
    properties = {key: value for key, value in properties.items() if value}
    inner = next((_demands(v, defs) for v in node.get("patternProperties", {}).values()), {})
    return {
        **demands,
        **({"properties": properties} if properties else {}),
        **({"additionalProperties": inner} if inner else {}),
    }


def resolved(spec: Spec) -> dict[str, Any]:
    """Return the spec as plain JSON values: defaults filled in, metrics under their canonical names with all options.

    Options that a metric takes from the spec stay absent. Loading the outcome gives the same spec again.
    """
    document = spec.model_dump(mode="json", exclude={"metrics"})
    foreign = [] if applies(("threshold",), spec.task) and _of_probabilities(spec) else ["threshold"]
    for model in document["models"].values():
        for key in [key for key in model if not applies(("models", "", key), spec.task)]:
            del model[key]
    metrics = None if spec.metrics is None else [_canonical(choice) for choice in spec.metrics]
    _resolve_slices(spec, document)
    _resolve_goals(spec, document)
    for gate, written in zip(spec.gates or (), document["gates"] or (), strict=True):
        written["metric"] = None if gate.metric is None else _canonical(gate.metric)
    for rate, written in zip(spec.reference_rates or (), document["reference_rates"] or (), strict=True):
        written["metric"] = _canonical(rate.metric)
    _resolve_thresholds(spec, document)
    if spec.recalibrate is not None:
        document["recalibrate"]["methods"] = [_method(choice) for choice in spec.recalibrate.methods]
    foreign += ["slice_rules"] if spec.slices is None and spec.worst_slices is None else []
    foreign += ["reference_rates"] if spec.reference_rates is None else []
    fields = (
        (name, metrics if name == "metrics" else document[name]) for name in Spec.model_fields if name not in foreign
    )
    return copy.deepcopy(dict(fields))


def _of_probabilities(spec: Spec) -> bool:
    """Tell whether the spec's threshold, written or not, can make classes of any model's predictions."""
    return "threshold" in spec.model_fields_set or any("probabilities" in gives(m) for m in spec.models.values())


def _resolve_thresholds(spec: Spec, document: dict[str, Any]) -> None:
    """Write the measures of rules under their canonical names, and no key that was not written."""
    holders: list[tuple[Any, dict[str, Any]]] = [(spec.threshold, document)]
    holders += [(model.threshold, document["models"][name]) for name, model in spec.models.items()]
    for rule, part in holders:
        if isinstance(rule, ThresholdRule):
            written = rule.model_dump(mode="json", exclude_none=True)
            goals = {key: _canonical(choice) for key in ("maximize", "minimize") if (choice := getattr(rule, key))}
            bounds = {registry[name].name: bound for name, bound in written.get("subject_to", {}).items()}
            part["threshold"] = written | goals | ({"subject_to": bounds} if bounds else {})


def _resolve_slices(spec: Spec, document: dict[str, Any]) -> None:
    """Write the measures that slices name under their canonical names."""
    if spec.worst_slices is not None:
        document["worst_slices"]["metric"] = _canonical(spec.worst_slices.metric)
    names = spec.slice_rules.disparities
    if names is not None:
        resolved_names = [registry[name].name if name in registry else name for name in names]
        document["slice_rules"]["disparities"] = resolved_names


def _resolve_goals(spec: Spec, document: dict[str, Any]) -> None:
    """Write the measures of goals under their canonical names."""
    for goal, written in zip(spec.desirability or (), document["desirability"] or (), strict=True):
        if goal.metric is not None:
            measure = _canonical(goal.metric)
            own = {key: item for key, item in written.items() if key in OWN}
            written.clear()
            written.update({"metric": measure} if isinstance(measure, str) else measure, **own)


def _canonical(choice: MetricChoice) -> str | dict[str, Any]:
    """Return a metric's entry under its canonical name, with the defaults of its options."""
    entry = registry[choice.metric]
    given = dict(choice.options)
    own = [name for name in entry.option_types if name in given or name not in entry.from_spec]
    probe = {name: ((0.0,),) if name in entry.alone else 0.5 for name in entry.from_spec} | given
    options = entry.options.model_validate(probe).model_dump(mode="json", include=set(own))
    common = {"average": choice.average, "prevalence": choice.prevalence}
    options |= {key: value for key, value in common.items() if value is not None}
    return {"metric": entry.name, **options} if options else entry.name


def _method(choice: MethodChoice) -> str | dict[str, Any]:
    """Return a recalibrator's entry with the defaults of its options."""
    options = calibration.registry[choice.method].options.model_validate(dict(choice.options)).model_dump(mode="json")
    name = {} if choice.name == choice.method else {"name": choice.name}
    return {"method": choice.method, **name, **options} if options or name else choice.method


def spec_sha256(spec: Spec) -> str:
    """Return the SHA-256 of the resolved spec's canonical JSON: sorted keys, no spaces."""
    text = json.dumps(resolved(spec), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
