"""`evalpipe doctor`."""

from __future__ import annotations

import click


@click.command(short_help="Check this machine.")
@click.option("--out", type=click.Path(), default="reports", show_default=True,
              help="The folder in which output folders are made.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def doctor(out: str, form: str) -> int:
    """Check whether this machine can run evalpipe: Python, libraries, PDF, fonts, cores, memory, disks, extras.

    A page is rendered, and a file is written to the temporary folder and to that of the reports; nothing is left
    behind, and nothing is asked of a network. The exit code is 0 where all is well and 1 where a check failed; a note
    fails nothing.
    """
    import json
    from dataclasses import asdict
    from pathlib import Path

    from evalpipe.cli.doctor import examined

    checks = examined(Path(out))
    failed = sum(check.state == "failed" for check in checks)
    if form == "json":
        document = {"ok": not failed, "checks": [asdict(check) for check in checks]}
        click.echo(json.dumps(document, indent=1, ensure_ascii=False))
        return int(failed > 0)
    wide = max(len(check.name) for check in checks)
    for check in checks:
        click.echo(f"{check.state:<6}  {check.name:<{wide}}  {check.text}")
        if check.hint is not None:
            click.echo(f"{'':<{8 + wide}}    {check.hint}")
    counted = f"{failed} {'check' if failed == 1 else 'checks'} failed"
    click.echo(counted if failed else "this machine can run evalpipe")
    return int(failed > 0)
