"""Which keys of two resolved specs were added, removed or changed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from evalpipe.base.origin import path_text
from evalpipe.review.differences.matching import text_of
from evalpipe.review.differences.records import SpecChange

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.base.origin import Loc


def spec_changes(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[SpecChange]:
    """Return the keys of two specs that differ, in their order; one that is null counts as not there."""
    return list(_changes((), without_null(a), without_null(b)))


def without_null(value: Any) -> Any:
    """Return a value of a spec without the keys that are null, which are those that nobody set."""
    if isinstance(value, dict):
        return {key: without_null(part) for key, part in value.items() if part is not None}
    return [without_null(part) for part in value] if isinstance(value, list) else value


def _changes(loc: Loc, a: Any, b: Any) -> Iterator[SpecChange]:
    """Yield what differs of two values at one place; None where a spec has none there."""
    if text_of(a) == text_of(b):
        return
    if isinstance(a, dict) and isinstance(b, dict):
        for key in [*a, *(key for key in b if key not in a)]:
            yield from _changes((*loc, key), a.get(key), b.get(key))
    elif isinstance(a, list) and isinstance(b, list):
        yield from _of_lists(loc, a, b)
    else:
        change = "added" if a is None else "removed" if b is None else "changed"
        yield SpecChange.model_validate({"change": change, "key": path_text(loc), "a": a, "b": b})


def _of_lists(loc: Loc, a: Sequence[Any], b: Sequence[Any]) -> Iterator[SpecChange]:
    """Yield what differs of two lists: items that both have are left aside, others are compared one after the other."""
    left, right = _without(a, b), _without(b, a)
    if not left and not right:
        yield SpecChange(change="changed", key=path_text(loc), a=list(a), b=list(b))  # the order alone
    for place in range(max(len(left), len(right))):
        first, second = (items[place] if place < len(items) else None for items in (left, right))
        at = second or first
        if at is not None:
            yield from _changes((*loc, at[0]), first and first[1], second and second[1])


def _without(items: Sequence[Any], others: Sequence[Any]) -> list[tuple[int, Any]]:
    """Return the items, with their places, that the other list does not have, each as often as it lacks them."""
    there = Counter(map(text_of, others))
    lacking = []
    for place, item in enumerate(items):
        there[text_of(item)] -= 1
        if there[text_of(item)] < 0:
            lacking.append((place, item))
    return lacking
