"""`longfat convert`: a network from one format to another, or as a picture."""

from __future__ import annotations

import json
from pathlib import Path

import click

from longfat.cli.completion import complete_study
from longfat.cli.console import echo, stderr, write_target
from longfat.cli.options import json_option
from longfat.common.terminal_text import relative_path
from longfat.errors import InputError
from longfat.execution.trial import failing_case_lines
from longfat.study.formats.convert import SUFFIXES, convert_text
from longfat.study.formats.open import open_network
from longfat.study.labs import find_study

_PICTURES = (".svg", ".png", ".pdf")


@click.command()
@click.argument("source", metavar="SOURCE", shell_complete=complete_study)
@click.argument("target", metavar="TARGET", type=click.Path(path_type=Path))
@click.argument("arguments", metavar="[-- ARGUMENTS...]", nargs=-1)
@click.option("--case", "case", metavar="NAME", help="Of a study, take this case.")
@click.option("--force", is_flag=True, help="Write over TARGET, if it is there.")
@json_option("Print the file and what it cannot hold as JSON.")
def convert(
    source: str,
    target: Path,
    *,
    arguments: tuple[str, ...],
    case: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Write the network of SOURCE into TARGET, or draw it.

    SOURCE is a study file, a folder with a study.yaml, a lab's name, a MiniEdit file
    (.mn), or a script for Mininet (.py), which is run with ARGUMENTS in a machine of its
    own: that needs a kernel, and takes half a second. The suffix of TARGET selects the
    format: .yaml a study, .mn a file that MiniEdit opens, .py a script for Mininet, and
    .svg, .png or .pdf a picture of the topology. What the format cannot express is listed
    on standard error.
    """
    path = relative_path(find_study(source))
    if target.suffix in _PICTURES:
        content, warnings = _picture(path, target.suffix, case=case, arguments=arguments)
    elif target.suffix in SUFFIXES:
        converted = convert_text(
            path,
            suffix=target.suffix,
            case=case,
            arguments=arguments,
            find_failing=failing_case_lines,
        )
        content, warnings = converted.text.encode(), converted.warnings
    else:
        raise InputError(
            f"{target}: {target.suffix!r} is no format to convert to: write a file that ends in "
            ".yaml (a study), .mn (MiniEdit), .py (a Mininet script), or .svg, .png or .pdf "
            "(a picture)"
        )
    write_target(target, content, force=force)
    if as_json:
        echo(json.dumps({"file": str(target), "warnings": warnings}, indent=2))
        return
    for warning in warnings:
        stderr().print(f"longfat: {warning}", markup=False, soft_wrap=True)


def _picture(
    source: Path, suffix: str, *, case: str | None, arguments: tuple[str, ...]
) -> tuple[bytes, tuple[str, ...]]:
    """Return the picture of a network as a file's bytes, and what of the source it lacks."""
    # Which loads numpy, and most conversions are to text.
    from longfat.output.drawing import network_picture, picture_bytes, words_of  # noqa: PLC0415

    opened = open_network(source, case=case, arguments=arguments)
    picture = network_picture(
        opened.network,
        shaped=words_of(command.line for command in opened.setup),
        places=opened.layout,
        drawing=opened.drawing,
    )
    return picture_bytes(picture, suffix[1:]), opened.warnings
