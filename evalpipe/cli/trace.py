"""What an estimate was made from: its rows, columns, settings and bytes, as plain JSON values and as lines of text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evalpipe.card.method import DRAW_MODES
from evalpipe.card.tables import note_of, shown
from evalpipe.card.wording import BETTER_SENTENCES, chosen_methods, definition, level, measure, names_of, undefined
from evalpipe.intervals.declare import registry as methods
from evalpipe.metrics import registry as metrics
from evalpipe.words import numbers
from evalpipe.words.sentences import in_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.results import Estimate, InputFile, MetricSummary, ModelSummary, Recalibration, Results, Threshold
    from evalpipe.runs.folder import RunFolder

    Fact = tuple[str, str]

Document = dict[str, Any]

KINDS = {
    "truth": (), "labels": ("prediction", "probability", "score"), "probabilities": ("probability", "score"),
    "scores": ("score", "probability"), "values": ("prediction", "rate"), "loo_values": ("loo_prediction", "leverage"),
}
"""What a measure is computed from, by what it needs: the first of these that the model has a column of."""

STANDARD = "the standard set of the task"


def trace(results: Results, estimate: Estimate, address: str, folder: RunFolder) -> dict[str, Any]:
    """Return all that the results say of an estimate, and what `run.json` of the ``folder`` says of their run."""
    traced = estimate
    metric = next(metric for metric in results.metrics if metric.name == traced.metric)
    model = next(model for model in results.models if model.name == traced.model)
    dataset = next(dataset for dataset in results.datasets if dataset.name == traced.dataset)
    needs, threshold, fit = _needs(metric), _threshold(results, traced, model), _fit(results, traced)
    cut = threshold if "labels" in needs else None
    columns = _columns(results, traced, model, needs)
    return dict(in_words({
        "address": address, "estimate": traced.model_dump(by_alias=True), "measure": metric.model_dump(),
        "interval": _interval(results, traced), "columns": columns,
        "dataset": {"where": dataset.where, "rows": dataset.rows, "n": dataset.n, "events": dataset.events},
        "inputs": [file.model_dump() for file in _inputs(results, traced, columns, cut, fit)],
        "threshold": None if cut is None else cut.model_dump(),
        "prevalence": _prevalence(results, traced),
        "recalibration": None if fit is None else {
            "method": fit.method, "options": fit.options, "fitted_on": fit.fitted_on, "folds": fit.folds, "n": fit.n},
        "as_of": results.as_of, "spec_sha256": results.spec_sha256, "spec_key": _key(results, traced),
        "evidence_sha256": results.evidence_sha256, "versions": versions(results, folder),
    }))


def versions(results: Results, folder: RunFolder) -> dict[str, Any]:
    """Return the version of evalpipe, and what `run.json` says of libraries and commit where it is of these results."""
    known = folder.run_facts_of(results.evidence_sha256)
    return {"evalpipe": results.evalpipe_version, **{key: known.get(key) for key in ("python", "libraries", "git")}}


def _needs(metric: MetricSummary) -> set[str]:
    """Return what a measure, or those that an expression is of, is computed from; nothing of an unknown one."""
    names = [re.split(r"[^\w]", label)[0] for label in metric.measures.values()] or [metric.name]
    return {metrics[name].needs for name in names if name in metrics}


def _columns(results: Results, traced: Estimate, model: ModelSummary, needs: set[str]) -> dict[str, list[str]]:
    """Return the columns that an estimate was computed from, by what they hold."""
    spec = results.spec
    classes_made = results.levels and traced.variant != "original"
    columns = {"truth": [spec["outcome"]["column"]],
               **_predicted(model, needs, {"prediction"} if classes_made else set())}
    for key, settings in (("weight", results.weight), ("exposure", results.exposure)):
        if settings is not None and settings.get("column"):
            columns[key] = [str(settings["column"])]
    if spec.get("cluster"):
        columns["cluster"] = [spec["cluster"]]
    conditions = {item.get("name") for item in spec.get("slices") or () if isinstance(item, dict)}
    sliced = [name for name in traced.slice or () if name not in conditions]
    return columns | ({"slice": sliced} if sliced else {})


def _predicted(model: ModelSummary, needs: set[str], unused: set[str]) -> dict[str, list[str]]:
    """Return the columns of a model that its measure needs; all of them for a measure that is not known here."""
    kinds: dict[str, list[str]] = {}
    for name, column in model.columns.items():
        if name not in unused:
            kinds.setdefault(name.split(" of ")[0], []).append(column)
    if not needs:
        return kinds
    if "loo_values" in needs and "leverage" in kinds:  # which is of the fit that predicts
        needs = needs | {"values"}
    first = (next((kind for kind in KINDS[need] if kind in kinds), None) for need in sorted(needs))
    return {kind: kinds[kind] for kind in first if kind is not None}


def _threshold(results: Results, traced: Estimate, model: ModelSummary) -> Threshold | None:
    """Return the threshold by which rows were classified; None where the model gives classes, or has no threshold."""
    if traced.variant == "original" and "prediction" in model.columns:
        return None
    return next((row for row in results.thresholds if (row.model, row.variant) == (traced.model, traced.variant)
                 and row.dataset in (None, traced.dataset)), None)


def _fit(results: Results, traced: Estimate) -> Recalibration | None:
    """Return the recalibrator of the variant; where it was cross-fitted on several datasets, that of its own."""
    fits = [fit for fit in results.recalibration if (fit.model, fit.variant) == (traced.model, traced.variant)]
    return next((fit for fit in fits if fit.fitted_on == traced.dataset), next(iter(fits), None))


def _inputs(
    results: Results, traced: Estimate, columns: dict[str, list[str]], cut: Threshold | None, fit: Recalibration | None
) -> Iterator[InputFile]:
    """Yield the files that an estimate was made from: those of its rows, and of rows that it was fitted or tuned on."""
    datasets = {traced.dataset, None if cut is None else cut.chosen_on, None if fit is None else fit.fitted_on}
    read = {column for named in columns.values() for column in named}
    for file in results.inputs:
        if file.dataset in datasets and (file.role != "predictions" or read & set(file.columns)):
            yield file


def _interval(results: Results, traced: Estimate) -> dict[str, Any]:
    """Return how the interval was made, and what replicates drew where it needs them."""
    settings, method = results.intervals, methods.get(traced.method)
    reasons = {chosen.method: str(chosen.reason) for chosen in settings.methods.get(traced.metric, ())}
    planned = chosen_methods(settings.methods.get(traced.metric, ()))
    document: dict[str, Any] = {
        "method": traced.method, "title": traced.method if method is None else method.title,
        "reason": reasons.get(traced.method) or None, "planned": planned or None}
    if method is None or not method.drawn:
        return document | {"replicates": None, "seed": None, "resampling": None, "drawn": None}
    slicing = None if traced.slice is None else " × ".join(traced.slice)
    draws = [draw for draw in settings.draws if draw.dataset == traced.dataset and traced.model in draw.models]
    drawn = next((draw for draw in draws if draw.slicing == slicing), next(iter(draws), None))
    return document | {"replicates": settings.replicates, "seed": settings.seed, "resampling": settings.resampling,
                       "drawn": None if drawn is None else drawn.model_dump()}


def _prevalence(results: Results, traced: Estimate) -> dict[str, Any] | None:
    """Return the prevalence that an estimate was taken at, and where it comes from; None of a number."""
    if not results.levels:
        return None
    at, declared = traced.params.get("prevalence"), results.prevalence
    if at is None:
        dataset = next(dataset for dataset in results.datasets if dataset.name == traced.dataset)
        return {"value": dataset.prevalence if traced.slice is None else None, "of": "the rows", "source": None}
    is_declared = declared is not None and (declared.value == at or declared.levels is not None)
    if declared is None or not is_declared:
        return {"value": at, "of": "the measure", "source": None}
    of = "the spec" if declared.dataset is None else f"dataset {declared.dataset}"
    return {"value": at, "of": of, "source": declared.source}


def _key(results: Results, traced: Estimate) -> str | None:
    """Return the key of the resolved spec that asks for an estimate; None where findings alone rest on it."""
    if not any(traced is row for row in results.rows):
        return None
    for place, entry in enumerate(results.spec.get("metrics") or ()):
        written = {"metric": entry} if isinstance(entry, str) else entry
        if traced.metric == written.get("metric", written.get("name")) and _asks(written, traced):
            return f"metrics[{place}]"
    return STANDARD


_FORMS = {"metric", "name", "expression", "of", "average", "prevalence"}
"""Keys of an entry that are no options of its measure."""


def _asks(entry: Mapping[str, Any], traced: Estimate) -> bool:
    """Tell whether an entry of the spec asks for an estimate of its measure with these options and this average."""
    same = all(traced.params.get(name, value) == value for name, value in entry.items() if name not in _FORMS)
    averages, at = entry.get("average") or traced.average, entry.get("prevalence")
    averaged = traced.class_ is not None or traced.average in (averages if isinstance(averages, list) else [averages])
    own_at = traced.params.get("prevalence")
    applies = at == own_at if isinstance(at, int | float) else at is None or (own_at is None) == (at == "sample")
    return same and averaged and applies


def facts(results: Results, traced: Estimate, document: Document) -> Iterator[Fact]:
    """Yield what is known of an estimate, and was traced in a ``document``: a term and its text for each fact."""
    yield from _value_facts(results, traced)
    yield from _interval_facts(traced, document["interval"])
    yield from _row_facts(results, traced, document)
    yield from _threshold_facts(document)
    for file in document["inputs"]:
        where, used = file["path"] or "held in memory", f"{file['rows']:,} rows, {file['used_rows']:,} used"
        yield "file", f"{where} ({file['dataset']}): {used}, sha256 {file['sha256'] or 'none'}"
    yield from _origin_facts(results, document)


def _value_facts(results: Results, traced: Estimate) -> Iterator[Fact]:
    metric = next(metric for metric in results.metrics if metric.name == traced.metric)
    yield "measure", measure(metric.title, traced.params, traced.average)
    yield "value", shown(traced, whole=metric.is_whole).text
    if traced.value is not None:
        limits = "" if traced.lower is None or traced.upper is None else (
            f" ({numbers.exact(traced.lower)} to {numbers.exact(traced.upper)})")
        yield "exactly", f"{numbers.exact(traced.value)}{limits}"
    note = note_of(traced)
    yield from [("status", note)] if note and traced.value is not None else []
    if traced.no_information is not None:
        skill = "" if traced.skill is None else f", skill {numbers.number(traced.skill)}"
        yield "by chance", f"{numbers.number(traced.no_information)}{skill}"
    yield "definition", definition(metric, traced.params)
    if metric.formula:
        yield "formula", metric.formula
    if metric.expression is not None:
        yield "expression", metric.expression
    yield "range", f"{numbers.bounds(*metric.range)}. {BETTER_SENTENCES[metric.direction]} {undefined(metric)}"
    yield "reference", metric.reference or "none"


def _interval_facts(traced: Estimate, interval: Document) -> Iterator[Fact]:
    reason = interval["reason"] or (interval["planned"] and f"planned was {interval['planned']}")
    why = f": {reason}" if reason else ""
    yield "interval", f"{level(traced.level)}, {interval['title']}{why}" if traced.level is not None else (
        f"none{why}")
    if interval["seed"] is not None:
        yield "replicates", f"{interval['replicates']:,}, {interval['resampling']}, seed {interval['seed']}"
        drawn = interval["drawn"]
        if drawn:
            yield "drawn", f"{DRAW_MODES[drawn['mode']]}, {drawn['units']:,} units: {drawn['reason']}"
    if traced.monte_carlo_error is not None:
        yield "Monte-Carlo error", f"{numbers.number(traced.monte_carlo_error)} of the limits"
    yield "error bound", "none: no grid of scores was used" if traced.error_bound is None else (
        f"{numbers.exact(traced.error_bound)}: scores were counted in the cells of a grid")


def _row_facts(results: Results, traced: Estimate, document: Document) -> Iterator[Fact]:
    """Yield the rows and columns that it was computed from."""
    names, dataset = names_of(results), document["dataset"]
    those = "events" if traced.class_ is None else f"of class {traced.class_}"
    events = "" if traced.events is None else f", {traced.events:,} of them {those}"
    yield "n", f"{traced.n:,} in its own denominator{events}"
    yield "dataset", f"{traced.dataset}: {dataset['rows']:,} rows read, {dataset['n']:,} observations used" + (
        f", where {dataset['where']}" if dataset["where"] else "")
    yield "slice", "all rows" if traced.slice is None else names.slice(traced.slice)
    yield "model", f"{names.model(traced.model)} ({traced.model}), {traced.variant} predictions"
    by_kind = (f"{kind} {', '.join(columns)}" for kind, columns in document["columns"].items())
    yield "columns", "; ".join(by_kind)


def _threshold_facts(document: Document) -> Iterator[Fact]:
    """Yield the threshold, the prevalence and the recalibration that it was taken with."""
    cut, at, fit = (document[key] for key in ("threshold", "prevalence", "recalibration"))
    if cut is not None:
        ends = [numbers.exact(value) for value in (min(cut["cuts"]), max(cut["cuts"]))] if cut["cuts"] else []
        value = f"{' to '.join(ends)} by fold" if ends else numbers.exact(cut["value"])
        rule = "as the spec gives it" if cut["rule"] == "fixed" else cut["rule"]
        on = "" if cut["chosen_on"] is None else f", chosen on {cut['chosen_on']}"
        folds = "" if cut["folds"] is None else f", cross-fitted in {cut['folds']} folds"
        yield "threshold", f"{value}: {rule}{on}{folds}"
    if at is not None:
        source = f" ({at['source']})" if at["source"] else ""
        share = numbers.given(at["value"]) if isinstance(at["value"], int | float) else at["value"]
        yield "prevalence", f"{'' if share is None else f'{share}, '}that of {at['of']}{source}"
    if fit is not None:
        folds = "" if fit["folds"] is None else f", cross-fitted in {fit['folds']} folds"
        yield "recalibration", f"{fit['method']}, fitted on {fit['n']:,} observations of {fit['fitted_on']}{folds}"


def _origin_facts(results: Results, document: Document) -> Iterator[Fact]:
    """Yield the spec, the day, the versions and the bytes that it stands in."""
    asked = document["spec_key"] or "does not ask for it: findings rest on it"
    yield "spec", f"{results.name}, {asked}, sha256 {document['spec_sha256']}"
    yield "as of", document["as_of"] or "no day is stated"
    versions = document["versions"]
    libraries = ", ".join(f"{name} {version}" for name, version in (versions["libraries"] or {}).items())
    unknown = "run.json is not here, or is of other results, so libraries are not known"
    yield "versions", f"evalpipe {versions['evalpipe']}; {libraries or unknown}"
    if versions["git"] is not None:
        changed = {True: ", and files are changed since", False: ", and no file is changed since"}.get(
            versions["git"]["dirty"], "; whether files are changed since is not known")
        yield "commit", f"{versions['git']['commit']}{changed}"
    yield "results.json", f"sha256 {document['evidence_sha256']}"
