"""The command line: parse, call the public functions, print."""

from evalpipe.cli.app import app, main

__all__ = ["app", "main"]
