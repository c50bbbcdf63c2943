"""Times to an event are refused with the reason; a time that has nothing to do with the event is not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from evalpipe.proposal.columns import look_at_datasets
from evalpipe.proposal.propose import Proposal, propose
from evalpipe.proposal.questions import Answers, Question
from evalpipe.tasks import MEANT

N = 60
AT = np.arange(N)
P = (AT * 7 % N + 0.5) / N
EVENT = AT % 3 // 2
TIME = (AT * 11 % N + 0.5) * 1.7


def proposed(folder: Path, columns: dict[str, object], **answers: str) -> Proposal | Question:
    pl.DataFrame(columns).write_parquet(folder / "data.parquet")
    return propose(look_at_datasets([str(folder / "data.parquet")]), Answers(**answers))  # type: ignore[arg-type]


SURVIVAL: dict[str, tuple[dict[str, object], str]] = {
    "time and event": ({"time": TIME, "event": EVENT, "p": P}, "'time' may be the time to 'event'"),
    "whole months": ({"time": AT % 24, "event": EVENT, "p": P}, "'time' may be the time to 'event'"),
    "whole days": ({"days": AT, "died": EVENT, "p": P}, "'days' may be the time to 'died'"),
    "duration and status": ({"duration": TIME, "status": EVENT, "score": P * 3},
                            "'duration' may be the time to 'status'"),
    "survival time": ({"survival_time": TIME, "y": EVENT, "p": P},
                      "'survival_time' has the name of a time to an event"),
    "an endpoint": ({"os_months": TIME, "progressed": EVENT, "p": P}, "'os_months' has the name of a time to an event"),
    "followed up": ({"followUpDays": TIME, "y": EVENT, "p": P}, "'followUpDays' has the name of a time to an event"),
    "time to": ({"time_to_relapse": TIME, "y": EVENT, "p": P}, "'time_to_relapse' has the name of a time to an event"),
    "no event": ({"survival_months": TIME, "pred": P}, "'survival_months' has the name of a time to an event"),
    "a column of censoring": ({"t": TIME, "censored": EVENT, "p": P},
                              "'censored' says which rows are censored"),
    "a level": ({"t": TIME, "vital": np.where(EVENT, "dead", "censored"), "p": P}, "'vital' has the level 'censored'"),
    "few hours of follow-up": ({"followup": AT % 24, "event": EVENT, "p": P},
                               "'followup' has the name of a time to an event"),
    "the outcome by flag": ({"time": TIME, "status": EVENT, "y": EVENT[::-1], "p": P},
                            "'time' may be the time to 'status'"),
}


@pytest.mark.parametrize("case", SURVIVAL)
def test_survival_data_are_refused_with_the_reason(case: str, tmp_path: Path) -> None:
    columns, sign = SURVIVAL[case]
    question = proposed(tmp_path, columns)
    assert isinstance(question, Question)
    assert (question.key, question.known) == ("task", f"{sign}: {MEANT['survival']}")
    task = "regression" if case == "no event" else "binary"
    assert [choice for choice, _ in question.choices] == [task]
    names = [name for name in columns if name not in ("p", "pred", "score")]
    outcome = names[-1]
    rest = {"event": str(pl.Series(columns[outcome])[2])} if task == "binary" else {}
    assert isinstance(proposed(tmp_path, columns, outcome=outcome, task=task, **rest), Proposal)


OTHERS: dict[str, dict[str, object]] = {
    "hours of the day": {"hour": AT % 24, "event": EVENT, "p": P},
    "times of the clock": {"time": [f"{at % 24:02}:{at:02}" for at in AT], "event": EVENT, "p": P},
    "dates": {"time": [f"2026-01-{1 + at % 28:02}" for at in AT], "event": EVENT, "p": P},
    "days past due": {"days_past_due": AT, "status": EVENT, "p": P},
    "the duration of a call": {"duration": TIME, "y": EVENT, "p": P},
    "a survival probability": {"survival_prob": P, "survived": EVENT},
    "tenure": {"tenure": AT, "churn": EVENT, "p": P},
    "an epoch": {"epoch": AT, "event": EVENT, "p": P},
}


@pytest.mark.parametrize("case", OTHERS)
def test_other_times_are_no_survival_data(case: str, tmp_path: Path) -> None:
    proposal = proposed(tmp_path, OTHERS[case], event="1")
    assert isinstance(proposal, Proposal), proposal
    assert proposal.outcome.task == "binary"


def test_another_event_is_not_that_of_the_outcome(tmp_path: Path) -> None:
    columns = {"time": TIME, "status": EVENT, "y": EVENT[::-1], "p": P}
    assert isinstance(proposed(tmp_path, columns, outcome="y", event="1"), Proposal)
