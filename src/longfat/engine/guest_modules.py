"""Write the file of modules that `longfat.guest.boot` reads.

Run by the interpreter of the guests as
`PYTHON -I -S -B guest_modules.py ROOT PLACE HOME HOME_PLACE MODULE...`, where the package
`longfat.guest` lies below ROOT, and a machine sees ROOT as PLACE; the file is written to ROOT, with
these modules and all that they import. A machine sees the interpreter's own folder HOME as
HOME_PLACE; both are empty if it sees it at the same path.
"""

import sys

_KNOWN = frozenset(sys.modules)  # those of an interpreter that has just started

import marshal  # noqa: E402

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

_IN_THE_INTERPRETER = ("built-in", "frozen")


def placed_path(path: str, places: dict[str, str]) -> str:
    """Return a path as a machine sees it, which is one of the host.

    Args:
        path: the path.
        places: the folders of the host, with their paths in a machine.
    """
    for folder, place in places.items():
        if folder and path.startswith(f"{folder}/"):
            return place + path.removeprefix(folder)
    return path


def placed(code: "CodeType", places: dict[str, str]) -> "CodeType":
    """Return code whose tracebacks show paths of a machine, and not of the host."""
    inner = (
        placed(value, places) if isinstance(value, type(code)) else value
        for value in code.co_consts
    )
    file = placed_path(code.co_filename, places)
    return code.replace(co_filename=file, co_consts=tuple(inner))


def entry_of(name: str, places: dict[str, str]) -> tuple[str, str, bytes] | None:
    """Return a module's file, the folder of its modules if it is a package, and its code.

    A library has no code. None is returned for a module of the interpreter itself, and for
    another name of a module.
    """
    spec = getattr(sys.modules[name], "__spec__", None)
    if spec is None or spec.name != name or spec.origin in _IN_THE_INTERPRETER:
        return None
    folder = next(iter(spec.submodule_search_locations or [""]))
    if spec.origin is None:  # a folder without __init__.py, as `longfat` is in a guest
        return "", folder, marshal.dumps(compile("", name, "exec"))
    code = spec.loader.get_code(name)
    return spec.origin, folder, b"" if code is None else marshal.dumps(placed(code, places))


def write(root: str, place: str, home: str, home_place: str, *, names: list[str]) -> None:
    """Write the file to the folder ROOT."""
    places = {root: place, home: home_place}
    sys.path.insert(0, root)
    for name in names:
        __import__(name)
    boot = sys.modules["longfat.guest.boot"]
    index = {}
    codes = []
    start = 0
    for name in sorted(sys.modules.keys() - _KNOWN):
        if (entry := entry_of(name, places)) is not None:
            *paths, code = entry
            # Those of the program are relative to its folder.
            paths = [placed_path(path.removeprefix(f"{root}/"), places) for path in paths]
            index[name] = (*paths, start, len(code))
            codes.append(code)
            start += len(code)
    head = marshal.dumps(index)
    with open(f"{root}/{boot.FILE}", "wb") as written:  # noqa: PTH123  no module more than needed
        written.write(len(head).to_bytes(boot.SIZE_BYTES, "big") + head + b"".join(codes))


if __name__ == "__main__":
    write(*sys.argv[1:5], names=["longfat.guest.boot", *sys.argv[5:]])
