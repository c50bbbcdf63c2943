"""The bytes of results hang on no processor: what may not be called, and runs as on other processors.

`tests/test_reproducible.py` holds the bytes of a run to those as on the oldest processor whenever the tests run.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from processors import OLDEST, PROCESSORS

PACKAGE = Path(__file__).resolve().parents[1] / "evalpipe"

CHOSEN_BY_PROCESSOR = {
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "logaddexp", "logaddexp2", "power", "float_power", "cbrt",
    "hypot", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "sinh", "cosh", "tanh", "arcsinh", "arccosh",
    "arctanh", "sinc", "geomspace", "logspace",
    "linalg", "dot", "vdot", "inner", "matmul", "matvec", "vecdot", "vecmat", "tensordot", "cov", "corrcoef", "polyfit",
    "convolve", "correlate", "fft"}
"""What numpy computes by instructions that it chooses for the processor, or leaves to a BLAS or to LAPACK."""

OF_SCIPY = {"scipy.linalg", "scipy.interpolate", "scipy.stats", "scipy.integrate", "scipy.signal", "scipy.fft"}
SPECIAL = {"exp2", "exp10", "expit", "logit", "log_expit", "log1p", "expm1", "boxcox", "logsumexp", "softmax", "xlogy"}
"""What `evalpipe.arithmetic` has too."""

EXACT = {"engine/draws.py", "statistics/exact_sums.py", "statistics/view.py", "streams/samples.py",
         "streams/tally.py"}
"""Files whose products of matrices sum whole multiples of a unit, which is exact in any order, or are sparse, which
SciPy sums in one order; and whose powers are of Python's whole numbers."""


def _faults(tree: ast.Module, name: str) -> list[str]:
    """Return what in a file may differ between processors."""
    faults = []
    numeric = "np" in {alias.asname or alias.name for node in ast.walk(tree)
                       if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names}
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id="np"), attr=attribute) if attribute in CHOSEN_BY_PROCESSOR:
                faults.append(f"{name}:{node.lineno} np.{attribute}")
            case ast.BinOp(op=ast.MatMult()) if name not in EXACT:
                faults.append(f"{name}:{node.lineno} @")
            case ast.BinOp(left=left, op=ast.Pow(), right=right) if numeric and name not in EXACT and not (
                    isinstance(left, ast.Constant) or (isinstance(right, ast.Constant) and right.value == 2)):
                faults.append(f"{name}:{node.lineno} ** of another exponent than 2")
            case ast.ImportFrom(module=str(module), names=names) if module in OF_SCIPY or (
                    module == "scipy.special" and SPECIAL & {alias.name for alias in names}):
                faults.append(f"{name}:{node.lineno} from {module}")
    return faults


def test_nothing_is_computed_that_processors_compute_differently() -> None:
    """Take `evalpipe.arithmetic` instead."""
    faults = [fault for file in sorted(PACKAGE.rglob("*.py"))
              for fault in _faults(ast.parse(file.read_text(encoding="utf-8")), str(file.relative_to(PACKAGE)))]

    assert faults == []


@pytest.mark.parametrize("line", [
    "np.exp(x)", "np.linalg.solve(a, b)", "a @ b", "import numpy as np\nx**3", "import numpy as np\nx ** (1 / n)",
    "from scipy.special import expit", "from scipy.linalg import solve"])
def test_the_rule_sees_what_it_is_for(line: str) -> None:
    assert _faults(ast.parse(line), "a.py")


def written(root: Path, folder: Path, config: str, formats: str, environment: dict[str, str]) -> dict[str, bytes]:
    """Run a config as on a processor; return its files but those that hold times, or the sha256 of others."""
    line = [sys.executable, "-W", "error", "-m", "evalpipe", "run", f"configs/{config}.yaml", "--out", str(folder),
            "--no-progress", "--set", f"report.formats=[{formats}]"]
    subprocess.run(line, cwd=root, env=os.environ | environment, check=False, capture_output=True)
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.name not in ("run.json", "manifest.json")}


CONFIGS = ("titanic", "recalibration", "digits", "anes96", "apartments", "randhie")


@pytest.mark.nightly
@pytest.mark.parametrize("config", CONFIGS)
def test_every_processor_gives_the_same_bytes(root: Path, tmp_path: Path, config: str) -> None:
    first = written(root, tmp_path / "as it is", config, "", {})

    assert {"results.json", "estimates.csv"} <= first.keys()
    for name, environment in PROCESSORS.items():
        assert written(root, tmp_path / name, config, "", environment) == first, name


@pytest.mark.nightly
def test_every_processor_gives_the_same_card(root: Path, tmp_path: Path) -> None:
    first = written(root, tmp_path / "as it is", "titanic", "html, pdf, markdown, junit", {})

    assert {"card.html", "card.pdf", "card.md"} <= first.keys()
    for name, environment in {**PROCESSORS, "oldest": OLDEST}.items():
        assert written(root, tmp_path / name, "titanic", "html, pdf, markdown, junit", environment) == first, name
