"""Addresses of estimates: each estimate of the examples has its own, short ones are understood, others are told."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from evalpipe.card.addresses import Addresses
from evalpipe.errors import UsageError
from evalpipe.results import Results

Read = Callable[[str], Addresses]


@pytest.fixture(scope="module")
def read(example: Callable[[str], Path]) -> Read:
    """Return a function that gives the addresses of an example."""
    return cache(lambda name: Addresses(Results.read(example(name))))


@pytest.mark.parametrize("name", ["titanic", "slices", "recalibration", "digits"])
def test_every_estimate_has_an_address_of_its_own(read: Read, name: str) -> None:
    addresses = read(name)

    written = [addresses.of(estimate) for estimate in addresses.estimates]
    assert len(set(written)) == len(written) > 20
    some = range(0, len(written), max(1, len(written) // 50))
    assert all(addresses.find(written[place]) is addresses.estimates[place] for place in some)


@pytest.mark.parametrize(("name", "short", "whole"), [
    ("titanic", "roc_auc@random_forest", "evaluation/random_forest/original/overall/roc_auc"),
    ("titanic", "recall@Random forest", "evaluation/random_forest/original/overall/sensitivity"),
    ("titanic", "evaluation/random_forest/original/overall/recall",
     "evaluation/random_forest/original/overall/sensitivity"),
    ("titanic", "random_forest/f_beta/beta=2", "evaluation/random_forest/original/overall/f_beta"),
    ("titanic", "brier_skill@model=random_forest", "evaluation/random_forest/original/overall/brier_skill"),
    ("slices", "accuracy@random_forest@gender = female",
     "evaluation/random_forest/original/gender=female/accuracy"),
    ("slices", "brier@class=1st, gender=male@random_forest",
     "evaluation/random_forest/original/gender=male,class=1st/brier"),
    ("recalibration", "boosting+isotonic@brier", "evaluation/boosting/isotonic/overall/brier"),
    ("recalibration", "brier@boosting", "evaluation/boosting/original/overall/brier"),
    ("digits", "forest@precision", "evaluation/forest/original/overall/precision/average=macro"),
    ("digits", "forest@precision@7", "evaluation/forest/original/overall/precision/class=7"),
    ("digits", "forest@precision@class=7", "evaluation/forest/original/overall/precision/class=7"),
])
def test_a_short_address_is_understood(read: Read, name: str, short: str, whole: str) -> None:
    addresses = read(name)

    assert addresses.of(addresses.find(short)) == whole


@pytest.mark.parametrize(("name", "address", "told"), [
    ("titanic", "roc_auk",
     "error[unknown-estimate]: 'roc_auk' is in the address of no estimate\n  = help: did you mean 'roc_auc'?"),
    ("titanic", "roc_auc@nobody",
     ("error[unknown-estimate]: 'nobody' is in the address of no estimate\n"
     "  = help: `evalpipe show DIR` lists them all")),
    ("slices", "accuracy@overall@gender=female",
     ("error[unknown-estimate]: no estimate has 'accuracy', 'overall' and 'gender=female' in its address\n"
     "  = help: `evalpipe show DIR` lists them all")),
    ("titanic", "roc_auc",
     ("error[ambiguous-estimate]: 'roc_auc' is the address of 2 estimates\n"
     "  = evaluation/logistic_regression/original/overall/roc_auc\n"
     "  = evaluation/random_forest/original/overall/roc_auc\n"
     "  = help: name the parts that tell them apart")),
    ("titanic", "@", ("error[bad-address]: the address is empty\n"
     "  = help: write it as in roc_auc@naive_bayes; `evalpipe show DIR` lists them all")),
    ("titanic", 'roc"auc', ("error[bad-address]: a quote in 'roc\"auc' is not closed\n"
     "  = help: write it as in roc_auc@naive_bayes; `evalpipe show DIR` lists them all")),
])
def test_an_address_of_no_estimate_or_of_several_is_told(read: Read, name: str, address: str, told: str) -> None:
    with pytest.raises(UsageError) as caught:
        read(name).find(address)

    assert str(caught.value) == told


def test_of_many_that_are_meant_some_are_listed(read: Read) -> None:
    with pytest.raises(UsageError) as caught:
        read("digits").find("forest")

    notes = caught.value.problems[0].notes
    assert (len(notes), notes[-1][:4], notes[-1][-5:]) == (13, "and ", " more")


def test_names_with_signs_stand_in_quotes(example: Callable[[str], Path]) -> None:
    results = Results.read(example("titanic"))
    rows = [row.model_copy(update={"model": 'A/B "v@2"', "dataset": "recall"}) for row in results.rows[:15]]
    addresses = Addresses(results.model_copy(update={"rows": rows, "diagnostics": []}))

    address = addresses.of(rows[0])
    assert address.startswith('recall/"A/B ""v@2"""/original/overall/')
    assert addresses.find(address) is rows[0]
    assert addresses.find(f'{rows[0].metric}@"A/B ""v@2"""') is rows[0]


def test_a_dataset_and_a_model_may_exchange_their_names(example: Callable[[str], Path]) -> None:
    results = Results.read(example("titanic"))
    row = results.rows[0]
    rows = [row.model_copy(update={"dataset": dataset, "model": model}) for dataset, model in ("ab", "ba")]
    addresses = Addresses(results.model_copy(update={"rows": rows, "diagnostics": []}))

    assert [addresses.find(addresses.of(row)) for row in rows] == rows
    assert addresses.find("dataset=b@model=a") is rows[1]
    with pytest.raises(UsageError, match="is the address of 2 estimates"):
        addresses.find("a@b")
