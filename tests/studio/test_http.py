"""Requests that do not fit their declarations: the answer names the field, and nothing happens."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from longfat.studio.http import MAX_BYTES


@pytest.mark.parametrize(
    ("method", "path", "body", "message"),
    [
        ("POST", "check", {"name": "x"}, "text: is missing"),
        ("POST", "check", {"name": " ", "text": ""}, "name: found an empty text, expected a name"),
        ("POST", "check", {"name": "x" * 201, "text": ""}, "name: found 201 characters"),
        ("POST", "check", {"name": "x", "text": 5}, "text: found 5, expected a text"),
        ("POST", "check", {"name": "x", "text": "", "lap": "lab01"}, "lap: unknown field"),
        ("POST", "check", {"name": "x", "text": "", "lab": 1}, "lab: found 1, expected a text"),
        ("PUT", "document", {"path": "a.yaml", "text": "", "force": 1}, "force: found 1"),
        ("POST", "export", {"name": "x", "text": ""}, "suffix: is missing"),
        ("POST", "templates", {"template": "star", "values": []}, "values: found an empty list"),
        ("POST", "jobs", {"name": "x", "text": "", "seeds": 0}, "seeds: found 0, expected 1 to"),
        ("POST", "jobs", {"name": "x", "text": "", "cases": "a"}, "cases: found the text 'a'"),
        ("POST", "sessions", {"name": "x", "text": "", "case": ""}, "case: found an empty text"),
        ("POST", "drafts", {"page": "p", "text": "", "first": None}, "first: found null"),
    ],
)
def test_errors_name_the_field(
    client: TestClient, method: str, path: str, body: dict[str, Any], message: str
) -> None:
    answer = client.request(method, f"/api/{path}", json=body)
    assert answer.status_code == 400
    assert f"the request: {message}" in answer.json()["error"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not JSON"),
        (b"\xff", "not JSON"),
        (b"[]", "found an empty list, expected an object"),
        (b'{"name": "x", "name": "y", "text": ""}', "the field 'name' is repeated"),
        (b'{"name": "x", "text": "\\ud800"}', "half of a surrogate pair"),
        (b'{"name": "x", "text": NaN}', "NaN is not a number"),
        (b"[" * 100_000, "nested too deep"),
    ],
)
def test_bodies_that_are_no_object_are_refused(
    client: TestClient, content: bytes, message: str
) -> None:
    answer = client.post("/api/check", content=content)
    assert answer.status_code == 400
    assert message in answer.json()["error"]


def test_large_bodies_are_refused(client: TestClient) -> None:
    assert client.post("/api/check", content=b" " * (MAX_BYTES + 1)).status_code == 413


def test_long_parameters_are_refused(client: TestClient) -> None:
    answer = client.get("/api/document", params={"path": "x" * 5000})
    assert answer.status_code == 400
    assert "the URL's query: path: found 5000 characters" in answer.json()["error"]
