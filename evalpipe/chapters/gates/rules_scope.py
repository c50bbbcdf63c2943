"""Checks of where gates are judged: the dataset, the model, its variant and the slices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.spec.draft import choose, refer
from evalpipe.spelling import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.chapters.gates.spec import GateRule
    from evalpipe.errors import Problem
    from evalpipe.origin import Loc
    from evalpipe.spec.draft import Draft


def check_scope(draft: Draft, loc: Loc, gate: GateRule) -> Iterator[Problem]:
    """Yield the problems of one gate's dataset, model, variant and slices, so far as the spec alone tells."""
    datasets, models = draft.spec.datasets, list(draft.spec.models)
    if draft.readable("datasets"):
        evaluated, here = draft.role("evaluate"), (*loc, "dataset")
        role = ", for its role is not 'evaluate'" if gate.dataset in datasets else ""
        message = f"no dataset called {draft.tree.show(*here)} is evaluated{role}"
        yield from refer(draft, here, evaluated, "unknown-dataset", message, choose(evaluated, "remove it"))
    if draft.readable("models"):
        message = f"no model is called {draft.tree.show(*loc, 'model')}"
        yield from refer(draft, (*loc, "model"), models, "unknown-model", message, choose(models, "remove it"))
    if gate.variant != "original":
        yield from _variant(draft, (*loc, "variant"))
    yield from _sliced(draft, loc, gate)


def _variant(draft: Draft, here: Loc) -> Iterator[Problem]:
    recalibrate = draft.spec.recalibrate
    if recalibrate is None or not recalibrate.methods:
        yield draft.tree.problem("unknown-variant", "nothing is recalibrated, so models have no variants", *here,
                                 key=True, hint="add 'recalibrate: …' to the spec, or remove it")
        return
    known = ["original", *(choice.name for choice in recalibrate.methods), "all"]
    message = f"no variant is called {draft.tree.show(*here)}"
    if all(known):  # else a variant has a name that cannot be read
        yield from refer(draft, here, known, "unknown-variant", message, choose(known, None))


def _sliced(draft: Draft, loc: Loc, gate: GateRule) -> Iterator[Problem]:
    asked = [key for key in ("slice", "slices") if getattr(gate, key) is not None]
    if len(asked) > 1:
        yield draft.tree.problem("two-scopes", "a gate has 'slice' or 'slices', not both", *loc, "slices", key=True,
                                 hint="make two gates of it")
    elif asked and draft.spec.slices is None:
        yield draft.tree.problem("unknown-slice", "there are no slices", *loc, asked[0], key=True,
                                 hint="add 'slices: […]' to the spec, or remove it")
    elif not draft.readable("slices"):
        return
    elif isinstance(gate.slices, str):
        names = ["all", *(key[0] for key in _ways(draft) if len(key) == 1)]
        message = f"no entry of 'slices' is by {draft.tree.show(*loc, 'slices')} alone"
        yield from refer(draft, (*loc, "slices"), names, "unknown-slice", message, choose(names, None))
    elif asked:
        yield from _combined(draft, (*loc, asked[0]), gate.slices or tuple(gate.slice or ()))


def _combined(draft: Draft, here: Loc, columns: tuple[str, ...]) -> Iterator[Problem]:
    """Report a combination of columns that no entry of the spec's slices is by."""
    ways = _ways(draft)
    if columns and all(columns) and set(columns) not in map(set, ways):
        hint = f"the slices are by {listed([' × '.join(key) for key in ways], 'and')}" if ways else None
        message = f"no entry of 'slices' is by {listed(columns, 'and')}{' alone' if len(columns) == 1 else ''}"
        yield draft.tree.problem("unknown-slice", message, *here, hint=hint)


def _ways(draft: Draft) -> list[tuple[str, ...]]:
    """Return the columns of each entry of the spec's slices, or the name of its condition, so far as they are known."""
    slicings = draft.spec.slices or ()
    names = [slicing.columns or (slicing.title,) for slicing in slicings]
    return [known for written in names if (known := tuple(name for name in written if name))]
