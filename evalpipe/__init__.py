"""evalpipe: one YAML spec and a file of predictions in, a model card that an auditor can sign."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

# These two modules bear the names of public functions; loading them first lets the functions keep the names.
import evalpipe.plan  # noqa: F401
from evalpipe.run import load, plan, render, run
from evalpipe.version import VERSION

if TYPE_CHECKING:
    from evalpipe.arrays import evaluate
    from evalpipe.metrics import metric
    from evalpipe.recalibration import recalibrate
    from evalpipe.results import Results
    from evalpipe.review.checking import verify
    from evalpipe.review.commenting import comment
    from evalpipe.review.signing import sign

__all__ = ["Results", "__version__", "comment", "evaluate", "load", "metric", "plan", "recalibrate", "render", "run",
           "sign", "verify"]

__version__ = VERSION

_LATE = {"evaluate": "evalpipe.arrays", "metric": "evalpipe.metrics", "recalibrate": "evalpipe.recalibration",
         "Results": "evalpipe.results", "comment": "evalpipe.review.commenting", "sign": "evalpipe.review.signing",
         "verify": "evalpipe.review.checking"}


def __getattr__(name: str) -> Any:  # Heavy modules are imported when first used, so that `--help` stays quick.
    """Return a public name of evalpipe, importing its module at the first use."""
    if name not in _LATE:
        raise AttributeError(f"module 'evalpipe' has no attribute {name!r}")
    return getattr(import_module(_LATE[name]), name)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
