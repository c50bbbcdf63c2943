"""Gates: the verdict of every declared limit on the numbers of a run. Nothing is computed here but differences.

`look_back` reads what gates are against, before anything is computed; `judged` fills the table `gates` of the results
from their other tables.
"""

from evalpipe.gates.earlier import Earlier, look_back
from evalpipe.gates.judge import judged

__all__ = ["Earlier", "judged", "look_back"]
