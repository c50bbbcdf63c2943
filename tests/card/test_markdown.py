"""The card as Markdown: its structure as a parser sees it, hostile names as text, and what the Hub reads of it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from huggingface_hub import ModelCard
from huggingface_hub.repocard_data import model_index_to_eval_results
from markdown_it import MarkdownIt

import evalpipe
from card.blocks import blocks
from engine.runs import people, run
from evalpipe.card.edition import Edition
from evalpipe.card.markdown import document, escaped
from evalpipe.card.page import Row, Section, Table
from evalpipe.results import Results
from few_by_day import few_by_day

HOSTILE = "<script>alert(1)</script> | `x` **b** [a](javascript:b) {{7*7}} $y$ \n# head"
CONFIGS = Path(__file__).parents[2] / "configs"
PARSER = MarkdownIt("commonmark", {"html": True}).enable("table")


def card(results: Results) -> str:
    return document(Edition(results)).decode()


def body(text: str) -> str:
    return text.split("\n---\n", 1)[1]


@pytest.mark.parametrize("name", ["titanic", "desirability", "digits", "apartments"])
def test_a_parser_finds_every_section_and_table_of_the_card(name: str, example: Callable[[str], Path]) -> None:
    results = Results.read(example(name) / "results.json")
    tokens, edition = PARSER.parse(body(card(results))), Edition(results)
    sections = edition.card.sections
    inner = [child for token in tokens for child in token.children or []]
    markup = "".join(child.content for child in inner if child.type == "html_inline")
    anchors = re.findall(r'<a id="([\w.-]+)"></a>', markup)
    assert anchors == [anchor for s in (*edition.card.masthead, *sections) if isinstance(s, Section) for anchor in (
        s.anchor, *(row.anchor.id for block in blocks([s]) if isinstance(block, Table) for row in block.rows
                    if isinstance(row, Row) and row.anchor is not None))]
    assert "".join(f'<a id="{anchor}"></a>' for anchor in anchors) == markup
    assert not [token for token in tokens if token.type == "html_block"]
    tables = [block for section in sections for block in section.blocks if isinstance(block, Table)]
    assert sum(token.type == "table_open" for token in tokens) >= len(tables) > 0
    assert all(str(child.attrs["href"]).startswith("#") for child in inner if child.type == "link_open")


@pytest.mark.parametrize("text", [HOSTILE, "1. one", "- a", "a | b", "x\\", "&lt;", "~~no~~", "# no", "= no"])
def test_a_text_is_never_markup(text: str) -> None:
    (paragraph,) = (token for token in PARSER.parse(f"x {escaped(text)}") if token.type == "inline")
    assert "".join(child.content for child in paragraph.children or []) == f"x {' '.join(text.split())}"
    assert {child.type for child in paragraph.children or []} <= {"text", "text_special"}
    assert [token.type for token in PARSER.parse(escaped(text))] == ["paragraph_open", "inline", "paragraph_close"]


def test_hostile_labels_stay_in_their_cells() -> None:
    results = run(people(80), models={"p": {"probability": "p", "label": HOSTILE}}, metrics=["accuracy"], title=HOSTILE)
    tokens = PARSER.parse(body(card(results)))
    widths: list[int] = []
    for token in tokens:
        widths += [0] if token.type == "tr_open" else []
        if token.type in ("td_open", "th_open"):
            widths[-1] += 1
    assert 0 not in widths
    inner = [child for token in tokens for child in token.children or []]
    markup = "".join(child.content for child in inner if child.type == "html_inline")
    assert re.fullmatch(r'(<a id="[\w.-]+"></a>)+', markup)
    assert not [child for child in inner if child.type == "link_open" and not str(child.attrs["href"]).startswith("#")]


USUAL = {"apartments", "candidates", "digits", "randhie", "recalibration", "slices"}
"""The examples of every run: of each task but one, with variants, groups and no predictions; all by night."""


@pytest.mark.parametrize("name", few_by_day(sorted(spec.stem for spec in CONFIGS.glob("*.yaml")), USUAL))
def test_the_hub_reads_each_number_of_every_example(
    name: str, example: Callable[[str], Path], tmp_path: Path
) -> None:
    results = Results.read(example(name) / "results.json")
    (tmp_path / "card.md").write_text(card(results), encoding="utf-8")
    data = ModelCard.load(tmp_path / "card.md").data
    _, listed = model_index_to_eval_results(data.to_dict()["model-index"])
    only = results.models[0].name if len(results.models) == 1 else None
    read = [((result.metric_args or {}).get("model", only), result.dataset_name, result.metric_type,
             result.metric_value) for result in listed]
    known = [(row.model, row.dataset, row.metric, row.value) for row in results.rows
             if row.slice is None and row.class_ is None and row.variant == "original" and row.value is not None]
    assert sorted(read) == sorted(known)
    assert data.model_name == (results.title if only is None else results.models[0].label)


def test_the_hub_takes_the_name_of_a_dataset_as_its_id() -> None:
    results = run({"Läufe (2026)/a": people(60)}, metrics=["brier"], intervals={"method": "none"})
    (entry,) = ModelCard(card(results)).data.to_dict()["model-index"]
    assert entry["results"][0]["dataset"] == {"type": "L-ufe-2026-a", "name": "Läufe (2026)/a"}


def test_the_hub_reads_limits_and_fingerprints(example: Callable[[str], Path], tmp_path: Path) -> None:
    results = Results.read(example("titanic") / "results.json")
    (tmp_path / "card.md").write_text(card(results), encoding="utf-8")
    data = ModelCard.load(tmp_path / "card.md").data
    assert (data.library_name, data.pipeline_tag) == ("evalpipe", "tabular-classification")
    index = data.to_dict()["model-index"]
    read = [result for entry in index for result in model_index_to_eval_results([entry])[1]]
    auc = next(result for result in read if result.metric_type == "roc_auc")
    row = next(row for row in results.rows if row.metric == "roc_auc")
    assert auc.metric_name == "ROC AUC, Logistic regression"
    assert auc.metric_args == {"model": "logistic_regression", "lower": row.lower, "upper": row.upper, "level": 0.95,
                               "interval": "delong", "n": row.n}
    assert all(result.dataset_revision == results.inputs[0].sha256 for result in read)


def test_the_format_is_written_on_request_and_not_by_itself(tmp_path: Path) -> None:
    spec = {"evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1}, "metrics": ["brier"],
            "datasets": {"d": {"path": "memory"}}, "models": {"p": {"probability": "p"}},
            "intervals": {"method": "none"}, "report": {"formats": ["markdown"]}}
    evalpipe.run(spec, frames={"d": people(60)}, out=tmp_path / "out")
    assert {file.name for file in (tmp_path / "out").iterdir()} == {
        "card.md", "results.json", "estimates.csv", "run.json", "manifest.json"}
    assert "markdown" not in evalpipe.spec.core_keys.Report().formats  # type: ignore[attr-defined]
