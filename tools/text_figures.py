"""Figures in texts, taken from runs.

    python -m tools.text_figures labs/lab16          # run what is needed, renew record and texts
    python -m tools.text_figures docs/limits.md      # the same for the studies that a page quotes
    python -m tools.text_figures                     # for all
    python -m tools.text_figures --check             # run nothing: compare texts with the records
    python -m tools.text_figures --check --run ...   # run, and list what differs; write nothing
    python -m tools.text_figures --unannotated ...   # list numbers that may come from runs

A figure that comes from a run is followed by a comment with its expression, in the language of
claims, which readers do not see:

    the mean RTT is 33.0<!-- = red.ping.avg / 1ms --> ms

A text in the folder of a study quotes this study. A page elsewhere (README.md, docs/), or a text
that quotes another study, names the study's folder:

    it has 9.36<!-- = labs/lab08: tuned.bulk.receiver / 1gbit --> Gbit/s

The expression is a plain number: what has a unit is divided by that unit. Options follow behind
semicolons:

    to 1000             rounded to thousands; else to as many decimals as are written
    kernel 6.12         on another kernel than the study's
    seed 2              of another seed than the study's
    median of 8 seeds   over seeds, beginning with the study's; or a percentile: `5 % of 8 seeds`

`published` in front of an expression takes the study's published figures in place of results, and
an expression without a case, such as `1500B * 8 / 10mbit / 1ms`, is only computed.

Thousands are grouped as they are written. Translations have the same comments in any order, so
they are corrected by the same runs. The values are stored beside the study, in `figures.json`
(`tools/figure_record.py`). Results are taken from the result cache where they are there, so what
an interrupted call has run is not run again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from longfat.errors import InputError, LongfatError
from longfat.execution.cache import ResultCache
from longfat.execution.tools import Toolbox
from longfat.study import STUDY_FILE
from tools.figure_record import Record, measure, read_record, write_record
from tools.figures import RECORD_FILE, ROOT, Figure, Texts, shown, write
from tools.unannotated import unannotated


def corrections_of(figures: Iterable[Figure], record: Record) -> dict[Figure, str]:
    """Return the figures that are not written as stored, with what is right."""
    right = {figure: record.value(figure) for figure in figures}
    texts = {
        figure: figure.formatted(value) for figure, value in right.items() if value is not None
    }
    return {figure: text for figure, text in texts.items() if text != figure.written}


def differences(figures: Sequence[Figure], record: Record, *, folder: Path) -> list[str]:
    """Return what differs between the texts that quote a study and its stored values.

    Args:
        figures: the figures that texts quote of the study.
        record: its stored values.
        folder: the study's folder.
    """
    lacking = [figure for figure in figures if record.value(figure) is None]
    return [
        *(
            f"{figure.place}: {figure.written} -> {text}  {figure.expression}"
            for figure, text in corrections_of(figures, record).items()
        ),
        *(
            f"{figure.place}: {figure.key} is not in {shown(folder / RECORD_FILE)}"
            for figure in lacking
        ),
        *(f"{shown(folder / RECORD_FILE)}: no text has {key}" for key in record.unused(figures)),
    ]


def _chosen(arguments: Sequence[Path], texts: Texts) -> list[Path]:
    """Return the folders of the studies that arguments name: folders, and pages that quote them.

    Raises:
        InputError: an argument is neither.
    """
    folders: dict[Path, None] = {}
    for argument in arguments:
        if (argument / STUDY_FILE).is_file():
            folders[argument] = None
        elif argument.is_file() and argument.suffix == ".md":
            for figure in texts.figures_in(argument):
                folders[figure.quoted.folder] = None
        elif not argument.is_dir():
            raise InputError(f"{argument}: is neither the folder of a study nor a text")
    return list(folders) if arguments else texts.folders()


def _list_unannotated(arguments: Sequence[Path], texts: Texts) -> int:
    files = [file for file in arguments if file.is_file()]
    for folder in (argument for argument in arguments if argument.is_dir()):
        files += texts.texts_of(folder)[:1]  # translations follow the English text
    if not arguments:
        files = [
            *texts.pages(),
            *(file for folder in texts.folders() for file in texts.texts_of(folder)[:1]),
        ]
    for file in files:
        for line, number in unannotated(file):
            print(f"{shown(file)}:{line}: {number}")
    return 0


def main(arguments: Sequence[str] | None = None, *, root: Path = ROOT) -> int:
    """Renew texts and records, or check them, and return the exit status.

    Args:
        arguments: the command line; that of the process, if None.
        root: the repository.
    """
    parser = argparse.ArgumentParser(prog="python -m tools.text_figures")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if a figure differs")
    parser.add_argument("--run", action="store_true", help="with --check: compare with runs")
    parser.add_argument("--unannotated", action="store_true", help="list numbers without comments")
    parser.add_argument("--jobs", type=int, metavar="N", help="machines at once; one for each CPU")
    parser.add_argument("studies", nargs="*", type=Path, metavar="FOLDER|PAGE")
    chosen = parser.parse_args(arguments)
    texts = Texts(root)
    if chosen.unannotated:
        return _list_unannotated(chosen.studies, texts)
    cache, toolbox = ResultCache(), Toolbox()
    count = status = 0
    try:
        folders = _chosen(chosen.studies, texts)
    except InputError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    for folder in folders:
        try:
            figures = texts.figures_of_study(folder)
            summary = "the record"
            record = stored = read_record(folder)
            if chosen.run or not chosen.check:
                study = texts.study(folder).study
                record, summary = measure(
                    study, figures, cache=cache, toolbox=toolbox, jobs=chosen.jobs
                )
                texts = Texts(root)  # they may have been edited while the cases ran
                figures = texts.figures_of_study(folder)
            problems = differences(figures, record, folder=folder)
            if chosen.run and record.settings != stored.settings:
                problems.append(f"{shown(folder / RECORD_FILE)}: differs from the runs")
            if not chosen.check:
                write_record(folder, record)
                if corrections := corrections_of(figures, record):
                    write(corrections)
                    texts = Texts(root)  # positions in the corrected texts have changed
        except LongfatError as error:
            print(error, file=sys.stderr)
            status = max(status, error.exit_code)
            continue
        for problem in problems:
            print(problem)
        print(
            f"{shown(folder)}: {len(figures)} figures, {len(problems)} differ ({summary})",
            file=sys.stderr,
        )
        count += len(problems)
    return status or int(chosen.check and count > 0)


if __name__ == "__main__":
    sys.exit(main())
