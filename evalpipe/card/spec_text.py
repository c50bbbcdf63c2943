"""The spec as YAML text that reads back as the same spec."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def spec_text(spec: Mapping[str, object]) -> str:
    """Write the spec as YAML, keys in their order, without those that have no value.

    A text that begins like a number is quoted: ``1e3`` is a text to PyYAML, but a number to YAML 1.2. So is one with
    invisible characters, which are then written as escapes. ``${`` is doubled: a reader would take it for a reference
    to an environment variable.
    """
    import yaml

    class Writer(yaml.SafeDumper):
        """Writes texts with quotes wherever a reader of YAML 1.2 could take them for numbers."""

    def text(writer: yaml.SafeDumper, value: str) -> yaml.Node:
        numeric, odd = value[:1] in set("+-.0123456789"), not value.replace("\n", "").isprintable()
        style = '"' if odd else "'" if numeric else None
        return writer.represent_scalar("tag:yaml.org,2002:str", value.replace("${", "$${"), style=style)

    Writer.add_representer(str, text)
    return yaml.dump(_without_absent(spec), Dumper=Writer, sort_keys=False, allow_unicode=True, width=100)


def _without_absent(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_absent(item) for key, item in value.items() if item is not None and item != {}}
    return [_without_absent(item) for item in value] if isinstance(value, list) else value
