"""A spec as rules across keys see it: what of it can be read, typed, however wrong the rest is."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from pydantic import ValidationError

from evalpipe.base.levels import level_text
from evalpipe.spec.explain import existing
from evalpipe.spec.models import kind_of_spec
from evalpipe.spec.partial import partial
from evalpipe.words.spelling import closest, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Literal

    from evalpipe.base.origin import Loc
    from evalpipe.base.plugins import Plugin
    from evalpipe.base.uris import DatabaseUri
    from evalpipe.errors import Problem
    from evalpipe.spec.expressions import Measures
    from evalpipe.spec.parts import Model
    from evalpipe.spec.texts import ProseText
    from evalpipe.spec.tree import Tree
    from evalpipe.templating.files import Templates

Entry = TypeVar("Entry")


class Draft:
    """A spec that may be wrong. Each fault of a single key is told elsewhere, so rules pass over what cannot be read.

    ``spec`` holds every key as its declared type. A value that is wrong, or required and missing, is blank there (see
    `evalpipe.spec.partial`), never None: so None says that a key was not written. ``tree`` is what was written, with
    its places; ``error`` what pydantic found, None where each key is right. ``texts`` are what people state, by
    location, ``templates`` those of the card, ``plugins`` those that are installed, ``uris`` those of databases, by
    dataset, and ``ledger`` that of the ledger, as far as rules have read them.
    """

    def __init__(self, tree: Tree) -> None:
        """Read what was written as far as it can be read."""
        self.tree = tree
        self.error: ValidationError | None = None
        self.texts: dict[Loc, ProseText] = {}
        self.templates: Templates | None = None
        self.plugins: tuple[Plugin, ...] = ()
        self.uris: dict[str, DatabaseUri] = {}
        self.ledger: DatabaseUri | None = None
        self._blanks: frozenset[Loc] = frozenset()
        try:
            self.spec = kind_of_spec(tree.data).model_validate(tree.data)
        except ValidationError as error:
            self.error = error
            self.spec, self._blanks = partial(tree, error)

    def readable(self, *loc: str | int) -> bool:
        """Tell whether what was written at ``loc`` can be read, be it with blanks within; so can what is absent."""
        return not any(loc[:depth] in self._blanks for depth in range(len(loc) + 1))

    @property
    def alone(self) -> bool:
        """Whether this is a spec of candidates alone, which has no predictions."""
        return self.spec.alone

    @cached_property
    def levels(self) -> list[str]:
        """The declared levels as texts; none where one of them cannot be read."""
        levels, here = self.spec.outcome.levels or (), ("outcome", "levels")
        sound = all(self.readable(*here, index) for index in range(len(levels)))
        return [level_text(level) for level in levels] if sound else []

    def entries(
        self, listed: Mapping[str, Entry] | Sequence[Entry] | None, *loc: str | int
    ) -> Iterator[tuple[Loc, Entry]]:
        """Yield the entries of a mapping or a list at ``loc`` that can be read, each with its location."""
        keys: Iterable[str | int] = listed if isinstance(listed, Mapping) else range(len(listed or ()))
        entries = listed.values() if isinstance(listed, Mapping) else listed or ()
        pairs = zip(keys, entries, strict=True)
        yield from (((*loc, key), entry) for key, entry in pairs if self.readable(*loc, key))

    @cached_property
    def measures(self) -> Measures:
        """Every measure that the spec can name, those that it declares among them."""
        return self.spec.measures

    @cached_property
    def models(self) -> dict[str, Model]:
        """The models that can be read, by name; `spec.models` has the names of the others too."""
        return {str(loc[-1]): model for loc, model in self.entries(self.spec.models, "models")}

    def role(self, role: Literal["evaluate", "calibrate", "reference"]) -> list[str]:
        """Return the names of the datasets of a role."""
        return [name for name, dataset in self.spec.datasets.items() if dataset.role == role]

    def unknown(self, *loc: str | int) -> list[str]:
        """Return the keys at ``loc`` that may not stand there."""
        details = self.error.errors(include_url=False, include_context=False, include_input=False) if self.error else []
        places = [existing(detail["loc"], self.tree) for detail in details if detail["type"] == "extra_forbidden"]
        return [str(place[-1]) for place in places if place[:-1] == loc]

    def misspelt(self, loc: Loc, keys: Sequence[str], known: Iterable[str] = ()) -> bool:
        """Tell whether a key at ``loc`` that is not a ``known`` one was probably meant for one of ``keys``."""
        written = self.tree.get(*loc)
        return isinstance(written, dict) and any(closest(key, keys) for key in set(written) - {*known, *keys})


def refer(
    draft: Draft, loc: Loc, known: Sequence[str], code: str, message: str, hint: str | None,
    *, key: bool = False, meant: Callable[[str, Sequence[str]], str | None] = closest, notes: tuple[str, ...] = (),
) -> Iterator[Problem]:
    """Report the name or level at ``loc`` (the key there, if so asked) where it is none of those that are ``known``.

    ``hint`` is the way out where ``meant`` finds no known name that the one written was meant for.
    """
    written = loc[-1] if key else draft.tree.get(*loc)
    name = level_text(written)
    refers = isinstance(written, str) or (written is not None and draft.readable(*loc))
    if refers and name not in known:
        guess = None if draft.tree.secret(*loc) and not key else meant(name, known)
        hint = f"did you mean '{guess}'?" if guess else hint
        yield draft.tree.problem(code, message, *loc, key=key, hint=hint, notes=notes)


def choose(known: Sequence[str], none: str | None) -> str | None:
    """Return the hint to take one of ``known`` names, or the way out where there is ``none``."""
    return f"choose one of {listed(known)}" if len(known) > 1 else f"write '{known[0]}'" if known else none
