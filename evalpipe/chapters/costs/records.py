"""The records of costs and profit."""

from __future__ import annotations

from pydantic import Field

from evalpipe.base.records import OfModel, Record


class NamedCost(Record):
    """What a row of one true level costs when it is predicted as another; pairs that are not named cost 0."""

    truth: str
    predicted: str
    cost: float


class CostReference(Record):
    """The mean cost of a row of a dataset when every row is predicted as one level."""

    dataset: str
    level: str
    """The level that is always predicted."""
    cost: float
    """The mean cost of a row, to be compared with the measure `cost`."""
    cheapest: bool
    """Whether this level is the cheapest to predict always; of equally cheap levels, the first."""


class Profit(OfModel):
    """The profit of contacting rows from the highest score down to the end of one group."""

    group: int
    """How many groups of the ranked rows are contacted; 0 for none, which brings and costs nothing."""
    population: float
    """The rows of the group, or their weight."""
    captured: float
    """The events in the group; tied rows are divided in proportion."""
    contacted: float
    """The rows contacted down to the end of the group."""
    found: float
    """The events among them."""
    profit: float
    """benefit x events found - cost x rows contacted - fixed, in total over the rows contacted."""
    lower: float | None
    upper: float | None
    """Percentiles of the bootstrap, of the same number of rows."""
    profit_per_row: float
    """The profit divided by all rows, contacted or not."""
    profit_random: float
    """The expected profit of contacting the same number of rows in random order."""
    profit_wizard: float
    """The profit of contacting the same number of rows in a perfect order, all events first."""
    incremental: float
    """What the group adds to the profit of the groups before it."""
    best: bool
    """Whether the profit is largest here; of equal profits the first, which contacts the fewest rows."""
    share_best: float | None
    """The share of the bootstrap replicates in which the profit is largest here."""


class BestProfit(OfModel):
    """The number of groups at which the profit of a model is largest, and that profit."""

    group: int
    group_lower: int | None
    group_upper: int | None
    """Percentiles of the best number of groups over the bootstrap replicates."""
    groups: int
    """The number of groups that the rows are cut into."""
    profit: float
    """The largest profit; optimistic, because the number of groups is chosen and judged on the same rows."""
    lower: float | None
    upper: float | None
    """Percentiles of the largest profit over the bootstrap replicates."""
    corrected: float | None
    """The largest profit minus its optimism, which is how much more, on average, replicates earn at their own best
    number of groups than the data earn there. Efron (1983)."""


class CostsFields(Record):
    """What the results hold of it."""

    costs: list[NamedCost] = Field(default_factory=list)
    cost_references: list[CostReference] = Field(default_factory=list)
    profit: list[Profit] = Field(default_factory=list)
    best_profit: list[BestProfit] = Field(default_factory=list)
