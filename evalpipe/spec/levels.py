"""How the levels of an outcome are compared: by their text."""

from __future__ import annotations


def level_text(value: object) -> str:
    """Return the text by which a level is known: True is "true", 1 and 1.0 are "1", a text is itself."""
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, bool):
        return "true" if plain else "false"
    if isinstance(plain, float) and plain.is_integer():
        return str(int(plain))
    return str(plain)
