"""The spec as YAML text that reads back as the same spec."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def spec_text(spec: Mapping[str, object]) -> str:
    """Write the spec as YAML, keys in their order, without those that have no value.

    A text that begins like a number is quoted: ``1e3`` is a text to PyYAML, but a number to YAML 1.2. So is one with
    invisible characters, which are then written as escapes. A text of several lines stands in these lines. ``${`` in
    a value is written ``$${``, as it would be taken for a reference to an environment variable.
    """
    import yaml

    class Writer(yaml.SafeDumper):
        """Writes texts with quotes wherever a reader of YAML 1.2 could take them for numbers."""

    def text(writer: yaml.SafeDumper, value: str) -> yaml.Node:
        numeric, odd = value[:1] in set("+-.0123456789"), not value.replace("\n", "").isprintable()
        style = '"' if odd else "|" if "\n" in value else "'" if numeric else None
        return writer.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Writer.add_representer(str, text)
    return yaml.dump(_as_written(spec), Dumper=Writer, sort_keys=False, allow_unicode=True, width=100)


def _as_written(value: object) -> object:
    """Return a value as one would write it: without what is absent, and with ``$${`` for ``${``, but in keys."""
    if isinstance(value, dict):
        return {key: _as_written(item) for key, item in value.items() if item is not None and item != {}}
    if isinstance(value, list):
        return [_as_written(item) for item in value]
    return value.replace("${", "$${") if isinstance(value, str) else value
