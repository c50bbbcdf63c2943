"""The card's table of deviances: each model beside no model, with a test on the rows that it was fitted on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.method import Procedure
from evalpipe.card.page import Column, Row, Section, Table, Text
from evalpipe.card.tables import ranged
from evalpipe.card.wording import names_of
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.results import Results

COLUMNS = (Column("Model", style="what"), Column("Null deviance", "num"), Column("Deviance", "num"),
           Column("Difference", "num"), Column("McFadden R2", "num"), Column("df", "num"), Column("p", "num"))

TEST = Procedure("Deviance", (
    "The deviance is −2 times the log-likelihood: twice the number of rows times the log loss. The test asks "
    "whether all coefficients of a model are zero. Then null deviance minus deviance has a chi-squared "
    "distribution, but only on the rows that it was fitted on by maximum likelihood. A penalty, or a choice of "
    "features by these rows, spoils the test. On rows that the fit has not seen there is no such test: a model "
    "of noise then has a difference below 0 on average. There, the interval of the Brier skill or of "
    "McFadden's R2 says whether a model is better than no model."), "Wilks (1938)")
"""What the test is, and when there is one."""


def sections(results: Results) -> Iterator[Section]:
    """Yield a section for each dataset that has deviances."""
    names = names_of(results)
    for number, dataset in enumerate((dataset.name for dataset in results.datasets), 1):
        deviances = [row for row in results.deviances if row.dataset == dataset]
        if not deviances:
            continue
        rows, without_test = [], dict[str, list[str]]()
        for row in deviances:
            model = names.model_of(row)
            rows.append(Row((
                model, ranged(row.null_deviance), ranged(row.deviance), ranged(row.difference),
                ranged(row.mcfadden_r2), "–" if row.parameters is None else str(row.parameters),
                "no test" if row.p_value is None else numbers.p_value(row.p_value))))
            if row.reason is not None:
                without_test.setdefault(row.reason, []).append(model)
        yield Section(f"deviance-{number}", f"Deviance on {dataset}", (
            Text("The null deviance is that of no model: the observed shares of the levels are predicted for every "
                 "row. A difference above 0 says that the model is nearer to the truth.", "lead"),
            Table(f"Deviances on {dataset}", COLUMNS, tuple(rows), "compact"),
            *(Text(f"No test for {', '.join(models)}: {reason}.", "small") for reason, models in without_test.items())),
            part="appendix")


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield how the deviance test is made, and when there is one."""
    if results.deviances:
        yield TEST
