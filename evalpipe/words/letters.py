"""Letters that no font here has, for which the PDF shows boxes: their scripts, and the packages of fonts for them."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from evalpipe.words.spelling import joined

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SCRIPTS: Mapping[str, tuple[str, str]] = {
    "CJK": ("Chinese", "fonts-noto-cjk"), "HIRAGANA": ("Japanese", "fonts-noto-cjk"),
    "KATAKANA": ("Japanese", "fonts-noto-cjk"), "HANGUL": ("Korean", "fonts-noto-cjk"),
}
"""By the first word of a letter's name in Unicode, the script and the Debian package of a font that has it."""

OTHERS = "fonts-noto-core"
"""The package with the letters of other scripts."""

SAMPLES = {
    "Chinese": "测", "Japanese": "す", "Korean": "한", "Arabic": "ع", "Hebrew": "א", "Devanagari": "अ", "Thai": "ก",
}
"""A letter of scripts that the card's own fonts lack."""


def script_of(letter: str) -> str:
    """Return the script of a letter, such as "Chinese" or "Arabic"."""
    word = unicodedata.name(letter, "unnamed").split()[0]
    return SCRIPTS[word][0] if word in SCRIPTS else word.capitalize()


def missing_letters_sentence(letters: Sequence[str]) -> str:
    """Return the sentence that the PDF shows boxes for letters, of which scripts, and which font packages have them."""
    scripts = list(dict.fromkeys(map(script_of, letters)))
    words = [unicodedata.name(letter, "unnamed").split()[0] for letter in letters]
    packages = sorted({SCRIPTS[word][1] if word in SCRIPTS else OTHERS for word in words})
    count = f"{len(letters):,} {'letter' if len(letters) == 1 else 'letters'}"
    return (f"card.pdf shows boxes for {count} ({joined(scripts, 'and')}), such as '{letters[0]}', which no font here "
            f"has; install one (Debian, Ubuntu: apt-get install {' '.join(packages)}) and run again")
