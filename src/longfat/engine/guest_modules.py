"""Write the file of modules that `longfat.guest.boot` reads.

Run by the interpreter of the guests as `PYTHON -I -S -B guest_modules.py ROOT PLACE MODULE...`,
where the package `longfat.guest` lies below ROOT, and a machine sees ROOT as PLACE; the file is
written to ROOT, with these modules and all that they import.
"""

import sys

_KNOWN = frozenset(sys.modules)  # those of an interpreter that has just started

import marshal  # noqa: E402

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

_IN_THE_INTERPRETER = ("built-in", "frozen")


def placed(code: "CodeType", root: str, place: str) -> "CodeType":
    """Return code whose tracebacks show PLACE and not ROOT, which is a folder of the host."""
    inner = (
        placed(value, root, place) if isinstance(value, type(code)) else value
        for value in code.co_consts
    )
    file = code.co_filename
    if file.startswith(f"{root}/"):
        file = place + file.removeprefix(root)
    return code.replace(co_filename=file, co_consts=tuple(inner))


def entry_of(name: str, root: str, place: str) -> tuple[str, str, bytes] | None:
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
    return spec.origin, folder, b"" if code is None else marshal.dumps(placed(code, root, place))


def write(root: str, place: str, names: list[str]) -> None:
    """Write the file to the folder ROOT."""
    sys.path.insert(0, root)
    for name in names:
        __import__(name)
    boot = sys.modules["longfat.guest.boot"]
    index = {}
    codes = []
    start = 0
    for name in sorted(sys.modules.keys() - _KNOWN):
        if (entry := entry_of(name, root, place)) is not None:
            *paths, code = entry
            index[name] = (*(path.removeprefix(f"{root}/") for path in paths), start, len(code))
            codes.append(code)
            start += len(code)
    head = marshal.dumps(index)
    with open(f"{root}/{boot.FILE}", "wb") as written:  # noqa: PTH123  no module more than needed
        written.write(len(head).to_bytes(boot.SIZE_BYTES, "big") + head + b"".join(codes))


if __name__ == "__main__":
    write(sys.argv[1], sys.argv[2], ["longfat.guest.boot", *sys.argv[3:]])
