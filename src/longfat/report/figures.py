"""The figures of a report as files, and the removal of those of an earlier one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from longfat.plot import FORMS, PAGE_WIDTH_IN, draw_chart, figure_style, saved, write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from longfat.plot import Chart
    from longfat.report.exhibits import Exhibit

PLOTS = "plots"
FIGURES = "figures"

_PLOT_FORMS = ("png", "pdf")

# What plots/ has of the page's figures; with the name of a case where each has its own.
_FILED = re.compile(r"(traffic|ping)(-.*)?")

# What figures/ has stands in it, so that nothing is removed that a person put there.
_LIST = ".written"


def write_exhibits(exhibits: Sequence[Exhibit], out: Path, *, title: str) -> tuple[Path, ...]:
    """Write the figures over time to `plots/`.

    Args:
        exhibits: the figures of the page; those that are no files are left out.
        out: the folder that has or gets `plots/`.
        title: what stands above each.

    Raises:
        OSError: they cannot be written.
    """
    files = []
    folder = out / PLOTS
    filed = [one for one in exhibits if _FILED.fullmatch(one.name)]
    (folder if filed else out).mkdir(parents=True, exist_ok=True)
    for one in filed:
        with figure_style():
            heading = f"{title}: {one.case}" if one.case else title
            figure = one.draw(PAGE_WIDTH_IN, heading)
            for form in _PLOT_FORMS:
                path = folder / f"{one.name}.{form}"
                write_whole(path, saved(figure, form))
                files.append(path)
    for old in folder.iterdir() if folder.is_dir() else ():
        ours = old.suffix.removeprefix(".") in _PLOT_FORMS and _FILED.fullmatch(old.stem)
        if ours and old not in files:
            old.unlink()
    return tuple(files)


def write_charts(charts: Sequence[Chart], out: Path) -> tuple[Path, ...]:
    """Write the charts of many cases to `figures/`, each in all forms.

    Args:
        charts: the charts.
        out: the folder that has or gets `figures/`.

    Raises:
        OSError: they cannot be written.
    """
    folder = out / FIGURES
    if not charts and not (folder / _LIST).exists():
        return ()
    folder.mkdir(parents=True, exist_ok=True)
    before = _listed(folder)
    names = {f"{file_stem(chart.name)}.{form}" for chart in charts for form in FORMS}
    # First the list: who is interrupted leaves no file that nobody knows of.
    _write_list(folder, before | names)
    files = []
    for chart in charts:
        with figure_style(salt=chart.name):
            figure = draw_chart(chart)
            for form in FORMS:
                path = folder / f"{file_stem(chart.name)}.{form}"
                write_whole(path, saved(figure, form))
                files.append(path)
    for name in before - names:
        (folder / name).unlink(missing_ok=True)
    _write_list(folder, names)
    return tuple(files)


def file_stem(name: str) -> str:
    """Return a name as a file can have it anywhere."""
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "figure"


def _listed(folder: Path) -> set[str]:
    try:
        lines = (folder / _LIST).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return set()
    # A name with a folder in it would lead out of this one.
    return {line for line in lines if line and "/" not in line and line not in {".", ".."}}


def _write_list(folder: Path, names: set[str]) -> None:
    write_whole(folder / _LIST, "".join(f"{name}\n" for name in sorted(names)).encode())
