"""Step 6: from results to a card people can read. Nothing is computed here; what `Results` holds is formatted."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalpipe.errors import Problem
    from evalpipe.results import Results
    from evalpipe.results.comments import Comment
    from evalpipe.results.signatures import Signature
    from evalpipe.templating.files import Templates


def check_renderable(
    formats: Sequence[str], templates: Templates | None = None, *, requested: bool = True
) -> Problem | None:
    """Check, before anything is computed, that templates fit and PDF libraries load; raises UsageError if not.

    Of formats that nobody ``requested`` a PDF may be missing: the problem is returned then. None where all can be made.
    """
    if templates is not None:
        from evalpipe.card.edition import check_fit

        check_fit(templates)
    if "pdf" in formats:
        from evalpipe.card.pdf import load_weasyprint
        from evalpipe.errors import UsageError

        try:
            load_weasyprint()
        except UsageError as error:
            if requested:
                raise
            return error.problems[0]
    return None


def render(
    results: Results, formats: Sequence[str], signatures: tuple[Signature, ...] = (),
    templates: Templates | None = None, on_letters_without_font: Callable[[list[str]], None] | None = None,
    comments: tuple[Comment, ...] = (),
) -> dict[str, bytes]:
    """Render the card, signed or not, in each of the formats of `evalpipe.base.formats` and return its files by name.

    A file that holds the verdicts of gates is left out where none is declared. The same results give the same bytes
    on every call. The page and the PDF are made with ``templates``, or with those that the results hold where None.
    ``on_letters_without_font`` is called with the letters that the PDF shows boxes for, where there are any.
    Raises UsageError when a template is refused, a format is unknown, or when a library of the operating system that
    the PDF needs is missing.
    """
    from importlib import import_module

    from evalpipe.base.formats import FORMATS, format_files
    from evalpipe.card.edition import Edition
    from evalpipe.errors import UsageError

    unknown = [name for name in formats if name not in FORMATS]
    if unknown:
        *known, last = sorted(FORMATS)
        raise UsageError.of("unknown-format", f"the card cannot be written as '{unknown[0]}'",
                            hint=f"use {', '.join(known)} or {last}")
    files = format_files(formats, judged=results.judged)
    edition = Edition(results, signatures, templates, comments)
    with _garbage_collection_off():
        card = {file: import_module(f"evalpipe.card.{name}").document(edition) for name, file in files.items()}
    if edition.letters_without_font and on_letters_without_font is not None:
        on_letters_without_font(edition.letters_without_font)
    return card


@contextmanager
def _garbage_collection_off() -> Iterator[None]:
    """Switch garbage collection off: a layout keeps most of its objects, and looking for others takes a fifth more."""
    import gc

    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
