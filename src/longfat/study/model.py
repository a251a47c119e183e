"""A study as values: what `read_study` returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from longfat.model.case import NOWHERE, Case, CasePlaces
from longfat.model.metric import Unit
from longfat.model.network import Network
from longfat.model.parameter import ParameterValue
from longfat.model.spread import Spread
from longfat.study.claims.claims import Claim
from longfat.study.drawing import Drawing
from longfat.study.figures.spec import FigureSpec
from longfat.study.text import StudyText


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A parameter of a grid.

    Attributes:
        name: its name.
        values: its values in readable form, in the file's order.
        together: the other parameters that change with it.
    """

    name: str
    values: tuple[str, ...]
    together: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """What a study's cases are made from, where they are not written one by one.

    Attributes:
        parameters: the parameters, in the file's order; the last changes fastest.
        product: how many combinations there are of their values; of those a
            study's filters may leave out some.
    """

    parameters: tuple[Parameter, ...]
    product: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A case as a study plans it.

    Attributes:
        case: what to run.
        places: where its parts were written.
        title: what a table calls it; the case's name where the study gives no title.
        seeds: how many times to run it, with the case's seed and those that follow.
        network_lines: how many of its set-up lines belong to its network; they are the first.
        parameters: of a case of a grid, what each parameter is in it.
        written_network: its network without automatic addresses and routes; None if it is not of
            a study.
    """

    case: Case
    title: str
    seeds: int = 1
    network_lines: int = 0
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict, hash=False)
    written_network: Network | None = None
    places: CasePlaces = NOWHERE

    def seeded(self) -> tuple[Case, ...]:
        """Return the cases to run: one for each seed, in the seeds' order."""
        return tuple(replace(self.case, seed=self.case.seed + k) for k in range(self.seeds))


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number that the study's source published.

    Attributes:
        case: the name of the case that it belongs to.
        metric: flow and full name of the metric, such as `bulk.sender_bps`.
        unit: the metric's unit.
        title: what a table calls it, such as `bulk sender`.
        value: the number, in the base unit; of several runs their median.
        spread: the spread of the source's runs, where it published more than one number; its
            count is 0 if the source does not say how many runs there were.
        explanation: why the measured value differs, if the study explains it.
    """

    case: str
    metric: str
    unit: Unit
    title: str
    value: float
    spread: Spread | None = None
    explanation: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What the study's source published, to compare with the results.

    Attributes:
        source: where, as a reader can find it.
        authors: who published it; empty if the source text has it.
        year: when; None if the source text has it.
        address: where the data are, as a URL; empty if nowhere.
        place: where in the source the figures are: tables, figures, files; empty if not given.
        figures: the numbers, in the file's order.
    """

    source: str
    authors: str = ""
    year: int | None = None
    address: str = ""
    place: str = ""
    figures: tuple[Figure, ...]

    @property
    def citation(self) -> str:
        """Return authors, source and year in one line."""
        parts = (self.authors, self.source, "" if self.year is None else str(self.year))
        return ", ".join(part for part in parts if part)

    @property
    def short_citation(self) -> str:
        """Return the first author and the year; the source, if its text has them."""
        if not self.authors:
            return self.source
        first, more, _ = self.authors.partition(",")
        year = "" if self.year is None else f" {self.year}"
        return f"{first}{' and others' if more else ''}{year}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A study file that was read and checked.

    Attributes:
        name: the folder's name for `.../study.yaml`, else the file's stem.
        file: the file.
        title: what it is about.
        course: of a lab, the id of the course that it belongs to; empty if it has none.
        cases: the cases by name, in the file's order.
        common: what all cases have in common, as a case; None where they have no network
            in common, and for a grid.
        claims: what it asserts about the results.
        published: what its source published, if anything.
        layout: positions of some or all nodes in a drawing, in pixels to the right and down.
        drawing: annotations of the drawing: notes, groups, colours.
        text: the text of a lab; None if there is none.
        grid: what the cases are made from; None where they are written one by one.
        figures: the figures of its results.
        source_sha256: the SHA-256 of the file's bytes; empty where it was read from none.
    """

    name: str
    file: Path
    title: str
    cases: Mapping[str, Planned]
    common: Planned | None
    claims: tuple[Claim, ...]
    published: Published | None
    layout: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    drawing: Drawing = field(default_factory=Drawing)
    text: StudyText | None = None
    grid: Grid | None = None
    figures: tuple[FigureSpec, ...] = ()
    source_sha256: str = ""
    course: str = ""

    def by_hand(self) -> Planned:
        """Return the network for who works in it by hand, as a case.

        A study of one case has it as it is. Of several it is what they have in common, or
        else the first, with no set-up lines but those of the network: which lines are typed is
        what the cases differ in.
        """
        first = next(iter(self.cases.values()))
        if len(self.cases) == 1:
            return first
        planned = self.common or first
        return replace(
            planned,
            case=replace(planned.case, setup=planned.case.setup[: planned.network_lines]),
            places=replace(planned.places, setup=planned.places.setup[: planned.network_lines]),
        )
