"""The first program of a machine: import a module of the guest, and call its `main`.

Python's own way to a module looks for it in each folder, reads its file by eight system calls, and
takes locks that ask for the time: half of the 2,900 system calls of the first process of a short
case, and each costs as much as a hundred on the host. So the modules that a machine may need lie
in one file, which `longfat.engine.guest_modules` writes, and until `Modules.close` imports find
them there. What is not in the file is found in Python's own way.

Started by the kernel as `PYTHON -I -S -B boot.py MODULE`. What is imported here is built in.
"""

import _frozen_importlib
import _frozen_importlib_external
import builtins
import marshal
import posix
import sys

TYPE_CHECKING = False  # importing `typing` takes longer than all of this
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

FILE = "modules"
"""The file, in the folder that holds the package `longfat`."""

# It begins with the size of its index, in big-endian byte order, and the index.
SIZE_BYTES = 8

_MAIN = "/longfat/guest/boot.py"


class Modules:
    """The modules of the file: a finder of `sys.meta_path`, and the loader of what it finds.

    Args:
        root: the folder that holds the file and the package `longfat`.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._file = posix.open(f"{root}/{FILE}", posix.O_RDONLY | posix.O_CLOEXEC)
        size = int.from_bytes(posix.pread(self._file, SIZE_BYTES, 0), "big")
        # Of each module: its file, the folder of its own modules if it is a package, and where its
        # code is in our file and how long that is: 0 bytes if the module is a library.
        index: dict[str, tuple[str, str, int, int]]
        index = marshal.loads(posix.pread(self._file, size, SIZE_BYTES))
        self._index = index
        self._codes_start = SIZE_BYTES + size
        self._import = builtins.__import__
        builtins.__import__ = self._import_directly
        sys.meta_path.insert(0, self)

    def load(self, name: str) -> "ModuleType":
        """Import a module, and return it."""
        self._import_directly(name)
        return sys.modules[name]

    def close(self) -> None:
        """Let imports find modules in Python's own way, when the program has what it needs."""
        sys.meta_path.remove(self)
        builtins.__import__ = self._import
        posix.close(self._file)

    def find_spec(
        self, name: str, path: "Sequence[str] | None" = None, target: "ModuleType | None" = None
    ) -> "ModuleSpec | None":
        """Return the specification of a module, or None if it is not in the file."""
        del path, target
        if name not in self._index:
            return None
        file, folder, _, size = self._index[name]
        file, folder = (
            path if path[:1] in ("", "/") else f"{self._root}/{path}" for path in (file, folder)
        )
        if not size:
            return _frozen_importlib_external.spec_from_file_location(name, file)
        spec = _frozen_importlib.ModuleSpec(
            name,
            self,  # type: ignore[arg-type]
            origin=file,
            is_package=bool(folder),
        )
        if spec.submodule_search_locations is not None:
            spec.submodule_search_locations.append(folder)
        spec.has_location = True
        return spec

    def create_module(self, spec: "ModuleSpec") -> None:
        """Leave it to the interpreter."""

    def exec_module(self, module: "ModuleType") -> None:
        """Execute a module's code."""
        _, _, start, size = self._index[module.__name__]
        code = posix.pread(self._file, size, self._codes_start + start)
        exec(marshal.loads(code), module.__dict__)

    def _import_directly(
        self,
        name: str,
        globals: "Mapping[str, object] | None" = None,  # noqa: A002  as `__import__` has them
        locals: "Mapping[str, object] | None" = None,  # noqa: A002
        fromlist: "Sequence[str] | None" = (),
        level: int = 0,
    ) -> "ModuleType":
        """Import as `__import__` does, which finds all there, and so takes no locks."""
        whole = name
        if level:
            parts = str((globals or {})["__package__"]).split(".")
            whole = ".".join([*parts[: len(parts) - level + 1], *([name] if name else [])])
        if whole not in sys.modules:
            package = ""
            for part in whole.split("."):
                self._execute(package + part)
                package += f"{part}."
        for one in fromlist or ():
            if f"{whole}.{one}" in self._index and not hasattr(sys.modules[whole], one):
                self._execute(f"{whole}.{one}")
        return self._import(name, globals, locals, fromlist or (), level)

    def _execute(self, name: str) -> None:
        """Execute a module that has not been; leave what is not found to `__import__`."""
        if name in sys.modules:
            return
        spec = (
            self.find_spec(name)
            or _frozen_importlib.BuiltinImporter.find_spec(name)
            or _frozen_importlib.FrozenImporter.find_spec(name)
        )
        if spec is None or spec.loader is None:
            return
        module = _frozen_importlib.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            sys.modules.pop(name, None)
            raise
        package, _, own = name.rpartition(".")
        if package:
            setattr(sys.modules[package], own, sys.modules[name])


if __name__ == "__main__":
    sys.path.insert(0, __file__.removesuffix(_MAIN))
    modules = Modules(sys.path[0])
    modules.load(sys.argv[1]).main(modules)
