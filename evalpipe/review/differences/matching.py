"""Which row of one run is which of the other."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

T = TypeVar("T")


def text_of(value: object) -> str:
    """Return a value as JSON text that is the same in whatever order its keys stand, so that it can be a key."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def matched(a: Iterable[T], b: Iterable[T], key: Callable[[T], Hashable]) -> Iterator[tuple[T | None, T | None]]:
    """Yield the rows of one key as pairs: in the order of ``a``, then those that ``b`` alone has, with None beside.

    Where several rows have one key, the first belongs to the first.
    """
    waiting: dict[Hashable, deque[T]] = defaultdict(deque)
    for row in b:
        waiting[key(row)].append(row)
    for row in a:
        others = waiting[key(row)]
        yield row, others.popleft() if others else None
    for others in waiting.values():
        yield from ((None, row) for row in others)


def matched_twice(
    a: Iterable[T], b: Iterable[T], exact: Callable[[T], Hashable], key: Callable[[T], Hashable]
) -> Iterator[tuple[T | None, T | None]]:
    """Yield the rows that are alike by ``exact`` as pairs, then match the others by ``key``."""
    left: list[T] = []
    right: list[T] = []
    for first, second in matched(a, b, exact):
        if first is not None and second is not None:
            yield first, second
        elif first is not None:
            left.append(first)
        elif second is not None:
            right.append(second)
    yield from matched(left, right, key)
