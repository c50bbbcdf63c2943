"""The key of items' texts."""

from __future__ import annotations

from typing import Annotated

from evalpipe.base.records import UNWRITTEN, After
from evalpipe.spec.field_types import ColumnName, Only, SpecPart
from evalpipe.tasks import SCORES


class LeaksKeys(SpecPart):
    """Keys of a spec."""

    text: Annotated[ColumnName | None, After("epoch"), Only(*SCORES), UNWRITTEN] = None
    """The column with the text of an item, by which items are looked for in datasets with `role: reference`. Such a
    dataset is a table of texts without scores, such as training data, examples in prompts or an older benchmark, and
    has this column too. See [Items in other data](scores.md#items-in-other-data)."""
