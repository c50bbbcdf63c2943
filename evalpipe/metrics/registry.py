"""All metrics by name."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from evalpipe.metrics.written import AVERAGE, PREVALENCE
from evalpipe.spelling import closest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.metrics.declare import Metric


class Registry:
    """All metrics by canonical name, found by alias too."""

    def __init__(self) -> None:
        """Start empty."""
        self._metrics: dict[str, Metric] = {}
        self._aliases: dict[str, str] = {}
        self._schema: dict[str, Any] | None = None

    def add(self, entry: Metric) -> None:
        """Register a metric; its name and aliases must be new."""
        for name in (entry.name, *entry.aliases):
            if name in self._aliases:
                raise ValueError(f"the metric name {name!r} is taken by {self._aliases[name]!r}")
        self._schema = None
        self._metrics[entry.name] = entry
        self._aliases.update(dict.fromkeys((entry.name, *entry.aliases), entry.name))

    def remove(self, name: str) -> None:
        """Forget a metric and its aliases."""
        self._schema = None
        entry = self._metrics.pop(name)
        for alias in (entry.name, *entry.aliases):
            del self._aliases[alias]

    def __iter__(self) -> Iterator[Metric]:
        return iter(tuple(self._metrics.values()))

    def __contains__(self, name: object) -> bool:
        return name in self._aliases

    def __getitem__(self, name: str) -> Metric:
        """Return the metric of a canonical name or alias; raises KeyError."""
        return self._metrics[self._aliases[name]]

    def closest(self, name: str) -> str | None:
        """Return the known name or alias most like ``name``, if any is close."""
        plain = name.strip().lower().replace(" ", "_").replace("-", "_")
        return closest(plain, self._aliases)

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of one entry of the spec's ``metrics``."""
        if self._schema is None:
            bare = sorted(name for name in self._aliases if not self._required(self[name]))
            self._schema = {"anyOf": [{"enum": bare}, *(self._entry_schema(entry) for entry in self)]}
        return self._schema

    @staticmethod
    def _required(entry: Metric) -> list[str]:
        """Name the options that have neither a default nor a key of the spec to fall back to."""
        empty = inspect.Parameter.empty
        return [n for n, p in entry.option_types.items() if p.default is empty and n not in entry.from_spec]

    def _entry_schema(self, entry: Metric) -> Mapping[str, Any]:
        options = entry.options.model_json_schema()
        return {
            "type": "object",
            "title": entry.title,
            "description": entry.definition,
            "properties": {
                "metric": {"enum": [entry.name, *entry.aliases]},
                **{name: part for name, part in options.get("properties", {}).items() if name not in entry.alone},
                **({"average": AVERAGE} if entry.sees == "event" else {}),
                **({"prevalence": PREVALENCE} if entry.reweighed else {}),
            },
            "required": ["metric", *self._required(entry)],
            "additionalProperties": False,
        }


registry = Registry()
"""Every metric of this process."""
