"""The card's sections on the data and the models: files that were read, facts of datasets, columns of models."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.figures import drawings
from evalpipe.card.page import BlockGroup, Code, Column, Facts, Figures, Heading, Row, Section, Styled, Table
from evalpipe.card.statements import entries
from evalpipe.card.tables import evaluated, labels
from evalpipe.chapters import functions
from evalpipe.words import numbers
from evalpipe.words.spelling import clipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.card.page import Block
    from evalpipe.results import DatasetSummary, InputFile, Matched, ModelSummary, Results


Pairs = tuple[tuple[str, str], ...]
"""Terms and what they are, in the order they are shown."""

SHORT_HASH = 12
"""The digits that a fingerprint is shortened to."""

MOST_FILES = 12
"""The files that the section lists, of which many fits have many; Provenance has the others too."""

SPREAD = (
    ("Mean", "mean"), ("Standard deviation", "sd"), ("Minimum", "min"), ("Lower quartile", "lower_quartile"),
    ("Median", "median"), ("Upper quartile", "upper_quartile"), ("Maximum", "max"),
)


def data_sections(results: Results) -> Iterator[Section]:
    """Write the section."""
    columns = (
        Column("Dataset"), Column("Role"), Column("File"), Column("Rows", "num"), Column("Rows used", "num"),
        Column("sha256 (shortened)"), Column("Columns read"),
    )
    # Those of the datasets first: of many fits there are many files of predictions.
    inputs = sorted(results.inputs, key=lambda file: file.role == "predictions")
    files = Table("Files read", columns, tuple(map(_file, inputs)), "files", most=MOST_FILES)
    stated = Facts(entries(results, "data"), "rules")
    shares = (Figures(partial(drawings, results, dataset.name, "data")) for _, dataset in evaluated(results))
    yield Section("data", "Data", (
        stated, *([flow(results)] if results.datasets else []),
        *(_dataset(results, dataset) for dataset in results.datasets), *shares, files,
    ), part="data")


def flow(results: Results) -> Table:
    """Write how the rows that were read became those that were used, dataset by dataset, and why others were not."""
    datasets = results.datasets
    left_out = (
        ("Condition not met", [dataset.excluded_where - dataset.unknown_where for dataset in datasets]),
        ("Condition unknown: a value that it needs is missing", [dataset.unknown_where for dataset in datasets]),
        ("Weight zero", [dataset.excluded_zero_weight for dataset in datasets]),
        ("A model has no prediction for them", [dataset.excluded_incomplete for dataset in datasets]),
    )
    rows = [Row(("Rows read", *(numbers.count(dataset.rows) for dataset in datasets)))]
    rows += [Row((f"Left out: {reason[0].lower()}{reason[1:]}", *(numbers.count(count) for count in counts)))
             for reason, counts in left_out if any(counts)]
    used = [dataset.rows - sum(counts[place] for _, counts in left_out) for place, dataset in enumerate(datasets)]
    return Table(
        "From the rows read to the rows used", (Column("Rows"), *(Column(d.name, "num") for d in datasets)),
        tuple(rows), "flow", foot=Row(("Rows used", *map(numbers.count, used))))


def _file(file: InputFile) -> Row:
    columns = tuple(piece for name in file.columns for piece in (", ", Code(name)))[1:]
    return Row((
        file.dataset, wording.ROLES.get(file.role, file.role), Styled(path(file), "path"), numbers.count(file.rows),
        numbers.count(file.used_rows), fingerprint(file), columns,
    ))


def path(file: InputFile) -> str:
    """Write where a file lies."""
    return file.path or "held in memory"


def fingerprint(file: InputFile) -> Code:
    """Write the sha256 of a file, shortened."""
    return Code((file.sha256 or "–")[:SHORT_HASH], whole_fingerprint(file))


def whole_fingerprint(file: InputFile) -> str:
    """Write the sha256 of a file, or that it is none."""
    return file.sha256 or "none: not a file"


def _dataset(results: Results, dataset: DatasetSummary) -> BlockGroup:
    used = any(summary.name == dataset.name for _, summary in evaluated(results))
    trained = " (the models were fitted to it)" if dataset.trained_on else ""
    aside = trained if used else f" ({wording.ASIDES.get(dataset.role, 'not evaluated')})"
    levels = [_levels(results, dataset)] if dataset.levels else []
    return BlockGroup((Heading(dataset.name + aside), Facts(facts(results, dataset)), *levels), "dataset")


def _levels(results: Results, dataset: DatasetSummary) -> Table:
    priors = results.prevalence.levels or {} if results.prevalence is not None else {}
    weighted = results.weight is not None
    columns = (
        Column("Level"), Column("Rows", "num"), Column("Weight", "num", shown=weighted),
        Column("Share of weight" if weighted else "Share", "num"), Column("Declared prior", "num", shown=bool(priors)),
    )
    return Table(f"Levels of the outcome in {dataset.name}", columns, tuple(
        Row((f"{level.level}{' (event)' if level.level == results.event else ''}", numbers.count(level.rows),
             numbers.count(level.weight), _share(level.weight, dataset.total_weight),
             wording.share(priors[level.level]) if level.level in priors else "–"))
        for level in dataset.levels), "")


def support(results: Results, dataset: DatasetSummary) -> Pairs:
    """Say in a few figures what the dataset's results rest on."""
    n = ("n", numbers.count(dataset.n))
    if dataset.events is not None:
        return (n, ("Events", numbers.count(dataset.events)), ("Observed prevalence", _prevalence(results, dataset)))
    if dataset.levels:
        rows = sorted(dataset.levels, key=lambda level: level.weight)
        occur = sum(1 for level in rows if level.rows)
        whole = dataset.total_weight
        ends = [f"{level.level}, {_share(level.weight, whole)}" for level in (rows[-1], rows[0])]
        return (n, ("Levels that occur", f"{occur} of {len(rows)}"), ("Largest", ends[0]), ("Smallest", ends[1]))
    return (n, *((head, _number(dataset.outcome[key])) for head, key in SPREAD[:2] if key in dataset.outcome))


def _share(weight: float, whole: float) -> str:
    """Write the share of a level as a prevalence is written; a dash where there are no rows."""
    return numbers.number(weight / whole) if whole else "–"


def _number(value: float) -> str:
    return numbers.count(value) if value.is_integer() else numbers.number(value)


def _prevalence(results: Results, dataset: DatasetSummary) -> str:
    if dataset.prevalence is None:
        return "undefined: no rows"
    return numbers.number(dataset.prevalence) + (" (weighted)" if results.weight is not None else "")


def facts(results: Results, dataset: DatasetSummary) -> Pairs:
    """Say what is known of a dataset."""
    weighted = results.weight is not None
    pairs = [
        ("Condition", dataset.where or "none"),
        ("Observations used (n)", numbers.count(dataset.n)),
    ]
    if dataset.events is not None:
        pairs += [("Events", numbers.count(dataset.events)), ("Observed prevalence", _prevalence(results, dataset))]
    if dataset.cells is not None:
        pairs.append(("Rows read part by part", _counted(results, dataset.name, dataset.cells)))
    if dataset.clusters is not None:
        about = "" if dataset.clusters_error is None else f" (estimated, ± {100 * dataset.clusters_error:.2g}%)"
        pairs.append(("Clusters of rows", f"{numbers.count(dataset.clusters)}{about}"))
    unit = f" ({results.unit})" if results.unit else ""
    pairs += [(f"{head}{unit}", _number(dataset.outcome[key])) for head, key in SPREAD if key in dataset.outcome]
    if dataset.total_exposure is not None and dataset.rate is not None:
        pairs += _exposed(results, dataset.total_exposure, dataset.rate)
    if weighted:
        pairs.append(("Total weight", numbers.count(dataset.total_weight)))
    if dataset.excluded_incomplete:
        lacking = ", ".join(f"{labels(results)[model]} lacks {numbers.count(count)}"
                            for model, count in dataset.lacking_predictions.items())
        pairs.append(("Predictions that are missing", f"{lacking}; these rows were left out for every model"))
    return (*pairs, *_matched(results, dataset))


def _counted(results: Results, dataset: str, cells: int) -> str:
    """Say what rows that were never held were counted in, and how far measures may be from those of the rows."""
    counted = f"counted in {numbers.count(cells)} cells of neighbouring scores; sums over rows are exact"
    bounds = [row.error_bound for row in results.rows if row.dataset == dataset and row.error_bound is not None]
    return f"{counted}, other measures within {numbers.number(max(bounds))}" if bounds else counted


def _exposed(results: Results, total: float, rate: float) -> list[tuple[str, str]]:
    """Say how large the exposure is, and how much was counted in a unit of it."""
    unit = (results.exposure or {}).get("unit")
    return [(f"Total exposure{f' ({unit})' if unit else ''}", _number(total)),
            (f"Overall rate ({results.unit or 'count'} / {unit or 'exposure'})", numbers.number(rate))]


def _matched(results: Results, dataset: DatasetSummary) -> Pairs:
    """Say how predictions in files of their own were matched to the rows; models matched alike together."""
    alike: dict[str, list[str]] = {}
    for match in dataset.matched:
        alike.setdefault(_how(match), []).append(labels(results)[match.model])
    return tuple((f"File of predictions of {', '.join(models)}", how) for how, models in alike.items())


def _how(match: Matched) -> str:
    if match.by == "id":
        return "rows matched by id"
    if not match.agree:
        return "rows matched by position; no shared column confirms the match"
    columns = "1 shared column agrees" if len(match.agree) == 1 else f"{len(match.agree)} shared columns agree"
    return f"rows matched by position; {columns} in every row ({', '.join(match.agree)})"


SCALES = {
    "logit": "logit: log odds, turned into a probability by the logistic function",
    "margin": "margin: a distance from a boundary, turned into a probability by the logistic function",
}
"""How a raw score became a probability, by the name of its scale."""


def model_sections(results: Results) -> Iterator[Section]:
    """Write the section."""
    if not results.models:
        return
    models = tuple(BlockGroup(tuple(_model(results, model)), "model") for model in results.models)
    yield Section("models", "Models", (BlockGroup(models, "models"),), part="model")


def _model(results: Results, model: ModelSummary) -> Iterator[Block]:
    of_chapters = (fact for facts in functions("card", "facts") for fact in facts(results, model))
    yield Heading(model.label)
    yield Facts((
        ("Name in the spec", model.name), *_model_columns(model), *_scale(results, model), *of_chapters))
    if model.characteristics:
        yield Heading("Characteristics stated in the spec", 4)
        yield Facts(tuple(
            (clipped(name.replace("_", " ")), wording.scalar(value)) for name, value in model.characteristics.items()))


def _model_columns(model: ModelSummary) -> Iterator[tuple[str, str]]:
    """Name the columns of a model; those of the levels' probabilities together."""
    columns: dict[str, list[str]] = {}
    for kind, column in model.columns.items():
        plural = {"probability of": "probabilities", "score of": "scores (softmax)"}.get(" ".join(kind.split()[:2]))
        name = f"Columns of the {plural}" if plural else f"Column of the {wording.COLUMNS.get(kind, kind)}"
        columns.setdefault(name, []).append(column)
    return ((name, ", ".join(together)) for name, together in columns.items())


def _scale(results: Results, model: ModelSummary) -> Iterator[tuple[str, str]]:
    if model.scale == "percent":
        yield "Scale of the probabilities", "percents, divided by 100"
    elif "score" in model.columns:
        yield "Scale of the score", SCALES.get(model.scale or "", "none: a rank alone")
        norm = results.spec.get("models", {}).get(model.name, {}).get("norm")
        if norm is not None:
            yield "Norm of the weights", f"{numbers.given(norm)}, by which the score is divided"
