"""The records of comparisons."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from evalpipe.base.records import Measured, Record, Scalar, Status
from evalpipe.words.sentences import Sentence


class Comparison(Measured):
    """The difference of a measure from a baseline: another model on the same rows, or itself on another dataset."""

    baseline: str
    baseline_variant: str = "original"
    baseline_dataset: str | None = None
    """The other dataset, where two datasets are compared; null where two models are, on the same rows."""
    difference: float | None
    lower: float | None
    upper: float | None
    level: float | None
    method: str
    """How the interval was made: delong, paired_t, tango, miettinen_nurminen, bootstrap_error (from the spread of the
    replicates of the difference), none. Of a difference that is zero in every replicate: none_differs of mean scores
    that are the same in every item, percentile of others."""
    p_value: float | None
    """Two-sided, of the test that the difference is zero. The interval is of the same test: it excludes zero where
    the p-value is below 1 - level."""
    test: str | None
    """The test: delong, diebold_mariano, mcnemar, none_differs, two_proportions or bootstrap (Wald's, with the
    bootstrap error)."""
    p_adjusted: float | None = None
    """The p-value of the verdict, adjusted by Holm's method over the table of the difference: one dataset, on all
    rows or in slices, and one baseline (of variants, one model). Without a margin the same test as `p_value`; with
    one, the smallest error level at which the interval lies within the margin or wholly beyond it; where that decides
    nothing and `p_value`, adjusted likewise, does, it is that."""
    margin: float | None
    """The difference below which the two are equivalent in practice; null where none is declared."""
    verdict: Literal["better", "equivalent", "worse", "undecided", "same", "no_direction", "untested"]
    """better, worse or equivalent where p_adjusted is below 1 - level, undecided where it is not. With a margin too,
    a difference that is not zero is better or worse unless it is equivalent. same: the
    difference is zero in every replicate; no_direction: neither higher nor lower is better; untested: there is no
    p-value."""
    margin_verdict: Literal["beyond", "within", "undecided"] | None = None
    """Of a better, worse or equivalent difference with a margin: beyond or within it, or undecided where the
    interval excludes zero and holds the margin; null of others."""
    n: int
    """Observations of the model that are compared: all that the measure sees, whatever its denominator."""
    status: Status
    reason: Sentence | None = None
    undefined_replicates: int = 0
    details: dict[str, Scalar] = Field(default_factory=dict)
    """Of McNemar's test: only_model and only_baseline, the rows that count for one alone (with accuracy: that it alone
    gets right), and the exact and the mid-P p-value, p_exact and p_mid."""

    @property
    def excludes_zero(self) -> bool:
        """Whether its interval lies on one side of zero; not allowing for the number of differences."""
        return self.lower is not None and self.upper is not None and (self.lower > 0 or self.upper < 0)


class CompareFields(Record):
    """What the results hold of it."""

    comparisons: list[Comparison] = Field(default_factory=list)
