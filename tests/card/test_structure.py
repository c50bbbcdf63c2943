from __future__ import annotations

import io
import re
import warnings

import pikepdf
import weasyprint

from card.pdf_parts import bookmarks, cells, elements
from evalpipe.card.pdf import complete_structure


def written(body: str) -> pikepdf.Pdf:
    page = f"<html lang=en><title>x</title><style>@page {{ size: 1200px }}</style>{body}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # of a colour profile that WeasyPrint leaves open
        return pikepdf.open(io.BytesIO(weasyprint.HTML(string=page).write_pdf(
            pdf_variant="pdf/a-3a", finisher=lambda _, pdf: complete_structure(pdf),
            attachments=[weasyprint.Attachment(string="one", base_url="x:", name="one.txt", relationship="Data")])))


def headed(pdf: pikepdf.Pdf, *texts: str) -> dict[str, tuple[str, list[str]]]:
    """Return each cell by its words, given in their order, with its scope and the words of the cells that head it."""
    contents = dict(zip(texts, (cell for table in elements(pdf, "/Table") for cell in cells(table)), strict=True))
    names = {bytes(cell.ID): text for text, cell in contents.items() if cell.S == "/TH"}
    return {text: (str(cell.A.get("/Scope", "")), [names[bytes(name)] for name in cell.A.get("/Headers", [])])
            for text, cell in contents.items()}


SPANNED = """<table>
<thead><tr><th rowspan=2>Key<th colspan=2>Wide<th rowspan=2>End</tr><tr><th>Left<th>Right</tr></thead>
<tbody><tr><th scope=row>a<td>1<td>2<td>3</tr></tbody>
<tbody><tr><th colspan=4>Group</tr><tr><th scope=row>b<td>4<td>5<td>6</tr></tbody>
<tfoot><tr><th scope=row>c<td colspan=3>7</tr></tfoot></table>"""


def test_cells_name_the_heads_over_and_beside_them_and_that_of_their_group() -> None:
    pdf = written(SPANNED)
    assert headed(pdf, *re.findall(r"<t[hd][^>]*>(\w+)", SPANNED)) == {
        "Key": ("/Column", []), "Wide": ("/Column", []), "End": ("/Column", []), "Left": ("/Column", []),
        "Right": ("/Column", []),
        "a": ("/Row", []), "1": ("", ["a", "Wide", "Left"]), "2": ("", ["a", "Wide", "Right"]), "3": ("", ["a", "End"]),
        "Group": ("/Column", []), "b": ("/Row", []), "4": ("", ["Group", "b", "Wide", "Left"]),
        "5": ("", ["Group", "b", "Wide", "Right"]), "6": ("", ["Group", "b", "End"]),
        "c": ("/Row", []), "7": ("", ["c", "Wide", "Left", "Right", "End"]),
    }


def test_heads_are_listed_by_their_names() -> None:
    pdf = written(SPANNED)
    listed = pdf.Root.StructTreeRoot.IDTree.Names
    assert len(listed) == 2 * 9
    assert [bytes(name) for name in listed[::2]] == [bytes(element.ID) for element in listed[1::2]]
    assert [bytes(name) for name in listed[::2]] == sorted(bytes(name) for name in listed[::2])


def test_a_table_without_heads_has_none() -> None:
    pdf = written("<table><tr><td>1<td>2</table>")
    assert headed(pdf, "1", "2") == {"1": ("", []), "2": ("", [])}
    assert "/IDTree" not in pdf.Root.StructTreeRoot


def test_bookmarks_of_one_title_take_the_title_above_or_a_number() -> None:
    pdf = written("<h1>Data</h1><h2>test</h2><h3>Rows</h3><h1>Costs</h1><h2>test</h2><h3>Rows</h3><h2>Sum</h2>"
                  "<h1>End</h1><h1>End</h1>")
    assert bookmarks(pdf) == [
        (0, "Data", 1), (1, "Data: test", 1), (2, "Data: test: Rows", 1), (0, "Costs", 1), (1, "Costs: test", 1),
        (2, "Costs: test: Rows", 1), (1, "Sum", 1), (0, "End (1)", 1), (0, "End (2)", 1),
    ]


def test_a_file_is_listed_once() -> None:
    pdf = written("<p>text")
    assert [str(file.UF) for file in pdf.Root.AF] == ["one.txt"]


def test_resources_that_are_empty_are_not_named() -> None:
    plain, drawn = written("<p>text"), written("<p style='background: linear-gradient(red, blue)'>text")
    assert {"/Pattern", "/Shading"} & set(plain.pages[0].Resources) == set()
    assert {"/Pattern", "/Shading"} & set(drawn.pages[0].Resources) == {"/Pattern"}
