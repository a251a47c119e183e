"""The JSON Schema of instructors' files (grading.yaml), for editors."""

from __future__ import annotations

from typing import Any

from longfat.model.fields import fields_of
from longfat.study.schema import (
    LINE,
    SCHEMA_URL,
    TEXT,
    described,
    mapping_of,
    object_of,
    plain_fields,
)
from longfat_class.study.model import Exercise, Grading, Late, Limits, Part, PartKind


def grading_schema() -> dict[str, Any]:
    """Return the JSON Schema of an instructor's file (grading.yaml), as plain data."""
    file = {"type": "string", "minLength": 1}
    files = {"anyOf": [file, {"type": "array", "items": file, "minItems": 1}]}
    parts = [
        object_of(
            {
                kind: described(files if kind is PartKind.IPERF3 else file, "its file"),
                **plain_fields(Part),
            },
            required=(kind,),
        )
        for kind in PartKind
    ]
    exercise = object_of(
        {
            "claim": described(
                {"anyOf": [TEXT, {**mapping_of(LINE), "minProperties": 1, "maxProperties": 1}]},
                "what has to hold: an expression, or a sentence with an expression",
            ),
            **plain_fields(Exercise),
        },
        required=(key for key, field in fields_of(Exercise).items() if field.is_required),
    )
    return {
        "$schema": SCHEMA_URL,
        "title": "longfat grading",
        **object_of(
            {
                **plain_fields(Grading),
                "study": described(TEXT, "the file of the instructor's study"),
                "late": described(object_of(plain_fields(Late)), "what a late submission costs"),
                "limits": described(object_of(plain_fields(Limits)), "what a submission may take"),
                "parts": described(mapping_of({"oneOf": parts}), "what students hand in"),
                "exercises": described(mapping_of(exercise), "what gives points"),
            },
            required=("title", "study", "parts", "exercises"),
        ),
    }
