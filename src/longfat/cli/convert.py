"""`longfat convert`: a network from one format to another."""

from __future__ import annotations

from pathlib import Path

import click

from longfat.cli.console import stderr
from longfat.errors import InputError
from longfat.study.formats.convert import convert_text
from longfat.study.labs import find_study


@click.command()
@click.argument("source", metavar="SOURCE")
@click.argument("target", metavar="TARGET", type=click.Path(path_type=Path))
@click.argument("arguments", metavar="[-- ARGUMENTS...]", nargs=-1)
@click.option("--case", "case", metavar="NAME", help="Of a study, take this case.")
@click.option("--force", is_flag=True, help="Write over TARGET, if it is there.")
def convert(
    source: str, target: Path, *, arguments: tuple[str, ...], case: str | None, force: bool
) -> None:
    """Write the network of SOURCE into TARGET.

    SOURCE is a study file, a folder with a study.yaml, a lab's name, a MiniEdit file (.mn),
    or a script for Mininet (.py), which is run with ARGUMENTS in a machine of its own: that
    needs a kernel, and takes half a second. The suffix of TARGET selects the format: .yaml
    a study, .mn a file that MiniEdit opens, .py a script for Mininet. What the format
    cannot express is listed on standard error.
    """
    converted = convert_text(
        find_study(source), suffix=target.suffix, case=case, arguments=arguments
    )
    try:
        with target.open("w" if force else "x", encoding="utf-8") as file:
            file.write(converted.text)
    except FileExistsError:
        raise InputError(f"{target}: the file is there already; --force writes over it") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{target}: cannot be written: {reason}") from None
    console = stderr()
    for warning in converted.warnings:
        console.print(f"longfat: {warning}", markup=False, soft_wrap=True)
