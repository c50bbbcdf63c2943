"""The notes on a file that differs: where, what stands there, and what is expected."""

from __future__ import annotations

from evalpipe.runs.verification import difference_notes


def test_of_a_long_text_the_part_about_the_first_difference_is_shown() -> None:
    same, other = "a " * 100, "b " * 50
    assert difference_notes([("p", f"{same}x {other}", f"{same}y {other}")], "card.html") == [
        f"p: …{'a ' * 10}x {'b ' * 19}… in card.html, …{'a ' * 10}y {'b ' * 19}… in results.json"]
    assert difference_notes([("p", "x" * 60, None)], "card.md", "by") == [
        f"p: {'x' * 60} in card.md, nothing by results.json"]
    assert difference_notes([("p", "x" * 61, "")], "card.md") == [f"p: {'x' * 60}… in card.md, nothing in results.json"]


def test_after_the_first_differences_their_number_is_said() -> None:
    notes = difference_notes([(f"p{k}", 1.5, 2.0) for k in range(9)], "card.html")
    assert notes[0] == "p0: 1.5 in card.html, 2 in results.json"
    assert notes[-1] == f"{9 - len(notes) + 1} more places differ"
