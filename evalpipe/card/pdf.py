"""The card as a tagged PDF/A: the same page, laid out for A4, with `results.json` attached."""

from __future__ import annotations

import os
import warnings
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from evalpipe.card.html import write_page
from evalpipe.card.picture import Picture
from evalpipe.errors import InternalError, UsageError
from evalpipe.signatures import SIGNATURES, signatures_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.card.edition import Edition

ROW_LIMIT = 300
"""Rows of a table in the PDF; long tables are slow to lay out and nobody reads them on paper."""

VARIANT = "pdf/a-3a"
EPOCH = 946_684_800
"""The date written into the PDF and its fonts, 2000-01-01: a constant, because equal results give equal bytes."""

SCHEME = "packaged:"
FALLBACKS = (
    ("DejaVu Sans", 400, "DejaVuSans.ttf"),
    ("DejaVu Sans", 600, "DejaVuSans-Bold.ttf"),
    ("DejaVu Sans Mono", 400, "DejaVuSansMono.ttf"),
)
"""Fonts that matplotlib carries, for letters and symbols that the card's own fonts lack."""


def document(edition: Edition) -> bytes:
    """Render the card as PDF. Raises UsageError when a library of the operating system is missing."""
    laid_out = layout(edition)
    with _pinned_clock(), warnings.catch_warnings():
        # WeasyPrint leaves its own colour profile open until it is collected.
        warnings.simplefilter("ignore", ResourceWarning)
        return bytes(laid_out.write_pdf(
            attachments=_attachments(edition, load_weasyprint()), pdf_variant=VARIANT, pdf_tags=True,
            pdf_identifier=edition.results.spec_sha256.encode("ascii", "replace")[:16], finisher=_pack_once,
        ))


def layout(edition: Edition) -> Any:
    """Lay the card out in pages and return WeasyPrint's document of them; raises as `document` does."""
    weasyprint = load_weasyprint()
    from weasyprint.text.fonts import FontConfiguration

    page = write_page(edition, ROW_LIMIT, linked=True).decode("utf-8")
    fetcher, fonts = _fetcher(), FontConfiguration()
    pictures = {address: Picture(svg, fonts) for address, svg in edition.images().items()}
    with _pinned_clock():
        faces = weasyprint.CSS(string=_faces(), font_config=fonts, url_fetcher=fetcher, base_url=SCHEME)
        laid_out = weasyprint.HTML(string=page, base_url=SCHEME, url_fetcher=fetcher, media_type="print").render(
            stylesheets=[faces], font_config=fonts, cache=pictures, pdf_variant=VARIANT, pdf_tags=True)
    # WeasyPrint itself goes on without what it cannot fetch.
    if fetcher.refused:
        raise InternalError.of(
            "outside-resource", f"the card asked for {fetcher.refused[0]}, which is not part of evalpipe",
            hint="this is a fault of the card's templates; nothing was fetched",
        )
    return laid_out


def load_weasyprint() -> Any:
    """Import the maker of PDFs; raises UsageError when a library of the operating system is missing."""
    try:
        import weasyprint
    except OSError as error:
        raise UsageError.of(
            "missing-library", "the PDF cannot be made: the system library Pango is missing",
            hint="install it (Debian, Ubuntu: apt-get install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0), "
            "or leave pdf out of report.formats",
            notes=(str(error).splitlines()[0],) if str(error) else (),
        ) from None
    return weasyprint


def _fetcher() -> Any:
    """Make a fetcher that opens packaged fonts and data inside the page, and nothing else."""
    from weasyprint.urls import URLFetcher, URLFetcherResponse

    class PackagedOnly(URLFetcher):  # type: ignore[misc]
        """Refuses every address but those of `FALLBACKS` and ``data:``; remembers what it refused."""

        def __init__(self) -> None:
            super().__init__(allowed_protocols=("data",))
            self.refused: list[str] = []

        def fetch(self, url: str, headers: Any = None) -> Any:
            """Return the response for an address; raises ValueError for one that is refused."""
            if url.startswith("data:"):
                return super().fetch(url, headers)
            name = url.removeprefix(SCHEME)
            if name in {file for _, _, file in FALLBACKS}:
                return URLFetcherResponse(url, _packaged(name), {"Content-Type": "font/ttf"})
            self.refused.append(url)
            raise ValueError(f"refused: {url}")

    return PackagedOnly()


def _packaged(name: str) -> bytes:
    from importlib.util import find_spec
    from pathlib import Path

    # Found without being imported, which takes longer than all that is done with it.
    package = find_spec("matplotlib")
    if package is None or package.origin is None:
        raise UsageError.of("missing-library", "the PDF cannot be made: matplotlib, which has its fonts, is missing",
                            hint="install evalpipe again")
    return (Path(package.origin).parent / "mpl-data" / "fonts" / "ttf" / name).read_bytes()


def _faces() -> str:
    return "".join(
        f"@font-face {{ font-family: '{family}'; font-weight: {weight}; src: url('{SCHEME}{name}'); }}\n"
        for family, weight, name in FALLBACKS
    )


def _attachments(edition: Edition, weasyprint: Any) -> list[Any]:
    """Attach the results, and the signatures where there are any."""
    date = datetime.fromtimestamp(EPOCH, UTC)
    files = [("results.json", edition.results.to_json(), "Every number of this card")]
    if edition.signatures:
        files.append((SIGNATURES, signatures_json(edition.signatures).decode(), "Who signed this card"))
    return [weasyprint.Attachment(string=text, base_url=SCHEME, name=name, description=what, created=date,
                                  modified=date, relationship="Data") for name, text, what in files]


def _pack_once(_: Any, pdf: Any) -> None:
    """Keep each stream as it is written: it is asked for twice, for the file and for the file's identifier."""
    import pydyf

    class Packed(pydyf.Stream):  # type: ignore[misc]
        """A stream that is compressed already."""

        def __init__(self, stream: Any) -> None:
            super().__init__()
            self.number, self._data = stream.number, stream.data

        @property
        def data(self) -> Any:
            return self._data

    pdf.objects[:] = [Packed(part) if isinstance(part, pydyf.Stream) else part for part in pdf.objects]


@contextmanager
def _pinned_clock() -> Iterator[None]:
    """Set the variable that makers of PDF and fonts read instead of the clock, and put it back."""
    name = "SOURCE_DATE_EPOCH"
    before = os.environ.get(name)
    os.environ[name] = str(EPOCH)
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
