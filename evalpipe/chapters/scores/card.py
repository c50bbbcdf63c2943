"""What the card says of scores of items: ties, the two errors of a mean, what it takes, and the items that decide."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from evalpipe.card.method import Procedure
from evalpipe.card.page import Column, Heading, Number, Row, Section, Table, Text
from evalpipe.card.tables import ranged, signed_number, with_intervals
from evalpipe.card.wording import joined, names_of
from evalpipe.findings import weights
from evalpipe.findings.claims import NOT_SCORES, ONE_MODEL, Claim, Unless, rule, unless_key
from evalpipe.findings.words import by_dataset, finding, of_models, on_dataset
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalpipe.card.page import Block, Cell
    from evalpipe.chapters.scores.records import (
        ItemAgreement,
        LeakedItems,
        ScoreError,
        ScorePair,
        Strength,
        TiedModels,
    )
    from evalpipe.results import Estimate, ModelSummary, Results
    from evalpipe.results.document import Finding

LEAD = (
    "A mean score answers two questions. On this benchmark: its items are fixed, and only epochs are random. For items "
    "like these: the items are a sample, and another sample would give another mean. NIST AI 800-3 calls the first "
    "benchmark accuracy, the second generalized accuracy. The intervals in all other sections are for items like these."
)
ERRORS = (
    Column("Model", style="what"), Column("Mean score", "num"),
    Column("Interval", "num", "limits", over="This benchmark"), Column("Error", "num", over="This benchmark"),
    Column("Error", "num", over="Items like these"), Column("Items", "num", over="SD of"),
    Column("Epochs", "num", over="SD of"), Column("ICC", "num"), Column("Items", "num"), Column("Epochs", "num"),
    Column("Missing", "num"),
)
READ = (
    "Error: the standard error. SD of items: the standard deviation of the items' expected scores; of epochs: that of "
    "one epoch about its item's. ICC: the intraclass correlation, the share of the variance of a single score that "
    "lies between items. Missing: scores that the data lack."
)
JUDGES = (
    Column("Model", style="what"), Column("Judges", "num"), Column("SD of judges", "num"),
    Column("Error of judges", "num"), Column("ICC of judges", "num"),
)
READ_JUDGES = (
    "The score of an answer is the mean over its judges. SD of judges: that of the judges' expected scores. Error of "
    "judges: what another panel of as many judges would add to the error of the mean; intervals and errors elsewhere "
    "hold these judges fixed. ICC of judges: ICC(2,1), the share of items in the variance of one judge's scores."
)
PAIRS = (
    Column("Models", style="what"), Column("Difference", "num"), Column("Error", "num"),
    Column("Smallest difference", "num"), Column("Items", "num"), Column("Epochs", "num"),
    Column("Items that carry half", "num"), Column("Turned without"),
)
LEAKED = (Column("Model", style="what"), Column("Mean score", "num"), Column("Without these items", "num"))
STRENGTHS = (
    Column("Model", style="what"), Column("Log strength", "num"), Column("Interval", "num", "limits"),
    Column("Wins against the average", "num"), Column("Win rate", "num"),
)


def sections(results: Results) -> Iterator[Section]:
    """Yield the section on items, epochs and ties, with a part for each dataset."""
    blocks = [block for errors in by_dataset(results.score_errors) for block in _of_dataset(results, errors)]
    if blocks:
        yield Section("scores", "Items and epochs", (Text(LEAD, "lead"), *blocks), part="results")


def glance(results: Results) -> Iterator[Table]:
    """Yield for the first screen the best models' differences, each from the next, and the items that decide most."""
    names = names_of(results)
    for tied in results.tied_sets:
        pairs = (_difference(results, tied.dataset, *pair) for pair in pairwise(tied.ranked[:MOST_GLANCED + 1]))
        yield Table(f"Each model and the next{on_dataset(results, tied.dataset)}", (
            Column("Models", style="what"), Column("Difference in mean score", "num"), Column("Verdict")), tuple(pairs))
    for items in by_dataset(results.deciding_items):
        models = list(items[0].scores)
        shares = [row.share for row in items[:MOST_GLANCED + 1]]
        if len(models) <= MOST_BESIDE and (len(shares) <= MOST_GLANCED or shares[-1] < shares[-2]):
            yield Table(f"The items that decide most{on_dataset(results, items[0].dataset)}", (
                Column("Item", style="what"), *(Column(names.model(name), "num") for name in models)), tuple(
                    Row((row.item, *(_number(row.scores[name]) for name in models))) for row in items[:MOST_GLANCED]))


def _difference(results: Results, dataset: str, better: str, next_: str) -> Row:
    """Return the row of the difference of a model's mean score from that of the next."""
    pairs = [(row, row.model == better) for row in results.comparisons
             if row.metric == "mean" and row.slice is None and row.dataset == dataset and row.baseline_dataset is None
             and {row.model, row.baseline} == {better, next_}]
    row, is_first = pairs[0]
    value, lower, upper = (None if end is None else end if is_first else -end
                           for end in (row.difference, row.lower, row.upper))
    limits = (lower, upper) if is_first else (upper, lower)
    verdict = row.verdict if is_first else {"better": "worse", "worse": "better"}.get(row.verdict, row.verdict)
    names = names_of(results)
    return Row((f"{names.model(better)} minus {names.model(next_)}", signed_number(value, *limits),
                verdict.replace("_", " ")))


MOST_GLANCED = 3
"""The most differences, and items that decide, on the first screen."""
MOST_BESIDE = 4
"""The most models whose scores of such an item stand there."""
MOST_LETTERS = 26
"""The most tied sets that have letters of their own."""


def ranked(results: Results, rows: Sequence[Estimate]) -> tuple[list[tuple[Estimate, str]], str] | None:
    """Return the rows of a dot plot of mean scores, the best model first, each with letters of its ties; and a note.

    None of other measures, and where ties are not known. Piepho (2004): models that share a letter are not told apart.
    """
    tied = next((tied for tied in results.tied_sets if tied.dataset == rows[0].dataset), None)
    if tied is None or rows[0].metric != "mean" or not 0 < len(tied.sets) <= MOST_LETTERS:
        return None
    slices = list(dict.fromkeys(str(row.slice) for row in rows))
    in_order = sorted(rows, key=lambda row: (slices.index(str(row.slice)), tied.ranked.index(row.model)))
    letters = {name: "".join(chr(ord("a") + number) for number, members in enumerate(tied.sets) if name in members)
               for name in tied.ranked}
    marked = [(row, f" ({letters[row.model]})" if row.slice is None else "") for row in in_order]
    return marked, "Models that share a letter are not told apart."


def facts(results: Results, model: ModelSummary) -> Iterator[tuple[str, str]]:
    """Yield what logs say of a model's runs: its name there, the tool, days, tokens and cost."""
    log = ((results.spec.get("models") or {}).get(model.name) or {}).get("log") or {}
    for run in (run for run in results.log_runs if run.model == log.get("model")):
        parts = [f"{run.tool}{f' {run.version}' if run.version else ''}", f"task {run.task}"]
        parts += [f"begun {run.started}"] if run.started else []
        tokens = [f"{numbers.count(count)} {kind}" for kind, count in (
            ("tokens read", run.input_tokens), ("written", run.output_tokens)) if count is not None]
        parts += [" and ".join(tokens)] if tokens else []
        parts += [f"cost {numbers.given(run.cost)}"] if run.cost is not None else []
        failed = f"{numbers.count(run.errors)} of {numbers.count(run.samples)} samples ended in an error"
        parts += [failed] if run.errors else []
        yield f"Log {run.file}", f"{run.model}: {', '.join(parts)}"


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield how the errors of mean scores, and strengths, were computed."""
    if results.score_errors:
        yield Procedure("Errors of mean scores", (
            "On this benchmark: the variance of each item's epochs over their number; an item with one epoch has the "
            "pooled variance of the others. For items like these: the standard deviation of the items' scores over the "
            "root of their number, or of totals of clusters where there are any. What it takes is by the normal "
            "approximation, with 80% power at the level of the intervals."),
            "Miller, E. (2024). Adding error bars to evals: a statistical approach to language model evaluations. "
            "arXiv:2411.00640.")
    if results.judges:
        yield Procedure("Judges", (
            "A two-way crossed analysis of variance with random items and judges, of means over epochs. A negative "
            "estimate of a variance counts 0; the agreement is of estimates as they are."),
            "Shrout, P. E. & Fleiss, J. L. (1979). Intraclass correlations: uses in assessing rater reliability. "
            "Psychological Bulletin 86, 420–428. Searle, S. R., Casella, G. & McCulloch, C. E. (1992). Variance "
            "components. Wiley.")
    if results.leaked_items:
        yield Procedure("Items in other data", (
            "An item is in another dataset where all words of its text are those of a text there, or 13 words in a row "
            "that at most 10 items have. Words are compared in Unicode's form NFKC without case, spaces and "
            "punctuation. A paraphrase is not found, and a shorter text only where it is the whole text there."),
            "Brown, T. B. et al. (2020). Language models are few-shot learners. Advances in Neural Information "
            "Processing Systems 33, 1877–1901, appendix C.")
    if results.strengths:
        yield Procedure("Bradley-Terry strengths", (
            "The log odds of a win in an item are the difference of two log strengths; a tie is half a win of each. "
            "Errors treat items, or whole clusters, as drawn."),
            "Bradley, R. A. & Terry, M. E. (1952). Rank analysis of incomplete block designs: the method of paired "
            "comparisons. Biometrika 39, 324–345.")


SECTION = "scores"
LITTLE_LEFT = 0.05
"""The part of the range of scores below which the best model leaves little to gain: a convention of evalpipe."""
MOSTLY_ALIKE = 0.9
"""The share of items with the same score of all models from which few items tell them apart: a convention too."""
MORE_BY_CHANCE = 0.5
"""The intraclass correlation below which epochs of one item differ more than items do."""

NO_RANGE = Unless("no-range", lambda spec: not (spec.get("score") or {}).get("range"))
NO_EPOCHS = Unless("no-epochs", by_results=lambda results: all(row.most_epochs < 2 for row in results.scored))


@rule("note", unless=(NOT_SCORES, NO_RANGE))
def benchmark_saturated(results: Results) -> Iterator[Claim]:
    """Whether the best mean score leaves less than 5% of the range of scores to gain."""
    ends = (results.spec.get("score") or {}).get("range")
    if not ends:
        return
    for errors in by_dataset(results.score_errors):
        best = min(errors, key=lambda row: abs(_best_score(results) - row.value))
        if abs(_best_score(results) - best.value) < LITTLE_LEFT * (ends[1] - ends[0]):
            yield Claim(best, saturated)


@rule("note", unless=(NOT_SCORES, ONE_MODEL))
def few_items_differ(results: Results) -> Iterator[Claim]:
    """Whether all models have the same score on at least nine of ten items, so that few items tell them apart."""
    for row in results.item_agreement:
        if row.alike is not None and row.alike >= MOSTLY_ALIKE:
            yield Claim(row, mostly_alike)


@rule("note", unless=(NOT_SCORES, NO_EPOCHS))
def epochs_differ(results: Results) -> Iterator[Claim]:
    """Whether the epochs of one item differ more than items do, by an intraclass correlation below 0.5."""
    for row in results.score_errors:
        if row.correlation is not None and row.correlation < MORE_BY_CHANCE:
            yield Claim(row, epochs_of_models)


@rule("fails", unless=(NOT_SCORES, unless_key("no-text", "text")))
def items_leaked(results: Results) -> Iterator[Claim]:
    """Whether the text of an item is also in a reference dataset, whole or by a run of 13 words."""
    yield from (Claim(row, leaked) for row in results.leaked_items if row.leaked)


def leaked(_: Results, rows: Sequence[LeakedItems]) -> Iterator[Finding]:
    """Yield findings on items that another dataset has."""
    yield from (finding("fails", weights.ITEMS_LEAKED, f"{_leaked_count(row)}.", SECTION) for row in rows)


def _leaked_count(row: LeakedItems) -> str:
    """Return how many items another dataset has."""
    return (f"The text of {numbers.count(row.leaked)} of {numbers.count(row.items)} items of {row.dataset} "
            f"({numbers.percent(row.leaked, row.items)}) is also in {row.other}")


def saturated(results: Results, rows: Sequence[ScoreError]) -> Iterator[Finding]:
    """Yield findings on datasets whose best mean score is close to the end of the range."""
    end = "most" if _best_score(results) != (results.spec["score"]["range"])[0] else "least"
    for row in rows:
        text = (f"There is little left to gain{on_dataset(results, row.dataset)}: the mean score of "
                f"{names_of(results).model(row.model)} is {numbers.number(row.value)} of at {end} "
                f"{numbers.given(_best_score(results))}. A better model could hardly show it.")
        yield finding("note", weights.SATURATED, text, SECTION)


def mostly_alike(results: Results, rows: Sequence[ItemAgreement]) -> Iterator[Finding]:
    """Yield findings on datasets where all models have the same score on nearly all items."""
    for row in rows:
        differ = row.items - round((row.alike or 0.0) * row.items)
        text = (f"{numbers.count(differ)} of {numbers.count(row.items)} items{on_dataset(results, row.dataset)} tell "
                "the models apart: on the others all have the same score.")
        yield finding("note", weights.FEW_ITEMS_DIFFER, text, SECTION)


def epochs_of_models(results: Results, rows: Sequence[ScoreError]) -> Iterator[Finding]:
    """Yield findings on models whose epochs of one item differ more than their items do."""
    for of_dataset in by_dataset(rows):
        low, high = (numbers.number(end(row.correlation or 0.0 for row in of_dataset)) for end in (min, max))
        text = (f"Epochs of one item differ more than items do, for {of_models(results, of_dataset)}: the intraclass "
                f"correlation is {low if low == high else f'{low} to {high}'}. A single epoch says little of an item.")
        yield finding("note", weights.EPOCHS_DIFFER, text, SECTION)


def _best_score(results: Results) -> float:
    """Return the end of the declared range that is better."""
    scale = results.spec["score"]
    return float(scale["range"][scale["better"] == "higher"])


def _of_dataset(results: Results, errors: Sequence[ScoreError]) -> Iterator[Block]:
    """Yield the blocks of one dataset, of which ``errors`` are the rows."""
    dataset = errors[0].dataset
    if len({row.dataset for row in results.score_errors}) > 1:
        yield Heading(dataset)
    yield from (_tied_text(results, tied) for tied in results.tied_sets if tied.dataset == dataset)
    yield _errors_table(results, errors)
    yield Text(READ, "small")
    judges = [row for row in results.judges if row.dataset == dataset]
    if judges:
        yield Table("How the judges of one answer differ", JUDGES, tuple(Row((
            names_of(results).model(row.model), str(row.judges), _number(_deviation(row.variance)), _number(row.error),
            _number(row.agreement))) for row in judges), stacked=True)
        yield Text(READ_JUDGES, "small")
    pairs = [row for row in results.score_pairs if row.dataset == dataset]
    if pairs:
        yield from _pairs(results, pairs)
    strengths = [row for row in results.strengths if row.dataset == dataset]
    if strengths:
        yield _strengths_table(results, strengths)
    yield from _items(results, dataset)
    for row in (row for row in results.leaked_items if row.dataset == dataset):
        no_text = f" {numbers.count(row.without_text)} of the items have no text." if row.without_text else ""
        more = f" and {numbers.count(row.leaked - len(row.names))} more" if row.leaked > len(row.names) else ""
        yield Text(f"{_leaked_count(row)}: {numbers.count(row.same)} whole, {numbers.count(row.leaked - row.same)} by "
                   f"13 words in a row.{no_text}"
                   f"{f' It is that of {joined(row.names)}{more}.' if row.names else ''}")
        if row.leaked:
            yield Table(f"Mean scores without items in {row.other}", LEAKED, tuple(
                Row((names_of(results).model(name), _number(mean), _number(row.means_without.get(name))))
                for name, mean in row.means.items()))


def _tied_text(results: Results, tied: TiedModels) -> Text:
    """Return the sentence that says which models are tied."""
    ties, apart = ([_models(results, members) for members in tied.sets if (len(members) > 1) == is_tie]
                   for is_tie in (True, False))
    sentences = [f"Not told apart, the best first: {'; '.join(ties)}."] if ties else []
    sentences += [f"Told apart from all others: {joined(apart)}."] if apart else []
    sentences += [] if tied.complete else ["The sets of models that are not told apart are too many to list."]
    return Text(" ".join(sentences))


def _models(results: Results, members: Sequence[str]) -> str:
    """Return the labels of models in words."""
    return joined(list(map(names_of(results).model, members)))


def _errors_table(results: Results, errors: Sequence[ScoreError]) -> Table:
    """Return the table of the two errors of each mean score, and of the parts of its variance."""
    names, rows = names_of(results), []
    scored = {(row.dataset, row.model): row for row in results.scored}
    for row in errors:
        of_model = scored[row.dataset, row.model]
        epochs = str(of_model.fewest_epochs) if of_model.fewest_epochs == of_model.most_epochs else numbers.ranged(
            str(of_model.fewest_epochs), str(of_model.most_epochs))
        limits = ranged(row.value, row.benchmark_lower, row.benchmark_upper).interval
        deviations = map(_deviation, (row.items_variance, row.epochs_variance))
        rows.append(Row((
            names.model(row.model), _number(row.value), limits or "–",
            *map(_number, (row.benchmark_error, row.items_error, *deviations, row.correlation)),
            numbers.count(of_model.items), epochs, numbers.count(sum(of_model.missing.values())))))
    level = with_intervals(results, limited=any(row.benchmark_lower is not None for row in errors))
    return Table(f"Mean scores on this benchmark, and for items like these{level}", ERRORS, tuple(rows), stacked=True)


def _pairs(results: Results, pairs: Sequence[ScorePair]) -> Iterator[Block]:
    """Yield the table of what it takes to tell two models apart, and what its columns mean."""
    names = names_of(results)
    rows = tuple(Row((
        f"{names.model(row.model)} minus {names.model(row.other)}", _number(row.difference, numbers.signed),
        _number(row.items_error), _number(row.smallest),
        *("–" if number is None else numbers.count(number) for number in (row.items, row.epochs, row.carriers)),
        joined(row.turning) or "–")) for row in pairs)
    yield Table("What it takes to tell two models apart", PAIRS, rows, stacked=True, most=30)
    wanted, power = numbers.given(pairs[0].wanted), numbers.whole_percent(pairs[0].power, 1)
    yield Text(
        "Error: the standard error of the paired difference, for items like these. Smallest difference: the true "
        f"difference that these items and epochs show with {power} power. Items and epochs: how many would show a "
        f"difference of {wanted} with {power} power, at the present epochs or items; – where no number would, or "
        "where no item has two epochs. Items that carry half: the fewest that add up to half of the difference. "
        "Turned without: clusters without which the difference is zero or has the other sign.", "small")


def _strengths_table(results: Results, strengths: Sequence[Strength]) -> Table:
    """Return the table of Bradley-Terry strengths, the strongest model first."""
    names, rows = names_of(results), []
    for row in sorted(strengths, key=lambda row: (row.log_strength is None, -(row.log_strength or 0.0))):
        strength = signed_number(row.log_strength, row.lower, row.upper)
        rows.append(Row((names.model(row.model), strength.value, strength.interval or "–",
                         _number(row.against_average), _number(row.win_rate))))
    return Table(f"Bradley-Terry strengths{with_intervals(results, limited=True)}", STRENGTHS, tuple(rows),
                 stacked=True)


def _items(results: Results, dataset: str) -> Iterator[Block]:
    """Yield on how many items models differ, and the items on which they differ most."""
    deciding = [row for row in results.deciding_items if row.dataset == dataset]
    for agreement in results.item_agreement:
        if agreement.dataset == dataset and agreement.alike is not None:
            ends = "" if agreement.all_solve is None else (
                f" All have the best score on {numbers.count(agreement.all_solve)}, and the worst on "
                f"{numbers.count(agreement.none_solve or 0)}.")
            yield Text(f"All models have the same score on {numbers.whole_percent(agreement.alike, 1)} of the "
                       f"{numbers.count(agreement.items)} items.{ends}")
    if deciding:
        models = list(deciding[0].scores)
        columns = (Column("Item", style="what"), Column("Part of the variance", "num"),
                   *(Column(names_of(results).model(name), "num") for name in models))
        rows = tuple(Row((row.item, numbers.whole_percent(row.share, 1),
                          *(_number(row.scores[name]) for name in models))) for row in deciding)
        yield Table("The items that decide: those on which models differ most", columns, rows, most=10)


def _deviation(variance: float | None) -> float | None:
    """Return the standard deviation of a variance."""
    return None if variance is None else variance**0.5


def _number(value: float | None, write: Callable[[float, int], str] = numbers.fixed) -> Cell:
    """Return a number with three decimals; a dash for None."""
    return "–" if value is None else Number(write(value, 3), None, None, numbers.exact(value))
