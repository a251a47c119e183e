"""`longfat doctor`: what this host has and lacks, each with the command that fixes it."""

from __future__ import annotations

import dataclasses
import json

import click
from rich.text import Text

from longfat.cli.console import echo, stdout
from longfat.cli.options import json_option
from longfat.errors import ExitCode
from longfat.execution.doctor import examine

_MARKS = {True: ("ok", "green"), False: ("lacks", "red"), None: ("note", "yellow")}


@click.command()
@json_option()
def doctor(*, as_json: bool) -> None:
    """Check what this host has and lacks, and show how to fix it."""
    findings = examine()
    good = all(finding.good is not False for finding in findings)
    if as_json:
        rows = [dataclasses.asdict(finding) for finding in findings]
        echo(json.dumps({"good": good, "findings": rows}, indent=2))
    else:
        console = stdout()
        for finding in findings:
            word, colour = _MARKS[finding.good]
            console.print(
                Text(f"{word:>5}", style=colour),
                Text(f"{finding.subject}: {finding.words}"),
                soft_wrap=True,
            )
            if finding.hint:
                console.print(Text(f"      hint: {finding.hint}"), soft_wrap=True)
    if not good:
        raise click.exceptions.Exit(ExitCode.HOST_FAILED)
