"""Recalibration: what recalibrators are fitted, and on which rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Discriminator, Field, SerializationInfo, StrictInt, Tag
from pydantic_core import PydanticCustomError, core_schema

from evalpipe import calibration
from evalpipe.base.records import After
from evalpipe.spec.field_types import KEY, LEFT_TO_RULES, AnyOf, Key, OfRole, Only, SpecPart
from evalpipe.tasks import WITH_OUTCOME

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler

COMMON_KEYS = ("method", "name")
"""The keys of an entry that are no options of its method."""


@dataclass(frozen=True, slots=True)
class MethodChoice:
    """A recalibrator as it is asked for: its method, the name of the variant that it makes, and its options.

    Methods and options are checked by the chapter's rules, which report every problem with its place.
    """

    method: str
    name: str
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def read(cls, value: object) -> MethodChoice:
        """Return the choice that a method's name, such as ``"isotonic"``, or a mapping stands for."""
        if isinstance(value, MethodChoice):
            return value
        if isinstance(value, str):
            return cls(value, value)
        if isinstance(value, Mapping) and isinstance(value.get("method"), str):
            options = {key: item for key, item in value.items() if key not in COMMON_KEYS}
            return cls(value["method"], str(value.get("name", value["method"])), MappingProxyType(options))
        raise PydanticCustomError(LEFT_TO_RULES, "a recalibrator is a method, or a mapping with 'method'")

    @classmethod
    def blank(cls) -> MethodChoice:
        """Return a choice without method or name, in place of an entry of the spec that cannot be read."""
        return cls("", "")

    @property
    def shifts(self) -> bool:
        """Whether it turns probabilities to another prevalence, which its option ``to`` names."""
        return "to" in calibration.registry[self.method].options.model_fields

    def _written(self, info: SerializationInfo) -> str | dict[str, Any]:
        """Return the choice as in YAML: a name or a mapping; in JSON with the defaults of all options."""
        options = dict(self.options)
        if info.mode == "json":
            options = calibration.registry[self.method].options.model_validate(options).model_dump(mode="json")
        name = {} if self.name == self.method else {"name": self.name}
        return {"method": self.method, **name, **options} if options or name else self.method

    @classmethod
    def __get_pydantic_core_schema__(cls, source: type, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        """Return the pydantic schema: `read` on validation, `_written` on serialization."""
        written = core_schema.plain_serializer_function_ser_schema(cls._written, info_arg=True)
        return core_schema.no_info_plain_validator_function(cls.read, serialization=written)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Return the JSON Schema of an entry, with the options of every method."""
        return methods_schema()


def methods_schema() -> dict[str, Any]:
    """Return the JSON Schema of an entry: the name of a method, or a mapping of it and its options."""
    forms: list[dict[str, Any]] = []
    bare = []
    for entry in calibration.registry.values():
        options = entry.options.model_json_schema()
        required = options.get("required", [])
        bare += [] if required else [entry.name]
        common = {"method": {"const": entry.name, "description": entry.definition},
               "name": {"type": "string", "pattern": KEY, "description": "The name of the variant."}}
        forms.append({
            "type": "object", "title": entry.title, "properties": common | options.get("properties", {}),
            "required": ["method", *required], "additionalProperties": False,
        })
    return {"anyOf": [{"enum": bare}, *forms]}


class Folds(SpecPart):
    """Cross-fitting on the evaluated rows."""

    folds: Annotated[StrictInt, Field(ge=2, le=1000)]
    """The number of folds. The rows of each fold are recalibrated by a fit on the others; rows of one cluster, or of
    one `id`, share a fold."""


FitOn = Annotated[
    Annotated[Key, Tag("a dataset")] | Annotated[Folds, Tag("folds")],
    Discriminator(lambda value: "folds" if isinstance(value, Mapping | Folds) else "a dataset"),
    AnyOf(),
]
"""A dataset with the role `calibrate`, or `{folds: k}`."""


class Recalibrate(SpecPart):
    """Recalibrators, each of which makes a variant of every model."""

    fit_on: Annotated[
        FitOn,
        OfRole("calibrate", ": nothing may be fitted and judged on the same rows",
               "give a dataset 'role: calibrate', or cross-fit: {folds: 10}"),
    ]
    """The dataset to fit on, which has the role `calibrate`, or `{folds: 10}` for cross-fitting on the evaluated rows.
    Nothing is ever fitted and judged on the same rows."""
    methods: Annotated[tuple[MethodChoice, ...], Field(min_length=1)]
    """The recalibrators: methods, or mappings of a method, its options and, as `name`, the name of the variant. A raw
    score without a `scale` is taken as it is by `platt` and by the methods of order: `isotonic`, `isotonic_bagged` and
    `venn_abers`."""

    @property
    def folds(self) -> int | None:
        """The number of folds of cross-fitting; None where a dataset is fitted on."""
        return self.fit_on.folds if isinstance(self.fit_on, Folds) else None


class RecalibrateKeys(SpecPart):
    """Keys of a spec."""

    recalibrate: Annotated[Recalibrate | None, After("calibration"), Only(*WITH_OUTCOME)] = None
    """Recalibrators; each makes a variant of every model, which is evaluated beside the original."""
