"""`longfat completion`, and what Tab offers: labs, studies, cases, runs."""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import get_completion_class

from longfat.cli.console import echo
from longfat.errors import LongfatError
from longfat.study import STUDY_FILE, read_study
from longfat.study.labs import PITFALLS, all_labs, all_pitfalls, find_study

_SHELLS = ("bash", "zsh", "fish")
_VARIABLE = "_LONGFAT_COMPLETE"
_NETWORKS = (".yaml", ".yml", ".mn", ".py")


@click.command()
@click.argument("shell", type=click.Choice(_SHELLS))
def completion(shell: str) -> None:
    r"""Print what makes Tab complete longfat's commands in SHELL.

    In ~/.bashrc or ~/.zshrc:

    \b
        eval "$(longfat completion bash)"
        eval "$(longfat completion zsh)"

    For fish, once:

    \b
        longfat completion fish > ~/.config/fish/completions/longfat.fish
    """
    root = click.get_current_context().find_root()
    found = get_completion_class(shell)
    assert found is not None
    echo(found(root.command, {}, "longfat", _VARIABLE).source())


def complete_study(_context: click.Context, _parameter: click.Parameter, begin: str) -> list[str]:
    """Return the labs, pitfalls and the studies' files and folders that begin as what was typed."""
    labs = [lab.name for lab in all_labs() if lab.name.startswith(begin)]
    if begin.startswith(f"{PITFALLS}/"):
        pitfalls = (f"{PITFALLS}/{name}" for name in all_pitfalls())
        return [name for name in pitfalls if name.startswith(begin)]
    return labs + _paths(begin, endings=_NETWORKS)


def complete_case(context: click.Context, _parameter: click.Parameter, begin: str) -> list[str]:
    """Return the cases, of the studies before the cursor, that begin so."""
    # After `--case` without its value, click has not parsed what precedes it.
    named = (context.params.get(name) for name in ("studies", "study", "network"))
    typed = next(filter(None, named), context.args)
    found: list[str] = []
    for study in [typed] if isinstance(typed, str) else typed:
        try:
            found += read_study(find_study(study)).cases
        except LongfatError:
            continue
    return [name for name in dict.fromkeys(found) if name.startswith(begin)]


def complete_folder(_context: click.Context, _parameter: click.Parameter, begin: str) -> list[str]:
    """Return the folders that begin so: of runs, mostly."""
    return _paths(begin, endings=())


def _paths(begin: str, *, endings: tuple[str, ...]) -> list[str]:
    """Return the folders that begin so, and the files with one of some endings."""
    parent, slash, last = begin.rpartition("/")
    folder = Path(parent or ("/" if slash else ".")).expanduser()
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return []
    found = []
    for path in entries:
        if not path.name.startswith(last) or (path.name.startswith(".") and not last):
            continue
        name = f"{parent}{slash}{path.name}"
        if path.is_dir():
            found.append(name if (path / STUDY_FILE).is_file() and endings else f"{name}/")
        elif path.suffix in endings:
            found.append(name)
    return found
