"""Rules of recalibrators that no broken spec of the corpus shows."""

from __future__ import annotations

import pytest

from evalpipe.errors import SpecError
from evalpipe.run import load


def test_a_name_of_a_variant_is_a_text() -> None:
    with pytest.raises(SpecError) as error:
        load({"evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1},
              "datasets": {"d": {"path": "memory"}}, "models": {"p": {"probability": "p"}},
              "recalibrate": {"fit_on": {"folds": 5}, "methods": [{"method": "logistic", "name": 7}]}})
    assert str(error.value) == "error[wrong-type]: recalibrate.methods[0].name: expected a name, got 7"
