"""Gates: limits that results must keep; each passes, fails, or is inconclusive by the interval."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    SerializerFunctionWrapHandler,
    StrictBool,
    StrictFloat,
    StrictStr,
    Tag,
    model_serializer,
    model_validator,
)

from evalpipe.base.records import UNWRITTEN, After
from evalpipe.chapters.checks.spec import CODES
from evalpipe.metrics import registry
from evalpipe.spec.field_types import (
    COMPUTABLE,
    EMPTY_AS_ABSENT,
    AnyOf,
    Excludes,
    FilePath,
    Key,
    Level,
    Needs,
    Number,
    Refers,
    Renamed,
    SpecPart,
)
from evalpipe.spec.measures import MeasureOfSpec
from evalpipe.words.sentences import FORMER_VERDICTS
from evalpipe.words.spelling import choose

CHANGES = ("max_increase", "max_decrease", "min_increase", "min_decrease")
"""The limits of a change against something."""

LIMITS = ("min", "max", *CHANGES)
"""The keys that hold a limit."""

BOUNDED = ("brier", "log_loss")
"""Measures, beside proportions, that are a mean over rows of a loss within bounds."""

F_MEASURES = ("f1", "f_beta")
"""Measures that are a ratio of such means."""

AVERAGED = (
    "brier", "log_loss", "rps", "top_k_accuracy", "net_benefit", "tjur_r2", "balanced_accuracy", "j_index",
    "roc_auc", "gini", "hand_till_auc", "ordinal_mae", "ordinal_mse",
)
"""Measures, beside proportions, whose mean over nights is the value itself, however few rows a night has."""

LARGE_NIGHTS = dict.fromkeys((
    *F_MEASURES, "kappa", "weighted_kappa", "mcc", "brier_skill", "mcfadden_r2",
    "calibration_in_the_large", "calibration_intercept", "calibration_slope",
), 50) | {"average_precision": 100}
"""Measures that few rows move to one side, with the rows of the rarer outcome from which on a night tells of them.

Average precision is a quarter of its error too high with 50 events, and that would be evidence over many nights.
"""

Change = Annotated[StrictFloat, Field(ge=0, allow_inf_nan=False), COMPUTABLE]
"""How much a number may or must have changed, never below zero."""


AlarmLevel = Annotated[StrictFloat, Field(gt=0, lt=0.5)]
"""The probability of a false alarm."""


class AgainstEarlier(SpecPart):
    """The results of an earlier run."""

    results: FilePath
    """Its output folder or `results.json`, relative to the file this is written in. It is read before anything is
    computed."""


Against = Annotated[
    Annotated[Literal["baseline", "last"], Tag("a word")] | Annotated[AgainstEarlier, Tag("a run")],
    Discriminator(lambda value: "a run" if isinstance(value, Mapping | BaseModel) else "a word"),
    AnyOf(),
]
"""`baseline`, `last`, or `{results: path}`."""

SliceNames = Annotated[
    Annotated[Annotated[StrictStr, Field(min_length=1)], Tag("a name")]
    | Annotated[tuple[StrictStr, ...], Field(min_length=1), Tag("names")],
    Discriminator(lambda value: "names" if isinstance(value, list | tuple) else "a name"),
    AnyOf(),
]
"""`all`, the column or name of one way to slice, or the columns of an intersection."""


NEEDS_SLICES = Needs(("slices",), "unknown-slice", "there are no slices",
                     "add 'slices: […]' to the spec, or remove it", of_spec=True)


def _options(schema: dict[str, Any]) -> None:
    """Add to the JSON Schema of a gate that options of a measure may stand beside the measure's name."""
    names = sorted({option for entry in registry for option in entry.option_types} | {"average"})
    about = {"description": "An option of the measure, where it is named by its name alone."}
    schema["patternProperties"] = {f"^({'|'.join(map(re.escape, names))})$": about}


class SequenceRule(SpecPart):
    """What holds for all gates `on: sequence` together."""

    level: AlarmLevel = 0.05
    """The probability that any of these gates ever fails though all of them keep their limits, at most: over all
    gates, models, datasets and slices, and over all nights."""
    between_nights: StrictBool = False
    """Allow for nights that differ by more than their rows explain, as where each day has customers of its own kind.
    The evidence is then of the values of nights, with the spread of the nights before as their error."""


class GateRule(SpecPart):
    """A limit that a measure, its change or the desirability of a model must keep; equal to the limit is kept."""

    model_config = ConfigDict(title="Gate", json_schema_extra=_options)

    name: Annotated[StrictStr, Field(min_length=1)] | None = None
    """What the gate is called on the card and in junit.xml; the measure and its limit where absent."""
    metric: MeasureOfSpec | None = None
    """The measure: a name, with the measure's options beside it, or a mapping of a name and its options."""
    class_: Level | None = Field(default=None, alias="class")
    """The class, where the measure has `average: none`; every class is judged where absent."""
    desirability: Annotated[
        Annotated[StrictStr, Field(min_length=1)] | None,
        Excludes(("metric",), "gate-subject", "a gate judges a measure or desirability, not both",
                 "make two gates of it"),
        Needs(("desirability",), "no-goals", "no goals are declared, so there is no desirability",
              "add 'desirability: […]' to the spec, or name a 'metric'", of_spec=True),
    ] = None
    """Instead of a measure, `overall` or a goal by its form and what it is of, such as `maximize sensitivity`."""
    check: Annotated[StrictStr, Field(json_schema_extra={"enum": list(CODES)})] | None = None
    """Instead of a measure, a check by its code: [findings.md](findings.md) lists them. The gate fails where the check
    fails, and is inconclusive where it is undecided or does not apply. Of a check that makes nothing but notes, a note
    fails the gate. Beside it a gate has a `name` and a `severity` at most."""
    min: Number | None = None
    """The lowest value allowed."""
    max: Number | None = None
    """The highest value allowed."""
    against: Against | None = None
    """What a change is measured from. `baseline`: the model of `compare.baseline` on the same rows. `last`: the same
    number in the last run of this output folder whose gates held, its `reference.json`; where each night has a folder
    of its own, in that of the night before, which the ledger names. A night is never its own reference: run again, it
    is held to what it was held to. `{results: path}`: the same number in any earlier run. A change is the value minus
    its reference."""
    max_increase: Change | None = None
    """The most by which the value may exceed its reference."""
    max_decrease: Change | None = None
    """The most by which the value may be below its reference."""
    min_increase: Change | None = None
    """The least by which the value must exceed its reference."""
    min_decrease: Change | None = None
    """The least by which the value must be below its reference."""
    optional: StrictBool = False
    """Skip the gate where the earlier run of `{results: path}`, or its number, does not exist; an error without. A gate
    against `last` is always skipped then, as on the first night. The summary, the card and `junit.xml` say what was
    skipped, and why."""
    on: Literal["interval", "value", "lower", "upper", "sequence"] = "interval"
    """What must keep the limit. `interval`: the gate passes when the whole interval keeps it, fails when all of it
    misses it, and is inconclusive between. `value`, `lower` or `upper`: that number alone, pass or fail. Where no
    interval is made, such as under `intervals: {method: none}`, the value is judged. `sequence`: the nights together,
    for specs that run every night on new data: the gate fails when their evidence that the limit is missed is large
    enough, passes when their evidence that it is kept is, and is inconclusive between. It needs `as_of` and the
    ledger."""
    undefined: Annotated[
        Literal["fail", "inconclusive", "pass"], Renamed(FORMER_VERDICTS),
        Excludes(("on",), "unused-key", "'undefined' has no effect: a night without a number adds no evidence",
                 equal="sequence"),
    ] = "fail"
    """The verdict where the number is undefined (such as the precision of a model that predicts no event) or its
    interval is unreliable (such as a value that is the same in all replicates). With `pass`, the value of the latter
    is judged. A slice of fewer rows than `slice_rules.min_rows` has no number, and is inconclusive either way."""
    dataset: Annotated[
        Key | None, Refers("evaluated dataset", lambda datasets: choose(datasets, "remove it"))] = None
    """The evaluated dataset; every one where absent."""
    model: Annotated[Key | None, Refers("model", lambda models: choose(models, "remove it"))] = None
    """The model; every one where absent."""
    variant: Annotated[
        Key,
        Needs(("recalibrate",), "unknown-variant", "nothing is recalibrated, so models have no variants",
              "add 'recalibrate: …' to the spec, or remove it", of_spec=True),
    ] = "original"
    """The variant of the model: `original`, the name of a recalibrated one, or `all`."""
    slice: Annotated[Annotated[dict[StrictStr, Level], Field(min_length=1)] | None, NEEDS_SLICES] = None
    """One slice, by its labels: `{season: a}`."""
    slices: Annotated[
        SliceNames | None,
        Excludes(("slice",), "two-scopes", "a gate has 'slice' or 'slices', not both", "make two gates of it"),
        NEEDS_SLICES,
    ] = None
    """Several slices: `all`, the slices by a column or of a name, or the slices by a list of columns combined.
    Without `slice` or `slices`, the gate is on all rows."""
    severity: Literal["fail", "warn"] = "fail"
    """How bad it is when the gate fails; see `evalpipe run --fail-on`."""

    @model_validator(mode="before")
    @classmethod
    def gathered(cls, value: object) -> object:
        """Move options that are written beside the name of a measure into the mapping of that measure."""
        if not isinstance(value, Mapping) or not isinstance(value.get("metric"), str):
            return value
        of_gate = {key: item for key, item in value.items() if key in KEYS}
        options = {key: item for key, item in value.items() if key not in KEYS}
        return of_gate | {"metric": {"metric": value["metric"], **options}} if options else value

    @model_serializer(mode="wrap")
    def _written(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Return the gate as a spec has it: with `class` for `class_`, and without keys that have no effect."""
        if self.check is not None:
            return {key: item for key, item in handler(self).items() if key in OF_CHECK}
        idle = {"undefined": self.on == "sequence", "optional": self.against == "last", "check": True}
        return {"class" if key == "class_" else key: item for key, item in handler(self).items() if not idle.get(key)}

    @property
    def limit(self) -> dict[str, float]:
        """The limits that are set, by key, such as {"min": 0.7}."""
        return {key: float(item) for key in LIMITS if (item := getattr(self, key)) is not None}


OF_CHECK = ("name", "check", "severity")
"""The keys of a gate that requires a check."""

KEYS = frozenset(field.alias or name for name, field in GateRule.model_fields.items())
"""The keys of a gate that are no options of its measure."""


class GatesKeys(SpecPart):
    """Keys of a spec."""

    gates: Annotated[tuple[GateRule, ...] | None, After("candidates"), EMPTY_AS_ABSENT] = None
    """Limits that results must keep; `evalpipe run` ends with 1 where one is missed."""
    sequence: Annotated[SequenceRule | None, After("trend"), UNWRITTEN] = None
    """What holds for all gates `on: sequence` together."""
