"""The command line: parse, call the public functions, print."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.cli.exit import leave, report_interrupt, watch

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with the documented code, also where a signal comes while it is imported."""
    watch()
    try:
        from evalpipe.cli.app import main as run
    except KeyboardInterrupt as error:
        leave(report_interrupt(error))
    run(arguments)
