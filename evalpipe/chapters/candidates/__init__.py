"""Candidates of tuning, ranked by the goals of desirability from a table of finished metrics, without predictions."""
