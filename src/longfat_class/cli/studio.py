"""`longfat studio` with classes and exercises."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import TYPE_CHECKING

import click

from longfat.cli import studio as core
from longfat.common.extras import need
from longfat.errors import InputError
from longfat.studio.address import Address

if TYPE_CHECKING:
    from collections.abc import Iterator

_NEW_TOKEN = "new_token"  # the parameter of the core's option, not a token
_OPTIONS = (
    click.Option(
        ["--new-link", "new_links"],
        multiple=True,
        metavar="FOLDER",
        help="Of --class: draw another token for this student of the roster; repeatable.",
    ),
    click.Option(
        ["--class", "roster"],
        type=click.Path(path_type=Path, dir_okay=False),
        metavar="ROSTER",
        help="Serve a class: a link and a folder in the workspace for each student of a roster, as "
        "`longfat grade` has it.",
    ),
    click.Option(
        ["--limits"],
        metavar="LIMITS",
        help="Of --class: such as machines=8, each=2, memory=4GB, wall=60min, disk=2GB.",
    ),
    click.Option(
        ["--exercises", "assignments"],
        multiple=True,
        type=click.Path(path_type=Path, file_okay=False),
        metavar="LAB",
        help="Give a lab of `longfat labs new` to everyone who works here, with its exercises to "
        "fill in and to check; repeatable.",
    ),
)


def _parameters() -> Iterator[click.Parameter]:
    """Yield the core's parameters, with those of a class behind `--new-token`."""
    for parameter in core.studio.params:
        if parameter.name != _NEW_TOKEN or not isinstance(parameter, click.Option):
            yield parameter
            continue
        option = copy.copy(parameter)
        option.help = f"{parameter.help} With --class: for all students and the teacher."
        yield option
        yield from _OPTIONS


@click.command(params=list(_parameters()))
def studio(
    study: str | None,
    *,
    workspace: Path | None,
    port: int | None,
    host: str,
    new_token: bool,
    new_links: tuple[str, ...],
    roster: Path | None,
    limits: str | None,
    assignments: tuple[Path, ...],
    no_browser: bool,
    i_know: bool,
    tls_cert: Path | None,
    tls_key: Path | None,
) -> None:
    """Draw a network, run it and watch it, in the browser.

    Opens a study file, a folder with a study.yaml, a MiniEdit file (.mn) or a lab.
    Ctrl-C ends the studio, and all that runs in it.

    With --class, standard output gets the students' links as CSV, and the URL is that of the
    teacher's page, which shows who is where.
    """
    need("studio")
    # The server is that extra.
    from longfat_class.studio.assignments.extension import extend_with  # noqa: PLC0415
    from longfat_class.studio.classroom.limits import read_limits  # noqa: PLC0415
    from longfat_class.studio.classroom.serve import serve_class  # noqa: PLC0415

    address = Address(
        host=host, port=port or None, i_know=i_know, tls_cert=tls_cert, tls_key=tls_key
    )
    if roster is not None:
        if study is not None:
            raise InputError("--class serves a class, and opens no study: leave STUDY out")
        serve_class(
            root=workspace if workspace is not None else Path(),
            roster=roster,
            limits=read_limits(limits or ""),
            address=address,
            browser=not no_browser,
            new_tokens=new_token,
            new_links=new_links,
            assignments=assignments,
        )
        return
    if limits is not None:
        raise InputError("--limits are those of a class: name its roster by --class")
    if new_links:
        raise InputError("--new-link is for a student of a class: name its roster by --class")
    core.open_studio(
        study,
        workspace=workspace,
        address=address,
        browser=not no_browser,
        new_token=new_token,
        extend=extend_with(assignments),
    )
