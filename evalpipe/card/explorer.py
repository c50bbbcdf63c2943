"""The blocks of the page in which its reader chooses: models, a threshold, a prevalence."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Explored:
    """A model in the table of an explorer: its key in the data, its label and its look (ink, colour, marker)."""

    key: str
    label: str
    look: tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class ModelBoxes:
    """Boxes that show or hide the models of each look; only where the page runs its script.

    ``models`` are the inks, each with the labels of its models.
    """

    models: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Explorer:
    """Sliders, a table of the models at their setting, and the ``data`` they work on, as JSON; nothing on paper.

    ``groups`` are the sets of rows to choose from; ``columns`` the keys and heads of the measures.
    """

    data: str
    groups: tuple[str, ...]
    models: tuple[Explored, ...]
    counts: tuple[tuple[str, str], ...]
    columns: tuple[tuple[str, str], ...]
    said: str
