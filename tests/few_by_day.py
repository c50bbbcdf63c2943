"""Cases of a test of which few run by day, in `make test`, and all others by night, in `make nightly`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


def few_by_day(every: Iterable[str], few: Collection[str]) -> list[Any]:
    """Return every name as a case of a test; those of ``few``, which are names too, run by day."""
    names = list(every)
    assert set(few) <= set(names)
    return [pytest.param(name, marks=() if name in few else pytest.mark.nightly) for name in names]


def by_night(*values: object) -> Any:
    """Return a case of a test that runs by night."""
    return pytest.param(*values, marks=pytest.mark.nightly)
