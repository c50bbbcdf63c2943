from __future__ import annotations

import re

import pytest

from evalpipe import calibration, metrics
from evalpipe.card.appendix import reference_sections
from evalpipe.card.method import BANDS
from evalpipe.card.page import Cite, Link, plain
from evalpipe.card.references import BIBLIOGRAPHY, cited, reference_anchor, short_and_full_reference
from evalpipe.chapters.compare.card import TESTS
from evalpipe.chapters.curves.card import DURBIN_WATSON, HALF_NORMAL
from evalpipe.chapters.deviance.card import TEST as DEVIANCE
from evalpipe.chapters.trend.card import LIMITS
from evalpipe.intervals.declare import registry as interval_methods
from evalpipe.results import Results

GIVEN = sorted({
    reference
    for several in (
        *(metric.ref for metric in metrics.registry), *(method.ref for method in interval_methods.values()),
        *(method.reference for method in calibration.registry.values()),
        *(procedure.reference for _, procedure in TESTS.values()), BANDS.reference, DEVIANCE.reference,
        LIMITS.reference, DURBIN_WATSON, HALF_NORMAL,
    )
    for reference in (several or "").split("; ") if reference
})
"""Every reference that metrics, interval methods, recalibrators, tests, bands and control limits give."""


@pytest.mark.parametrize("reference", GIVEN)
def test_every_reference_resolves_to_its_full_text(reference: str) -> None:
    short, full = short_and_full_reference(reference)
    assert full, (f"{reference!r} is not in BIBLIOGRAPHY of card/references.py: add it, or where it stands write the "
                  "full reference, as in 'Family, A. & Other, B. (2020). Title. Journal 1(2), 3–4.'")
    assert re.fullmatch(r"[^()]+ \(\d{4}[^()]*\)(, probably)?", short), short
    assert re.match(r"[^()]+ \(\d{4}\)\. .+\.$", full), full
    year = re.search(r"\d{4}", short)
    assert year is not None
    assert f"({year[0]})" in full
    assert cited(reference) == (Link(short, reference_anchor(short)),)


def test_every_entry_is_cited_and_begins_with_the_names_and_the_year_of_its_short_name() -> None:
    heads = {re.sub(r"\((\d{4})[^)]*\).*", r"(\1)", reference) for reference in GIVEN}
    assert set(BIBLIOGRAPHY) == heads & set(BIBLIOGRAPHY)
    plain_letters = str.maketrans("åäüø", "aauo")
    for short, full in BIBLIOGRAPHY.items():
        first, year = re.split(r"[ ,&]", short.removeprefix("van "))[0], short[-5:-1]
        assert full.translate(plain_letters).removeprefix("van ").startswith(first), short
        assert f" ({year}). " in full, short


@pytest.mark.parametrize(("reference", "short"), [
    ("Brier (1950)", "Brier (1950)"),
    ("Wood (2017, sections 5.3 and 6.2)", "Wood (2017, sections 5.3 and 6.2)"),
    ("Efron, B. (1979). Bootstrap methods. The Annals of Statistics 7(1), 1–26.", "Efron (1979)"),
    ("Clopper, C. J. & Pearson, E. S. (1934). The use.", "Clopper & Pearson (1934)"),
    ("DeLong, E. R., DeLong, D. M. & Clarke-Pearson, D. L. (1988). Comparing.",
     "DeLong, DeLong & Clarke-Pearson (1988)"),
    ("Machado, J. A. F. & Parente, P. (2005). Bootstrap.", "Machado & Parente (2005)"),
    ("Montiel Olea, J. L. & Plagborg-Møller, M. (2019). Bands.", "Montiel Olea & Plagborg-Møller (2019)"),
    ("Aa, B., Cc, D., Ee, F. & Gg, H. (2001). Four.", "Aa et al. (2001)"),
])
def test_a_full_reference_is_cited_by_its_names_and_year(reference: str, short: str) -> None:
    assert short_and_full_reference(reference)[0] == short


def test_a_reference_that_nobody_knows_is_cited_as_it_is() -> None:
    assert cited("Our handbook") == (Cite("Our handbook"),)
    assert cited("Nobody (1999); Brier (1950)") == (
        Cite("Nobody (1999)"), "; ", Link("Brier (1950)", "ref-brier-1950"))


def test_the_list_holds_each_work_that_is_cited_once_and_in_order(results: Results) -> None:
    (section,) = reference_sections(results)
    texts = [plain(block.text) for block in section.blocks]
    assert texts == sorted(set(texts), key=str.lower)
    assert (texts[0][:17], texts[-1][:14]) == ("Brier, G. W. (195", "Yerushalmy, J.")
    assert len({block.anchor for block in section.blocks}) == len(texts)
