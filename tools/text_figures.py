"""Figures in the texts of labs and studies, taken from runs.

    python -m tools.text_figures labs/lab16            # run what is needed, correct the texts
    python -m tools.text_figures --check labs/lab16    # run, and list the figures that differ

A figure that comes from a run is followed by a comment with its expression, in the language of
claims, which readers do not see:

    the mean RTT is 33.0<!-- = red.ping.avg / 1ms --> ms

The expression is a plain number: what has a unit is divided by that unit. Options follow behind
semicolons:

    to 1000             rounded to thousands; else to as many decimals as are written
    kernel 6.12         on another kernel than the study's
    seed 2              of another seed than the study's
    median of 8 seeds   over seeds, beginning with the study's; or a percentile: `5 % of 8 seeds`

Thousands are grouped as they are written. Translations have the same comments in any order, so
they are corrected by the same runs.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from longfat.errors import InputError
from longfat.model.spread import quantile
from longfat.study import Study, known_metrics, read_study
from longfat.study.claims.compiler import parse_number
from longfat.study.claims.rows import ResultScope, Rows
from longfat.study.expressions.evaluation import number
from longfat.study.expressions.parser import FormulaError
from longfat.study.expressions.terms import PLAIN, Results, Term
from longfat.study.text import FIGURE, find_texts

_LONGFAT = Path(sys.executable).with_name("longfat")
_GROUP = re.compile(r"(?<=\d)([,\u00a0\u202f])(?=\d{3}(?!\d))")
_OVER_SEEDS = re.compile(r"(median|\d+ %) of (\d+) seeds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How a study is run for a figure.

    Attributes:
        kernel: the kernel's version; empty for the study's.
        first_seed: the first seed; None for the study's.
        seeds: the number of seeds; 0 for the study's.
    """

    kernel: str = ""
    first_seed: int | None = None
    seeds: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure in a text.

    Attributes:
        file: the text.
        start: the place of its first character.
        written: the number as written.
        expression: what it is.
        setting: the runs that it comes from.
        step: what it is rounded to; 0 for its decimals.
        percentile: of several seeds, 0 to 100.
        term: the expression, parsed.
        cases: the names of the cases in it.
    """

    file: Path
    start: int
    written: str
    expression: str
    setting: Setting
    step: int
    percentile: int
    term: Term = field(repr=False)
    cases: frozenset[str]

    def formatted(self, value: float) -> str:
        """Return a value as this figure is written: its decimals, and its groups of thousands."""
        separator = _GROUP.search(self.written)
        decimals = len(self.written.partition(".")[2])
        rounded = round(value / self.step) * self.step if self.step else value
        text = f"{rounded:,.{decimals}f}"
        text = text if float(text.replace(",", "")) else text.removeprefix("-")
        grouped = separator is not None or ("," in text and len(self.written) < 4)
        return text.replace(",", separator[1] if separator else "," if grouped else "")

    def value(self, results: Iterable[Results]) -> float:
        """Compute it from the results of each seed.

        Raises:
            InputError: a run lacks a metric.
        """
        values = sorted(number(self.term, ResultScope(one)) for one in results)
        return quantile(values, self.percentile / 100)


def figures_of(file: Path, study: Study) -> list[Figure]:
    """Return the figures in a text.

    Raises:
        InputError: an expression or option is wrong; with the line.
    """
    known = {name: known_metrics(planned.case) for name, planned in study.cases.items()}
    rows = Rows(known)
    text = file.read_text("utf-8")
    figures = []
    for match in FIGURE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        expression, *options = (part.strip() for part in match["source"].split(";"))
        try:
            term, cases = parse_number(expression, known, rows)
        except FormulaError as error:
            raise InputError(f"{file}:{line}: {expression}: {error.message}") from None
        if term.dimension not in (None, PLAIN):
            raise InputError(f"{file}:{line}: {expression} is {term.dimension}: divide by a unit")
        kernel, first_seed, seeds, step, percentile = "", None, 0, 0, 50
        for option in options:
            word, _, rest = option.partition(" ")
            if over := _OVER_SEEDS.fullmatch(option):
                seeds = int(over[2])
                percentile = 50 if over[1] == "median" else int(over[1].split()[0])
            elif word == "kernel" and rest:
                kernel = rest
            elif word == "seed" and rest.isdigit():
                first_seed = int(rest)
            elif word == "to" and rest.isdigit():
                step = int(rest)
            else:
                raise InputError(f"{file}:{line}: {option!r} is no option")
        setting = Setting(kernel=kernel, first_seed=first_seed, seeds=seeds)
        figures.append(
            Figure(
                file=file,
                start=match.start("number"),
                written=match["number"],
                expression=expression,
                setting=setting,
                step=step,
                percentile=percentile,
                term=term,
                cases=cases,
            )
        )
    return figures


def run(study: Study, figures: Iterable[Figure]) -> Mapping[Setting, list[Results]]:
    """Run what figures need; return the results of each seed.

    Raises:
        InputError: a run failed.
    """
    cases: dict[Setting, set[str]] = {}
    for figure in figures:
        cases.setdefault(figure.setting, set()).update(figure.cases)
    return {setting: _run(study, setting, names) for setting, names in cases.items()}


def _run(study: Study, setting: Setting, cases: Iterable[str]) -> list[Results]:
    command = [str(_LONGFAT), "run", str(study.file.parent), "--json"]
    for name in sorted(cases):
        command += ["--case", name]
    if setting.kernel:
        command += ["--kernel", setting.kernel]
    if setting.first_seed is not None:
        command += ["--seed", str(setting.first_seed)]
    if setting.seeds:
        command += ["--seeds", str(setting.seeds)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1):
        raise InputError(f"{' '.join(command)} ended with {done.returncode}")
    cases_run = json.loads(done.stdout)["cases"]
    if not setting.seeds:
        return [{name: case["metrics"] for name, case in cases_run.items()}]
    return [
        {name: case["runs"][k]["metrics"] for name, case in cases_run.items()}
        for k in range(setting.seeds)
    ]


def corrected(figures: list[Figure], results: Mapping[Setting, list[Results]]) -> dict[Figure, str]:
    """Return the figures that are not what the runs say, with what is right."""
    right = {one: one.formatted(one.value(results[one.setting])) for one in figures}
    return {one: text for one, text in right.items() if text != one.written}


def write(corrections: Mapping[Figure, str]) -> None:
    """Write corrections into the texts."""
    for file in {one.file for one in corrections}:
        text = file.read_text("utf-8")
        for one in sorted(corrections, key=lambda one: one.start, reverse=True):
            if one.file == file:
                text = text[: one.start] + corrections[one] + text[one.start + len(one.written) :]
        file.write_text(text, "utf-8")


def main() -> int:
    """Correct texts or check them, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tools.text_figures")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if a figure differs")
    parser.add_argument("studies", nargs="+", type=Path, metavar="FOLDER")
    chosen = parser.parse_args()
    count = 0
    try:
        for folder in chosen.studies:
            study = read_study(folder / "study.yaml")
            figures = [
                one for file in find_texts(folder).values() for one in figures_of(file, study)
            ]
            corrections = corrected(figures, run(study, figures))
            for one, text in corrections.items():
                line = one.file.read_text("utf-8").count("\n", 0, one.start) + 1
                print(f"{one.file}:{line}: {one.written} -> {text}  {one.expression}")
            print(f"{folder}: {len(figures)} figures, {len(corrections)} differ", file=sys.stderr)
            count += len(corrections)
            if not chosen.check:
                write(corrections)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    return int(chosen.check and count > 0)


if __name__ == "__main__":
    sys.exit(main())
