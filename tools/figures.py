"""Figures in texts: what they come from, and how they are written.

`tools/text_figures.py` describes the syntax of their comments. A text in the folder of a study
quotes that study; any other page, such as README.md, names the study of each figure.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from longfat.errors import InputError
from longfat.model.spread import quantile
from longfat.study import STUDY_FILE, Study, known_metrics, read_study
from longfat.study.claims.compiler import Known, parse_number
from longfat.study.claims.rows import ResultScope, Rows
from longfat.study.expressions.evaluation import number
from longfat.study.expressions.parser import FormulaError
from longfat.study.expressions.terms import PLAIN, Results, Term
from longfat.study.text import FIGURE, find_texts

ROOT = Path(__file__).resolve().parents[1]
"""The repository."""

RECORD_FILE = "figures.json"
"""The stored values of a study's figures, beside its study file; see `tools/figure_record.py`."""

_PAGES = ("README.md", "docs/*.md")
_STUDIES = ("labs/*", "studies/**")
_SOURCE = re.compile(
    r"(?:(?P<study>(?:labs|studies)/[\w./-]+):\s+)?(?P<published>published\s+)?(?P<rest>.+)",
    re.DOTALL,
)
_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_NO_NEWLINE = re.compile(r"[^\n]")
_GROUP = re.compile(r"(?<=\d)([,\u00a0\u202f])(?=\d{3}(?!\d))")
_OVER_SEEDS = re.compile(r"(median|\d+ %) of (\d+) seeds")


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
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

    def __str__(self) -> str:
        """Return it as options of a comment, such as `kernel 6.12; 8 seeds`."""
        parts = (
            self.kernel and f"kernel {self.kernel}",
            "" if self.first_seed is None else f"seed {self.first_seed}",
            self.seeds and f"{self.seeds} seeds",
        )
        return "; ".join(part for part in parts if part)


@dataclass(frozen=True, kw_only=True, eq=False)
class QuotedStudy:
    """A study whose figures texts quote.

    Attributes:
        folder: its folder.
        study: the study.
    """

    folder: Path
    study: Study

    @cached_property
    def known(self) -> Known:
        """Return the metrics of each case."""
        return {name: known_metrics(planned.case) for name, planned in self.study.cases.items()}

    @cached_property
    def rows(self) -> Rows:
        """Return the cases."""
        return Rows(self.known)

    @cached_property
    def published(self) -> Results:
        """Return the published figures by case and metric."""
        results: dict[str, dict[str, float]] = {}
        if self.study.published is not None:
            for figure in self.study.published.figures:
                results.setdefault(figure.case, {})[figure.metric] = figure.value
        return results


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Figure:
    """A figure in a text.

    Attributes:
        file: the text.
        line: its line, counted from 1.
        start: the position of its first character.
        written: the number as written.
        quoted: the study that it comes from.
        expression: what it is, without options; with single spaces.
        is_published: it is a published figure, not a result.
        setting: the runs that it comes from.
        step: what it is rounded to; 0 for its decimals.
        percentile: of several seeds, 0 to 100.
        term: the expression, parsed.
        cases: the names of the cases in it.
    """

    file: Path
    line: int
    start: int
    written: str
    quoted: QuotedStudy
    expression: str
    is_published: bool
    setting: Setting
    step: int
    percentile: int
    term: Term = field(repr=False)
    cases: frozenset[str]

    @property
    def place(self) -> str:
        """Return file and line, for messages."""
        return f"{shown(self.file)}:{self.line}"

    @property
    def comes_from_runs(self) -> bool:
        """Return whether it needs results: not if it is published, or has numbers alone."""
        return bool(self.cases) and not self.is_published

    @property
    def key(self) -> str:
        """Return what it is in a record below its setting, such as `cubic.bulk.rtt; median`."""
        if not self.setting.seeds:
            return self.expression
        over = "median" if self.percentile == 50 else f"{self.percentile} %"
        return f"{self.expression}; {over}"

    def formatted(self, value: float) -> str:
        """Return a value as this figure is written: its decimals, and its groups of thousands."""
        separator = _GROUP.search(self.written)
        decimals = len(self.written.partition(".")[2])
        rounded = round(value / self.step) * self.step if self.step else value
        text = f"{rounded:,.{decimals}f}"
        text = text if float(text.replace(",", "")) else text.removeprefix("-")
        grouped = separator is not None or ("," in text and len(self.written) < 4)
        return text.replace(",", separator[1] if separator else "," if grouped else "")

    def value(self, results: Iterable[Results] = ()) -> float:
        """Compute it.

        Args:
            results: the results of each seed, if it comes from runs.

        Raises:
            InputError: a run or the published figures lack a metric.
        """
        if not self.comes_from_runs:
            results = [self.quoted.published]
        try:
            values = sorted(number(self.term, ResultScope(result)) for result in results)
        except InputError as error:
            raise InputError(f"{self.place}: {self.expression}: {error.message}") from None
        value = quantile(values, self.percentile / 100)
        if math.isnan(value):  # such as a division by a metric that is 0
            raise InputError(f"{self.place}: {self.expression} has no value")
        return value


class Texts:
    """The texts of a repository, and the studies that they quote; each is read once.

    Args:
        root: the repository.
    """

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self._studies: dict[Path, QuotedStudy] = {}
        self._texts: dict[Path, str] = {}

    def pages(self) -> list[Path]:
        """Return the pages outside of studies."""
        return sorted(file for pattern in _PAGES for file in self.root.glob(pattern))

    def folders(self) -> list[Path]:
        """Return the folders of studies that are quoted by any text, in their order."""
        own = {
            file.parent
            for pattern in _STUDIES
            for file in self.root.resolve().glob(f"{pattern}/{STUDY_FILE}")
            if any(FIGURE.search(self._read(text)) for text in self.texts_of(file.parent))
        }
        return sorted(own | self._quoting.keys())

    def texts_of(self, folder: Path) -> list[Path]:
        """Return the texts in the folder of a study, in all languages."""
        return list(find_texts(folder).values())

    def study(self, folder: Path) -> QuotedStudy:
        """Return the study in a folder.

        Raises:
            InputError: there is none, or it cannot be read.
        """
        folder = folder.resolve()
        if folder not in self._studies:
            self._studies[folder] = QuotedStudy(folder=folder, study=read_study(folder))
        return self._studies[folder]

    def figures_of_study(self, folder: Path) -> list[Figure]:
        """Return the figures that texts quote of a study, the study's own first.

        Raises:
            InputError: an expression or option is wrong.
        """
        own = self.texts_of(folder)
        others = [file for file in self._quoting.get(folder.resolve(), ()) if file not in own]
        return [
            figure for file in (*own, *others) for figure in self.figures_in(file, only_of=folder)
        ]

    def figures_in(self, file: Path, *, only_of: Path | None = None) -> list[Figure]:
        """Return the figures in a text.

        Args:
            file: the text.
            only_of: the folder of the study that they are to quote; None for any.

        Raises:
            InputError: an expression or option is wrong; with the line.
        """
        text = self._read(file)
        figures = []
        for match in FIGURE.finditer(text):
            source = _SOURCE.fullmatch(match["source"])
            assert source is not None
            if only_of is not None and self._folder_of(file, source["study"]) != only_of.resolve():
                continue
            figures.append(self._figure(file, text, match, source))
        return figures

    def _figure(self, file: Path, text: str, match: re.Match[str], source: re.Match[str]) -> Figure:
        line = text.count("\n", 0, match.start()) + 1
        place = f"{shown(file)}:{line}"
        folder = self._folder_of(file, source["study"])
        if folder is None:
            raise InputError(
                f"{place}: {match['source']} names no study: write `= labs/NAME: EXPRESSION`"
            )
        if not (folder / STUDY_FILE).is_file():
            raise InputError(f"{place}: there is no study {source['study']}")
        quoted = self.study(folder)
        written, *options = (" ".join(part.split()) for part in source["rest"].split(";"))
        try:
            term, cases = parse_number(written, quoted.known, quoted.rows)
        except FormulaError as error:
            raise InputError(f"{place}: {written}: {error.message}") from None
        if term.dimension not in (None, PLAIN):
            raise InputError(f"{place}: {written} is {term.dimension}: divide by a unit")
        setting, step, percentile = _read_options(options, place=place)
        if source["published"] and options:
            raise InputError(f"{place}: a published figure has no options")
        return Figure(
            file=file,
            line=line,
            start=match.start("number"),
            written=match["number"],
            quoted=quoted,
            expression=written,
            is_published=bool(source["published"]),
            setting=setting,
            step=step,
            percentile=percentile,
            term=term,
            cases=cases,
        )

    @cached_property
    def _quoting(self) -> dict[Path, list[Path]]:
        """The texts that quote a study by its name, by its folder."""
        files = self.pages()
        for pattern in _STUDIES:
            for file in sorted(self.root.glob(f"{pattern}/{STUDY_FILE}")):
                files += self.texts_of(file.parent)
        quoting: dict[Path, list[Path]] = {}
        for file in files:
            sources = (_SOURCE.fullmatch(m["source"]) for m in FIGURE.finditer(self._read(file)))
            names = {source["study"] for source in sources if source is not None}
            for name in names - {None}:
                quoting.setdefault((self.root / name).resolve(), []).append(file)
        return quoting

    def _read(self, file: Path) -> str:
        """Return a text with blanks in place of code, in which a comment is an example."""
        if file not in self._texts:
            text = file.read_text("utf-8")
            self._texts[file] = _CODE.sub(lambda code: _NO_NEWLINE.sub(" ", code[0]), text)
        return self._texts[file]

    def _folder_of(self, file: Path, name: str | None) -> Path | None:
        """Return the folder of the study that a figure quotes; None where it names none."""
        if name:
            return (self.root / name).resolve()
        return file.parent.resolve() if (file.parent / STUDY_FILE).is_file() else None


def _read_options(options: Iterable[str], *, place: str) -> tuple[Setting, int, int]:
    """Return the setting, the step of rounding and the percentile that options give.

    Raises:
        InputError: an option is not known.
    """
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
            raise InputError(f"{place}: {option!r} is no option")
    return Setting(kernel=kernel, first_seed=first_seed, seeds=seeds), step, percentile


def shown(path: Path) -> Path:
    """Return a path for a message: relative to the working directory if it is below that."""
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def write(corrections: Mapping[Figure, str]) -> None:
    """Write corrections into the texts.

    Raises:
        InputError: a text has changed since it was read; it is left as it is.
    """
    for file in {figure.file for figure in corrections}:
        text = file.read_text("utf-8")
        for figure in sorted(corrections, key=lambda figure: figure.start, reverse=True):
            if figure.file == file:
                end = figure.start + len(figure.written)
                if text[figure.start : end] != figure.written:
                    raise InputError(f"{shown(file)} was changed since it was read: run this again")
                text = text[: figure.start] + corrections[figure] + text[end:]
        file.write_text(text, "utf-8")
