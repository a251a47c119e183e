from __future__ import annotations

import json
from datetime import date

import pytest
import yaml

from longfat.bundles.publication import (
    Author,
    Publication,
    metadata_members,
    parse_author,
    parse_date,
    parse_licence,
)
from longfat.bundles.record import BundleRecord
from longfat.errors import InputError

RECORD = BundleRecord(
    longfat="0.1.0",
    name="one",
    title='A "title": with <marks>',
    study="study/one.yaml",
    binaries=True,
    runs=("default-seed1",),
)
FULL = Publication(
    authors=(
        Author(family="Doe", given="Jane", orcid="0000-0002-1825-0097"),
        Author(family="The measurement group"),
    ),
    licence="CC-BY-4.0",
    published=date(2026, 11, 29),
)


def _metadata(publication: Publication) -> dict[str, str]:
    members = metadata_members(publication, RECORD, about="A & B", parts={"results/": "results"})
    return {name: bytes(member.content).decode() for name, member in members.items()}


@pytest.mark.parametrize(
    ("text", "author"),
    [
        ("Doe, Jane", Author(family="Doe", given="Jane")),
        (
            " Doe ,  Jane Q. (0000-0002-1825-0097) ",
            Author(family="Doe", given="Jane Q.", orcid="0000-0002-1825-0097"),
        ),
        (
            "Doe, Jane (0000-0002-1694-233X)",
            Author(family="Doe", given="Jane", orcid="0000-0002-1694-233X"),
        ),
        ("The group", Author(family="The group")),
    ],
)
def test_authors(text: str, author: Author) -> None:
    assert parse_author(text) == author


@pytest.mark.parametrize(
    "text", ["", "(0000-0002-1825-0097)", "Doe (0000-0002-1825-0098)", "Doe (1)", "a\nb", "<x>"]
)
def test_what_is_no_author_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_author(text)


@pytest.mark.parametrize("text", ["", "CC BY", "a\nb", "-x"])
def test_what_is_no_licence_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="SPDX"):
        parse_licence(text)
    assert parse_licence("Apache-2.0") == "Apache-2.0"


def test_what_is_no_date_is_refused() -> None:
    assert parse_date("2026-11-29") == date(2026, 11, 29)
    with pytest.raises(InputError, match="not a date"):
        parse_date("29.11.2026")


def test_all_metadata_of_a_publication() -> None:
    files = _metadata(FULL)
    zenodo = json.loads(files[".zenodo.json"])
    assert zenodo["creators"][0] == {"name": "Doe, Jane", "orcid": "0000-0002-1825-0097"}
    assert (zenodo["upload_type"], zenodo["license"]) == ("dataset", "cc-by-4.0")
    assert (zenodo["title"], zenodo["description"]) == (RECORD.title, "<p>A &amp; B</p>")
    citation = yaml.safe_load(files["CITATION.cff"])
    # What the schema of the Citation File Format requires.
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert citation["title"] == RECORD.title
    assert citation["authors"] == [
        {
            "family-names": "Doe",
            "given-names": "Jane",
            "orcid": "https://orcid.org/0000-0002-1825-0097",
        },
        {"name": "The measurement group"},
    ]
    assert citation["date-released"] == "2026-11-29"


def test_the_crate_describes_itself() -> None:
    crate = json.loads(_metadata(FULL)["ro-crate-metadata.json"])
    entities = {entity["@id"]: entity for entity in crate["@graph"]}
    about = entities["ro-crate-metadata.json"]
    assert about["about"] == {"@id": "./"}
    root = entities["./"]
    assert {"name", "description", "license", "datePublished", "hasPart"} <= root.keys()
    for field in ("author", "hasPart", "mentions"):
        assert all(part["@id"] in entities for part in root[field])


def test_what_is_not_given_is_not_invented() -> None:
    files = _metadata(Publication())
    assert "CITATION.cff" not in files
    assert "creators" not in files[".zenodo.json"]
    assert "license" not in files["ro-crate-metadata.json"]
    assert Publication().missing == ["--author", "--license", "--date"]
    assert FULL.missing == []
