"""A submission: a folder that a student made, whose files are taken in and never trusted.

Only the files that the instructor's file names are read, and the files that a study among
them names. None is read through a link, from outside of the folder, or beyond the limit of
size; other contents of the folder (run folders, reports, programs) are ignored. What cannot
be read costs the points of its part, and is reported.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from longfat.common.suggest import listed
from longfat.errors import InputError, LongfatError, MachineError
from longfat.model.case import Case
from longfat.model.metric import Unit
from longfat.model.traffic import Flow
from longfat.model.traffic.iperf3_any import AnyReport, read_any_report
from longfat.model.units import format_quantity
from longfat.study.document import is_blank, read_content, read_document
from longfat.study.expand import Line, read_setup
from longfat.study.file_reader import FileReader, folder_reader
from longfat.study.formats.open import SCRIPT_SUFFIX, open_network
from longfat.study.node import Node
from longfat.study.read import read_study
from longfat_class.analysis.taking import check_node, fitting_probes, taken_case
from longfat_class.study.answers import Answer, read_answers
from longfat_class.study.model import Grading, Part, PartKind
from longfat_class.study.read import STUDENT, report_name
from longfat_class.study.traffic import script_traffic

if TYPE_CHECKING:
    from longfat.execution.runs import Run
    from longfat.model.network import HostRoot
    from longfat.study.formats.mininet import MininetNetwork

MAX_DRAWN_SEED = 1_000_000
_MAX_WORDS = 600
_SHORT_BYTES = 400


AS_THE_KEY = "as the key"
"""The solution's answer to a question whose key depends on the versions of tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """What a student handed in.

    Attributes:
        student: whose it is; by default, the folder's name.
        folder: the folder.
        seed: the seed of its runs.
        submitted: when it was handed in; None if that is not known.
        inside: the folder in it that has the files; empty if they lie in itself.
        is_solution: whether it is the instructor's, which may answer `AS_THE_KEY`.
    """

    student: str
    folder: Path
    seed: int
    submitted: datetime | None = None
    inside: str = ""
    is_solution: bool = False

    @property
    def files(self) -> Path:
        """The folder of its files."""
        return self.folder / self.inside


def seed_of(student: str) -> int:
    """Return the seed that belongs to a student's name: from 1, the same on every computer.

    Args:
        student: the name; case and blanks around it make no difference.
    """
    digest = hashlib.sha256(student.strip().casefold().encode(errors="surrogatepass")).digest()
    return int.from_bytes(digest[:8]) % MAX_DRAWN_SEED + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A case of a submission.

    Attributes:
        name: its name.
        title: what the student calls it.
        case: the case, with the student's seed.
        labels: a script's labels of its flows, by their names.
        run: what it gave; None if it did not run.
        problem: why it did not.
    """

    name: str
    case: Case
    title: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    run: Run | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """A part as it was handed in.

    Attributes:
        part: the part.
        cases: its cases.
        answers: its answers, by the questions' names.
        reports: its reports of iperf3, by name.
        notes: what could not be carried over of a network.
        unused: what of a study is the exercise's, and so was not taken from the student.
        digest: a hash of its files without blanks and comments; empty if they are short, or as
            they were given.
        problem: why it cannot be used; empty if it can.
    """

    part: Part
    cases: tuple[Played, ...] = ()
    answers: Mapping[str, Answer] = field(default_factory=dict)
    reports: Mapping[str, AnyReport] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    digest: str = ""
    problem: str = ""

    def ran(self, cases: Mapping[str, Played]) -> Handed:
        """Return it with cases that were run."""
        return replace(self, cases=tuple(cases.get(one.name, one) for one in self.cases))


class Scripts:
    """Runs Mininet scripts in machines of their own, each text once: the same text gives the same.

    A class hands in much that is alike, above all what was given and left as it was.
    """

    def __init__(self) -> None:
        self._read: dict[
            tuple[str, bytes, float], tuple[MininetNetwork, tuple[str, ...]] | str
        ] = {}

    def read(
        self, path: Path, *, name: str, most_wall_s: float
    ) -> tuple[MininetNetwork, tuple[str, ...]]:
        """Read a script.

        Args:
            path: the file.
            name: what to call it in messages.
            most_wall_s: the wall time that it may take, in seconds.

        Raises:
            InputError: as of `read_mininet`.
            HostError: likewise.
        """
        # It takes a machine, and most submissions have no script.
        from longfat.study.formats.mininet import read_mininet  # noqa: PLC0415

        key = (name, path.read_bytes(), most_wall_s)
        if key not in self._read:
            try:
                self._read[key] = read_mininet(path, most_wall_s=most_wall_s)
            except (InputError, MachineError) as error:
                self._read[key] = str(error).replace(str(path), name)
        found = self._read[key]
        if isinstance(found, str):
            raise InputError(found)
        return found


def take_in(
    submission: Submission, part: Part, grading: Grading, scratch: Path, scripts: Scripts
) -> Handed:
    """Read a part of a submission.

    Args:
        submission: the submission.
        part: the part.
        grading: the instructor's file.
        scratch: an empty folder for copies of its files.
        scripts: reads Mininet scripts.

    Returns:
        The part; with its problem, if it cannot be used.

    Raises:
        HostError: the host lacks what a script's machine needs.
    """
    reader = _Reader(submission, part, grading, scratch, scripts)
    try:
        return reader.read()
    except (InputError, MachineError) as error:
        return Handed(part=part, problem=reader.words(error))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Beside:
    """Reads the files beside a part, inside of its submission; see `FileReader`."""

    folder: str
    submission: FileReader

    def __call__(self, path: str, /) -> bytes:
        is_whole = path.startswith("/") or not self.folder
        return self.submission(path if is_whole else f"{self.folder}/{path}")

    def image(self, path: str, /) -> HostRoot:
        # It would be unpacked on the host, by the gigabyte.
        raise InputError(f"{path!r}: a submission cannot bring a root file system")


@dataclass(frozen=True, slots=True)
class _Reader:
    submission: Submission
    part: Part
    grading: Grading
    scratch: Path
    scripts: Scripts

    def read(self) -> Handed:
        """Read the part."""
        files = self.submission.files
        if any(one.is_symlink() for one in (self.submission.folder, files)) or not files.is_dir():
            raise InputError("the submission is no folder, or a link to one")
        beside = folder_reader(files)
        paths = [self._copy(file, beside) for file in self.part.files]
        match self.part.kind:
            case PartKind.STUDY:
                return replace(self._study(paths[0], beside), digest=self._digest(paths[0]))
            case PartKind.SETUP:
                return replace(self._setup(paths[0]), digest=self._digest(paths[0]))
            case PartKind.NETWORK:
                return replace(self._network(paths[0], beside), digest=self._digest(paths[0]))
            case PartKind.ANSWERS:
                return Handed(part=self.part, answers=read_answers(paths[0]))
            case PartKind.IPERF3:
                names = [report_name(file) for file in self.part.files]
                reports = map(read_any_report, paths)
                return Handed(part=self.part, reports=dict(zip(names, reports, strict=True)))

    def words(self, error: LongfatError) -> str:
        """Return an error's message, without the place of our copy and hints at our settings."""
        text = str(error).replace(f"{self.scratch}/", "").partition("; LONGFAT_QUOTA")[0]
        return text if len(text) <= _MAX_WORDS else f"{text[: _MAX_WORDS - 3]}..."

    def _copy(self, file: str, beside: FileReader) -> Path:
        """Copy a file to a folder that nothing else can change."""
        try:
            content = beside(file)
        except InputError as error:
            raise InputError(error.message.replace(" beside the study", "")) from None
        most = self.grading.limits.input_bytes
        if len(content) > most:
            raise InputError(
                f"{file}: it is larger than {format_quantity(most, Unit.BYTES)}, which is the "
                "most that is read"
            )
        path = self.scratch / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def _digest(self, path: Path) -> str:
        """Return the digest of a part, see `Handed`."""
        content = _essence(path.read_bytes())
        given = self.grading.folder.parent / STUDENT / self.part.files[0]
        is_given = given.is_file() and _essence(given.read_bytes()) == content
        if len(content) < _SHORT_BYTES or is_given:
            return ""
        return hashlib.sha256(content).hexdigest()

    def _beside(self, beside: FileReader) -> FileReader:
        """Return what reads the files beside the part's own, inside of the submission."""
        return _Beside(folder=self.part.files[0].rpartition("/")[0], submission=beside)

    def _study(self, path: Path, beside: FileReader) -> Handed:
        fields = dict(Node(raw=read_document(path), file=str(path)).named("a study's fields"))
        if "grid" in fields:
            raise fields["grid"].error("a study that is graded has named cases, and no grid")
        most = self.grading.limits.runs
        if "cases" in fields and len(fields["cases"].items("cases by name")) > most:
            raise fields["cases"].error(f"here are more than {most} cases, and so many are run")
        study = read_study(path, beside=self._beside(beside))
        ours = self.grading.study.cases
        for planned in study.cases.values():
            if planned.case.packages not in ((), *(one.case.packages for one in ours.values())):
                raise InputError(
                    "these are not the packages of the lab, and no others are installed",
                    place=next(iter(planned.places.packages), None),
                )
        cases, unused = [], []
        for name, planned in study.cases.items():
            if name not in ours:
                unused.append(f"{name}: the lab has no case of this name, so it was not run")
                continue
            case, others = taken_case(planned, ours[name], self.part, seed=self.submission.seed)
            title = planned.title if planned.title != study.title else ""
            cases.append(Played(name=name, title=title, case=case))
            if others:
                unused.append(f"{name}: not taken from the study: {listed(others)}")
        return Handed(part=self.part, cases=tuple(cases), unused=tuple(unused))

    def _base(self) -> Case | None:
        if self.part.case is None:
            return None
        case = self.grading.study.cases[self.part.case].case
        return replace(case, seed=self.submission.seed)

    def _setup(self, path: Path) -> Handed:
        base = self._base()
        assert base is not None
        # The template's comments on what is to be written.
        lines = () if is_blank(read_content(path)) else self._lines(path)
        known = (*base.network.node_names(), "root")
        for line in lines:
            if line.command.node not in known:
                raise InputError(
                    f"there is no node {line.command.node!r} (there are: {listed(known)})",
                    place=line.node_place,
                )
        for line in lines:
            check_node(line.command.node, self.part, place=line.node_place)
        case = replace(base, setup=(*base.setup, *(line.command for line in lines)))
        return Handed(part=self.part, cases=(Played(name=self.part.name, case=case),))

    def _lines(self, path: Path) -> tuple[Line, ...]:
        node = Node(raw=read_document(path), file=str(path))
        return () if node.is_null else read_setup(node)

    def _network(self, path: Path, beside: FileReader) -> Handed:
        base = self._base()
        flows: tuple[Flow, ...] = ()
        labels: Mapping[str, str] = {}
        if path.suffix == SCRIPT_SUFFIX:
            script, notes = self.scripts.read(
                path, name=self.part.files[0], most_wall_s=self.grading.limits.time_s
            )
            network, setup = script.network, script.setup
            if base is None:
                traffic = script_traffic(script.typed, network.host_addresses())
                flows, labels = traffic.flows, traffic.labels
                notes = (*notes, *traffic.notes)
                if not flows:
                    raise InputError("the script types no line of iperf3 -c that can be played")
        else:
            opened = open_network(path, beside=self._beside(beside))
            network, setup, notes = opened.network, opened.setup, opened.warnings
        notes = tuple(note.replace(f"{self.scratch}/", "") for note in notes)
        if base is None:
            first = next(iter(self.grading.study.cases.values())).case
            case = Case(
                kernel=first.kernel,
                network=network,
                setup=setup,
                flows=flows,
                seed=self.submission.seed,
            )
        else:
            case = replace(base, network=network, setup=setup, files=(), events=())
            case = replace(case, probes=tuple(fitting_probes(case)))
        played = Played(name=self.part.name, case=case, labels=labels)
        return Handed(part=self.part, cases=(played,), notes=notes)


def _essence(content: bytes) -> bytes:
    """Return a text without blanks and without comments of YAML and Python."""
    lines = (re.sub(rb"(^|\s)#.*", b"", line) for line in content.splitlines())
    return b"".join(b"".join(line.split()) for line in lines)
