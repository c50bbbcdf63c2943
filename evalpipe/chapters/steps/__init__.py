"""Measures per step of a fit, from a file that holds the predictions of every step."""
