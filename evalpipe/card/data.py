"""The card's sections on the data and the models: files that were read, facts of datasets, columns of models."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from evalpipe.base.digests import text_sha256
from evalpipe.base.plugins import plugins_of
from evalpipe.card import wording
from evalpipe.card.figures import drawings
from evalpipe.card.page import (
    BlockGroup,
    Code,
    Column,
    Facts,
    Figures,
    Heading,
    Preformatted,
    Row,
    Section,
    Styled,
    Table,
    Text,
)
from evalpipe.card.statements import field_entries
from evalpipe.card.tables import evaluated, labels
from evalpipe.card.wording import capital, joined
from evalpipe.chapters import functions
from evalpipe.words import numbers
from evalpipe.words.spelling import clipped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.card.page import Block
    from evalpipe.results import DatasetSummary, InputFile, Matched, ModelSummary, Results
    from evalpipe.templating.files import Templates


Pairs = tuple[tuple[str, str], ...]
"""Terms and what they are, in the order they are shown."""

SHORT_HASH = 12
"""The digits that a fingerprint is shortened to."""

MOST_FILES = 12
"""The files in the table, of which many fits have many; the fingerprints have the others too."""

SPREAD = (
    ("Mean", "mean"), ("Standard deviation", "sd"), ("Minimum", "min"), ("Lower quartile", "lower_quartile"),
    ("Median", "median"), ("Upper quartile", "upper_quartile"), ("Maximum", "max"),
)


def data_sections(results: Results) -> Iterator[Section]:
    """Yield the section on the data, stated facts, rows used and figures, and in the annex one on each dataset."""
    blocks: list[Block] = [Facts(field_entries(results, "data"), "rules")]
    if results.datasets:
        blocks.append(row_flow_table(results))
    blocks += [Figures(partial(drawings, results, dataset.name, "data")) for _, dataset in evaluated(results)]
    yield Section("data", "Data", tuple(blocks), part="data")
    if results.datasets:
        yield Section("datasets", "Datasets", tuple(_dataset(results, dataset) for dataset in results.datasets),
                      part="appendix")


def files_read(results: Results) -> Table:
    """Return the table of the files that were read, with the rows and columns used of each."""
    columns = (
        Column("Dataset"), Column("Role"), Column("File"), Column("Rows", "num"), Column("Rows used", "num"),
        Column("sha256 (shortened)"), Column("Columns read"),
    )
    rows = []
    # Those of the datasets first: of many fits there are many files of predictions.
    for file in sorted(results.inputs, key=lambda file: file.role == "predictions"):
        columns_read = tuple(piece for name in file.columns for piece in (", ", Code(name)))[1:]
        rows.append(Row((
            file.dataset, wording.ROLES.get(file.role, file.role), Styled(path_text(file), "path"),
            numbers.count(file.rows), numbers.count(file.used_rows), fingerprint(file), columns_read)))
    return Table("Files read", columns, tuple(rows), "files", most=MOST_FILES)


def _dataset(results: Results, dataset: DatasetSummary) -> BlockGroup:
    """Return the facts of a dataset, and the table of its levels where the outcome has levels."""
    is_evaluated = any(summary.name == dataset.name for _, summary in evaluated(results))
    trained_on_note = " (the models were fitted to it)" if dataset.trained_on else ""
    aside = trained_on_note if is_evaluated else f" ({wording.ASIDES.get(dataset.role, 'not evaluated')})"
    blocks = (Heading(dataset.name + aside), Facts(facts(results, dataset)))
    if not dataset.levels:
        return BlockGroup(blocks, "dataset")
    priors = results.prevalence.levels or {} if results.prevalence is not None else {}
    weighted = wording.is_weighted(results)
    columns = (
        Column("Level"), Column("Rows", "num"), Column("Weight", "num", shown=weighted),
        Column("Share of weight" if weighted else "Share", "num"), Column("Declared prior", "num", shown=bool(priors)),
    )
    rows = tuple(
        Row((f"{level.level}{' (event)' if level.level == results.event else ''}", numbers.count(level.rows),
             numbers.count(level.weight), _share(level.weight, dataset.total_weight),
             wording.share(priors[level.level]) if level.level in priors else "–"))
        for level in dataset.levels)
    return BlockGroup((*blocks, Table(f"Levels of the outcome in {dataset.name}", columns, rows, "")), "dataset")


def row_flow_table(results: Results) -> Table:
    """Return a table of the rows that were read, left out for each reason, and used, one column for each dataset."""
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
    used = [dataset.rows - sum(counts[index] for _, counts in left_out) for index, dataset in enumerate(datasets)]
    return Table(
        "From the rows read to the rows used", (Column("Rows"), *(Column(d.name, "num") for d in datasets)),
        tuple(rows), "flow", foot=(Row(("Rows used", *map(numbers.count, used))),))


def path_text(file: InputFile) -> str:
    """Return the path of an input file, or "held in memory" where it has none."""
    return file.path or "held in memory"


def fingerprint(file: InputFile) -> Code:
    """Return the sha256 of an input file, shortened to `SHORT_HASH` digits."""
    return Code((file.sha256 or "–")[:SHORT_HASH], full_fingerprint(file))


def full_fingerprint(file: InputFile) -> str:
    """Return the sha256 of an input file in full, or "none: not a file" of data in memory."""
    return file.sha256 or "none: not a file"


def support_facts(results: Results, dataset: DatasetSummary) -> Pairs:
    """Return (term, value) pairs on the size of a dataset: n, with its events, its levels or its mean outcome."""
    n = ("n", numbers.count(dataset.n))
    if dataset.events is not None:
        return (n, ("Events", numbers.count(dataset.events)), ("Observed prevalence", _prevalence(results, dataset)))
    if dataset.levels:
        levels = sorted(dataset.levels, key=lambda level: level.weight)
        occurring = sum(1 for level in levels if level.rows)
        smallest, largest = (f"{level.level}, {_share(level.weight, dataset.total_weight)}"
                             for level in (levels[0], levels[-1]))
        return (n, ("Levels that occur", f"{occurring} of {len(levels)}"), ("Largest", largest), ("Smallest", smallest))
    return (n, *((head, _number(dataset.outcome[key])) for head, key in SPREAD[:2] if key in dataset.outcome))


def _share(weight: float, total: float) -> str:
    """Return a level's ``weight`` over the ``total`` as text; a dash where there are no rows."""
    return numbers.number(weight / total) if total else "–"


def _number(value: float) -> str:
    """Return a number as text; a whole one without decimals."""
    return numbers.count(value) if value.is_integer() else numbers.number(value)


def _prevalence(results: Results, dataset: DatasetSummary) -> str:
    """Return the observed prevalence of a dataset as text, with a note where it is weighted."""
    if dataset.prevalence is None:
        return "undefined: no rows"
    return numbers.number(dataset.prevalence) + (" (weighted)" if wording.is_weighted(results) else "")


def facts(results: Results, dataset: DatasetSummary) -> Pairs:
    """Return (term, value) of all facts of a dataset: condition, rows, events, outcome, matched files."""
    used = "Observations used (n)" if dataset.without_outcome is None else "Rows with an outcome (n)"
    pairs = [("Condition", dataset.where or "none"), (used, numbers.count(dataset.n))]
    if dataset.without_outcome is not None:
        pairs.append(("Rows without an outcome", numbers.count(dataset.without_outcome)))
    if dataset.events is not None:
        pairs += [("Events", numbers.count(dataset.events)), ("Observed prevalence", _prevalence(results, dataset))]
    if dataset.cells is not None:
        counted = f"counted in {numbers.count(dataset.cells)} cells of neighbouring scores"
        bounds = [row.error_bound for row in results.rows
                  if row.dataset == dataset.name and row.error_bound is not None]
        bounded = f", other measures within {numbers.number(max(bounds))}" if bounds else ""
        values = "every score is kept, so values are exact" if dataset.all_scores else (
            f"sums over rows are exact{bounded}")
        pairs.append(("Rows read part by part", f"{counted}; {values}"))
    if dataset.clusters is not None:
        precision = "" if dataset.clusters_error is None else f" (estimated, ± {100 * dataset.clusters_error:.2g}%)"
        pairs.append(("Clusters of rows", f"{numbers.count(dataset.clusters)}{precision}"))
    unit = f" ({results.unit})" if results.unit else ""
    pairs += [(f"{head}{unit}", _number(dataset.outcome[key])) for head, key in SPREAD if key in dataset.outcome]
    if dataset.total_exposure is not None and dataset.rate is not None:
        of_exposure = (results.exposure or {}).get("unit")
        pairs += [(f"Total exposure{f' ({of_exposure})' if of_exposure else ''}", _number(dataset.total_exposure)),
                  (f"Overall rate ({results.unit or 'count'} / {of_exposure or 'exposure'})",
                   numbers.number(dataset.rate))]
    if results.weight is not None:
        pairs.append(("Total weight", numbers.count(dataset.total_weight)))
    if dataset.excluded_incomplete:
        lacking = ", ".join(f"{labels(results)[model]} lacks {numbers.count(count)}"
                            for model, count in dataset.lacking_predictions.items())
        pairs.append(("Predictions that are missing", f"{lacking}; these rows were left out for every model"))
    models_by_match: dict[str, list[str]] = {}
    for match in dataset.matched:
        models_by_match.setdefault(_how_matched(match), []).append(labels(results)[match.model])
    pairs += [(f"File of predictions of {', '.join(models)}", how) for how, models in models_by_match.items()]
    return tuple(pairs)


def _how_matched(match: Matched) -> str:
    """Return a phrase on how a separate file of predictions was matched to the rows."""
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
    """Yield the section on the models; nothing in a report without models."""
    if not results.models:
        return
    models = tuple(BlockGroup(tuple(_model(results, model)), "model") for model in results.models)
    yield Section("models", "Models", (BlockGroup(models, "models"),), part="appendix")


def _model(results: Results, model: ModelSummary) -> Iterator[Block]:
    """Yield the heading and facts of a model: name, columns by kind, scale, and the characteristics in the spec."""
    columns: dict[str, list[str]] = {}
    for kind, column in model.columns.items():
        joint_kind = {"probability of": "probabilities", "score of": "scores (softmax)"}.get(" ".join(kind.split()[:2]))
        name = f"Columns of the {joint_kind}" if joint_kind else f"Column of the {wording.COLUMNS.get(kind, kind)}"
        columns.setdefault(name, []).append(column)
    model_facts = [("Name in the spec", model.name), *((name, ", ".join(names)) for name, names in columns.items())]
    if model.scale == "percent":
        model_facts.append(("Scale of the probabilities", "percents, divided by 100"))
    elif "score" in model.columns:
        model_facts.append(("Scale of the score", SCALES.get(model.scale or "", "none: a rank alone")))
        norm = results.spec.get("models", {}).get(model.name, {}).get("norm")
        if norm is not None:
            model_facts.append(("Norm of the weights", f"{numbers.given(norm)}, by which the score is divided"))
    yield Heading(model.label)
    yield Facts((*model_facts, *(fact for facts in functions("card", "facts") for fact in facts(results, model))))
    if model.characteristics:
        yield Heading("Characteristics stated in the spec", 4)
        yield Facts(tuple(
            (clipped(name.replace("_", " ")), wording.scalar(value)) for name, value in model.characteristics.items()))


def spec_text(spec: Mapping[str, object]) -> str:
    """Return a resolved spec as YAML, keys in their order, without those that have no value.

    A text that begins like a number is quoted: ``1e3`` is a text to PyYAML, but a number to YAML 1.2. So is one with
    invisible characters, which are then written as escapes. A text of several lines stands in these lines. ``${`` in
    a value is written ``$${``, as it would be taken for a reference to an environment variable.
    """
    import yaml

    class Writer(yaml.SafeDumper):
        """Writes texts with quotes wherever a reader of YAML 1.2 could take them for numbers."""

    def text(writer: yaml.SafeDumper, value: str) -> yaml.Node:
        numeric, has_invisible = value[:1] in set("+-.0123456789"), not value.replace("\n", "").isprintable()
        style = '"' if has_invisible else "|" if "\n" in value else "'" if numeric else None
        return writer.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Writer.add_representer(str, text)
    return yaml.dump(_without_empty_values(spec), Dumper=Writer, sort_keys=False, allow_unicode=True, width=100)


def _without_empty_values(value: object) -> object:
    """Return a value of a spec without keys that have no value, and with ``$${`` for ``${``, but in keys."""
    if isinstance(value, dict):
        return {key: _without_empty_values(item) for key, item in value.items() if item is not None and item != {}}
    if isinstance(value, list):
        return [_without_empty_values(item) for item in value]
    return value.replace("${", "$${") if isinstance(value, str) else value


def provenance_sections(results: Results, templates: Templates | None = None) -> Iterator[Section]:
    """Yield the sections on the spec and on provenance: day, fingerprints, and how to reproduce the card."""
    yield Section("spec", "Spec", (
        Text("As it was resolved: files it extends, environment and command line applied, defaults filled in.", "lead"),
        Preformatted(spec_text(results.spec), "spec")), part="appendix")
    plugins = plugins_of(results.appearance.plugins)
    packages = [f"evalpipe {results.evalpipe_version}",
                *dict.fromkeys(f"{plugin.package} {plugin.version}" for plugin in plugins)]
    day = (f"This card is about {results.as_of}, the day that the spec or the command states. No clock was read."
           if results.as_of is not None else
           ("No day is stated that this card is about: the spec has no ", Code("as_of"), ", and ", Code("--as-of"),
            " was not given."))
    yield Section("provenance", "Provenance", (
        Text(day, "lead"), files_read(results), Heading("Fingerprints"), *_fingerprints(results, templates),
        *(Text(f"{capital(str(plugin))} adds {joined(plugin.gives)}. It is no part of evalpipe.")
          for plugin in plugins),
        Heading("How to reproduce"),
        Text((f"Install {joined(packages)}, save the spec above, which the PDF carries as ",
              Code("spec.yaml"), ", as ", Code(f"{results.name}.yaml"),
              " where its paths lead to the files listed, and run"), "lead"),
        Preformatted(f"evalpipe run {results.name}.yaml"),
        Text(("The same spec, data and version give the same ", Code("results.json"),
              " and the same card, byte for byte."))), part="appendix")


def _fingerprints(results: Results, templates: Templates | None) -> Iterator[Block]:
    """Yield a table of the sha256 of spec, files and templates, and a warning where templates are custom."""
    texts = {} if templates is None else templates.texts
    rows = [Row(("Resolved spec", Code(results.spec_sha256)))]
    rows += [Row((path_text(file), Code(full_fingerprint(file)))) for file in results.inputs]
    rows += [Row((file.path, Code(file.sha256))) for file in results.statement.files]
    rows += [Row((f"Template {name}", Code(text_sha256(text)))) for name, text in texts.items()]
    yield Table("sha256 of what this card was made from", (Column("What"), Column("sha256")), tuple(rows), "hashes",
                label="Fingerprints")
    if texts:
        files = f"{len(texts)} files" if len(texts) > 1 else "1 file"
        warning = (f"The page and the PDF are rendered with templates of their own: {files}. These can change the "
                   "words and the layout around the numbers. ")
        yield Text((warning, Code("evalpipe render DIR --no-template"), " writes the card without them."))
