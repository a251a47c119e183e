"""Damaged files of MiniEdit's are read, or refused with a place."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from longfat.errors import InputError
from longfat.study.formats.miniedit import miniedit_text, read_miniedit
from tests.paths import TESTS

DATA = TESTS / "data" / "miniedit"


def read_any(data: bytes, folder: Path) -> None:
    file = folder / "any.mn"
    file.write_bytes(data)
    try:
        drawn, warnings = read_miniedit(file)
    except InputError as caught:
        assert caught.place is not None, caught.message
        str(caught).encode()
    else:
        assert all(isinstance(text, str) for text in warnings)
        text, _ = miniedit_text(drawn.network, setup=drawn.setup)
        json.loads(text)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5000)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "h1", "s1", "10.0.0.1", "20ms", "legacyRouter", "1", "2", "c0", "é\t"])
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    *("hosts", "switches", "links", "opts", "number", "hostname", "nodeNum", "ip"),
                    *("src", "dest", "bw", "delay", "loss", "jitter", "max_queue_size", "version"),
                    *(
                        "switchType",
                        "vlanInterfaces",
                        "startCommand",
                        "controllers",
                        "defaultRoute",
                    ),
                    *("application", "ipBase", "sflow", "x", "y", "switchIP", "privateDirectory"),
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)
NODES = st.fixed_dictionaries(
    {"number": st.sampled_from(["1", "2", "3", 4, None]), "opts": VALUES}, optional={"x": VALUES}
)
FILES = st.fixed_dictionaries(
    {
        "hosts": st.lists(NODES, max_size=3) | VALUES,
        "switches": st.lists(NODES, max_size=3) | VALUES,
        "links": VALUES
        | st.lists(
            st.fixed_dictionaries(
                {
                    "src": st.sampled_from(["h1", "h2", "s1", "s3", "c0"]),
                    "dest": st.sampled_from(["h1", "h3", "s1", "s2"]),
                    "opts": VALUES,
                }
            ),
            max_size=3,
        ),
    },
    optional={"application": VALUES, "controllers": VALUES, "version": VALUES},
)


@given(value=VALUES | FILES)
@settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_json(value: object, tmp_path: Path) -> None:
    read_any(json.dumps(value).encode(), tmp_path)


@pytest.mark.parametrize("name", ["dumbbell", "everything", "version1"])
def test_damaged_files(name: str, tmp_path: Path) -> None:
    chance = random.Random(name)
    document = json.loads((DATA / f"{name}.mn").read_text())
    for _ in range(150):
        changed = json.loads(json.dumps(document))
        damage(changed, chance)
        read_any(json.dumps(changed, indent="\t").encode(), tmp_path)


def damage(value: Any, chance: random.Random) -> None:
    """Replace one value somewhere inside."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    if not keys:
        return
    key = chance.choice(keys)
    inner = value[key]
    if isinstance(inner, dict | list) and inner and chance.random() < 0.8:
        damage(inner, chance)
    else:
        value[key] = chance.choice([None, "", "x", -1, 1e300, [], {}, True, "10.0.0.1", "s1"])
