"""Kinds of values: how a field of a study is written, and which values are good.

A kind reads the text of a study, takes a value from a Python program, writes a value
exactly as it is read back, and knows its JSON Schema. `longfat.model.fields` puts kinds on the
fields of dataclasses.
"""

from longfat.model.kinds.kind import Kind, Source, WrongKindError
from longfat.model.kinds.numbers import (
    Drift,
    Integer,
    Offset,
    Rate,
    Share,
    Size,
    Time,
    TimePerByte,
    percent_text,
    rate_text,
    size_text,
    time_text,
    times_text,
)
from longfat.model.kinds.texts import (
    Flag,
    ImageName,
    Integers,
    Line,
    Name,
    Names,
    OneOf,
    Text,
    Texts,
)

__all__ = [
    "Drift",
    "Flag",
    "ImageName",
    "Integer",
    "Integers",
    "Kind",
    "Line",
    "Name",
    "Names",
    "Offset",
    "OneOf",
    "Rate",
    "Share",
    "Size",
    "Source",
    "Text",
    "Texts",
    "Time",
    "TimePerByte",
    "WrongKindError",
    "percent_text",
    "rate_text",
    "size_text",
    "time_text",
    "times_text",
]
