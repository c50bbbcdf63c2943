"""Step 5: the results of a run as frozen tables, read from and written to JSON.

Everything a card prints is here, with the titles, definitions, directions and references it needs, so a card can be
rendered again from `results.json` alone. Nothing in here depends on the clock, the machine or the folder.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evalpipe.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

Status = Literal["ok", "undefined", "degenerate", "insufficient"]
Scalar = str | bool | int | float
Slice = dict[str, Scalar]


class Record(BaseModel):
    """A frozen row of a table of results."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class InputFile(Record):
    """One file that was read."""

    dataset: str
    role: str
    path: str | None
    """The path as the spec gives it, relative to the spec; null for data held in memory."""
    sha256: str | None
    rows: int
    """Rows in the file."""
    used_rows: int
    """Rows that met `where` and have a weight above zero."""
    columns: list[str]
    """The columns that were read."""


class LevelCount(Record):
    """How often a level of the outcome occurs."""

    level: str
    rows: int
    weight: float


class DatasetSummary(Record):
    """What is known of a dataset's rows."""

    name: str
    role: str
    where: str | None
    rows: int
    """Rows in the files."""
    excluded_where: int
    """Rows that did not meet `where`."""
    excluded_zero_weight: int
    n: int
    """Observations used: rows, or the sum of frequency weights."""
    events: int | None
    """Events of a binary outcome."""
    total_weight: float
    prevalence: float | None
    """Share of the events of a binary outcome, weighted."""
    levels: list[LevelCount]
    """The levels of the outcome; none of a number."""
    clusters: int | None = None
    """Clusters of rows, where they are resampled."""
    outcome: dict[str, float] = Field(default_factory=dict)
    """Of a number: its weighted mean and sd, min, quartiles and max."""


class ModelSummary(Record):
    """A model and the columns that hold its predictions."""

    name: str
    label: str
    columns: dict[str, str]
    scale: str | None = None
    """How a raw score became a probability: logit or margin; null for a probability, a rank or classes."""
    threshold: float | None
    characteristics: dict[str, Scalar]


class MetricSummary(Record):
    """What a metric means."""

    name: str
    title: str
    definition: str
    formula: str
    direction: Literal["maximize", "minimize", "none"]
    range: tuple[float | None, float | None]
    """Lowest and highest possible value; null where unbounded."""
    undefined: str
    reference: str
    matrices: dict[str, list[list[float]]] = Field(default_factory=dict)
    """What each pair of a true (outer) and a predicted level weighs or costs, by name, where it depends on that."""


class Estimate(Record):
    """One number, with its interval and support."""

    dataset: str
    model: str
    variant: str = "original"
    slice: Slice | None = None
    metric: str
    params: dict[str, Scalar]
    average: str | None = None
    class_: str | None = Field(default=None, alias="class")
    value: float | None
    lower: float | None
    upper: float | None
    level: float | None
    method: str
    """How the interval was made: exact, wilson, jeffreys, delong, logit, percentile, bca or none."""
    n: int
    events: int | None
    """Events of a binary outcome; of one class of several, its rows."""
    status: Status
    reason: str | None = None
    classes_used: int | None = None
    """Of an average over classes: how many of them have a value."""
    no_information: float | None = None
    """The value if truth and prediction were independent."""
    skill: float | None = None
    """The share of the way from there to the best value; below zero where the value is worse than that."""
    undefined_replicates: int = 0
    monte_carlo_error: float | None = None
    """Of bootstrap limits: the larger standard error of the two that comes from drawing so few replicates."""
    error_bound: float | None = None

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, use_attribute_docstrings=True)


class Confusion(Record):
    """Counts (with weights: their totals); ``counts[i][j]`` is truth level i, predicted level j."""

    dataset: str
    model: str
    variant: str = "original"
    slice: Slice | None = None
    levels: list[str]
    counts: list[list[float]]
    threshold: float | None
    at_threshold: int
    """Rows whose probability equals the threshold; they are predicted as events."""
    tied: int = 0
    """Rows whose highest probability several levels share; the first of them is predicted."""


class Curve(Record):
    """The points of one curve: one list per named coordinate, all of one length.

    roc: threshold, false_positive_rate, sensitivity. pr: threshold, recall, precision. thresholds: threshold,
    sensitivity, specificity, precision, tested (share predicted as events). gain: tested, found. lift: tested, lift.
    calibration_uniform and calibration_quantile (cumulative_…: of the levels above a cut): mean_probability,
    event_rate, lower, upper, weight, rows. refinement: probability (rounded), event_rate, refinement, weight.
    histogram: low, high, events, others. ks: score, events_below, others_below (shares of the rows scored below it).
    gain_table: group, population, captured, random, wizard, lift, cumulative_population, cumulative_captured,
    cumulative_wizard, cumulative_lift, separation.

    Of numbers, with residual = truth - prediction: residual_quantiles: share, residual, absolute_residual (quantiles
    interpolated between rows: R's type 7). residual_box, of absolute residuals: lower_whisker,
    lower_quartile, median, upper_quartile, upper_whisker (at the last rows within 1.5 interquartile ranges of the box).
    residual_outliers: absolute_residual, weight of the 20 largest beyond its whiskers. residual_histogram: low, high,
    weight. residual_ecdf: absolute_residual, share_above (share of the rows with a larger one). observed_predicted:
    predicted, observed, and residual_predicted: predicted, residual, of rows spread evenly by prediction.
    observed_predicted_smooth and residual_predicted_smooth: the same coordinates, along a smoothing spline. rootogram:
    count, observed (weight), expected (weight, were each count Poisson with its prediction as mean).
    """

    dataset: str
    model: str
    variant: str = "original"
    slice: Slice | None = None
    class_: str | None = Field(default=None, alias="class")
    """Of several levels: the one that counts as the event; for cumulative curves, the highest level below the cut."""
    curve: str
    points: dict[str, list[float | None]]
    notes: dict[str, Scalar] = Field(default_factory=dict)
    """Facts about the curve: bins_requested, bins_used, method and mean_gap (mean absolute distance of event rate and
    probability, weighted) of a reliability diagram; area of the roc (ROC AUC) and of the pr (average precision) of a
    class; digits and mean of refinement; found_in_first_10_percent, found_in_first_50_percent and
    tested_for_half_of_events of gain; lift_in_first_10_percent of lift; statistic and score of ks, where the distance
    is largest; points_of, the number of points, where not all are stored; rmse, mean and outliers (weight beyond the
    whiskers) of residual_box; groups and smoothed of a smooth line: through how many groups of rows it goes, and
    whether it is a spline or, of fewer than five groups, their means; last_or_more of a rootogram: whether its last
    count holds all above; expected_above: the weight expected above it."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, use_attribute_docstrings=True)


class Threshold(Record):
    """A threshold and where it comes from."""

    dataset: str | None
    model: str
    variant: str = "original"
    value: float
    lower: float | None = None
    upper: float | None = None
    rule: str
    chosen_on: str | None = None


class Warned(Record):
    """Something a reader should know."""

    code: str
    message: str


class Desirability(Record):
    """Desirability of the models; empty until goals are declared."""

    individual: list[dict[str, Any]] = Field(default_factory=list)
    overall: list[dict[str, Any]] = Field(default_factory=list)


class Prior(Record):
    """The declared prevalence: of the event, or of each level."""

    value: float | None
    source: str | None
    levels: dict[str, float] | None = None


class Method(Record):
    """How the intervals of the run were made."""

    level: float
    replicates: int
    pairings: int = 0
    """Random pairings behind the values without information that are not exact; 0 where these were not asked for."""
    seed: int
    methods: dict[str, str]
    """The interval method of each metric, with the reason for it."""


class Results(Record):
    """The results of a run."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, use_attribute_docstrings=True)

    schema_version: Literal[1] = 1
    evalpipe_version: str
    name: str
    title: str
    task: Literal["binary", "multiclass", "ordinal", "regression", "count"]
    event: str | None
    """The event of a binary outcome."""
    other: str | None
    """The level of a binary outcome that is not the event."""
    levels: list[str]
    """The levels of the outcome in order, of a binary one the event first; none of a number."""
    unit: str | None = None
    """The unit of a number."""
    spec: dict[str, Any]
    """The resolved spec: `extends`, environment and `--set` applied, defaults filled in."""
    spec_sha256: str
    prevalence: Prior | None
    weight: dict[str, str] | None
    inputs: list[InputFile]
    datasets: list[DatasetSummary]
    models: list[ModelSummary]
    metrics: list[MetricSummary]
    intervals: Method
    rows: list[Estimate] = Field(alias="estimates")
    """The estimates, row by row; `estimates` holds them as a data frame."""
    comparisons: list[dict[str, Any]] = Field(default_factory=list)
    confusion: list[Confusion]
    curves: list[Curve]
    desirability: Desirability = Desirability()
    gates: list[dict[str, Any]] = Field(default_factory=list)
    thresholds: list[Threshold]
    recalibration: list[dict[str, Any]] = Field(default_factory=list)
    profit: list[dict[str, Any]] = Field(default_factory=list)
    warnings: list[Warned]

    def to_json(self) -> str:
        """Return the canonical JSON text: fixed key order, shortest exact floats, null for what does not exist.

        Each row of a table is one line, so that two files can be compared line by line.
        """
        document = _null_for_nan(self.model_dump(mode="python", by_alias=True))
        return "{\n" + ",\n".join(f"{_dump(key)}: {_lines(value)}" for key, value in document.items()) + "\n}\n"

    @classmethod
    def from_json(cls, text: str, source: str = "results.json") -> Results:
        """Read results back; raises DataError when the text is not evalpipe's results."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "the document"
            raise DataError.of(
                "not-results", f"{source} does not hold results of evalpipe: {where}: {first['msg'].lower()}",
                hint="give the output folder of `evalpipe run`, written by this version",
            ) from None

    @classmethod
    def read(cls, path: Path) -> Results:
        """Read ``results.json``; raises DataError when it is absent or broken."""
        try:
            return cls.from_json(path.read_text(encoding="utf-8"), str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise DataError.of(
                "unreadable-file", f"cannot read {path}: {getattr(error, 'strerror', None) or error}",
                hint="give the output folder of `evalpipe run`",
            ) from None

    @property
    def estimates(self) -> pl.DataFrame:
        """The estimates as a polars DataFrame; ``params`` and ``slice`` as JSON text."""
        import polars as pl

        rows = [row.model_dump(by_alias=True) for row in self.rows]
        text = [{**row, "params": _text(row["params"]), "slice": _text(row["slice"])} for row in rows]
        whole = {"n", "events", "classes_used", "undefined_replicates"}
        number = {"value", "lower", "upper", "level", "no_information", "error_bound"}
        columns = [field.alias or name for name, field in Estimate.model_fields.items()]
        types = {name: pl.Int64 if name in whole else pl.Float64 if name in number else pl.String for name in columns}
        return pl.DataFrame(text, schema=types)


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _lines(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return "[\n  " + ",\n  ".join(map(_dump, value)) + "\n]"
    return _dump(value)


def _text(value: object) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _null_for_nan(value: Any) -> Any:
    """Replace every float that JSON cannot hold by null."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _null_for_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_null_for_nan(item) for item in value]
    return value
