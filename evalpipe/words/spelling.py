"""Words in messages: how they are quoted and listed, and which known word an unknown one misspells."""

from __future__ import annotations

import difflib
import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


LONGEST = 60
"""The characters of a value that are shown in a message or a table."""

FEW = 3
"""How many of several names a message shows."""

JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
"""Letters of Persian, scripts of India and emoji are written with these."""

DECEPTIVE = re.compile(
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\ue000\ue001\ufffe\uffff]")
"""Characters that no text needs: controls, and marks that turn the direction of what follows. The two of private use
stand about the number of a reference while prose is parsed."""

_LEAST_SIMILARITY = 0.6
"""The least similarity of names (Ratcliff and Obershelp's ratio of matching characters); that of `difflib` itself."""

_SHORTEST_MISSPELT = 4
"""Where both are shorter than this, no level is a misspelling of another: one letter makes another word."""


def quoted(value: object) -> str:
    """Return a value of the spec for a message, a text in quotes and shortened where it is long."""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value)
    text = text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
    return printable(repr(text)) if isinstance(value, str) else text


def printable(text: str) -> str:
    """Return a text with a mark in place of each character that cannot be printed."""
    return "".join(c if c.isprintable() or c in JOINERS else "\N{REPLACEMENT CHARACTER}" for c in text)


def clipped(text: str) -> str:
    """Return a text for one line: printable, and cut to `LONGEST` characters."""
    clean = printable(text)
    return clean if len(clean) <= LONGEST else f"{clean[: LONGEST - 1].rstrip()}…"


_LETTER = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]"
RIGHT_TO_LEFT = re.compile(f"{_LETTER}+(?:[ '’.-]+{_LETTER}+)*")
"""Words of scripts that run from right to left, such as Arabic and Hebrew."""


def legible(text: str) -> str:
    """Return a text with a replacement mark for each control character and mark that turns the direction of text."""
    return DECEPTIVE.sub("\N{REPLACEMENT CHARACTER}", text)


def isolated(text: str) -> str:
    """Return a legible text with words that run from right to left isolated, so that numbers keep their order.

    Numbers beside them would change their order, 0.62–0.78 to 0.78–0.62: Unicode Standard Annex 9, section 2.4.
    """
    if text.isascii() and text.isprintable():
        return str(text)
    return RIGHT_TO_LEFT.sub("\N{FIRST STRONG ISOLATE}\\g<0>\N{POP DIRECTIONAL ISOLATE}", legible(text))


def listed(words: Iterable[object], last: str = "or") -> str:
    """Return words as a list in quotes: ``'a', 'b' or 'c'``; ``last`` is the word before the last item."""
    return joined([quoted(word) for word in words], last)


def choose(known: Sequence[str], none: str | None) -> str | None:
    """Return the hint "choose one of 'a' or 'b'" for ``known`` names; "write 'a'" for one name, ``none`` for none."""
    return f"choose one of {listed(known)}" if len(known) > 1 else f"write '{known[0]}'" if known else none


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: "1 row", "2,000 rows"."""
    return f"{number:,} {noun if number == 1 else plural(noun)}"


_PREPOSITION = re.compile(r"( (?:at|by|from|in|of|on|that|to|who|with|without) )")

IRREGULAR = {"person": "people", "man": "men", "woman": "women", "child": "children"}
"""Nouns that stand for rows, and whose plural has no rule."""


def plural(noun: str) -> str:
    """Return the plural of a noun: "rows", "probabilities", "people", "pregnant women", "loans in default"."""
    head, preposition, rest = _PREPOSITION.split(noun, maxsplit=1) if _PREPOSITION.search(noun) else (noun, "", "")
    *before, last = head.split(" ")
    if last in IRREGULAR:
        last = IRREGULAR[last]
    elif last.endswith("y") and last[-2:-1] not in "aeiou":
        last = f"{last[:-1]}ies"
    else:
        last += "es" if last.endswith(("s", "x", "z", "ch", "sh")) else "s"
    return " ".join((*before, last)) + preposition + rest


def joined(texts: Sequence[str], last: str) -> str:
    """Return texts as a list without quotes: ``a, b or c``; ``last`` is the word before the last item."""
    return f" {last} ".join(part for part in (", ".join(texts[:-1]), *texts[-1:]) if part)


def first_repeated(names: Iterable[str]) -> str | None:
    """Return the first name that occurred before; None where each occurs once."""
    earlier: set[str] = set()
    for name in names:
        if name in earlier:
            return name
        earlier.add(name)
    return None


def first_few(names: Sequence[str]) -> str:
    """Return the first names, and how many others there are: ``'a', 'b', 'c' and 4 more``."""
    more = f" and {len(names) - FEW:,} more" if len(names) > FEW else ""
    return ", ".join(map(quoted, names[:FEW])) + more


def closest(word: str, names: Iterable[str]) -> str | None:
    """Return the name most like ``word``, whatever capitals and outer spaces; None where none is similar.

    Names with other numbers in them are other names: 'model_2' is no misspelling of 'model_1'.
    """
    plain = word.strip().casefold()
    folded: dict[str, str] = {}
    for name in names:
        numbers = [re.findall(r"\d+", text) for text in (plain, name)]
        if numbers[0] == numbers[1] or not all(numbers):
            folded.setdefault(name.strip().casefold(), name)
    matches = difflib.get_close_matches(plain, folded, n=1, cutoff=_LEAST_SIMILARITY)
    return folded[matches[0]] if matches else None


def closest_file(name: str, names: Iterable[str]) -> str | None:
    """Return the file name most like ``name`` without its ending, which many share; None where none is similar."""
    stems: dict[str, str] = {}
    for file in names:
        stems.setdefault(file.partition(".")[0], file)
    close = closest(name.partition(".")[0], stems)
    return None if close is None else stems[close]


def closest_level(word: str, levels: Iterable[str]) -> str | None:
    """Return the level that ``word`` misspells: it differs in capitals and outer spaces, or else in one letter.

    A letter is added, lost, replaced or exchanged with the next, after the first, where the longer has four or more:
    'unsafe' is no misspelling of 'safe', nor 'male' of 'female', 'atypical' of 'typical', '-1' of '1', '102' of '120'.
    """
    plain, texts = word.strip().casefold(), list(levels)
    equal = [level for level in texts if level.strip().casefold() == plain]
    slips = [level for level in texts if _differ_by_one_letter(plain, level.strip().casefold())]
    return next(iter(equal or slips), None)


def _differ_by_one_letter(left: str, right: str) -> bool:
    """Tell whether two words differ in one letter, with the same first letter and the same other characters."""
    others = [re.sub(r"[^\W\d_]", "", text) for text in (left, right)]
    if others[0] != others[1] or left[:1] != right[:1] or max(len(left), len(right)) < _SHORTEST_MISSPELT:
        return False
    short, long = sorted((left, right), key=len)
    pairs = enumerate(zip(short, long, strict=False))
    split = next((index for index, pair in pairs if pair[0] != pair[1]), len(short))
    swapped = short[:split] + short[split + 1:split + 2] + short[split:split + 1] + short[split + 2:]
    return long in (swapped, short[:split] + long[split:split + 1] + short[split + (len(short) == len(long)):])


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
