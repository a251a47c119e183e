"""All that is wrong with a study's text, and the repair of a network that cannot be crossed."""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from longfat.common.suggest import listed
from longfat.errors import InputError, Place
from longfat.model.flow_path.charged_queues import charged_queues
from longfat.model.flow_path.setting_warnings import setting_warnings
from longfat.model.lint import Origin, lint_case
from longfat.model.network import Network
from longfat.study.document import parse_document
from longfat.study.expansion import DEFAULT_LIMITS, ExpansionLimits
from longfat.study.file_reader import FileReader, no_files
from longfat.study.files import Images, Traces
from longfat.study.model import Planned, Study
from longfat.study.network import addressing_of, named_nodes, read_network
from longfat.study.node import Node
from longfat.study.reachability import UnreachableError
from longfat.study.read import parse_study
from longfat.study.repair import Edit, repair, separate_parts, unreached

_MAX_CASES = 100
_MAX_NAMED = 3
_NUMBERS = re.compile(r"[0-9][0-9.,]*")
_TOP_KEY = re.compile(r"^[A-Za-z_]\w*:", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A message about a study.

    Attributes:
        error: what, with its place.
        is_mistake: the study cannot be run; else it only may not do what is meant.
        has_repair: `Checked.repair` sets it right.
    """

    error: InputError
    is_mistake: bool = True
    has_repair: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a check of a study's text found.

    Attributes:
        study: the study; None if it has mistakes.
        findings: what is to be reported, in the file's order.
        repair: what lets all hosts reach each other; empty where they do, or where nothing
            that is known would help.
    """

    study: Study | None
    findings: tuple[Finding, ...]
    repair: tuple[Edit, ...] = ()


def check_text(
    text: str,
    *,
    name: str,
    beside: FileReader = no_files,
    limits: ExpansionLimits = DEFAULT_LIMITS,
) -> Checked:
    """Check a study's text.

    Args:
        text: the text.
        name: what messages call its file.
        beside: reads the files that it names.
        limits: how far it may expand.
    """
    try:
        study = parse_study(text, name=name, beside=beside, limits=limits)
    except InputError as error:
        edits: tuple[Edit, ...] = ()
        needed = [one.ends for one in error.mistakes if isinstance(one, UnreachableError)]
        if needed:
            edits = _repair_of(text, name=name, beside=beside, needed=needed)
        findings = tuple(
            Finding(error=one, has_repair=bool(edits) and isinstance(one, UnreachableError))
            for one in error.mistakes
        )
        return Checked(study=None, findings=findings, repair=edits)
    settings = tuple(Finding(error=one, is_mistake=False) for one in setting_warnings_of(study))
    settings += _undecided_kernel(study, name=name, text=text)
    if study.common is None:
        return Checked(study=study, findings=settings)
    case = study.common.case
    settings += _separate_parts(case.network, name=name, text=text)
    lacking = unreached(case.network, case.setup)
    if not lacking:
        return Checked(study=study, findings=settings)
    edits = _repair_of(text, name=name, beside=beside)
    places = _host_places(text, name=name)
    warnings = tuple(
        Finding(
            error=InputError(f"{source} cannot reach {target}: {reason}", place=places.get(source)),
            is_mistake=False,
            has_repair=bool(edits),
        )
        for source, target, reason in lacking
    )
    return Checked(study=study, findings=(*settings, *warnings), repair=edits)


def _undecided_kernel(study: Study, *, name: str, text: str) -> tuple[Finding, ...]:
    """Return a warning if a study stands beside published figures and its queues are ambiguous.

    A source that measured in Mininet had one kernel for all hosts, and one with computers of its
    own had many; where a sender would feel a queue, the study has to say which.
    """
    if study.published is None:
        return ()
    cases = [
        planned.case
        for planned in itertools.islice(study.cases.values(), _MAX_CASES)
        if not planned.case.network.shared_kernel
    ]
    queues = dict.fromkeys(queue for case in cases for queue in charged_queues(case))
    node = _network_of(text, name=name) if queues else None
    if node is None or "shared_kernel" in {key.text for key, _ in node.items("a network")}:
        return ()
    message = (
        f"figures stand beside published ones, and no delay comes before the queue of"
        f" {listed(list(queues)[:_MAX_NAMED])}, which senders of one kernel feel: write"
        " shared_kernel: yes if the source's hosts shared a kernel, as in Mininet, or no if they"
        " were computers of their own"
    )
    return (Finding(error=InputError(message, place=node.place), is_mistake=False),)


def _separate_parts(network: Network, *, name: str, text: str) -> tuple[Finding, ...]:
    """Return a warning for each part of a network that no links join to the first one."""
    first, *parts = separate_parts(network) or [()]
    if not parts:
        return ()
    places = _host_places(text, name=name)
    return tuple(
        Finding(
            error=InputError(
                f"no links lead from {first[0]} to {' or '.join(part[:_MAX_NAMED])}"
                + (f" or {others} others" if (others := len(part) - _MAX_NAMED) > 0 else ""),
                place=places.get(part[0]),
            ),
            is_mistake=False,
        )
        for part in parts
    )


def setting_warnings_of(study: Study, names: Collection[str] = ()) -> list[InputError]:
    """Return the settings and typed lines of a study that do not do what they say, each once.

    Of a study with many cases, the first `_MAX_CASES` are examined.

    Args:
        study: the study.
        names: the cases that matter; empty for all.
    """
    errors: dict[tuple[str, str], InputError] = {}
    cases = (planned for name, planned in study.cases.items() if not names or name in names)
    for planned in itertools.islice(cases, _MAX_CASES):
        for finding in lint_case(planned.case):
            where = _place_of(planned, finding.origin)
            # What differs from case to case in its numbers only is reported once for a line.
            key = (str(where), _NUMBERS.sub("", finding.text))
            errors.setdefault(key, InputError(finding.text, place=where))
        for index, warning in setting_warnings(planned.case):
            name, text, place = "", warning, None
            if index is not None:
                name = planned.case.flows[index].name
                text = f"flow {name!r}: {warning}"
                place = planned.places.flows[index] if planned.places.flows else None
            errors.setdefault((name, text), InputError(text, place=place))
    return list(errors.values())


def _place_of(planned: Planned, origin: Origin) -> Place | None:
    """Return where a line or a link of a case is written; None if it is not known."""
    places = planned.places
    if origin.setup is not None:
        return places.setup[origin.setup] if places.setup else None
    if origin.event is not None:
        return places.events[origin.event] if places.events else None
    links = places.links if len(places.links) == len(planned.case.network.links) else ()
    return links[origin.link] if links and origin.link is not None else None


def _repair_of(
    text: str, *, name: str, beside: FileReader, needed: Sequence[tuple[str, str]] = ()
) -> tuple[Edit, ...]:
    node = _network_of(text, name=name)
    if node is None:
        return ()
    try:
        network = read_network(node, traces=Traces(beside), images=Images(beside))
    except InputError:
        return ()
    edits = repair(network, needed, addressing=addressing_of(node)) or ()
    routers = {value for key, value in node.items("a network") if key.text == "routers"}
    names = {name for value in routers for name, _, _ in named_nodes(value)}
    return tuple(
        replace(edit, path=("routers", *edit.path[1:]))
        if edit.path[0] == "hosts" and edit.path[1] in names
        else edit
        for edit in edits
    )


def _fields_of(text: str, *, name: str) -> dict[str, Node]:
    root = Node(raw=parse_document(text.encode(), file=name), file=name)
    return {key.text: value for key, value in root.items("a study")}


def _network_of(text: str, *, name: str) -> Node | None:
    return _fields_of(text, name=name).get("network")


def _host_places(text: str, *, name: str) -> dict[str, Place]:
    node = _network_of(text, name=name)
    fields = {} if node is None else {key.text: one for key, one in node.items("a network")}
    return {
        name: value.place
        for field in ("hosts", "routers")
        if field in fields
        for name, _, value in named_nodes(fields[field])
    }


def repaired(text: str, edits: Sequence[Edit]) -> str:
    """Return a study's text in which the edits of its network are made.

    Comments are kept. Lines of `network` are rewritten where they change; all other lines
    keep their bytes.

    Args:
        text: the text, of a study with its network in block style at the top level.
        edits: the edits.

    Raises:
        InputError: the network's lines cannot be separated from the others.
    """
    starts = [found.start() for found in _TOP_KEY.finditer(text)] + [len(text)]
    begin = next((one for one in starts[:-1] if text.startswith("network:", one)), None)
    if begin is None:
        raise InputError("the study's network has no lines of its own, so edit it by hand")
    end = min(one for one in starts if one > begin)
    yaml = YAML(typ="rt")
    yaml.preserve_quotes = True
    yaml.width = 2**20  # lines stay whole
    yaml.brace_single_entry_mapping_in_flow_sequence = True
    block = text[begin:end]
    deep = re.search(r"^( +)- ", block, re.MULTILINE)
    dash = len(deep[1]) - 2 if deep else 2
    yaml.indent(mapping=2, sequence=dash + 2, offset=dash)
    tree = yaml.load(block)
    network = tree["network"]
    for edit in edits:
        nodes, name = edit.path[:2]
        if nodes in {"hosts", "routers"} and isinstance(network[nodes], CommentedSeq):
            if edit.path[2:] == ("forwards",):
                _move_to_routers(network, str(name))
                continue
            network[nodes] = _flow(dict.fromkeys(network[nodes]))
        _set(network, edit.path, edit.value)
    out = io.StringIO()
    yaml.dump(tree, out)
    return text[:begin] + out.getvalue() + text[end:]


def _move_to_routers(network: CommentedMap, name: str) -> None:
    """Move a name of the list of hosts to that of the routers."""
    network["hosts"].remove(name)
    routers = network.get("routers")
    if isinstance(routers, CommentedMap):
        routers[name] = None
    elif routers is not None:
        routers.append(name)
    else:
        listed = CommentedSeq([name])
        listed.fa.set_flow_style()
        network.insert(list(network).index("hosts") + 1, "routers", listed)


def _set(holder: Any, path: Sequence[Any], value: str | None) -> None:
    """Set the value at a path, or remove it; missing parents are created in flow style."""
    root = holder
    for index, step in enumerate(path[:-1]):
        is_list = isinstance(holder, CommentedSeq)
        there = (holder[step] if step < len(holder) else None) if is_list else holder.get(step)
        if there is None:
            nested = reduce(
                lambda inner, key: _flow({key: inner}), reversed(path[index + 1 :]), value
            )
            if is_list:
                holder.append(nested)
            else:
                holder[step] = nested
            return
        if not isinstance(there, CommentedMap | CommentedSeq):
            # `h1: 10.0.0.1/8` becomes `h1: {address: 10.0.0.1/8}`; an address stays what it is.
            if path[index + 1 :] == ("address",):
                holder[step] = value
                return
            there = _flow({"address": there})
            holder[step] = there
        holder = there
    if value is None:
        holder.pop(path[-1], None)
        if not holder and path[-2] in {"routes", "addresses"}:
            _set(root, path[:-1], None)
    else:
        holder[path[-1]] = value


def _flow(values: dict[Any, Any]) -> Any:
    found = CommentedMap(values)
    found.fa.set_flow_style()
    return found
