"""The points of a curve as results hold them."""

from __future__ import annotations

from typing import Any

import numpy as np

from evalpipe.results import Scalar

Points = dict[str, list[float | None]]
Notes = dict[str, Scalar]


def listed(**coordinates: Any) -> Points:
    """Turn arrays into lists, with null for what is not finite."""
    return {name: [float(x) if np.isfinite(x) else None for x in values] for name, values in coordinates.items()}
