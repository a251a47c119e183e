"""What is being drawn: texts with their steps of undo, kept by the server for all its pages.

A page sends what a person did (steps), and not what came of it. So when two pages change one
draft at the same time, the steps of both are in its history, whichever came first: undo leads
back to the other's text, and nothing is lost. Each draft is a file, written whole.
"""

from __future__ import annotations

import itertools
import json
import logging
import os
import re
import secrets
import threading
import time
import uuid
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from longfat.common.decoding import Decoder, parse_json
from longfat.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_LOG = logging.getLogger(__name__)

MOST_STEPS = 200
"""So many steps of undo are kept."""

MOST_HISTORY_BYTES = 2 * 1024**2
"""So large may they be together."""

MOST_CLOSED = 30
"""So many drafts are kept after they were closed."""

MOST_DRAFTS = 500

_FORMAT = 1
_LARGEST_FILE = 16 * 1024**2
_ID = re.compile(r"[0-9A-Za-z-]{8,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What was reported when a file of another format was opened.

    Attributes:
        source: the file's name.
        at_s: when, in seconds since 1970.
        messages: what could not be carried over.
    """

    source: str
    at_s: float
    messages: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A network or study that is being drawn.

    Attributes:
        id: made by the page.
        name: what its tab is called.
        text: its text.
        path: its file below the workspace; None if it has none.
        lab: the lab that it is; None if it is none.
        saved: what is in the file.
        chosen_case: the case that Run plays.
        session: its live session.
        shown_run: the run whose charts are shown where there is no session.
        imported: what was reported when it was imported.
        undo: the texts that undo leads back to, the nearest last.
        redo: likewise for redo.
        revision: counts its changes.
        opened_s: when it was opened, in seconds since 1970.
        closed_s: when its tab was closed, likewise; None while it is open.
    """

    id: str
    name: str
    text: str
    path: str | None = None
    lab: str | None = None
    saved: str = ""
    chosen_case: str | None = None
    session: str | None = None
    shown_run: str | None = None
    imported: ImportReport | None = None
    undo: list[str] = field(default_factory=list)
    redo: list[str] = field(default_factory=list)
    revision: int = 0
    opened_s: float = 0.0
    closed_s: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as `Draft` of the page's `api/types.ts`."""
        return asdict(self)


_DRAFT = Decoder(Draft)
_REPORT = Decoder(ImportReport)
_FREE = ("name", "path", "lab", "saved", "chosen_case", "session", "shown_run", "imported")
"""The fields that a page may set as they are."""


class Drafts:
    """The drafts of a workspace.

    Args:
        folder: where they are kept; None to keep them as long as the server runs only.

    Attributes:
        on_change: called with each draft that has changed, and with the page that did it.
        on_forget: likewise with each that was removed.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._all: dict[str, Draft] = {}
        self.on_change: Callable[[Draft, str], None] = lambda *_: None
        self.on_forget: Callable[[Draft, str], None] = lambda *_: None
        if folder is not None:
            folder.mkdir(mode=0o700, exist_ok=True)
            for path in sorted(folder.glob("*.json")):
                self._load(path)

    def all(self) -> list[Draft]:
        """Return all drafts in the order in which they were opened, closed ones among them."""
        with self._lock:
            return sorted(self._all.values(), key=lambda draft: draft.opened_s)

    def change(
        self,
        number: str,
        *,
        page: str,
        base: int | None,
        steps: Sequence[Any],
        fields: Any,
        is_closed: bool | None,
    ) -> tuple[Draft, bool]:
        """Change a draft, or begin one.

        Args:
            number: its id.
            page: which page does it.
            base: the revision that the page knows; None for a new one.
            steps: what was done with the text: `{"set": TEXT, "step": BOOL}`, where step is
                false if it continues the step before, `{"undo": true}` or `{"redo": true}`.
            fields: other fields with their new values.
            is_closed: its tab was closed, or opened again; None for neither.

        Returns:
            The draft, and whether another page has changed it since `base`.

        Raises:
            InputError: something of it is wrong, or there are too many.
        """
        if not _ID.fullmatch(number):
            raise InputError(f"{number[:80]!r} is no id of a draft")
        with self._lock:
            now = self._all.get(number)
            if now is None:
                if len(self._all) >= MOST_DRAFTS:
                    raise InputError(f"{MOST_DRAFTS} drafts are open: close some")
                now = Draft(id=number, name="", text="", opened_s=time.time())
            others = base is not None and base != now.revision
            new = _with_fields(_played(now, steps), fields)
            if is_closed is not None:
                new = replace(new, closed_s=time.time() if is_closed else None)
            new = replace(new, revision=now.revision + 1)
            self._keep(new)
            self._all[number] = new
            if is_closed:
                self._forget_old()
        self.on_change(new, page)
        return new, others

    def begin(self, *, page: str, text: str, is_first: bool) -> Draft:
        """Begin a new network, or return what is open.

        Names are given here, so that two pages that begin at the same moment have two names,
        or, in an empty workspace, one network.

        Args:
            page: which page does it.
            text: its text, in which `{number}` stands for the number of its name.
            is_first: only if nothing is open; else the last one that was opened is returned.

        Raises:
            InputError: there are too many.
        """
        with self._lock:
            open_ones = [one for one in self._all.values() if one.closed_s is None]
            if is_first and open_ones:
                return max(open_ones, key=lambda one: one.opened_s)
            if len(self._all) >= MOST_DRAFTS:
                raise InputError(f"{MOST_DRAFTS} drafts are open: close some")
            names = {one.name for one in open_ones}
            number = next(one for one in itertools.count(1) if f"network-{one}" not in names)
            text = text.replace("{number}", str(number))
            draft = Draft(
                id=str(uuid.uuid4()),
                name=f"network-{number}",
                text=text,
                saved=text,
                opened_s=time.time(),
            )
            self._keep(draft)
            self._all[draft.id] = draft
        self.on_change(draft, page)
        return draft

    def forget(self, number: str, *, page: str) -> None:
        """Remove a draft with its history: its tab was closed, and there was nothing in it."""
        with self._lock:
            draft = self._all.pop(number, None)
            if draft is None:
                return
            self._remove(number)
        self.on_forget(draft, page)

    def _forget_old(self) -> None:
        closed = [one for one in self._all.values() if one.closed_s is not None]
        closed.sort(key=lambda one: one.closed_s or 0.0)
        for one in closed[: max(0, len(closed) - MOST_CLOSED)]:
            del self._all[one.id]
            self._remove(one.id)

    def _load(self, path: Path) -> None:
        try:
            if path.stat().st_size > _LARGEST_FILE:
                raise InputError("it is too large")
            data = parse_json(path.read_bytes(), where=str(path))
            if not isinstance(data, dict) or data.pop("format", None) != _FORMAT:
                raise InputError("it is of another format")
            draft = _DRAFT.decode(data, where=str(path))
        except (InputError, OSError) as error:
            # It may be of another version of longfat: it is left where it is.
            _LOG.warning("the draft %s cannot be read: %s", path, error)
            return
        self._all[draft.id] = draft

    def _keep(self, draft: Draft) -> None:
        if self._folder is None:
            return
        hidden = self._folder / f".{draft.id}.{secrets.token_hex(4)}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            try:
                with os.fdopen(os.open(hidden, flags, 0o600), "w", encoding="utf-8") as file:
                    json.dump({"format": _FORMAT, **draft.to_json()}, file)
                hidden.replace(self._folder / f"{draft.id}.json")
            finally:
                hidden.unlink(missing_ok=True)
        except OSError as error:
            raise InputError(f"the draft cannot be kept: {error.strerror}") from None

    def _remove(self, number: str) -> None:
        if self._folder is not None:
            (self._folder / f"{number}.json").unlink(missing_ok=True)


def _played(draft: Draft, steps: Sequence[Any]) -> Draft:
    """Return a draft after steps."""
    text, undo, redo = draft.text, list(draft.undo), list(draft.redo)
    for step in steps:
        if not isinstance(step, dict):
            raise InputError("steps: a step is an object")
        if isinstance(new := step.get("set"), str):
            if new == text:
                continue
            if step.get("step", True):
                undo.append(text)
            text, redo = _sound(new), []
        elif step.get("undo"):
            if undo:
                redo.append(text)
                text = undo.pop()
        elif step.get("redo"):
            if redo:
                undo.append(text)
                text = redo.pop()
        else:
            raise InputError("steps: a step is one of set, undo and redo")
    return replace(draft, text=text, undo=_bounded(undo), redo=_bounded(redo))


def _bounded(texts: list[str]) -> list[str]:
    """Return the nearest of the texts, as many as are kept."""
    kept: list[str] = []
    size = 0
    for text in reversed(texts[-MOST_STEPS:]):
        size += len(text)
        if size > MOST_HISTORY_BYTES:
            break
        kept.append(text)
    return kept[::-1]


def _with_fields(draft: Draft, fields: Any) -> Draft:
    if not isinstance(fields, dict):
        raise InputError("fields: an object is needed")
    values: dict[str, Any] = {}
    for name, value in fields.items():
        if name not in _FREE:
            raise InputError(f"fields: there is no {str(name)[:40]!r}")
        if name == "imported":
            values[name] = value and _REPORT.decode(value, where="fields: imported")
        elif value is None and name not in ("name", "saved"):
            values[name] = None
        elif isinstance(value, str):
            values[name] = _sound(value)
        else:
            raise InputError(f"fields: {name}: a text is needed")
    return replace(draft, **values)


def _sound(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError("the text holds half of a surrogate pair") from None
    return text
