"""Build the site of all pages, with Zensical, the successor of Material for MkDocs: python docs/site.py, or make site.

The pages are copied as they lie in the repository, so that links between them are true there and here. Formulas become
MathML, folders that a page links to get a page that lists their files, and nothing is loaded from a network.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from latex2mathml.converter import convert

ROOT = Path(__file__).parents[1]
SOURCE, SITE = ROOT / "build" / "site-source", ROOT / "build" / "site"
PAGES = (
    "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "LICENSE", "CITATION.cff",
    "llms.txt", "docs", "configs", "benchmarks/RESULTS.md", "benchmarks/*.svg", "benchmarks/large_data.py",
    ".ci/sbom.cdx.json", "evalpipe/chapters/standards/profiles", "reports/example/card.html",
    "build/gallery/*/card.html", "tests/stability/1.0.json", "tests/stability/versions/README.md")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.parquet", "books/data")
SHIM, ADDRESS = Path(sys.prefix, "node_modules", "iframe-worker", "shim", "index.js"), "https://unpkg.com/iframe-worker/shim"
"""What the search needs where pages are read from files, and the address from which Zensical would have it loaded."""

FORMULA = re.compile(r"^\$\$(.+)\$\$$", re.MULTILINE)
CARD = re.compile(r"`(build/gallery/(\w+)/card\.html)`")
"""Where docs/gallery.md says that `make gallery` writes a card."""

LINK, FOLDER = re.compile(r"\]\(([^):#\s]+)"), re.compile(r"\]\(((?:\.\./)*(?:\w+/)*\w+)/?\)")


def copied() -> None:
    """Copy the pages, and what they link to, to the folder that Zensical reads."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    for pattern in PAGES:
        for path in sorted(ROOT.glob(pattern)):
            target = SOURCE / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.is_dir():
                shutil.copytree(path, target, ignore=LEFT_OUT, dirs_exist_ok=True)
            else:
                shutil.copy(path, target)


def prepared(page: Path) -> None:
    """Write the formulas of a page as MathML, and a list of files for each folder that it links to."""
    text = FORMULA.sub(
        lambda formula: f'<div style="overflow-x: auto">{convert(formula[1], display="block")}</div>\n',
        page.read_text(encoding="utf-8"))
    for link in LINK.findall(text):
        folder = (page.parent / link).resolve()
        if folder.is_dir() and not (folder / "README.md").exists():
            files = "".join(f"- [{file.name}]({file.name})\n" for file in sorted(folder.iterdir()) if file.is_file())
            (folder / "README.md").write_text(f"# {folder.name}\n\n{files}", encoding="utf-8")
    text = CARD.sub(lambda card: _to_card(page, card), text)
    text = FOLDER.sub(lambda link: _to_list(page, link), text)
    page.write_text(text, encoding="utf-8")


def _to_card(page: Path, card: re.Match[str]) -> str:
    """Return the place of a card as a link to it where `make gallery` has made it; else as it is."""
    up = "../" * (len(page.relative_to(SOURCE).parts) - 1)
    return f"[{card[2]}]({up}{card[1]})" if (SOURCE / card[1]).is_file() else card[0]


def _to_list(page: Path, link: re.Match[str]) -> str:
    """Return a link to a folder as one to the list of its files; any other link as it is."""
    return f"]({link[1]}/README.md)" if (page.parent / link[1]).is_dir() else link[0]


def without_network() -> None:
    """Have the search load its shim from the site, or nothing where npm has not installed it."""
    if SHIM.exists():
        shutil.copy(SHIM, SITE / "assets" / "iframe-worker.js")
    for page in SITE.rglob("*.html"):
        depth = len(page.relative_to(SITE).parts) - 1
        local = f"{'../' * depth}assets/iframe-worker.js" if SHIM.exists() else "data:text/javascript,"
        page.write_text(page.read_text(encoding="utf-8").replace(ADDRESS, local), encoding="utf-8")


def main() -> int:
    """Copy and prepare the pages and build the site; return an exit code, not 0 for any link that leads nowhere."""
    copied()
    for page in sorted(SOURCE.rglob("*.md")):
        prepared(page)
    shutil.rmtree(SITE, ignore_errors=True)
    line = [Path(sys.executable).with_name("zensical"), "build", "--strict", "--clean"]
    built = subprocess.run(  # noqa: S603 - our own environment
        line, cwd=ROOT, env=os.environ | {"NO_COLOR": "1"}, capture_output=True, text=True, check=False)
    if built.returncode:
        print(built.stdout.partition("Traceback")[0] + built.stderr.partition("Traceback")[0], file=sys.stderr)
        return 1
    without_network()
    print(SITE / "index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
