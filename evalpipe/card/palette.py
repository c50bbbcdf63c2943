"""How models are told apart in every figure: by colour and by marker, in the order of the models."""

from __future__ import annotations

COLOURS = ("#0b5fa5", "#c8500a", "#1b7f5c", "#8a3f8f", "#7a5a00", "#3d4650", "#b5345c")

OUTLINES = (
    "M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0", "M-4.6,-4.6h9.2v9.2h-9.2z", "M0,-5.6L5.4,4.4H-5.4z",
    "M0,-6L5.4,0L0,6L-5.4,0z", "M0,5.6L5.4,-4.4H-5.4z", "M-5,-1.7h3.3v-3.3h3.4v3.3h3.3v3.4h-3.3v3.3h-3.4v-3.3h-3.3z",
)
"""The outlines of the markers in SVG, about (0, 0): as matplotlib's o, s, ^, D, v and P."""
