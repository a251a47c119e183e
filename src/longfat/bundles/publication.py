"""Who publishes a bundle, and the metadata that archives and citation managers read.

`.zenodo.json` has the fields of Zenodo's deposits, `CITATION.cff` those of the Citation File
Format 1.2.0, and `ro-crate-metadata.json` is an RO-Crate 1.1. Nothing is in them that nobody
gave: without authors there is no CITATION.cff, which requires them.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from longfat.common.zip_archive import Member
from longfat.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from longfat.bundles.record import BundleRecord

_AUTHOR = re.compile(r"(?P<name>[^()<>\n]+?)\s*(?:\((?P<orcid>[^()]*)\))?")
_ORCID = re.compile(r"\d{4}-\d{4}-\d{4}-\d{3}[\dX]")
_LICENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+-]{0,60}")
_KEYWORDS = ("computer networks", "TCP", "Linux", "reproducibility", "longfat")
_MAX_NAMED = 20
_CRATE = "https://w3id.org/ro/crate/1.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """An author.

    Attributes:
        family: the family name; the whole name, if it has one part.
        given: the given names; empty for none.
        orcid: the ORCID iD, such as 0000-0002-1825-0097; empty for none.
    """

    family: str
    given: str = ""
    orcid: str = ""

    @property
    def name(self) -> str:
        """Return the name as `Family, Given`."""
        return f"{self.family}, {self.given}" if self.given else self.family


def parse_author(text: str) -> Author:
    """Return an author as a command line names one: `Doe, Jane (0000-0002-1825-0097)`.

    Raises:
        InputError: it is no name, or its ORCID iD is none.
    """
    match = _AUTHOR.fullmatch(text.strip())
    if match is None or not text.isprintable():
        raise InputError(
            f"{text!r} is not an author: write 'Family, Given' or 'Family, Given (ORCID)'"
        )
    orcid = match["orcid"] or ""
    if (match["orcid"] is not None) and not (_ORCID.fullmatch(orcid) and _is_checked(orcid)):
        raise InputError(
            f"{orcid!r} is not an ORCID iD: one looks like 0000-0002-1825-0097, and its last"
            " digit is a checksum"
        )
    family, _, given = match["name"].partition(",")
    return Author(family=family.strip(), given=given.strip(), orcid=orcid)


def _is_checked(orcid: str) -> bool:
    """Return whether the last digit is the checksum of the others: ISO 7064, MOD 11-2."""
    total = 0
    for digit in orcid.replace("-", "")[:-1]:
        total = (total + int(digit)) * 2
    return orcid[-1] == "0123456789X"[(12 - total % 11) % 11]


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """What only its authors know of a bundle.

    Attributes:
        title: its title; that of the study, if empty.
        authors: its authors.
        licence: the licence of the study and its results, as an SPDX identifier; empty if none
            is given.
        published: the date of its publication; None if it is not given.
    """

    title: str = ""
    authors: tuple[Author, ...] = ()
    licence: str = ""
    published: date | None = None

    @property
    def missing(self) -> list[str]:
        """Return the options for what is not given and an archive requires."""
        given = {"--author": self.authors, "--license": self.licence, "--date": self.published}
        return [option for option, value in given.items() if not value]


def parse_licence(text: str) -> str:
    """Return an SPDX identifier.

    Raises:
        InputError: it is none.
    """
    if not _LICENCE.fullmatch(text):
        raise InputError(f"{text!r} is not an SPDX identifier of a licence, such as CC-BY-4.0")
    return text


def parse_date(text: str) -> date:
    """Return a date in the form of ISO 8601.

    Raises:
        InputError: it is none.
    """
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InputError(f"{text!r} is not a date, such as 2026-11-29") from None


def metadata_members(
    publication: Publication, record: BundleRecord, *, about: str, parts: Mapping[str, str]
) -> dict[str, Member]:
    """Return the files of metadata.

    Args:
        publication: what the authors give.
        record: the bundle's record.
        about: what the bundle is, in a paragraph.
        parts: further members with what they are, for the RO-Crate.
    """
    documents: dict[str, Any] = {
        ".zenodo.json": _zenodo(publication, record, about=about),
        "ro-crate-metadata.json": _crate(publication, record, about=about, parts=parts),
    }
    members = {
        name: Member.of_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
        for name, document in documents.items()
    }
    if publication.authors:
        members["CITATION.cff"] = Member.of_text(_citation(publication, record, about=about))
    return members


def _zenodo(publication: Publication, record: BundleRecord, *, about: str) -> dict[str, Any]:
    document: dict[str, Any] = {
        "title": record.title,
        "upload_type": "dataset",
        "description": f"<p>{_html(about)}</p>",
        "keywords": list(_KEYWORDS),
    }
    if publication.authors:
        document["creators"] = [
            {"name": author.name} | ({"orcid": author.orcid} if author.orcid else {})
            for author in publication.authors
        ]
    if publication.licence:
        document["license"] = publication.licence.lower()
    if publication.published:
        document["publication_date"] = publication.published.isoformat()
    return document


def _html(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _citation(publication: Publication, record: BundleRecord, *, about: str) -> str:
    """Return the CITATION.cff: YAML, whose texts are written as JSON writes them."""
    lines = ['cff-version: "1.2.0"', "type: dataset"]
    lines += ['message: "If you use this dataset, please cite it as below."']
    lines += [f"title: {_quoted(record.title)}", f"abstract: {_quoted(about)}", "authors:"]
    for author in publication.authors:
        if author.given:
            lines += [f"  - family-names: {_quoted(author.family)}"]
            lines += [f"    given-names: {_quoted(author.given)}"]
        else:
            lines += [f"  - name: {_quoted(author.family)}"]
        if author.orcid:
            lines += [f'    orcid: "https://orcid.org/{author.orcid}"']
    lines += ["keywords:", *(f"  - {_quoted(word)}" for word in _KEYWORDS)]
    if publication.licence:
        lines += [f"license: {_quoted(publication.licence)}"]
    if publication.published:
        lines += [f'date-released: "{publication.published.isoformat()}"']
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _crate(
    publication: Publication, record: BundleRecord, *, about: str, parts: Mapping[str, str]
) -> dict[str, Any]:
    people = [
        {
            "@id": f"https://orcid.org/{author.orcid}" if author.orcid else f"#author-{number}",
            "@type": "Person",
            "name": author.name,
        }
        for number, author in enumerate(publication.authors, 1)
    ]
    root: dict[str, Any] = {
        "@id": "./",
        "@type": "Dataset",
        "name": record.title,
        "description": about,
        "keywords": ", ".join(_KEYWORDS),
        "author": [{"@id": person["@id"]} for person in people],
        "hasPart": [{"@id": name} for name in parts],
        "mentions": [{"@id": "#runs"}],
    }
    if publication.licence:
        root["license"] = {"@id": f"https://spdx.org/licenses/{publication.licence}"}
    if publication.published:
        root["datePublished"] = publication.published.isoformat()
    entities: list[dict[str, Any]] = [
        {
            "@id": "ro-crate-metadata.json",
            "@type": "CreativeWork",
            "conformsTo": {"@id": _CRATE},
            "about": {"@id": "./"},
        },
        root,
        *people,
        *(
            {"@id": name, "@type": "Dataset" if name.endswith("/") else "File", "name": text}
            for name, text in parts.items()
        ),
        {
            "@id": "#longfat",
            "@type": "SoftwareApplication",
            "name": "longfat",
            "version": record.longfat,
        },
        {
            "@id": "#runs",
            "@type": "CreateAction",
            "name": f"runs of {record.study}: {', '.join(record.runs[:_MAX_NAMED])}",
            "instrument": {"@id": "#longfat"},
            "object": {"@id": record.study},
            "result": {"@id": "results/"},
        },
    ]
    return {"@context": f"{_CRATE}/context", "@graph": entities}
