"""Differences of models from fixed rates that are given in the spec."""
