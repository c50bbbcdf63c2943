"""How models are told apart in every figure, by colour and by marker, and all else that is drawn.

A colour for each model and each role, on light and on dark paper, and what is drawn with them.
Any two colours of models are at least `APART` from each other in CIEDE2000, also as seen with deuteranopia or
protanopia, and stand out from their paper by 4.5 to 1.
"""

from __future__ import annotations

MODELS = ("#0b5fa5", "#c8500a", "#2d7869", "#e10f69", "#690f4b", "#961e00", "#5a2d2d")
MODELS_DARK = ("#6cb2f0", "#f09a55", "#009696", "#ff2d96", "#2df0b4", "#d25a5a", "#87e1e1")
APART = 10.0
"""The least distance between the colours of two models."""

STROKES = ("", "7 3", "7 2.5 1.5 2.5", "2.5 2.5", "11 3", "11 2.5 1.5 2.5 1.5 2.5", "4 1.5 1.5 1.5")
"""The strokes of models' lines in a panel that they share, in their order: on grey paper two inks may look alike."""

LIGHTNESS_APART = 10.0
"""The least difference in lightness, L* of CIELAB, by which two lines of one stroke are told apart in grey."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
"""The markers of models, in their order; a model has the same colour and marker in every figure."""

OUTLINES = {
    "o": "M-1,0a1,1 0 1,0 2,0a1,1 0 1,0 -2,0z", "s": "M-.9,-.9h1.8v1.8h-1.8z", "^": "M0,-1.1L1.05,.8H-1.05z",
    "D": "M0,-1.2L1.1,0L0,1.2L-1.1,0z", "v": "M0,1.1L1.05,-.8H-1.05z",
    "P": "M-1,-.35h.65v-.65h.7v.65h.65v.7h-.65v.65h-.7v-.65h-.65z",
    "X": "M-1,-.6L-.6,-1L0,-.4L.6,-1L1,-.6L.4,0L1,.6L.6,1L0,.4L-.6,1L-1,.6L-.4,0z",
}
"""The outlines of markers of size 1 about their middle."""

ROLES = {
    "ink": ("#1b2733", "#e8edf2"), "muted": ("#55616d", "#a3b0bc"), "grid": ("#dde2e7", "#333d47"),
    "pale": ("#a3aeb8", "#77848f"), "zone": ("#e3e8ec", "#2b343d"), "limit": ("#a3231c", "#ff8a80"),
    "paper": ("#ffffff", "#14191f"),
}
"""Colours of everything that is no model, on light and on dark paper."""

KINDS: dict[str, dict[str, str]] = {
    "line": {"fill": "none", "stroke": "{c}", "stroke-width": "1.8", "stroke-linejoin": "round"},
    "thin": {"fill": "none", "stroke": "{c}", "stroke-width": "1"},
    "hair": {"fill": "none", "stroke": "{c}", "stroke-width": ".8", "stroke-opacity": ".45"},
    "range": {"fill": "none", "stroke": "{c}", "stroke-width": "1.6"},
    "band": {"fill": "{c}", "fill-opacity": ".2"},
    "faint": {"fill": "{c}", "fill-opacity": ".1"},
    "fill": {"fill": "{c}", "fill-opacity": ".75"},
    "light": {"fill": "{c}", "fill-opacity": ".35"},
    "solid": {"fill": "{c}"},
    "dots": {"fill": "none", "stroke": "{c}", "stroke-width": "3.6", "stroke-linecap": "round", "stroke-opacity": ".7"},
    "mark": {"fill": "{c}", "stroke": "{paper}", "stroke-width": ".8"},
    "ring": {"fill": "{paper}", "stroke": "{c}", "stroke-width": "2"},
    "hollow": {"fill": "{paper}", "stroke": "{c}", "stroke-width": "1"},
    "text": {"fill": "{c}"},
    "bold": {"fill": "{c}", "font-weight": "600"},
    "gap": {"fill": "none", "stroke": "{c}", "stroke-width": "12"},
}
"""Ways to draw: the attributes of each, with the ink's colour as ``{c}``."""


def inks() -> dict[str, tuple[str, str]]:
    """Return the colour of every ink on light and on dark paper."""
    models = {f"m{i}": pair for i, pair in enumerate(zip(MODELS, MODELS_DARK, strict=True))}
    return models | ROLES


def colour_index(index: int, models: int) -> int:
    """Return the index of the colour of a model, by its ``index`` among so many ``models``.

    Where they are more than the colours all have the first, so that no two share a colour by chance: the name of a
    row or panel then tells them apart.
    """
    return index if models <= len(MODELS) else 0


def model_look(index: int) -> tuple[str, str, str]:
    """Return (ink, colour on light paper, marker outline) of the model at this index in the spec."""
    return f"m{index % len(MODELS)}", MODELS[index % len(MODELS)], OUTLINES[MARKERS[index % len(MARKERS)]]


def attributes(kind: str, ink: str) -> dict[str, str]:
    """Return the SVG attributes for a kind of drawing in `KINDS` and an ink, in the colours of light paper."""
    colour, paper = inks()[ink][0], ROLES["paper"][0]
    return {name: value.format(c=colour, paper=paper) for name, value in KINDS[kind].items()}


def style_sheet() -> str:
    """Return the styles of figures on a screen, for light and for dark paper; print stays light."""
    light, dark = ("".join(f"--{name}: {pair[k]}; " for name, pair in inks().items()) for k in (0, 1))
    kinds = "".join(
        f".chart .{kind} {{ " + "".join(f"{name}: {value.format(c='var(--c)', paper='var(--paper)')}; "
                                        for name, value in KINDS[kind].items()) + "}\n" for kind in KINDS)
    colours = "".join(f".{name} {{ --c: var(--{name}); }}\n" for name in inks())
    dots = (".dots .dot { stroke: var(--c); fill: var(--c); }\n.dots .tick { stroke: var(--grid); }\n"
            ".dots .limit { stroke: var(--limit); }\n.dots .numbers { fill: var(--muted); }\n")
    parts = {"found": "m0", "missed": "m0", "alarms": "m1", "left": "zone", "none": "pale"}
    dots += "".join(f".thousand rect.{part} {{ fill: var(--{ink}); }}\n" for part, ink in parts.items())
    hidden = "".join(f".without-{ink} :is(.chart .{ink}, .dots tr:has(.{ink}), .thousand tr.{ink}, "
                     f".what-if tr:has(.{ink})) "
                     "{ display: none; }\n" for ink in inks() if ink not in ROLES)
    return (f":root {{ {light}}}\n@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark}}} }}\n"
            f"{colours}{kinds}{dots}{hidden}")
