"""What an instructor should look at in a submission: it costs no points and proves nothing.

Lines that are rarely needed, what checks could not look at, and what two submissions share that is
usually different.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from longfat.common.suggest import listed
from longfat.model.flow_path import NotUnderstoodError, bottleneck
from longfat_class.analysis.counted import TRANSLATION
from longfat_class.analysis.shaping import limits_in_force

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from longfat_class.analysis.scores import Graded, Score
    from longfat_class.analysis.submission import Handed, Played
    from longfat_class.study.model import Grading

# What a line does that a network's configuration rarely needs.
_LINES = (
    (re.compile(r"\bmirred\b"), "redirects or copies packets"),
    (TRANSLATION, "translates addresses"),
    (re.compile(r"\biperf3?\b(?=.*(\s-s\b|--server\b))"), "starts a server of its own"),
    (
        re.compile(r"\bip\b.*\ba(ddr|ddress)?\b.*\bdev\s+lo\b"),
        "gives lo an address",
    ),
    (re.compile(r"(?<![&>])&(?![&>])|\b(nohup|setsid|disown)\b"), "leaves something running"),
    (re.compile(r"\b(kill|pkill|killall)\b"), "ends processes"),
    (
        re.compile(
            r"\b(mount|umount|unshare|nsenter|chroot|modprobe|insmod|LD_PRELOAD)\b|date\s+-s"
        ),
        "changes more than the network",
    ),
    (re.compile(r"\b(base64|eval|xxd)\b|\b(python3?|perl)\s+-[ce]\b"), "runs code within a line"),
)
_MAX_LINE_LENGTH = 120
_SAME_ANSWER = 0.005
_SHOWN = 4


def oddities(parts: Iterable[Handed], grading: Grading) -> Iterator[str]:
    """Yield what is odd in the parts of one submission.

    Args:
        parts: the parts, with their runs.
        grading: the instructor's file.
    """
    ours = {command for planned in grading.study.cases.values() for command in planned.case.setup}
    for handed in parts:
        lines: dict[str, None] = {}
        for played in handed.cases:
            where = handed.part.name
            if played.name != where:
                where = f"{where}, {played.name}"
            for command in played.case.setup:
                if command not in ours:
                    lines |= dict.fromkeys(_of_line(command.node, command.line))
            programs = [file.path for file in played.case.files if file.executable]
            if programs:
                yield f"{where}: brings programs: {listed(programs)}"
            yield from (f"{where}: {words}" for words in _unchecked(handed, played, grading))
        yield from (f"{handed.part.name}: {words}" for words in lines)


def _of_line(node: str, line: str) -> Iterator[str]:
    shown = line if len(line) <= _MAX_LINE_LENGTH else f"{line[:_MAX_LINE_LENGTH]}..."
    for pattern, words in _LINES:
        if pattern.search(line):
            yield f"a line at {node} {words}: {shown}"


def _unchecked(handed: Handed, played: Played, grading: Grading) -> Iterator[str]:
    """Yield what the checks of a part cannot say of a case."""
    checks = {
        check for one in grading.exercises if one.part == handed.part.name for check in one.checks
    }
    if not checks & {"shaper", "buffers"}:
        return
    for flow in played.case.bulk_flows:
        try:
            bottleneck(played.case, flow)
        except NotUnderstoodError as error:
            if played.run is None or limits_in_force(played.run, flow) is None:
                yield f"what limits {flow.name} was not checked: {error}"
                return


# ------------------------------------------------------------- of two of a class


def shared_oddities(graded: Sequence[Graded]) -> list[tuple[str, ...]]:
    """Return what each submission of a class shares with another.

    Args:
        graded: the submissions.

    Returns:
        For each of them in turn what is odd.
    """
    odd: list[list[str]] = [[] for _ in graded]
    for number, one in enumerate(graded):
        for score in one.scores:
            if names := _right_for(score, [*graded[:number], *graded[number + 1 :]]):
                odd[number].append(
                    f"{score.exercise.name}: its wrong answer would be right for {listed(names)}"
                )
    same: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for number, one in enumerate(graded):
        for part, digest in one.digests.items():
            same[part, digest].append(number)
    for (part, _), numbers in same.items():
        for number in numbers:
            others = [graded[other].submission.student for other in numbers if other != number]
            if others:
                odd[number].append(f"{part}: equal but for blanks and comments: {_some(others)}")
    return [tuple(words) for words in odd]


def _some(names: Sequence[str]) -> str:
    """Return names in a row, or the first ones and how many there are."""
    if len(names) <= _SHOWN:
        return listed(names)
    return f"{listed(names[:_SHOWN])}, and {len(names) - _SHOWN} others"


def _right_for(score: Score, others: Sequence[Graded]) -> list[str]:
    """Return the students whose seed would make a wrong answer right, and few do."""
    if score.answer_value is None or score.is_full or score.key_value is None:
        return []
    names = []
    for other in others:
        for theirs in other.scores:
            key = theirs.key_value
            if (
                theirs.exercise == score.exercise
                and key is not None
                and abs(key - score.key_value) > score.exercise.tolerance * abs(score.key_value)
                and abs(score.answer_value - key) <= _SAME_ANSWER * abs(key)
            ):
                names.append(other.submission.student)
    return names
