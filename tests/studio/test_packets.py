"""The ways to packets: what is asked wrongly, or of what is not there."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/api/packets", 400, "run="),
        ("/api/packets?run=nowhere&probe=x", 404, "nowhere"),
        ("/api/packets?run=../../etc&probe=x", 400, ".."),
        ("/api/packets?session=1-ab&capture=1", 404, "no such capture"),
        ("/api/packets?session=1-ab&capture=-1", 400, "capture=N"),
        ("/api/captures?run=nowhere", 404, "nowhere"),
        ("/api/packets.pcapng?run=nowhere&probe=x", 404, "nowhere"),
        (f"/api/packets.pcapng?run=nowhere&probe=x&filter={'a' * 2000}", 400, "2000 characters"),
    ],
)
def test_what_is_asked_wrongly_is_reported(
    client: TestClient, path: str, status: int, words: str
) -> None:
    answer = client.get(path)
    assert (answer.status_code, words in answer.json()["error"]) == (status, True), answer.text


def test_a_stranger_sees_no_packets(stranger: TestClient) -> None:
    assert stranger.get("/api/packets?session=1&capture=1").status_code == 403
