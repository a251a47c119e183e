"""`longfat studio`: draw a network, run it and watch it, in the browser."""

from __future__ import annotations

from pathlib import Path

import click

from longfat.common.extras import need
from longfat.common.suggest import listed
from longfat.errors import InputError
from longfat.studio.address import FIRST_PORT, Address
from longfat.studio.formats import SUFFIXES
from longfat.study import STUDY_FILE
from longfat.study.labs import all_labs, find_study


@click.command()
@click.argument("study", required=False, metavar="[STUDY|FILE.mn|LAB]")
@click.option(
    "--workspace",
    type=click.Path(path_type=Path, file_okay=False),
    help="The one folder that the studio reads and writes; default: this one, or the folder "
    "of a file that lies elsewhere.",
)
@click.option(
    "--port",
    type=click.IntRange(min=0, max=65535),
    help=f"Where it listens; default: {FIRST_PORT}, or a free one if that is taken.",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="The address to listen on; one that other machines can reach needs --i-know and TLS.",
)
@click.option(
    "--new-token",
    is_flag=True,
    help="Draw another token: the URL of the last time opens nothing any more, and all browsers "
    "are logged out. With --class: for all students and the teacher.",
)
@click.option(
    "--new-link",
    "new_links",
    multiple=True,
    metavar="FOLDER",
    help="Of --class: draw another token for this student of the roster; repeatable.",
)
@click.option(
    "--class",
    "roster",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="ROSTER",
    help="Serve a class: a link and a folder in the workspace for each student of a roster, as "
    "`longfat grade` has it.",
)
@click.option(
    "--limits",
    metavar="LIMITS",
    help="Of --class: such as machines=8, each=2, memory=4GB, wall=60min, disk=2GB.",
)
@click.option(
    "--exercises",
    "assignments",
    multiple=True,
    type=click.Path(path_type=Path, file_okay=False),
    metavar="LAB",
    help="Give a lab of `longfat labs new` to everyone who works here, with its exercises to "
    "fill in and to check; repeatable.",
)
@click.option("--no-browser", is_flag=True, help="Print the URL and open no browser.")
@click.option(
    "--i-know", is_flag=True, help="I know that anyone who has the URL can type at a shell here."
)
@click.option(
    "--tls-cert",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The server's certificate, with those that sign it, in PEM.",
)
@click.option(
    "--tls-key",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Its key, in PEM.",
)
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
    from longfat.studio.serve import serve  # noqa: PLC0415  the server is that extra

    address = Address(
        host=host, port=port or None, i_know=i_know, tls_cert=tls_cert, tls_key=tls_key
    )
    if roster is not None:
        if study is not None:
            raise InputError("--class serves a class, and opens no study: leave STUDY out")
        from longfat.studio.classroom.limits import read_limits  # noqa: PLC0415  as below
        from longfat.studio.classroom.serve import serve_class  # noqa: PLC0415  likewise

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
    folder, query = _to_open(study, workspace)
    serve(
        workspace=folder,
        address=address,
        query=query,
        browser=not no_browser,
        anew=new_token,
        assignments=assignments,
    )


def _to_open(study: str | None, workspace: Path | None) -> tuple[Path, dict[str, str]]:
    """Return the workspace, and what the page is to open as parameters of its URL.

    Raises:
        InputError: there is no such file or lab, or it lies outside of the workspace.
    """
    here = workspace if workspace is not None else Path()
    if study is None:
        return here, {}
    path = find_study(study)
    labs = {lab.folder: lab.name for lab in all_labs()}
    if path in labs and not Path(study).exists():
        return here, {"lab": labs[path]}
    if path.is_dir():
        path = path / STUDY_FILE
    if not path.is_file():
        raise InputError(f"{path}: there is no such file")
    if path.suffix not in SUFFIXES:
        raise InputError(f"{path}: the studio opens files that end in {listed(SUFFIXES)}")
    file = path.resolve()
    root = here.resolve()
    if not file.is_relative_to(root):
        if workspace is not None:
            raise InputError(
                f"{path} lies outside of the workspace, {workspace}: "
                "leave --workspace out, or name a folder that holds it"
            )
        root = file.parent
    return root, {"open": file.relative_to(root).as_posix()}
