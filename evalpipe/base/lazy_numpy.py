"""numpy, imported when it is first used: files that declare something can be read for their words without it.

`from evalpipe.base.lazy_numpy import np` stands for `import numpy as np` in the files of recalibrators and of interval
methods. To import numpy takes a tenth of a second, which who reads words alone need not wait for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
else:

    class _Later:
        def __getattr__(self, name: str) -> Any:
            """Import numpy, and keep what is asked for, so that it is at hand the next time."""
            import numpy as np

            value = getattr(np, name)
            setattr(self, name, value)
            return value

    np = _Later()

__all__ = ["np"]
