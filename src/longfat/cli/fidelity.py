"""`longfat fidelity`: published figures compared with measured ones, as a Markdown page."""

from __future__ import annotations

import json
from pathlib import Path

import click

from longfat.cli.completion import complete_folder
from longfat.cli.console import echo, stdout
from longfat.cli.options import json_option
from longfat.common.atomic import write_over
from longfat.errors import ExitCode, InputError
from longfat.output.report.fidelity import (
    Setting,
    StudyFidelity,
    fidelity_complaints,
    side_by_side,
    study_fidelity,
)
from longfat.output.report.fidelity_pages import fidelity_markdown
from longfat.study import Study, read_study
from longfat.study.labs import find_lab, find_study

_BY_HAND = "<!-- written by hand -->\n"
"""The line of a page from which on it is kept."""


@click.command()
@click.argument(
    "folders",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path),
    metavar="RUNS_FOLDER...",
    shell_complete=complete_folder,
)
@click.option(
    "--study",
    "study_name",
    metavar="STUDY",
    help="The study that the runs are of; default: the lab of the folder's name.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the page to this file, and print what is off. What follows the line "
    "<!-- written by hand --> in it is kept.",
)
@json_option("Print a JSON list in place of the page.")
def fidelity(
    folders: tuple[Path, ...], *, study_name: str | None, out: Path | None, as_json: bool
) -> None:
    """Compare the runs in each RUNS_FOLDER with published figures.

    Runs of one study on other kernels or testbeds (`longfat run --kernel`, `--testbed`), in
    folders of their own, become columns beside its own.

    Ends with 1 if a figure is off by more than 15 %, outside of the seeds' band and that of
    the source's runs, and not explained in the study; only the study's own kernel and testbed
    count, if they are given.
    """
    if study_name is not None and len(folders) > 1:
        raise InputError("--study is of one folder of runs: give one folder with it")
    found: dict[tuple[str, Setting], StudyFidelity] = {}
    for folder in folders:
        one = study_fidelity(_study(folder, study_name), folder)
        key = (one.verdict.study.name, one.setting)
        if key in found:
            raise InputError(f"{folder}: the study {key[0]} is given twice")
        found[key] = one
    studies = tuple(found.values())
    main = [group[0] for group in side_by_side(studies)]
    if out is not None:
        write_page(out, fidelity_markdown(studies))
    if as_json:
        echo(json.dumps([one.to_json() for one in studies], indent=2))
    elif out is None:
        echo(fidelity_markdown(studies), nl=False)
    else:
        console = stdout()
        for (name, setting), one in found.items():
            where = f" ({setting.name})" if setting.name else ""
            console.print(f"{name}{where}: {one.summary}", markup=False, soft_wrap=True)
        for line in fidelity_complaints(main):
            console.print(line, markup=False, soft_wrap=True)
    if not all(one.good for one in main):
        raise click.exceptions.Exit(ExitCode.CLAIM_FAILED)


def _study(folder: Path, study_name: str | None) -> Study:
    if not folder.is_dir():
        raise InputError(
            f"{folder}: there is no such folder; `longfat run {folder.name}` would fill it"
        )
    if study_name is not None:
        return read_study(find_study(study_name))
    try:
        lab = find_lab(folder.resolve().name)
    except InputError as error:
        raise InputError(f"{folder}: {error.message}; name the study with --study") from None
    return read_study(lab.study_file)


def write_page(path: Path, text: str) -> None:
    """Write a page; what was written by hand at the end of an older one stays.

    Args:
        path: the page's file.
        text: the page.

    Raises:
        InputError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _, marker, by_hand = read_page(path).partition(_BY_HAND)
        write_over(path, (text + (f"\n{marker}{by_hand}" if marker else "")).encode())
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from None


def read_page(path: Path) -> str:
    """Return a page as it is; an empty text if there is none.

    Args:
        path: the page's file.

    Raises:
        InputError: it cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8") if path.is_file() else ""
    except UnicodeDecodeError:
        raise InputError(f"{path}: the page that is there is not UTF-8: remove it") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
