"""numpy, imported when it is first used: files that declare something can be read for their words without it.

`from evalpipe.base.lazy_numpy import np` stands for `import numpy as np` in the files of recalibrators and of interval
methods. To import numpy takes a tenth of a second, which who reads words alone need not wait for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any


class LazyModule:
    """A stand-in for a module, which is imported when an attribute is first used."""

    def __init__(self, module: str) -> None:
        """Remember the name of the module."""
        self._module = module

    def __getattr__(self, name: str) -> Any:
        """Import the module, and keep the attribute on this object for the next use."""
        value = getattr(import_module(self._module), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import numpy as np
else:
    np = LazyModule("numpy")

__all__ = ["LazyModule", "np"]
