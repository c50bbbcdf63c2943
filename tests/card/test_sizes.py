from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import evalpipe
from card.many_groups import GROUPS, write
from few_by_day import by_night

MEGABYTE = 1_000_000


# By day another card of its size, whose PDF other tests need; by night that of the same models with groups too.
@pytest.mark.parametrize("name", ["audit", by_night("slices"), by_night("titanic")])
def test_the_card_of_the_readme_is_below_a_megabyte_in_each_format(
    name: str, example: Callable[[str], Path], printed: Callable[[str], Path]
) -> None:
    assert 0 < (example(name) / "card.html").stat().st_size < MEGABYTE
    assert 0 < printed(name).stat().st_size < MEGABYTE


def test_the_page_of_two_models_is_below_600_kilobytes(example: Callable[[str], Path]) -> None:
    assert 0 < (example("titanic") / "card.html").stat().st_size <= 0.6 * MEGABYTE


@pytest.mark.nightly
def test_the_page_of_200_slices_is_below_five_megabytes(root: Path, tmp_path: Path) -> None:
    spec = write(tmp_path, root / "configs" / "data" / "titanic_evaluation.parquet")
    results = evalpipe.run(spec)
    assert len({str(row.slice) for row in results.rows if row.slice}) == GROUPS
    page = evalpipe.render(results, ["html"])["card.html"]
    assert len(page) < 5 * MEGABYTE
    assert page.count(b"group 200") > 0
