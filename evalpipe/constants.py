"""Numbers of the engine that the card states in words: what computes and what is written read them here."""

WEIGHTINGS = 10_000
"""Random weightings of goals, under which is counted how often a model has the highest overall desirability."""
