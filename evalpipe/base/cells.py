"""Cells of separated text: what those of a column may be declared to be, and which a spreadsheet would run."""

from __future__ import annotations

from typing import Literal

CellType = Literal["text", "number", "integer", "boolean", "date", "datetime"]

FORMULA, NUMBER = r"[=+\-@\t\r]", r"[+-]?[0-9.]+([eE][+-]?[0-9]+)?"
"""Regular expressions: what a formula of a spreadsheet begins with, and a number, which may begin alike.

Where evalpipe writes a text that begins so and is no number, such as a level of the outcome, it writes an apostrophe
before it, and the text stays a text.
"""
