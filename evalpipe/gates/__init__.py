"""Gates: the verdict of every declared limit on the numbers of a run. Nothing is computed here but differences.

`look_back` reads what gates are against, before anything is computed; `judged` fills the table `gates` of the results
from their other tables. `reference` says which run the gates `against: last` compare the next one with.
"""

from evalpipe.gates.earlier import look_back
from evalpipe.gates.judge import judged
from evalpipe.gates.reference import Earlier, Nothing

__all__ = ["Earlier", "Nothing", "judged", "look_back"]
