"""Whose predictions a file, or a part of it, holds."""

from __future__ import annotations

from typing import Literal, NamedTuple

FitKind = Literal["shown", "step", "other", "bootstrap"]


class Fit(NamedTuple):
    """A fit of a model: the one that the card shows, another step of it, another fit, or a bootstrap fit.

    ``number`` tells those of one kind apart: the step, or the place of its file in the order of names.
    """

    model: str
    kind: FitKind = "shown"
    number: int = 0

    @property
    def is_shown(self) -> bool:
        """Whether the card shows it."""
        return self.kind == "shown"
