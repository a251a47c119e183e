"""What a caller may write for a quantity: a number in base units, or a text as in a study."""

from __future__ import annotations

from longfat.model.kinds import Rate as RateKind
from longfat.model.kinds import Size as SizeKind
from longfat.model.kinds import Time

Duration = float | str
"""Seconds, or a text such as "20ms"."""

Rate = float | str
"""bit/s, or a text such as "10gbit"."""

Size = int | str
"""Bytes, or a text such as "25MB"."""

seconds = Time().of
size_bytes = SizeKind().of
bits_per_second = RateKind().of
