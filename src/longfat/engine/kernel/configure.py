"""Configuring a kernel: our answers on top of allnoconfig, and a check of the result.

Kconfig silently drops an answer if the question does not exist or its
dependencies are not met. Both are detected here by comparing: a question that is in no
Kconfig file is *unknown*; one that is, but was answered otherwise,
is *refused*.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from longfat.engine.kernel.recipe import parse_answers

_QUESTION = re.compile(r"^[ \t]*(?:menu)?config[ \t]+(\w+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answers that a kernel did not take over.

    Attributes:
        unknown: answers to questions that it does not have.
        refused: answers that it has a question for but did not accept.
    """

    unknown: tuple[str, ...]
    refused: tuple[str, ...]


def compare(wanted: dict[str, str], config: dict[str, str], questions: set[str]) -> Verdict:
    """Compare the answers that were given with the configuration that came out.

    Args:
        wanted: our answers: `CONFIG_NET` -> `y`.
        config: the resulting configuration, in the same form.
        questions: the names of all questions of the kernel.
    """
    unknown: list[str] = []
    refused: list[str] = []
    for name, value in wanted.items():
        if config.get(name, "n") != value:
            answer = f"{name}={value}"
            (refused if name in questions else unknown).append(answer)
    return Verdict(unknown=tuple(unknown), refused=tuple(refused))


def verdict(tree: Path, *, answers: Path) -> Verdict:
    """Return the answers that a configured tree did not take over.

    Args:
        tree: the tree; its `.config` has been written.
        answers: the file of answers that it was configured with.
    """
    return compare(
        parse_answers(answers.read_text("utf-8")),
        parse_answers((tree / ".config").read_text("utf-8")),
        questions(tree),
    )


def questions(tree: Path) -> set[str]:
    """Return the names of all questions of this kernel for ARCH=um."""
    found: set[str] = set()
    for path in tree.rglob("Kconfig*"):
        parts = path.relative_to(tree).parts
        is_for_um = parts[0] != "arch" or parts[1:2] == ("um",) or parts[1:3] == ("x86", "um")
        if (is_for_um or len(parts) == 2) and path.is_file():
            names = _QUESTION.findall(path.read_text(encoding="utf-8", errors="replace"))
            found.update(f"CONFIG_{name}" for name in names)
    return found
