"""The core keys of a spec as pydantic models: outcome, rows, models, intervals, engine and report.

What chapters declare in their `spec.py` is composed here, each key in the place that it says.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Discriminator, Field, StrictBool, StrictFloat, StrictInt, StrictStr, Tag

from evalpipe.base.formats import FORMATS, USUAL_VARIANT, FormatName, PdfVariant
from evalpipe.base.records import UNWRITTEN, order_fields
from evalpipe.chapters import composed
from evalpipe.intervals.declare import asked_by_name
from evalpipe.spec.datasets import Csv
from evalpipe.spec.field_types import (
    MAX_NAME,
    Address,
    AnyOf,
    ColumnName,
    EachLevel,
    Encoding,
    Excludes,
    FilePath,
    FilePaths,
    IdleWithout,
    Key,
    Level,
    Memory,
    Needs,
    Number,
    Only,
    Positive,
    ProbabilityColumns,
    Shown,
    SpecPart,
    Unique,
)
from evalpipe.tasks import CLASSES, NUMBERS, SCORES, WITH_OUTCOME

if TYPE_CHECKING:
    from evalpipe.chapters.appearance.spec import AppearanceReportKeys
    from evalpipe.chapters.checks.spec import ChecksKeys
    from evalpipe.chapters.compare.spec import CompareKeys
    from evalpipe.chapters.costs.spec import CostsKeys
    from evalpipe.chapters.curves.spec import CurvesKeys
    from evalpipe.chapters.desirability.spec import DesirabilityKeys
    from evalpipe.chapters.deviance.spec import DevianceModelKeys
    from evalpipe.chapters.equivocal.spec import EquivocalKeys, EquivocalModelKeys
    from evalpipe.chapters.folds.spec import FoldsKeys
    from evalpipe.chapters.gates.spec import GatesKeys
    from evalpipe.chapters.labels.spec import LabelsKeys
    from evalpipe.chapters.optimism.spec import OptimismModelKeys
    from evalpipe.chapters.prevalence.spec import PrevalenceKeys
    from evalpipe.chapters.recalibrate.spec import RecalibrateKeys
    from evalpipe.chapters.reference_rates.spec import ReferenceRatesKeys
    from evalpipe.chapters.row_file.spec import RowFileReportKeys
    from evalpipe.chapters.scores.spec import ScoresKeys, ScoresModelKeys
    from evalpipe.chapters.slices.spec import SlicesKeys
    from evalpipe.chapters.standards.spec import StandardsKeys
    from evalpipe.chapters.statement.spec import StatementKeys
    from evalpipe.chapters.steps.spec import StepsKeys, StepsModelKeys
    from evalpipe.chapters.thresholds.spec import ThresholdsKeys, ThresholdsModelKeys
    from evalpipe.chapters.trend.spec import TrendKeys
    from evalpipe.chapters.what_if.spec import WhatIfReportKeys

    class ChapterKeys(
        StandardsKeys, StatementKeys, LabelsKeys, ScoresKeys, PrevalenceKeys, ThresholdsKeys, CurvesKeys, EquivocalKeys,
        CostsKeys, RecalibrateKeys, CompareKeys, FoldsKeys, ReferenceRatesKeys, DesirabilityKeys, SlicesKeys, StepsKeys,
        GatesKeys, ChecksKeys, TrendKeys,
    ):
        """The keys of a spec that chapters declare."""

    class ModelKeys(
        ScoresModelKeys, ThresholdsModelKeys, EquivocalModelKeys, DevianceModelKeys, OptimismModelKeys, StepsModelKeys,
    ):
        """The keys of a model that chapters declare."""

    class ReportKeys(WhatIfReportKeys, AppearanceReportKeys, RowFileReportKeys):
        """The keys of `report` that chapters declare."""
else:
    ChapterKeys = composed("spec", "Keys")
    ModelKeys = composed("spec", "ModelKeys")
    ReportKeys = composed("spec", "ReportKeys")


if TYPE_CHECKING:
    AskedMethod = str
else:
    AskedMethod = Literal["auto", *asked_by_name()]


class Outcome(SpecPart):
    """What is predicted."""

    column: ColumnName
    """The column that holds the true outcome."""
    event: Annotated[Level | None, Only("binary")] = None
    """The level that counts as the event. Required of a binary outcome, never guessed. Values that are the same
    number are the same level however they are stored: 1, 1.0 and "1.0"; true and false, in any capitals, are 1 and
    0. Texts are the same when every character is. A column that holds one value in two ways, '1' and '1.0', is an
    error. This holds for `levels` and predicted levels too."""
    levels: Annotated[
        tuple[Level, ...] | None, Only(*CLASSES), Unique("duplicate-level", "the level {} is listed twice")] = None
    """All levels of the outcome, in order; required of a multiclass and of an ordinal outcome. A value in the data that
    is not listed is an error."""
    unit: Annotated[Shown | None, Only(*NUMBERS)] = None
    """The unit of a regression or count outcome, shown with its values."""


class Weight(SpecPart):
    """Case weights."""

    column: ColumnName
    """The column that holds the weights: not negative, not all zero."""
    kind: Literal["frequency", "importance"] = "importance"
    """`frequency`: a row stands for that many identical rows (whole numbers; binomial limits stay valid).
    `importance`: a row counts that much more than another (limits come from the bootstrap)."""


class Exposure(SpecPart):
    """What each row's count was counted in."""

    column: ColumnName
    """The column that holds the exposure: a number above zero, such as the years that a policy was in force."""
    unit: StrictStr | None = None
    """The unit of the exposure, such as `years`, shown with its total."""


@order_fields
class Model(ModelKeys):
    """The columns that hold one model's predictions."""

    probability: Annotated[ColumnName | None, Only("binary")] = None
    """The column with the predicted probability of the event of a binary outcome."""
    probabilities: Annotated[
        ProbabilityColumns | None, Only(*CLASSES),
        EachLevel("no column of probabilities for {}", "name one for each level"),
    ] = None
    """The columns with the predicted probabilities of all levels, of a binary outcome of both: a pattern in which
    {level} stands for the level, or a mapping of level to column. A name without {level} is that of one column, which
    holds a list of them in each row. See [Lists of probabilities](methods.md#lists-of-probabilities)."""
    scores: Annotated[
        ProbabilityColumns | None, Only(*CLASSES), EachLevel("no column of scores for {}", "name one for each level"),
    ] = None
    """The columns with raw scores of all levels instead, as a pattern, a mapping or one column of lists: log odds up to
    a constant, which the softmax function turns into probabilities. Of a binary outcome that is the logistic function
    of the event's score minus the other, by which rows are ranked."""
    order: Annotated[
        tuple[Level, ...] | None, Only(*CLASSES), UNWRITTEN,
        Needs(("list_column",), "unused-order",
              "'order' of the model '{name}' has no effect: no column holds lists of its probabilities", idle=True),
        EachLevel("'order' of the model '{name}' does not have {}", "list every level once"),
        Unique("duplicate-level", "the level {} is listed twice"),
    ] = None
    """The levels in the order in which the lists of `probabilities` or `scores` hold them; that of `outcome.levels`
    where absent."""
    renormalise: Annotated[
        StrictBool, Only(*CLASSES),
        Needs(("probabilities",), "unused-renormalise",
              "'renormalise' of the model '{name}' has no effect: it has no 'probabilities'", idle=True),
    ] = False
    """Divide the probabilities of a row by their sum where it is not 1. Without it such rows are an error, unless
    rounding explains them: K probabilities of d decimals may sum to K × 0.5 × 10⁻ᵈ more or less, at most 0.05. They are
    then divided by their sum, and a warning says so."""
    score: Annotated[ColumnName | None, Only("binary", *SCORES)] = None
    """The column with a raw score instead: any number, higher for the event. Of `task: score`, the column of a wide
    table with the model's score of each item."""
    scale: Annotated[Literal["logit", "margin", "percent"] | None, Only(*CLASSES)] = None
    """How numbers become probabilities. `percent`: `probability` or `probabilities` name columns of percents from 0 to
    100, with a percent sign or without, as in `25.18%`. `logit` and `margin` turn the score of a binary outcome into a
    probability, by the logistic function either way: `logit` says that it is log odds, `margin` that it is a distance
    from a boundary, which is rarely calibrated. Ranks, curves and chosen thresholds are
    of the score itself, so its units change none. Without it the score is a rank alone: measures of probabilities are
    refused, or are of its variants where `recalibrate` makes probabilities of it (Platt, isotonic), whatever its
    units."""
    norm: Annotated[
        Positive | None, Only("binary"), UNWRITTEN,
        Needs(("margin",), "unused-norm",
              "'norm' of the model '{name}' has no effect: it has no 'score' with 'scale: margin'", idle=True),
    ] = None
    """The norm of the weights of a linear model without its intercept, ‖ω‖, for a score with `scale: margin`. The score
    is divided by it, which makes b + xᵀω the signed distance of x from the boundary. Curves and chosen thresholds are
    then in the units of the inputs."""
    prediction: Annotated[ColumnName | None, Only(*WITH_OUTCOME)] = None
    """The column with the predicted level; the predicted number of a regression outcome; of a count, the expected count
    of the row, in its whole exposure. Without it, rows with probability >= threshold are predicted as events; of
    several levels, the most probable is predicted."""
    rate: Annotated[
        ColumnName | None, Only("count"),
        Excludes(("prediction",), "two-predictions", "the model '{name}' has both 'prediction' and 'rate'",
                 "remove one of the two; the expected count is the rate times the exposure"),
        Needs(("exposure",), "rate-without-exposure", "the model '{name}' gives a rate, but no exposure is declared",
              "add 'exposure: …' to the spec, or name the column of the expected count of each row under 'prediction'",
              of_spec=True),
    ] = None
    """The column with the predicted rate of a count instead, per unit of `exposure`: the expected count of a row is its
    rate times its exposure."""
    loo_prediction: Annotated[ColumnName | None, Only(*NUMBERS)] = None
    """The column with the prediction of a regression model that had not seen the row (leave-one-out)."""
    leverage: Annotated[
        ColumnName | None, Only("regression"), UNWRITTEN,
        Excludes(("loo_prediction",), "two-predictions",
                 "the model '{name}' has both 'loo_prediction' and 'leverage'",
                 "remove one of the two; either gives the leave-one-out residuals"),
    ] = None
    """The column with the leverage of each row in the linear fit whose `prediction` this is (the diagonal of its hat
    matrix), from 0 to below 1. The leave-one-out residual is the residual over 1 − leverage, so PRESS, PSE, SEP and Q2
    need no `loo_prediction`."""
    predictions: Annotated[FilePaths | None, Only(*WITH_OUTCOME)] = None
    """A file with this model's columns, for the only dataset that has predictions, or a mapping of dataset to file;
    relative to the file it is written in. Its rows are matched to the dataset's by `id`. Without one they are matched
    by position: there must be as many, and columns that both have must agree in every row, but for the model's own. A
    glob, such as `fits/seed-*.parquet`, names several fits of the model by other seeds or samples, one in each file:
    the card is of the first by name, and [Repeated fits](methods.md#repeated-fits) says how far they spread. A folder
    holds the rows of one fit."""
    encoding: Annotated[
        Encoding | None, UNWRITTEN, Only(*WITH_OUTCOME),
        Needs(("predictions", "optimism"), "encoding-without-file",
              "'encoding' is declared for the model '{name}', which has no file of 'predictions'",
              "declare it for the dataset that holds the model's columns"),
    ] = None
    """The encoding of the csv and tsv files under `predictions` and `optimism`, where it is not UTF-8."""
    csv: Annotated[
        Csv | None, Only(*WITH_OUTCOME),
        Needs(("predictions", "optimism"), "csv-without-file",
              "'csv' is declared for the model '{name}', which has no file of 'predictions'",
              "declare it for the dataset that holds the model's columns"),
    ] = None
    """How the csv and tsv files under `predictions` and `optimism` are written."""
    label: Annotated[StrictStr, Field(max_length=MAX_NAME)] | None = None
    """The name shown on the card."""
    was: Annotated[Key | None, UNWRITTEN] = None
    """The name that the model had before: what is known of it from earlier nights goes on under its new name, as do
    gates against earlier runs and `evalpipe diff`. See [A model that is renamed](ledger.md#a-model-that-is-renamed)."""
    characteristics: dict[StrictStr, Shown | StrictBool | Number] = Field(default_factory=dict)
    """Facts about the model that are not measured here, such as its number of features; shown on the card."""


    @property
    def margin(self) -> bool:
        """Whether the score is a distance from a boundary, by which rows are ranked."""
        return self.score is not None and self.scale == "margin"

    @property
    def gives_probabilities(self) -> bool:
        """Whether the model has probabilities: those of columns, or those computed from a score by its scale."""
        return "probabilities" in gives(self)

    @property
    def list_column(self) -> str | None:
        """The column whose lists hold the probabilities or scores of all levels; None where levels have columns."""
        named = self.probabilities or self.scores
        return named if isinstance(named, str) and "{level}" not in named else None


def gives(model: Model, threshold: object = None) -> frozenset[str]:
    """Return what metrics may need and a model gives, such as "labels", by its keys and the spec's ``threshold``."""
    keys = {key for key, value in model if value is not None}
    needs_met: set[str] = {"truth"}
    if keys & {"prediction", "rate"}:  # labels of classes, or values of numbers: the task tells
        needs_met |= {"labels", "values"}
    if "loo_prediction" in keys or {"prediction", "leverage"} <= keys:
        needs_met |= {"loo_values"}
    if keys & {"probability", "probabilities", "scores"} or {"score", "scale"} <= keys:
        needs_met |= {"labels", "probabilities", "scores"}
    elif "score" in keys:
        needs_met |= {"scores"} | ({"labels"} if "threshold" in keys or model.is_chosen_by_rows(threshold) else set())
    return frozenset(needs_met)


class Intervals(SpecPart):
    """How the uncertainty of each estimate is expressed."""

    level: Annotated[StrictFloat, Field(gt=0, lt=1)] = 0.95
    """The confidence level of every interval."""
    method: AskedMethod = "auto"
    """`auto`: Clopper-Pearson for proportions, DeLong on the logit scale for the ROC AUC, the delta method on the
    logit scale for ppv and npv, Newcombe for the net benefit. Average precision has the bootstrap's error on the
    logit scale, and all else the percentile bootstrap. Rows of few clusters have Student's limits. Measures that noise
    makes larger (calibration errors, the parts of the Brier score, K-S) get an inversion of their noise under every
    method but `none`. `exact` and `delong` name the same; `wilson` and `jeffreys` take their limits for proportions,
    and so does `wald`, which covers less often than its level and has no width at 0 and 1. These and `exact`, named in
    the spec, count effective observations under importance weights.
    `percentile`, `basic`, `bca` (bias-corrected and accelerated) and `studentised` take the bootstrap for every
    measure; `none` gives values alone."""
    replicates: Annotated[StrictInt, Field(ge=100, le=1_000_000)] = 2000
    """The number of bootstrap replicates."""
    stratify: Annotated[
        StrictBool, Only(*CLASSES),
        Excludes(("cluster",), "two-resamplings",
                 "clusters are resampled whole, so the rows of each level cannot be resampled apart",
                 "remove this or 'cluster'", of_spec=True),
        Excludes(("resampling",), "two-resamplings",
                 "Poisson counts leave the size of every level to chance, so levels cannot keep their sizes",
                 "remove this or 'resampling'", equal="poisson"),
    ] = False
    """Resample the rows of each level apart, so that every replicate has as many of each as the data."""
    resampling: Literal["multinomial", "poisson"] = "multinomial"
    """`multinomial`: every replicate draws as many observations as there are. `poisson`: each row is drawn a Poisson
    number of times, independent of the others, as for data that arrive in a stream."""
    bands: StrictBool = True
    """Draw bands about the curves of a binary outcome: for each point alone, and for all points at once."""


PERMUTATIONS = 200
"""Random pairings of truths with predictions where the spec says nothing."""


class NoInformation(SpecPart):
    """What measures would be if truth and prediction were independent."""

    permutations: Annotated[StrictInt, Field(ge=10, le=100_000)] = PERMUTATIONS
    """Random pairings of truths with predictions over which a measure is averaged whose mean has no closed form. None
    are drawn for the others, which are exact."""


class Engine(SpecPart):
    """How the numbers are computed."""

    mode: Literal["auto", "exact", "grid"] = "auto"
    """`exact`: all rows are held, every row is drawn and every score is kept. `grid`: files are read part by part and
    never held; rows are counted in the cells of a fixed grid of probabilities, from which all is computed, with a
    stated bound where that is not exact. Data that are in memory already are drawn in cells of like rows, with
    neighbouring scores, slices in cells of their own. `auto`: files that take less time to read part by part than to
    hold are read so, where nothing needs all rows at once. Every score of them is kept, and values are exact, as long
    as that no more than doubles time and memory. Of rows that are held up to 16,384 are drawn each, up to 65,536 where
    models of a binary outcome are compared. Scores are kept apart up to 4,096 of them. Beyond, they are drawn in cells,
    and values are exact. Clusters, importance weights, exposures and probabilities of several levels are always drawn
    by rows or clusters; where a grid is asked for, the results warn. `evalpipe plan` and the card say what is drawn,
    and why."""
    workers: Literal["auto"] | Annotated[StrictInt, Field(ge=1, le=256)] = "auto"
    """Threads; with `backend: dask` and without an address of its scheduler, worker processes too. `auto` takes as many
    as there are processors; where replicates of few rows are drawn, one, and a second that draws ahead. They change no
    byte of the results."""
    memory: Memory | None = None
    """The memory that a run may take, such as `2GB` or `512 MiB`, by estimates from measured runs: with `mode: auto`
    rows that take more to hold are read part by part, of which fewer are then read at once. What cannot be done with
    so much is refused before anything is read. Without it, any."""
    backend: Literal["local", "dask"] = "local"
    """Who reads files part by part: `local`, threads of this process, or `dask`, the workers of a Dask cluster, which
    send back counts and sums alone ([scale.md](scale.md#a-dask-cluster)). It changes no byte of the results."""
    address: Annotated[
        Address | None,
        Needs(("backend",), "unused-address",
              "'address' has no effect: it is where a Dask cluster listens, but 'backend' is local",
              "add 'backend: dask', or remove it", equal="dask", idle=True),
    ] = None
    """Where the scheduler of the Dask cluster listens, as in `tcp://10.0.0.5:8786`. `local`, or without this key,
    `workers` processes are started on this machine, which end with the run."""


Shade = Literal["counts", "shares"]


class ConfusionTable(SpecPart):
    """How confusion matrices are written, wherever one is."""

    rows: Literal["outcomes", "predicted"] = "outcomes"
    """What the rows are: the true levels, `outcomes`, or those that are `predicted`. The columns are the other one."""
    shade: Annotated[Shade | None, UNWRITTEN] = None
    """What darkens a cell: `counts`, the more rows of the data it has, the darker it is; `shares`, the larger its share
    of its row. Without this key those of four levels and more are shaded by shares, and those of fewer have one colour
    for right and one for wrong."""


ShadeOrTable = Annotated[
    Annotated[Shade, Tag("a shade")] | Annotated[ConfusionTable, Tag("a table")],
    Discriminator(lambda value: "a table" if isinstance(value, Mapping | ConfusionTable) else "a shade"), AnyOf(),
]
"""The shade of confusion matrices, or a mapping with it."""


@order_fields
class Report(ReportKeys):
    """What is rendered beside `results.json`, `estimates.csv` and `run.json`, which are always written."""

    formats: tuple[FormatName, ...] = tuple(name for name, entry in FORMATS.items() if entry.usual)
    """The formats of the card: `html`, `pdf`, `markdown` (with the front matter of Hugging Face), and `junit` for
    junit.xml, which is written where gates are declared; may be empty."""

    pdf_variant: PdfVariant = USUAL_VARIANT
    """The standard for archives that the PDF keeps: `pdf/a-3a` (tagged, for screen readers too), `pdf/a-3u` and
    `pdf/a-3b` for an archive that asks for them, or `pdf/a-4f` (PDF 2.0). The file is tagged and carries
    `results.json`, `estimates.csv` and `spec.yaml` under each of them."""

    template: Annotated[FilePath | None, IdleWithout()] = None
    """A folder of templates, or a single one, relative to the file that names it: `card.html`, `blocks.html` and
    `theme.css` change the page and the PDF block by block ([theming.md](theming.md)). They are kept in the results."""
    plugins: Annotated[tuple[Annotated[StrictStr, Field(min_length=1)], ...], IdleWithout()] = ()
    """Plugins of installed packages that add sections, figures and findings, by name; one that is installed and not
    named does nothing. The results and the card say which, with the version of their package
    ([theming.md](theming.md))."""
    confusion: Annotated[ShadeOrTable | None, Only(*CLASSES), IdleWithout()] = None
    """What darkens the cells of a confusion matrix, `counts` or `shares`, or a mapping that also says what its rows
    are: `{rows: predicted}`."""
