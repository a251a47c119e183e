"""`longfat studio`: draw a network, run it and watch it, in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from longfat.common.extras import need
from longfat.common.suggest import listed
from longfat.errors import InputError
from longfat.studio.address import FIRST_PORT, Address
from longfat.studio.formats import SUFFIXES
from longfat.study import STUDY_FILE
from longfat.study.labs import all_labs, find_study

if TYPE_CHECKING:
    from collections.abc import Callable

    from longfat.studio.extension import Extension


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
    help="Create a new token: earlier URLs stop working, and all browsers are logged out.",
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
    no_browser: bool,
    i_know: bool,
    tls_cert: Path | None,
    tls_key: Path | None,
) -> None:
    """Draw a network, run it and watch it, in the browser.

    Opens a study file, a folder with a study.yaml, a MiniEdit file (.mn) or a lab.
    Ctrl-C ends the studio, and all that runs in it.
    """
    need("studio")
    address = Address(
        host=host, port=port or None, i_know=i_know, tls_cert=tls_cert, tls_key=tls_key
    )
    open_studio(
        study, workspace=workspace, address=address, browser=not no_browser, new_token=new_token
    )


def open_studio(
    study: str | None,
    *,
    workspace: Path | None,
    address: Address,
    browser: bool,
    new_token: bool,
    extend: Callable[[Path, Path], Extension] | None = None,
) -> None:
    """Run the studio until a signal ends it.

    Args:
        study: the study, file or lab to open, as typed; None for none.
        workspace: the folder that it reads and writes; None for the current one, or that of
            the file.
        address: where it listens.
        browser: open it in a browser.
        new_token: draw another token.
        extend: as of `longfat.studio.serve.serve`; None for a studio without an extension.
    """
    from longfat.studio.serve import serve  # noqa: PLC0415  the server is that extra

    folder, query = _to_open(study, workspace)
    serve(
        workspace=folder,
        address=address,
        query=query,
        browser=browser,
        anew=new_token,
        extend=extend,
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
