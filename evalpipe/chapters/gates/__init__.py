"""Limits that results must keep, and the verdict on each."""
