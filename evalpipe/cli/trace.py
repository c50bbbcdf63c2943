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

    from evalpipe.results import Estimate, ModelSummary, Results, Threshold
    from evalpipe.runs.folder import RunFolder

    Fact = tuple[str, str]

Document = dict[str, Any]

KINDS = {
    "truth": (), "labels": ("prediction", "probability", "score"), "probabilities": ("probability", "score"),
    "scores": ("score", "probability"), "values": ("prediction", "rate"), "loo_values": ("loo_prediction", "leverage"),
}
"""What a measure is computed from, by what it needs: the first of these that the model has a column of."""

STANDARD = "the standard set of the task"


def trace(results: Results, traced: Estimate, address: str, folder: RunFolder) -> dict[str, Any]:
    """Return all that the results and `run.json` say on how an estimate was computed, as JSON values."""
    metric = next(metric for metric in results.metrics if metric.name == traced.metric)
    model = next(model for model in results.models if model.name == traced.model)
    dataset = next(dataset for dataset in results.datasets if dataset.name == traced.dataset)
    names = [re.split(r"[^\w]", label)[0] for label in metric.measures.values()] or [metric.name]
    needs: set[str] = {metrics[name].needs for name in names if name in metrics}  # none of unknown measures
    fits = [fit for fit in results.recalibration if (fit.model, fit.variant) == (traced.model, traced.variant)]
    fit = next((fit for fit in fits if fit.fitted_on == traced.dataset), next(iter(fits), None))
    threshold = _threshold(results, traced, model)
    cut = threshold if "labels" in needs else None  # of a measure of predicted classes
    columns = _columns(results, traced, model, needs)
    # Those of the estimate's rows, and of the rows for its threshold and its recalibration.
    datasets = {traced.dataset, None if cut is None else cut.chosen_on, None if fit is None else fit.fitted_on}
    used_columns = {column for of_role in columns.values() for column in of_role}
    inputs = [file for file in results.inputs if file.dataset in datasets and (
        file.role != "predictions" or used_columns & set(file.columns))]
    return dict(in_words({
        "address": address, "estimate": traced.model_dump(by_alias=True), "measure": metric.model_dump(),
        "interval": _interval(results, traced), "columns": columns,
        "dataset": {"where": dataset.where, "rows": dataset.rows, "n": dataset.n, "events": dataset.events},
        "inputs": [file.model_dump() for file in inputs],
        "threshold": None if cut is None else cut.model_dump(),
        "prevalence": _prevalence(results, traced),
        "recalibration": None if fit is None else {
            "method": fit.method, "options": fit.options, "fitted_on": fit.fitted_on, "folds": fit.folds, "n": fit.n},
        "as_of": results.as_of, "spec_sha256": results.spec_sha256, "spec_key": _spec_key(results, traced),
        "evidence_sha256": results.evidence_sha256, "versions": versions(results, folder),
    }))


def versions(results: Results, folder: RunFolder) -> dict[str, Any]:
    """Return the versions of evalpipe, Python and libraries, and the commit; None for those that `run.json` lacks."""
    run_facts = folder.run_facts_of(results.evidence_sha256)
    return {"evalpipe": results.evalpipe_version, **{key: run_facts.get(key) for key in ("python", "libraries", "git")}}


def _columns(results: Results, traced: Estimate, model: ModelSummary, needs: set[str]) -> dict[str, list[str]]:
    """Return the names of the columns that an estimate was computed from, by role, such as truth or score."""
    spec = results.spec
    classes_are_computed = results.levels and traced.variant != "original"  # from recalibrated probabilities
    if spec.get("score"):
        columns = {kind: [column] for kind, column in model.columns.items()}
        columns |= {key: [spec[key]] for key in ("item", "epoch", "judge") if spec.get(key)}
    else:
        columns = {"truth": [spec["outcome"]["column"]],
                   **_predicted(model, needs, {"prediction"} if classes_are_computed else set())}
    for key, settings in (("weight", results.weight), ("exposure", results.exposure)):
        if settings is not None and settings.get("column"):
            columns[key] = [str(settings["column"])]
    if spec.get("cluster"):
        columns["cluster"] = [spec["cluster"]]
    named_conditions = {item.get("name") for item in spec.get("slices") or () if isinstance(item, dict)}
    slice_columns = [name for name in traced.slice or () if name not in named_conditions]
    return columns | ({"slice": slice_columns} if slice_columns else {})


def _predicted(model: ModelSummary, needs: set[str], unused_kinds: set[str]) -> dict[str, list[str]]:
    """Return the columns of a model that a measure ``needs``, by kind, without ``unused_kinds``; all without needs."""
    columns_of_kind: dict[str, list[str]] = {}
    for name, column in model.columns.items():  # a name is a kind, or one of a level: "probability of a"
        if name not in unused_kinds:
            columns_of_kind.setdefault(name.split(" of ")[0], []).append(column)
    if not needs:
        return columns_of_kind
    if "loo_values" in needs and "leverage" in columns_of_kind:  # which is of the fit that predicts
        needs = needs | {"values"}
    used_kinds = (next((kind for kind in KINDS[need] if kind in columns_of_kind), None) for need in sorted(needs))
    return {kind: columns_of_kind[kind] for kind in used_kinds if kind is not None}


def _threshold(results: Results, traced: Estimate, model: ModelSummary) -> Threshold | None:
    """Return the threshold of the model for the estimate's dataset; None where it gives classes or has no threshold."""
    if traced.variant == "original" and "prediction" in model.columns:
        return None
    return next((row for row in results.thresholds if (row.model, row.variant) == (traced.model, traced.variant)
                 and row.dataset in (None, traced.dataset)), None)


def _interval(results: Results, traced: Estimate) -> dict[str, Any]:
    """Return the method and the reason of an interval and, of a bootstrap method, replicates, seed and draws."""
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
    matching_draw = next((draw for draw in draws if draw.slicing == slicing), next(iter(draws), None))
    return document | {"replicates": settings.replicates, "seed": settings.seed, "resampling": settings.resampling,
                       "drawn": None if matching_draw is None else matching_draw.model_dump()}


def _prevalence(results: Results, traced: Estimate) -> dict[str, Any] | None:
    """Return the prevalence that an estimate is for, and its source; None where the outcome is a number."""
    if not results.levels:
        return None
    prevalence, declared = traced.params.get("prevalence"), results.prevalence
    if prevalence is None:
        dataset = next(dataset for dataset in results.datasets if dataset.name == traced.dataset)
        return {"value": dataset.prevalence if traced.slice is None else None, "of": "the rows", "source": None}
    is_declared = declared is not None and (declared.value == prevalence or declared.levels is not None)
    if declared is None or not is_declared:
        return {"value": prevalence, "of": "the measure", "source": None}
    owner = "the spec" if declared.dataset is None else f"dataset {declared.dataset}"
    return {"value": prevalence, "of": owner, "source": declared.source}


def _spec_key(results: Results, traced: Estimate) -> str | None:
    """Return the key of the resolved spec that asks for an estimate, "metrics[0]"; None where only findings use it."""
    if not any(traced is row for row in results.rows):
        return None
    for index, entry in enumerate(results.spec.get("metrics") or ()):
        declared = {"metric": entry} if isinstance(entry, str) else entry
        if traced.metric == declared.get("metric", declared.get("name")) and _asks_for(declared, traced):
            return f"metrics[{index}]"
    return STANDARD


_FORMS = {"metric", "name", "expression", "of", "average", "prevalence"}
"""Keys of an entry that are no options of its measure."""


def _asks_for(entry: Mapping[str, Any], traced: Estimate) -> bool:
    """Tell whether an ``entry`` of the spec for the same measure agrees in options, average and prevalence."""
    options_agree = all(traced.params.get(name, value) == value for name, value in entry.items() if name not in _FORMS)
    averages, asked_prevalence = entry.get("average") or traced.average, entry.get("prevalence")
    asked_averages = averages if isinstance(averages, list) else [averages]
    average_agrees = traced.class_ is not None or traced.average in asked_averages
    traced_prevalence = traced.params.get("prevalence")
    if isinstance(asked_prevalence, int | float):
        prevalence_agrees = asked_prevalence == traced_prevalence
    else:
        prevalence_agrees = asked_prevalence is None or (traced_prevalence is None) == (asked_prevalence == "sample")
    return options_agree and average_agrees and prevalence_agrees


def facts(results: Results, traced: Estimate, document: Document) -> Iterator[Fact]:
    """Yield the facts about an estimate as pairs of term and text; ``document`` is what `trace` returned for it."""
    yield from _value_facts(results, traced)
    yield from _interval_facts(traced, document["interval"])
    yield from _row_facts(results, traced, document)
    yield from _threshold_facts(document)
    for file in document["inputs"]:
        path, row_counts = file["path"] or "held in memory", f"{file['rows']:,} rows, {file['used_rows']:,} used"
        yield "file", f"{path} ({file['dataset']}): {row_counts}, sha256 {file['sha256'] or 'none'}"
    yield from _origin_facts(results, document)


def _value_facts(results: Results, traced: Estimate) -> Iterator[Fact]:
    """Yield the facts about the value and about its measure: definition, range, reference."""
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
    """Yield the facts about the interval, its replicates and its numerical errors."""
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
    """Yield the facts about rows and columns: counts, dataset, slice, model, columns."""
    names, dataset = names_of(results), document["dataset"]
    event_words = "events" if traced.class_ is None else f"of class {traced.class_}"
    events = "" if traced.events is None else f", {traced.events:,} of them {event_words}"
    yield "n", f"{traced.n:,} in its own denominator{events}"
    yield "dataset", f"{traced.dataset}: {dataset['rows']:,} rows read, {dataset['n']:,} observations used" + (
        f", where {dataset['where']}" if dataset["where"] else "")
    yield "slice", "all rows" if traced.slice is None else names.slice(traced.slice)
    yield "model", f"{names.model(traced.model)} ({traced.model}), {traced.variant} predictions"
    by_kind = (f"{kind} {', '.join(columns)}" for kind, columns in document["columns"].items())
    yield "columns", "; ".join(by_kind)


def _threshold_facts(document: Document) -> Iterator[Fact]:
    """Yield the facts about threshold, prevalence and recalibration, as far as the estimate has them."""
    cut, prevalence, fit = (document[key] for key in ("threshold", "prevalence", "recalibration"))
    if cut is not None:
        ends = [numbers.exact(value) for value in (min(cut["cuts"]), max(cut["cuts"]))] if cut["cuts"] else []
        value = f"{' to '.join(ends)} by fold" if ends else numbers.exact(cut["value"])
        rule = "as the spec gives it" if cut["rule"] == "fixed" else cut["rule"]
        chosen_on = "" if cut["chosen_on"] is None else f", chosen on {cut['chosen_on']}"
        folds = "" if cut["folds"] is None else f", cross-fitted in {cut['folds']} folds"
        yield "threshold", f"{value}: {rule}{chosen_on}{folds}"
    if prevalence is not None:
        source = f" ({prevalence['source']})" if prevalence["source"] else ""
        value = prevalence["value"]
        share = "" if value is None else f"{numbers.given(value) if isinstance(value, int | float) else value}, "
        yield "prevalence", f"{share}that of {prevalence['of']}{source}"
    if fit is not None:
        folds = "" if fit["folds"] is None else f", cross-fitted in {fit['folds']} folds"
        yield "recalibration", f"{fit['method']}, fitted on {fit['n']:,} observations of {fit['fitted_on']}{folds}"


def _origin_facts(results: Results, document: Document) -> Iterator[Fact]:
    """Yield the facts about the origin: spec, day, versions, commit, and sha256 of results.json."""
    spec_key = document["spec_key"] or "does not ask for it: findings rest on it"
    yield "spec", f"{results.name}, {spec_key}, sha256 {document['spec_sha256']}"
    yield "as of", document["as_of"] or "no day is stated"
    versions = document["versions"]
    libraries = ", ".join(f"{name} {version}" for name, version in (versions["libraries"] or {}).items())
    unknown_libraries = "run.json is not here, or is of other results, so libraries are not known"
    yield "versions", f"evalpipe {versions['evalpipe']}; {libraries or unknown_libraries}"
    if versions["git"] is not None:
        changed_since = {True: ", and files are changed since", False: ", and no file is changed since"}.get(
            versions["git"]["dirty"], "; whether files are changed since is not known")
        yield "commit", f"{versions['git']['commit']}{changed_since}"
    yield "results.json", f"sha256 {document['evidence_sha256']}"
