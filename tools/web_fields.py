"""The declared properties of links and their phrases, for the tests of the studio's page.

`python -m tools.web_types` writes them. The page makes the labels of its canvas while a study is
typed, and the server makes those of drawings and messages: with these the page's tests compare
the two.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from longfat.model.fields import fields_of, phrases
from longfat.model.network import LinkImpairments
from longfat.studio.views import form_fields

FILE = Path(__file__).resolve().parents[1] / "web/src/canvas/testFields.ts"

_HEAD = """\
/**
 * The declared fields of a link's direction, for tests, and what a summary shows of each.
 * Written by python -m tools.web_types: do not edit.
 */

import type { FieldInfo } from "../api/types";

"""


def typescript() -> str:
    """Return the whole file."""
    fields = "".join(f"  {_json(field)},\n" for field in form_fields()["direction"])
    labels = "".join(f"  [{_json(typed)}, {_json(words)}],\n" for typed, words in _labels())
    return (
        f"{_HEAD}export const FIELDS: readonly FieldInfo[] = [\n{fields}];\n\n"
        "/** Properties as typed, each with its phrase. */\n"
        "export const LABELS: readonly (readonly [Record<string, string>, string])[] = [\n"
        f"{labels}];\n"
    )


def _labels() -> Iterator[tuple[dict[str, str], str]]:
    for key, field in fields_of(LinkImpairments).items():
        if not field.about.phrase:
            continue
        value = field.kind.parse(field.kind.example)
        if isinstance(field.kind.plain(value), dict):
            continue  # the canvas shows no mappings
        (words,) = phrases(LinkImpairments(**{field.name: value}))
        yield {key: field.kind.example}, words


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
