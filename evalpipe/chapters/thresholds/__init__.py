"""The threshold that makes classes of scores: a number, or a rule by which rows choose it."""
