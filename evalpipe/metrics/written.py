"""How the average and the prevalence of a measure are written in a spec: their JSON Schemas."""

from __future__ import annotations

from typing import Any

AVERAGES = ("macro", "macro_weighted", "micro", "none")
"""How a measure that sees one class is brought together over all: its plain mean, its mean by the classes' true shares,
one value of all classes' ingredients pooled, or not at all."""

AVERAGE: dict[str, Any] = {
    "title": "Average",
    "description": "How the measure is averaged over the levels of a multiclass or ordinal outcome; macro by default.",
    "anyOf": [
        {"enum": list(AVERAGES)},
        {"type": "array", "items": {"enum": list(AVERAGES)}, "minItems": 1, "uniqueItems": True},
    ],
}
"""The JSON Schema of the averages of an entry."""

_AT = {"anyOf": [
    {"enum": ["sample", "declared"]},
    {"type": "number", "minimum": 0, "maximum": 1},
    {"type": "object", "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1}, "minProperties": 1},
]}

PREVALENCE: dict[str, Any] = {
    "title": "Prevalence",
    "description": "The prevalence at which the measure is taken, by reweighting the classes: `sample` (the "
                   "default), `declared`, a number (for more than two levels, a mapping of level to number), or a "
                   "list of these.",
    "anyOf": [*_AT["anyOf"], {"type": "array", "items": _AT, "minItems": 1}],
}
"""The JSON Schema of the prevalence at which an entry asks for its measure."""
