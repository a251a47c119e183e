"""The files beside a script that it needs: modules that it imports, and files that it names.

A machine shows a script none of the user's files. Those that its text names are given to it, under
the rules for files of a study: regular ones in its own folder, none hidden and none behind a link.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from longfat.errors import InputError
from longfat.study.file_reader import folder_reader

MAX_FILES = 100
_MAX_BYTES = 16 * 1024**2
_MAX_NAME = 200


def helper_files(script: Path, content: bytes, arguments: Sequence[str] = ()) -> dict[str, bytes]:
    """Return the files that a script needs from its own folder, by their relative paths.

    Args:
        script: the script.
        content: its text.
        arguments: its arguments, which may be names of files, too.
    """
    folder = script.parent
    reader = folder_reader(folder)
    files: dict[str, bytes] = {}
    waiting = list(_named(content, folder)) + [one for one in arguments if _is_file(folder, one)]
    while waiting and len(files) < MAX_FILES:
        name = waiting.pop(0)
        if name in files or (folder / name) == script:
            continue
        try:
            data = reader(name)
        except InputError:  # hidden, a link, or outside
            continue
        if sum(map(len, files.values())) + len(data) > _MAX_BYTES:
            break
        files[name] = data
        if name.endswith(".py"):
            waiting += _named(data, folder)
    return files


def mentioned(files: Mapping[str, bytes], lines: Iterable[str]) -> dict[str, bytes]:
    """Return the files that typed lines name, and the modules that they may import."""
    text = "\n".join(lines)
    if not any(name in text for name in files):
        return {}
    return {name: data for name, data in files.items() if name in text or name.endswith(".py")}


def _named(content: bytes, folder: Path) -> Iterator[str]:
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or "", *(f"{node.module}.{one.name}" for one in node.names)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            for word in (node.value, *node.value.split()):
                name = word.strip("'\"").removeprefix("./")
                if _is_file(folder, name):
                    yield name
            continue
        else:
            continue
        for module in filter(None, modules):
            path = module.replace(".", "/")
            package = "/".join(path.split("/")[:1])
            names = (f"{path}.py", f"{path}/__init__.py", f"{package}.py", f"{package}/__init__.py")
            yield from (name for name in names if _is_file(folder, name))


def _is_file(folder: Path, name: str) -> bool:
    if not 0 < len(name) <= _MAX_NAME or name.startswith("/") or "\0" in name or "\n" in name:
        return False
    try:
        return (folder / name).is_file()
    except OSError:
        return False
