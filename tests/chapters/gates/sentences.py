"""The sentence of a verdict by the titles of all metrics, for gates whose results are not at hand."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evalpipe.card.wording import Names
from evalpipe.chapters.gates.card_sentences import gate_sentence
from evalpipe.metrics import registry

if TYPE_CHECKING:
    from evalpipe.results import Gate

NAMES = Names(
    titles={entry.name: entry.title for entry in registry}, labels={}, conditions=frozenset(),
    single=frozenset(entry.name for entry in registry),
    counts=frozenset(entry.name for entry in registry if math.isinf(entry.range[1])))


def sentence_of(gate: Gate) -> str:
    return gate_sentence(NAMES, gate)
