"""One kill: start a scenario, wait for a moment, kill something, and see it end."""

from __future__ import annotations

import contextlib
import os
import pty
import random
import select
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.killing.isolation import WORK, strangers
from tests.killing.leftovers import Leftover, find_leftovers
from tests.killing.processes import Process, kill_all, living
from tests.killing.scenarios import RUN, Scenario
from tests.paths import LONGFAT

_SIGNALS = ("SIGKILL", "SIGHUP", "SIGTERM", "SIGINT")
_POLL_S = 0.02
_COMES_WITHIN_S = 3.0
_LATE_SHARE = 0.75
_GOES_ON_S = 0.5
_ENDS_WITHIN_S = 60.0

TARGETS = {
    **dict.fromkeys(_SIGNALS, 3),
    **dict.fromkeys(("terminal", "parent", "group", "session"), 3),
    **dict.fromkeys(("bwrap", "guard", "kernel", "remover"), 4),
    **dict.fromkeys(("guards", "remover + main", "guards + main", "guards + remover", "all"), 2),
}
"""What is killed, and how often in relation to the others."""

NEEDS_START = ("remover + main", "guards + main", "all")
"""After these nobody may be left who could clean up: the next start does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One kill and what came of it.

    Attributes:
        number: the kill's number.
        scenario: what was killed.
        target: which process or processes of it.
        stage: how far it had come.
        moment_s: when, in seconds since its start.
        swept: how much the next start had to clean up.
        leftovers: what is left.
    """

    number: int
    scenario: str
    target: str
    stage: str
    moment_s: float
    swept: int
    leftovers: tuple[Leftover, ...]


class Started:
    """A scenario that runs as the child of a shell, perhaps on a terminal."""

    def __init__(self, scenario: Scenario, folder: Path, *, on_terminal: bool) -> None:
        self._scenario = scenario
        (folder / "out").mkdir(parents=True)
        for name, text in scenario.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        self._near, far = pty.openpty() if on_terminal else os.pipe()
        command = ["sh", "-c", f"{shlex.join(scenario.command)}; :"]
        try:
            self.shell = subprocess.Popen(
                ["setsid", "--ctty", *command] if on_terminal else command,
                cwd=folder,
                stdin=far if on_terminal else subprocess.DEVNULL,
                stdout=far,
                stderr=far,
                env=_environment(scenario, folder),
                start_new_session=not on_terminal,
            )
        finally:
            os.close(far)
        self.said = ""
        self._closed = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        unread = ""
        while not self._closed.is_set():
            if not select.select([self._near], [], [], 0.05)[0]:
                continue
            try:
                text = os.read(self._near, 65536).decode(errors="replace")
            except OSError:  # a terminal whose other end is closed
                return
            if not text:
                return
            self.said += text
            *lines, unread = (unread + text).split("\n")
            for line in lines:
                with contextlib.suppress(OSError):
                    self._scenario.drive(line)

    def close(self) -> None:
        """Close the terminal, or the pipe that takes the output."""
        if not self._closed.is_set():
            self._closed.set()
            self._reader.join()
            os.close(self._near)

    def main(self, there: Sequence[Process]) -> Process | None:
        """Return longfat's own process, if it runs."""
        program = self._scenario.command[0]
        for one in there:
            if one.parent == self.shell.pid and program in one.command:
                return one
        return None


def lasting_s(scenario: Scenario) -> float:
    """Return how long a scenario takes here that nobody kills, in seconds."""
    if not scenario.ends:
        return scenario.lasts_s
    before_s = time.monotonic()
    with _started(scenario, on_terminal=scenario.terminal) as (started, _):
        if status := started.shell.wait(_ENDS_WITHIN_S):
            raise SystemExit(f"{scenario.name} ends with {status}:\n{started.said}")
    return time.monotonic() - before_s


def kill_one(
    number: int, scenario: Scenario, *, lasts_s: float, seed: str, digests: dict[int, str]
) -> Hit | None:
    """Start a scenario and kill something of it at a random moment.

    Args:
        number: what the kill is called.
        scenario: what to start.
        lasts_s: how long it takes, in seconds.
        seed: decides what is killed, and when.
        digests: as of `find_leftovers`.

    Returns:
        What came of it; None if it ended before there was anything to kill.
    """
    chance = random.Random(seed)
    target = chance.choices(list(TARGETS), list(TARGETS.values()))[0]
    # Most of the time Python loads modules, and there is nothing to be left.
    is_late = chance.random() < _LATE_SHARE
    moment_s = chance.uniform(0.0, lasts_s * (0.5 if is_late else 1.0))
    on_terminal = scenario.terminal or target == "terminal" or chance.random() < 0.3
    with _started(scenario, on_terminal=on_terminal) as (started, folder):
        start_s = time.monotonic()
        if is_late and not _wait_for_remover(started):
            return None
        time.sleep(moment_s)
        aimed_s = time.monotonic()
        while not (stage := _kill(target, started, chance)):
            if started.shell.poll() is not None:
                return None
            if time.monotonic() - aimed_s > _COMES_WITHIN_S:
                return None
            time.sleep(_POLL_S)
        moment_s = time.monotonic() - start_s
        _see_end(scenario, started)
        left = find_leftovers(folder, digests=digests)
        swept = 0
        if target in NEEDS_START and left:
            swept = len(left)
            _start_next(scenario, folder)
            left = find_leftovers(folder, digests=digests)
            swept -= len(left)
        return Hit(
            number=number,
            scenario=scenario.name,
            target=target,
            stage=stage,
            moment_s=moment_s,
            swept=swept,
            leftovers=tuple(left),
        )


def _wait_for_remover(started: Started) -> bool:
    """Wait until something is to be removed; return False if that never comes."""
    end_s = time.monotonic() + _ENDS_WITHIN_S
    while started.shell.poll() is None and time.monotonic() < end_s:
        if any(one.is_remover for one in living()):
            return True
        time.sleep(_POLL_S)
    return False


@contextlib.contextmanager
def _started(scenario: Scenario, *, on_terminal: bool) -> Iterator[tuple[Started, Path]]:
    """Start a scenario in a folder of its own; whatever is left of it afterwards goes."""
    folder = WORK / "kill"
    started = Started(scenario, folder, on_terminal=on_terminal)
    try:
        yield started, folder
    finally:
        started.close()
        while there := living():
            kill_all(there)
            time.sleep(_POLL_S)
        started.shell.wait()
        _reap()
        shutil.rmtree(folder)
        for path in strangers():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()


def _reap() -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _kill(target: str, started: Started, chance: random.Random) -> str:
    """Kill, if what is to be killed is there; return how far the scenario had come."""
    there = living()
    main = started.main(there)
    if main is None:
        return ""
    stage = _stage(there)
    if target in _SIGNALS:
        main.kill(signal.Signals[target])
    elif target == "terminal":
        started.close()
    elif target == "parent":
        started.shell.kill()
    else:
        chosen = _chosen(target, there, main, chance)
        if not chosen:
            return ""
        kill_all(chosen)
    return stage


def _chosen(
    target: str, there: Sequence[Process], main: Process, chance: random.Random
) -> list[Process]:
    guards = [one for one in there if one.is_guard]
    removers = [one for one in there if one.is_remover]
    one_of = {
        "bwrap": [one for one in there if one.is_bwrap],
        "guard": guards,
        "kernel": [one for one in there if one.is_kernel],
        "remover": removers,
    }
    all_of = {
        "group": [one for one in there if one.group == main.group],
        "session": [one for one in there if one.session == main.session],
        "guards": guards,
        "remover + main": [*removers, main] if removers else [],
        "guards + main": [*guards, main] if guards else [],
        "guards + remover": [*guards, *removers] if guards and removers else [],
        "all": list(there),
    }
    if target in one_of:
        return [chance.choice(one_of[target])] if one_of[target] else []
    return all_of[target]


def _stage(there: Sequence[Process]) -> str:
    if any(one.is_kernel for one in there):
        return "machine"
    if any(one.is_bwrap for one in there):
        return "sandbox"
    if any(one.is_guard for one in there):
        return "guard"
    return "remover" if any(one.is_remover for one in there) else "none of them"


def _see_end(scenario: Scenario, started: Started) -> None:
    """Let what survived go on for a while, and end what does not end by itself."""
    start_s = time.monotonic()
    told_s = 0.0
    while (now_s := time.monotonic()) - start_s < _ENDS_WITHIN_S:
        mains = [one for one in living() if _is_main(scenario, one)]
        if not mains:
            return
        # The first signal may be passed on to a command in the machine.
        if not scenario.ends and now_s - start_s > _GOES_ON_S and now_s - told_s > 1.0:
            told_s = now_s
            for one in mains:
                one.kill(signal.SIGTERM)
        time.sleep(_POLL_S)
    # Else a next start would wait for it, too.
    print(f"{scenario.name} does not end: {started.said[-500:]}", flush=True)


def _is_main(scenario: Scenario, process: Process) -> bool:
    """Tell whether this is longfat's own process: a script has its interpreter before it."""
    words = process.command.split()
    program = scenario.command[:2]
    return words[:2] == list(program[:2]) or words[1:3] == list(program[:2])


def _start_next(scenario: Scenario, folder: Path) -> None:
    """Start longfat once more, in the same folder and with the same caches."""
    (folder / "study.yaml").write_text(RUN.files["study.yaml"])
    run = (*RUN.command, "--out", scenario.out)
    command = (LONGFAT, "kernel", "list") if scenario.own_cache else run
    subprocess.run(
        command,
        cwd=folder,
        env=_environment(scenario, folder),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )


def _environment(scenario: Scenario, folder: Path) -> dict[str, str]:
    own = {"LONGFAT_RESULT_CACHE": str(folder / "memory"), "TERM": "dumb"}
    if scenario.own_cache:
        own["LONGFAT_CACHE"] = str(folder / "cache")
    return {**os.environ, **own}
