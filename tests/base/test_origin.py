"""Where values of a spec were written: their places, the folders of their files, and locations as texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalpipe.base.origin import Loc, Origin, path_keys, path_text
from evalpipe.errors import Place

TOP, KEY, VALUE = Place("a.yaml", 1, 1, ""), Place("a.yaml", 2, 1, ""), Place("b.yaml", 2, 5, "")
ORIGIN = Origin(path=Path("x/a.yaml"), values={(): TOP, ("m", 0): VALUE}, keys={("m", 0): KEY},
                folders={"b.yaml": Path("y")})


@pytest.mark.parametrize(("loc", "value", "key"), [
    (("m", 0), VALUE, KEY), (("m", 0, "p"), VALUE, KEY), (("m", 1), TOP, TOP), ((), TOP, TOP),
])
def test_a_place_is_that_of_the_nearest_mapping_around_it(loc: Loc, value: Place, key: Place) -> None:
    assert (ORIGIN.place(*loc), ORIGIN.place(*loc, key=True)) == (value, key)
    assert Origin().place(*loc) is None


def test_a_path_starts_in_the_folder_of_the_file_that_has_it() -> None:
    assert (ORIGIN.folder, ORIGIN.folder_of("m", 0), ORIGIN.folder_of("m")) == (Path("x"), Path("y"), Path("x"))
    assert (Origin().folder, Origin().folder_of("m")) == (Path(), Path())


@pytest.mark.parametrize(("loc", "text"), [
    ((), ""), (("metrics", 0, "name"), "metrics[0].name"), (("models", "Model 1.2", "threshold"),
     'models."Model 1.2".threshold'), (("a-b_1",), "a-b_1"), (('say "hi"',), '"say ""hi"""'), ((0, 1), "[0][1]"),
])
def test_a_location_is_written_as_an_override_has_it_and_read_again(loc: Loc, text: str) -> None:
    assert path_text(loc) == text
    assert path_keys(text) == [str(part) for part in loc]
