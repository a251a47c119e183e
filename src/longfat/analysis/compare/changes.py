"""What differs between two cases, in the terms of a study; and around them: kernel and tools.

Both cases' plain data (`Case.to_json`) are walked side by side. A path names the place as a
study writes it: `links[0].delay`, `flows.bulk.time`, `kernel`; values are written as in a
study, too, exactly and with their units. Flows, probes and hosts are matched by name, links
by their places, and set-up lines and events are compared as texts are, line by line. Of a
file, size and checksum are given in place of its content. The seed is left out: which seeds
were run belongs to the side, not to the case.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from longfat.model.fields import fields_of, written_fields
from longfat.model.kinds import rate_text, size_text, time_text
from longfat.model.network import LinkImpairments

if TYPE_CHECKING:
    from longfat.execution.runs import Run
    from longfat.model.case import Case, File
    from longfat.model.events import Event

_WAYS = ("a_to_b", "b_to_a")
_DECLARED = {field.name: field for field in fields_of(LinkImpairments).values()}
_ENDINGS: Mapping[str, Callable[[Any], str]] = {
    "_bps": lambda value: rate_text(value) if float(value).is_integer() else f"{value!r}bit",
    "_bytes": size_text,
    "_s": time_text,
}


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between two cases.

    Attributes:
        path: where, such as `links[0].delay`.
        before: what A has, as a study writes it; None where A has nothing.
        after: what B has, likewise.
    """

    path: str
    before: str | None
    after: str | None

    def to_json(self) -> dict[str, str | None]:
        """Return the change as plain data."""
        return {"path": self.path, "before": self.before, "after": self.after}


def case_changes(a: Case, b: Case) -> tuple[Change, ...]:
    """Return what differs between two cases but for their seeds.

    Args:
        a: the case of A.
        b: the case of B.
    """
    if dataclasses.replace(b, seed=a.seed) == a:
        return ()
    before, after = a.to_json(), b.to_json()
    networks = before.pop("network"), after.pop("network")
    lines = before.pop("setup"), after.pop("setup")
    for data in (before, after):
        data.pop("files", None)
        data.pop("packages", None)
        data.pop("events", None)
        del data["seed"], data["format"]
    plain = ("kernel", "memory_bytes")
    found = [
        *_fields("", {k: before.pop(k) for k in plain}, {k: after.pop(k) for k in plain}),
        *_network_changes(*networks),
        *_file_changes(a.files, b.files),
        *_line_changes("packages", *([one.line for one in c.packages] for c in (a, b))),
        *_line_changes("setup", *map(_typed, lines)),
    ]
    for room in ("flows", "probes"):
        found += _named(room, before.pop(room), after.pop(room))
    found += _line_changes("events", *([_event_text(one) for one in c.events] for c in (a, b)))
    found += _fields("", before, after)
    return tuple(found)


def _network_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Change]:
    yield from _named("hosts", before["hosts"], after["hosts"])
    yield from _named("switches", before["switches"], after["switches"])
    yield from _fields("", *({"frames": side.get("frames", False)} for side in (before, after)))
    testbeds = (side.get("testbed") or {} for side in (before, after))
    yield from _fields("testbed", *testbeds)
    links = before["links"], after["links"]
    for index in range(max(map(len, links))):
        path = f"links[{index}]"
        one, other = (side[index] if index < len(side) else None for side in links)
        if one is None or other is None:
            yield Change(path, _link_ends(one), _link_ends(other))
            continue
        if _link_ends(one) != _link_ends(other):
            yield Change(path, _link_ends(one), _link_ends(other))
        yield from _link_changes(path, one, other)


def _link_ends(link: Mapping[str, Any] | None) -> str | None:
    return None if link is None else f"{link['a']} - {link['b']}"


def _link_changes(path: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[Change]:
    there, back = (list(_fields(path, one[way], other[way])) for way in _WAYS)
    # A study writes what both directions have in common once.
    yield from (change for change in there if change in back)
    for changes, others, end in ((there, back, other["b"]), (back, there, other["a"])):
        for change in changes:
            if change not in others:
                place = change.path.removeprefix(path)
                yield Change(f"{path}.to.{end}{place}", change.before, change.after)
    rest = [
        {name: value for name, value in link.items() if name not in ("a", "b", *_WAYS)}
        for link in (one, other)
    ]
    yield from _fields(path, *rest)


def _file_changes(before: Iterable[File], after: Iterable[File]) -> Iterator[Change]:
    sides = [{file.path: file for file in files} for files in (before, after)]
    for path in sorted({*sides[0], *sides[1]}):
        one, other = (side.get(path) for side in sides)
        if one != other:
            yield Change(f"files.{path}", _file_text(one), _file_text(other))


def _file_text(file: File | None) -> str | None:
    if file is None:
        return None
    size = len(file.content)
    checksum = hashlib.sha256(file.content).hexdigest()[:12]
    executable = ", executable" if file.executable else ""
    return f"{size:,} {'byte' if size == 1 else 'bytes'}, SHA-256 {checksum}...{executable}"


def _typed(lines: Sequence[Mapping[str, str]]) -> list[str]:
    return [f"{line['node']}: {line['line']}" for line in lines]


def _event_text(event: Event) -> str:
    """Return when an event happens, and what."""
    when = {key: value for key, value in written_fields(event).items() if key not in ("down", "up")}
    words = ", ".join(f"{key} {value}" for key, value in {"at": "0s", **when}.items())
    return f"{words}: {event.summary()}"


def _line_changes(path: str, before: Sequence[str], after: Sequence[str]) -> Iterator[Change]:
    for kind, a, a_end, b, b_end in SequenceMatcher(
        None, before, after, autojunk=False
    ).get_opcodes():
        if kind == "equal":
            continue
        both = min(a_end - a, b_end - b)
        for index in range(both):
            yield Change(f"{path}[{a + index}]", before[a + index], after[b + index])
        for index in range(a + both, a_end):
            yield Change(f"{path}[{index}]", before[index], None)
        for index in range(b + both, b_end):
            yield Change(f"{path}[{index}]", None, after[index])


def _named(
    path: str, before: Iterable[Mapping[str, Any]], after: Iterable[Mapping[str, Any]]
) -> Iterator[Change]:
    """Compare lists whose entries have names."""
    sides = [{entry["name"]: entry for entry in entries} for entries in (before, after)]
    for name in dict.fromkeys([*sides[0], *sides[1]]):
        one, other = (side.get(name) for side in sides)
        place = f"{path}.{name}"
        if one is None or other is None:
            yield Change(place, _entry_text(one), _entry_text(other))
        else:
            yield from _fields(place, one, other)
    if set(sides[0]) == set(sides[1]) and list(sides[0]) != list(sides[1]):
        yield Change(f"{path}, their order", *(", ".join(side) for side in sides))


def _entry_text(entry: Mapping[str, Any] | None) -> str | None:
    """Return a flow, probe, host or switch in a line: what it has, but for what is not set."""
    if entry is None:
        return None
    fields = [f"{_plain(k)}: {_text(k, v)}" for k, v in entry.items() if k != "name" and v]
    return "{" + ", ".join(fields) + "}"


def _fields(path: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[Change]:
    for name in dict.fromkeys([*one, *other]):
        before, after = one.get(name), other.get(name)
        if before != after:
            place = f"{path}.{_plain(name)}" if path else _plain(name)
            yield Change(place, _text(name, before), _text(name, after))


def _plain(name: str) -> str:
    """Return a field's name without its unit, as a study calls it."""
    for ending in _ENDINGS:
        if name.endswith(ending):
            return name.removesuffix(ending)
    return name


def _text(name: str, value: Any) -> str | None:
    """Return a value as a study writes it; None for what is not set."""
    if value is None:
        return None
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_text("", entry) or "-" for entry in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_text(key, one)}" for key, one in value.items()) + "}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        if name in _DECLARED:
            return str(_DECLARED[name].kind.text(value))
        for ending, write in _ENDINGS.items():
            if name.endswith(ending):
                return write(value)
    return str(value)


_DIGEST_DIGITS = 12  # digits of a digest: enough to distinguish two


def environment_changes(a: Iterable[Run], b: Iterable[Run]) -> tuple[Change, ...]:
    """Return what differs between all runs of A and all of B, beside their cases.

    A tool that only one side's cases use is no difference of the environment: it
    follows from the cases.

    Args:
        a: the runs of A.
        b: the runs of B.
    """
    ours, theirs = _environment(a), _environment(b)
    found = []
    for name in (name for name in ours if name in theirs):
        if ours[name] == theirs[name]:
            continue
        versions = [{version for version, _ in side[name]} for side in (ours, theirs)]
        # Equal versions are distinguished by their digests.
        with_digest = versions[0] == versions[1]
        before, after = (
            ", ".join(sorted(_version_text(one, digest=with_digest) for one in side[name]))
            for side in (ours, theirs)
        )
        found.append(Change(name, before, after))
    return tuple(found)


def _environment(runs: Iterable[Run]) -> dict[str, set[tuple[str, str]]]:
    """Return version and digest of kernel and tools, by name: one, or those that runs differ in."""
    found: dict[str, set[tuple[str, str]]] = {"Linux": set()}
    for run in runs:
        found["Linux"].add((run.kernel["release"], run.kernel["digest"]))
        for name, tool in run.tools.items():
            found.setdefault(name, set()).add((tool.version, tool.digest))
    return found


def _version_text(version_and_digest: tuple[str, str], *, digest: bool) -> str:
    version, hashed = version_and_digest
    short = f"bytes {hashed[:_DIGEST_DIGITS] or 'unknown'}"
    if not version:
        return short
    return f"{version}, {short}" if digest else version
