"""Numbers of the engine that the card states in words, and the sizes that can be computed with."""

LARGEST = 1e60
"""The largest size of a number: sums over rows of its square over the square of the smallest stay finite."""

SMALLEST = 1e-60
"""The smallest size of a number that is not zero; squares of squares of such numbers are not yet zero."""

PILOT = 256
"""Replicates by which it is chosen how far judges take part in a measure."""

TOLERATED = 0.05
"""Share of undefined replicates above which an interval is marked degenerate."""

WHISKERS = 1.5
"""Interquartile ranges that the whiskers of a box plot reach beyond the box at most."""

OUTLIERS = 20
"""Residuals beyond the whiskers of a box plot that are drawn, the largest ones."""

LOG_ODDS_CLIP = 1e-12
"""How near to 0 or 1 a probability may come before it is moved that far away, where log odds are taken of it."""

CLIP = 1e-15
"""The probability of the true level that deviance and Pearson residuals take at least, as the log loss does."""

WEIGHTINGS = 10_000
"""Random weightings of the goals, uniform over all that sum to 1."""

USAGE = "usage "
"""What the kind of a number of items begins with that says what an epoch used; its name follows."""
