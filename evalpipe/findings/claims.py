"""What rules claim of the results, those of plugins too, and which claims these data bear out, all taken together.

Each reason why a check does not apply is declared here too, and rules name those that they have. What the resolved spec
alone tells is known before data are read, so that no gate can require it. The words of a reason stand under its code in
`evalpipe.words.sentences`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from evalpipe.base.plugins import load_plugin_function, plugin_errors, plugins_of, refuse
from evalpipe.intervals.multiplicity import holm, limits_between, p_against, p_between
from evalpipe.results.document import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from evalpipe.base.plugins import Plugin
    from evalpipe.intervals.multiplicity import Known
    from evalpipe.results import Results
    from evalpipe.results.document import FindingKind

    SpecDocument = Mapping[str, Any]
    Say = Callable[[Results, Sequence[Any]], Iterable[Finding]]
    """Writes the findings on rows of the results of which one claim holds."""
    Claims = Callable[[Results], Iterable["Claim"]]
    Limited = Any
    """A row of the results with `value` or `difference`, `lower`, `upper` and `level`."""


@dataclass(frozen=True, slots=True)
class Unless:
    """A reason why checks do not apply: its ``code``, and when it holds, by a resolved spec, by results or either."""

    code: str
    by_spec: Callable[[SpecDocument], bool] = lambda _: False
    by_results: Callable[[Results], bool] = lambda _: False

    def holds(self, results: Results) -> bool:
        """Tell whether the reason holds for this run, so that the check does not apply."""
        return self.by_spec(results.spec) or self.by_results(results)


def unless_key(code: str, key: str) -> Unless:
    """Return the reason "the spec has no ``key``", under its ``code``, for which a check does not apply."""
    return Unless(code, lambda spec: not spec.get(key))


def _unless_task(code: str, *tasks: str) -> Unless:
    """Return the reason "the task is none of ``tasks``", under its ``code``, for which a check does not apply."""
    return Unless(code, lambda spec: spec.get("task") not in tasks)


def count_of(spec: SpecDocument, key: str, *roles: str) -> int:
    """Return the number of entries under ``key`` of a resolved spec ("models" or "datasets"), of any of ``roles``."""
    entries = (spec.get(key) or {}).values()
    return sum(not roles or entry.get("role") in roles for entry in entries)


NO_DATASETS = Unless("no-datasets", by_results=lambda results: not results.datasets)
NO_OTHER_ROWS = Unless("no-other-rows", lambda spec: not count_of(spec, "datasets", "calibrate", "reference"))
ONE_DATASET = Unless("one-dataset", lambda spec: count_of(spec, "datasets") < 2)
ONE_EVALUATED = Unless("one-evaluated", lambda spec: count_of(spec, "datasets", "evaluate") < 2)
ONE_MODEL = Unless("one-model", lambda spec: count_of(spec, "models") < 2)
NOT_BINARY = _unless_task("not-binary", "binary")
NO_LEVELS = _unless_task("no-levels", "binary", "multiclass", "ordinal")
NOT_NUMBERS = _unless_task("not-numbers", "regression", "count")
NOT_COUNTS = _unless_task("not-counts", "count")
NOT_SCORES = _unless_task("not-scores", "score")
NOT_MULTICLASS = _unless_task("not-multiclass", "multiclass")
FEW_LEVELS = _unless_task("few-levels", "multiclass", "ordinal")
NO_SLICES = unless_key("no-slices", "slices")
NO_GATES = unless_key("no-gates", "gates")
NO_BASELINE = Unless("no-baseline", lambda spec: not (spec.get("compare") or {}).get("baseline"))
NOTHING_TESTED = "nothing-tested"
"""The code of the reason that a check which claims something of each number it looks at claims nothing."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What is looked for in every run: its name, what it checks in a sentence, and the function that claims it.

    ``kinds`` are those that its findings can have. It does not apply where one of ``unless`` holds or, where it
    ``claims_all``, something of each number that it looks at, where it claims nothing.
    """

    name: str
    checks: str
    claims: Callable[[Results], Iterable[Claim]]
    kinds: tuple[FindingKind, ...] = ()
    unless: tuple[Unless, ...] = ()
    claims_all: bool = False

    @property
    def code(self) -> str:
        """The code of the rule's check and of its findings: its name with hyphens."""
        return code_of(self.name)

    def not_applicable(self, results: Results) -> str | None:
        """Return the code of the reason why a rule that claims nothing does not apply; None where it applies."""
        return next((reason.code for reason in self.unless if reason.holds(results)),
                    NOTHING_TESTED if self.claims_all else None)


def code_of(name: str) -> str:
    """Return the code of a rule's check: its name with hyphens in place of underscores."""
    return name.replace("_", "-")


registry: dict[str, Rule] = {}
"""Every rule, by name, in the order of declaration."""


def rule(
    *kinds: FindingKind, unless: tuple[Unless, ...] = (), claims_all: bool = False
) -> Callable[[Claims], Claims]:
    """Declare a rule of findings: a function of results that yields claims.

    The first line of its docstring says what it checks. The arguments are those of `Rule`.
    """
    def declare(claims: Claims) -> Claims:
        name = claims.__name__
        if name in registry and registry[name].claims.__module__ != claims.__module__:
            raise ValueError(f"two rules of findings are called {name!r}")
        checks = (claims.__doc__ or "").strip().splitlines()[0]
        registry[name] = Rule(name, checks, claims, kinds, unless, claims_all)
        return claims

    return declare


@dataclass(frozen=True, slots=True)
class Claim:
    """That something is so of a row of the results; rows of which the same is said are named in one sentence.

    ``p_value`` is that of the test that it is not so; None of a fact, or of a verdict that results hold already.
    ``otherwise`` is said of rows for which the claim is not borne out. ``after`` is a claim of the same family that
    says more, and more than nothing at all: if it is borne out, so is this one, and is not yielded.
    """

    row: Any
    say: Say
    p_value: float | None = None
    otherwise: Say | None = None
    after: Claim | None = None


def p_beyond(row: Limited, bound: float) -> float:
    """Return the two-sided p-value, from its limits, of the test that the true value of a row is ``bound``."""
    return p_against(_number_with_limits(row), bound)


def p_apart(first: Limited, second: Limited) -> float:
    """Return the two-sided p-value of the test that the true values of two rows, of independent samples, are equal."""
    return p_between(_number_with_limits(first), _number_with_limits(second))


def limits_apart(first: Limited, second: Limited) -> tuple[float, float]:
    """Return the limits of the second row less the first, of independent samples; both have limits."""
    return limits_between(_number_with_limits(first), _number_with_limits(second))


def _number_with_limits(row: Limited) -> Known:
    """Return (value or difference, lower, upper, level) of a row."""
    return row.value if hasattr(row, "value") else row.difference, row.lower, row.upper, row.level


def decided_claims(families: Mapping[str, Sequence[Claim]], level: float) -> Iterator[tuple[Claim, bool]]:
    """Yield each claim and whether the data support it, by Holm's test, with family-wise error 1 - ``level``.

    The families share the error, 1 - level, equally, and so do the tested claims of each family; what is left over
    goes to the others: Holm (1979), with weights. Claims without a p-value are supported. A claim ``after`` another is
    tested with the share of the error that the other had in the end: at most one of both can be false and not the
    other.
    """
    tested = {name: [claim for claim in claims if claim.p_value is not None and claim.after is None]
              for name, claims in families.items()}
    p_values = [claim.p_value or 0.0 for claims in tested.values() for claim in claims]
    weights = [1 / len(claims) for claims in tested.values() for _ in claims]
    adjusted = iter(holm(p_values, weights).tolist())
    borne_out = {id(claim): next(adjusted) <= 1 - level for claims in tested.values() for claim in claims}
    weight_of = {id(claim): 1 / len(claims) for claims in tested.values() for claim in claims}
    weight_left = sum(weight for key, weight in weight_of.items() if not borne_out[key])
    followed = {id(claim.after) for claims in families.values() for claim in claims if claim.after is not None}
    for claims in families.values():
        for claim in claims:
            if claim.after is None:
                if borne_out.get(id(claim), True) or id(claim) not in followed:
                    yield claim, borne_out.get(id(claim), True)
            elif not borne_out[id(claim.after)]:
                yield claim, (claim.p_value or 0.0) <= (1 - level) * weight_of[id(claim.after)] / weight_left


def claims_of_plugins(results: Results) -> dict[str, list[Claim]]:
    """Return the claims of each plugin with a rule, by "plugin NAME"; raises UsageError where a plugin fails."""
    return {f"plugin {plugin.name}": _plugin_claims(plugin, results)
            for plugin in plugins_of(results.appearance.plugins) if "findings" in plugin.gives}


def _plugin_claims(plugin: Plugin, results: Results) -> list[Claim]:
    """Return the claims of a plugin's rule, whose findings have its name; raises UsageError for anything else."""
    rule = load_plugin_function(plugin, "findings")
    with plugin_errors(plugin, "in its findings"):
        claims = list(rule(results.model_copy(deep=True)))
    for claim in claims:
        if not isinstance(claim, Claim):
            raise refuse(plugin, f"claims {type(claim).__name__} in place of Claim")
    wrapped: dict[Say, Say] = {}  # one for each function, so that rows of the same claim share a sentence

    def as_plugin(say: Say | None) -> Say | None:
        """Return a function that says the same in the plugin's name, the same one for the same ``say``."""
        return None if say is None else wrapped.setdefault(say, partial(_plugin_findings, plugin, say))

    return [replace(claim, say=as_plugin(claim.say), otherwise=as_plugin(claim.otherwise)) for claim in claims]


def _plugin_findings(plugin: Plugin, say: Say, results: Results, rows: Sequence[Any]) -> list[Finding]:
    """Return a plugin's findings on ``rows``, marked with its name; raises UsageError for anything but findings."""
    with plugin_errors(plugin, "in its findings"):
        findings = list(say(results.model_copy(deep=True), rows))
    for finding in findings:
        if not isinstance(finding, Finding):
            raise refuse(plugin, f"says {type(finding).__name__} in place of Finding")
    return [finding.model_copy(update={"plugin": plugin.name}) for finding in findings]
