"""The texts of a bundle, for the person who opens it."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from longfat.bundles.record import KERNELS, RESULTS, TOOLSET
from longfat.engine.kernel.source_offer import source_text
from longfat.model.metric import Unit
from longfat.model.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from longfat.analysis.verdict import Verdict
    from longfat.bundles.publication import Publication
    from longfat.bundles.record import BundleRecord
    from longfat.engine.kernel import Manifest
    from longfat.engine.toolset import Toolset
    from longfat.execution.runs import Run

_PASSED = {True: "holds", False: "does not hold", None: "not evaluated"}
_SHOWN = 12
_WIDTH = 100


def about(verdict: Verdict, record: BundleRecord) -> str:
    """Return what a bundle is, in a paragraph."""
    runs = _runs(verdict)
    count = f"{len(runs)} runs" if len(runs) != 1 else "one run"
    return (
        f"A network experiment with its complete results: the study {record.name!r} for longfat"
        f" {record.longfat}, {count} of it, and what is needed to obtain the same bytes again on"
        " another computer. The networks ran on a real Linux kernel in virtual time."
    )


def readme(
    verdict: Verdict,
    record: BundleRecord,
    *,
    releases: Mapping[str, str],
    toolset: Toolset,
    publication: Publication,
    programs: Sequence[str],
    has_report: bool,
) -> str:
    """Return the README of a bundle, in Markdown.

    Args:
        verdict: the study with its runs.
        record: the bundle's record.
        releases: the releases of its kernels by their digests.
        toolset: the toolset of its runs.
        publication: what the authors give.
        programs: the programs of the host that runs used.
        has_report: whether it has a report.
    """
    runs = _runs(verdict)
    sections = [
        f"# {_line(record.title)}",
        _authors(publication),
        textwrap.fill(about(verdict, record), _WIDTH, break_on_hyphens=False),
        _verify(record, runs),
        _results(verdict, runs, has_report=has_report),
        _contents(record, releases=releases, toolset=toolset),
        _programs(programs),
        _reviewers(publication, record),
        _licences(publication, record),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _runs(verdict: Verdict) -> list[Run]:
    return [run for of_case in verdict.runs.values() for run in of_case]


def _line(text: str) -> str:
    """Return a text that Markdown shows as it is, in one line."""
    escaped = "".join(f"\\{char}" if char in "\\`*_[]<>|#" else char for char in text)
    return " ".join(escaped.split())


def _authors(publication: Publication) -> str:
    return "; ".join(_line(author.name) for author in publication.authors)


def _verify(record: BundleRecord, runs: Sequence[Run]) -> str:
    wall_s = sum(run.wall_s for run in runs)
    memory = format_quantity(max(run.peak_bytes for run in runs), Unit.BYTES)
    first = (
        f'pip install "longfat=={record.longfat}"     # Python 3.11 or later; or from its wheels'
    )
    kernel = "" if record.binaries else _WITHOUT_BINARIES
    return f"""\
## Verify it

On a computer with Linux and an x86-64 processor, without root:

```sh
{first}
longfat verify FILE.zip
```

The second command checks the checksums of all files, runs every case again without taking anything
from a cache, and compares every byte of the results. It ends with 0 if all are equal, with 1 if a
run gave other bytes, with 2 if the file is damaged, and with 3 if the computer lacks something;
`longfat doctor` shows what. On the computer where the bundle was made the runs took {wall_s:.0f} s
together, and each up to {memory} of memory.
{kernel}
{_WHOSE_PROGRAMS if record.binaries else _WHOSE_STUDY}
They run in longfat's sandbox: without network, without write access, and with limits on memory,
disk and processes."""


_WHOSE_STUDY = "The programs of the study are those of the bundle's authors."
_WHOSE_PROGRAMS = """\
The programs of the study are those of the bundle's authors, and so is the kernel, unless the
computer has the same one; `--own-kernel` runs no kernel of theirs."""


_WITHOUT_BINARIES = f"""
This bundle has no binaries. The digests of kernels and toolset are in `{KERNELS}` and `{TOOLSET}`,
each with how to build it: `longfat kernel build` and `longfat tools build`.
"""


def _results(verdict: Verdict, runs: Sequence[Run], *, has_report: bool) -> str:
    lines = ["## Results", ""]
    if has_report:
        lines += [f"`{RESULTS}/report.html` shows them; it needs no other file and no network.", ""]
    lines += ["| run | kernel | digest of its raw files |", "|---|---|---|"]
    lines += [
        f"| `{run.folder.name}` | {run.kernel['release']} | `{run.digest[:_SHOWN]}` |"
        for run in runs
    ]
    if verdict.claims:
        lines += ["", "| claim | expression | in these results |", "|---|---|---|"]
        lines += [
            f"| {_line(judged.claim.text)} | {_line(judged.claim.expression)} |"
            f" {_PASSED[judged.passed]} |"
            for judged in verdict.claims
        ]
    return "\n".join(lines)


def _contents(record: BundleRecord, *, releases: Mapping[str, str], toolset: Toolset) -> str:
    binary = "binary, configuration" if record.binaries else "configuration"
    lines = [
        "## Contents",
        "",
        "| path | content |",
        "|---|---|",
        f"| `{record.study}` | the study: networks, commands, traffic, claims |",
        "| `study/` | all files that it names |",
        f"| `{RESULTS}/RUN/raw/` | the output of the tools, as they wrote it |",
        f"| `{RESULTS}/RUN/series/` | samples of queues, sockets and interfaces (Parquet) |",
        f"| `{RESULTS}/RUN/manifest.json` | the case, its kernel, tools, metrics and checksums |",
        f"| `{RESULTS}/claims.json` | claims and metrics |",
        *(
            f"| `{KERNELS}/{digest[:_SHOWN]}...` | Linux {release}: {binary}, patches, source |"
            for digest, release in releases.items()
        ),
        f"| `{TOOLSET}/` | {len(toolset.versions)} packages with the programs of the machines |",
        "| `SHA256SUMS` | checksums of all files, for `sha256sum -c` |",
        "| `bundle.json` | what `longfat verify` reads |",
    ]
    return "\n".join(lines)


def _programs(programs: Sequence[str]) -> str:
    if not programs:
        return ""
    lines = ["## Not in this bundle", ""]
    lines += [
        "The runs used programs of the computer where they were made. Another version of them"
    ]
    lines += ["may give other bytes.", "", *(f"- {_line(program)}" for program in programs)]
    return "\n".join(lines)


def _reviewers(publication: Publication, record: BundleRecord) -> str:
    missing = f" (not given: {', '.join(publication.missing)})" if publication.missing else ""
    metadata = ".zenodo.json, ro-crate-metadata.json"
    metadata += ", CITATION.cff" if publication.authors else ""
    binaries = "kernels, programs" if record.binaries else "digests of kernels and programs"
    return f"""\
## For reviewers of artifacts

The badges of ACM's Artifact Review and Badging, version 1.1, ask for this:

| badge | where it is |
|---|---|
| Artifacts Available | what an archive reads: {metadata}{missing} |
| Artifacts Evaluated: documented | this file, the text beside the study, and the report |
| consistent and complete | study, {binaries} and results; `SHA256SUMS` lists each file |
| exercisable | `longfat verify` runs every case |
| Results Reproduced | `longfat verify` compares every byte, and evaluates the claims again |"""


def _licences(publication: Publication, record: BundleRecord) -> str:
    own = (
        f"Study and results are licensed under {publication.licence}."
        if publication.licence
        else "The authors have named no licence for the study and its results."
    )
    binaries = (
        f"""
`{KERNELS}/*/linux` is under the GPL, version 2 (`licences/GPL-2.0.txt`); `README.md` beside it says
where its source is. The libraries `*.so` beside it are longfat's, under the Apache licence, version
2.0 (`licences/Apache-2.0.txt`). The programs in `{TOOLSET}` have the licences in
`{TOOLSET}/licences`; their sources are in the source packages of Debian of the same versions."""
        if record.binaries
        else f"""
The patches in `{KERNELS}` are under the GPL, version 2 (`licences/GPL-2.0.txt`); the other files
there are longfat's, under the Apache licence, version 2.0 (`licences/Apache-2.0.txt`)."""
    )
    return f"## Licences\n\n{own}\n{binaries}"


def kernel_text(manifest: Manifest, *, folder: str, binaries: bool) -> str:
    """Return the README of a kernel.

    Args:
        manifest: the kernel's manifest.
        folder: its folder in the bundle.
        binaries: whether the binary is there.
    """
    what = (
        f"`linux` is a User-Mode Linux kernel {manifest.release}"
        if binaries
        else f"The runs were made with a User-Mode Linux kernel {manifest.release}, whose binary"
        " is not here"
    )
    return f"""\
# Linux {manifest.release} for longfat

{what}. The SHA-256 of the binary is
`{manifest.binary_sha256}`.

{source_text(manifest, folder=f"{folder}/source", what="bundle")}"""


def toolset_text(toolset: Toolset, *, binaries: bool) -> str:
    """Return the README of a toolset."""
    packages = "\n".join(f"- {name} {version}" for name, version in toolset.versions.items())
    what = (
        "`toolset.tar` has the programs of the machines."
        if binaries
        else "The programs of the machines are not in this bundle; `longfat tools build` makes them"
        " of the packages in `packages.txt`."
    )
    return f"""\
# The programs of the machines

{what} The digest of all files is
`{toolset.digest}`.

They are from the packages of Debian in `packages.txt`, each with its version, size, SHA-256 and
path in the archive. Their sources are in the source packages of the same versions, which Debian's
snapshot archive keeps; their licences are in `licences`.

{packages}
"""
