"""Of any data there is a proposal that runs, a question, or an error with its way out; never anything else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalpipe.errors import DataError, EvalpipeError, UsageError
from evalpipe.proposal.columns import look_at_datasets
from evalpipe.proposal.propose import Proposal, propose
from evalpipe.proposal.questions import Answers, Question
from evalpipe.proposal.spec_file import spec_text, try_spec

ROWS = 24
AT = np.arange(ROWS)
VALUES: dict[str, list[object]] = {
    "yes and no": ["yes", "no"] * 12, "0 and 1": [0, 1] * 12, "floats 0 and 1": [0.0, 1.0] * 12,
    "truth": [True, False] * 12,
    "three": ["low", "mid", "high"] * 8, "null words": ["NA", "yes", "no", "null"] * 6, "grades": [1, 2, 3, 4] * 6,
    "half grades": [1.5, 2.0, 2.5, 3.0] * 6, "probability": list((AT + 0.5) / ROWS),
    "rest": list(1 - (AT + 0.5) / ROWS),
    "percent": [float(at * 4) for at in AT], "logit": list(AT / 3.0 - 4), "counts": list(map(int, AT % 9)),
    "id": [f"r{at}" for at in AT], "number": list(map(int, AT)),
    "twice": [f"g{at // 2}" for at in AT],
    "day": [f"2024-01-{at + 1:02}" for at in AT], "same": ["k"] * ROWS, "zero": [0.0] * ROWS, "nothing": [None] * ROWS,
    "gaps": [None if at % 5 == 0 else at / 30 for at in AT], "gap of levels": [None, "yes", "no"] * 8,
    "endless": [float("inf"), *map(float, AT[1:])], "nan": [float("nan"), *(AT[1:] / 30)],
    "blank": ["", "a", "b"] * 8,
    "lists": [[1]] * ROWS, "codes": ["01", "02"] * 12, "tiny": [1e-70, *map(float, AT[1:])],
    "spaces": [" yes", "yes "] * 12, "case": ["Yes", "yes"] * 12, "same value": ["1", "1.0"] * 12,
    "long": ["x" * 300, "y"] * 12, "minus": [-1, 1] * 12,
}
NAMES = ["y", "truth", "class", "p", "prob_rf", ".pred_yes", ".pred_no", "p_0", "p_1", "pred", "pred_class", "score",
         "p_low", "p_mid", "p_high", "loo", "id", "patient_id", "weight", "sex", "exposure", "a b", "no", "yes",
         "{level}", "${x}", "risk_pct", "expected"]
FRAMES = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(sorted(VALUES)), min_size=1, max_size=6)


WRONG = {"score-range", "infinite-value", "extreme-value", "level-written-twice"}
"""What is wrong with data whatever a spec says: an infinite number, one value that is written in two ways."""


def told(error: EvalpipeError, codes: set[str] | None = None) -> None:
    """Hold an error to saying the way out, and to being of some codes."""
    assert all(problem.hint for problem in error.problems), error
    assert codes is None or {problem.code for problem in error.problems} <= codes, error


def until_proposed(path: str, take: int) -> Proposal | None:
    """Answer every question by its choice number ``take``; None where an error says that it cannot be."""
    looked, answers = look_at_datasets([path]), Answers()
    try:
        for _ in range(6):
            proposal = propose(looked, answers)
            if isinstance(proposal, Proposal):
                return proposal
            assert isinstance(proposal, Question)
            choices = [choice for choice, _ in proposal.choices]
            order = ",".join(f'"{choice}"' for choice in choices)
            answers = proposal.answered(answers, order if proposal.key == "levels" else choices[take % len(choices)])
    except UsageError as error:
        return told(error)
    raise AssertionError("more questions than there are answers")


def ending(path: Path, take: int) -> str:
    """Return what a proposal came to: a spec that reads the data, no proposal, or data that no spec could read."""
    proposal = until_proposed(str(path), take)
    if proposal is None:
        return "refused"
    target = str(path.with_name("spec.yaml"))
    try:
        try_spec(spec_text(proposal, target), target)
    except DataError as error:
        told(error, WRONG)
        return "wrong data"
    return "spec"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that the data are written to, again for each example."""
    return tmp_path_factory.mktemp("any")


@given(FRAMES, st.sampled_from(["csv", "parquet", "ndjson"]), st.integers(0, 3))
def test_any_columns(folders: Path, columns: dict[str, str], form: str, take: int) -> None:
    path = folders / f"data.{form}"
    frame = pl.DataFrame({name: VALUES[kind] for name, kind in columns.items()}, strict=False)
    if form == "csv":
        frame = frame.select(pl.all().exclude(pl.List(pl.Int64)))
    if not frame.width:
        return
    {"csv": frame.write_csv, "parquet": frame.write_parquet, "ndjson": frame.write_ndjson}[form](path)
    assert ending(path, take) in ("spec", "refused", "wrong data")


UNPREDICTED = {"anes96_training", "digits_training", "randhie_training", "titanic_evaluation", "titanic_training",
               "tumours_training", "visits_training"}
"""Files without predictions, and one of which the first choice of an outcome, the class of travel, has none."""

EXAMPLES = sorted((Path(__file__).parents[2] / "configs" / "data").glob("*.parquet"))


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_the_examples(file: Path, tmp_path: Path) -> None:
    path = tmp_path / file.name
    path.write_bytes(file.read_bytes())
    assert ending(path, 0) == ("refused" if file.stem in UNPREDICTED else "spec")
