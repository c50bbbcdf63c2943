"""The levels that values of the outcome were found to mean, so that each value is looked at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from evalpipe.data.block import RowBlock
    from evalpipe.data.columns import Columns


@dataclass
class KnownLevels:
    """What each value of the outcome's column means, of those that have occurred: the event or the other level."""

    levels: tuple[str, ...] = ()
    events: dict[object, bool] = field(default_factory=dict)
    dtype: pl.DataType | None = None

    def of(self, rows: RowBlock) -> pl.Series | None:
        """Return the level of each row, [n]; None where a value is new, or where models give classes, levels too."""
        import polars as pl

        values = rows.frame[rows.plan.outcome.column]
        if values.dtype != self.dtype or any(model.prediction is not None for model in rows.plan.models.values()):
            return None
        event, other = (values.is_in([value for value, is_event in self.events.items() if is_event is wanted])
                        for wanted in (True, False))
        if values.null_count() or not (event | other).all():
            return None
        levels = pl.select(pl.when(event).then(pl.lit(self.levels[0])).otherwise(pl.lit(self.levels[1])))
        return levels.to_series().alias(values.name)

    def learn(self, columns: Columns, levels: tuple[str, ...]) -> None:
        """Note what the values of checked rows mean; of another type than before, they alone are known."""
        import polars as pl

        values, truth = columns.rows.frame[columns.rows.plan.outcome.column], columns.truth
        if truth is None:
            return
        if values.dtype != self.dtype or levels != self.levels:
            self.events, self.dtype, self.levels = {}, values.dtype, levels
        meanings = pl.DataFrame({"value": values, "event": truth == levels[0]}).unique()
        self.events |= dict(zip(meanings["value"].to_list(), meanings["event"].to_list(), strict=True))
