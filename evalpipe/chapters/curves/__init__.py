"""Thresholds that are marked on the curves of a binary outcome, with the numbers there."""
