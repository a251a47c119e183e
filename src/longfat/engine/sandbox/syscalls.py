"""The system calls that a machine's kernel process may make on the host.

A User-Mode Linux kernel does its guest's work with few system calls of the host:
it traces its own children, maps memory, and reads and writes files. An attacker who
takes over the kernel process can make no others: no socket, no
mount, no namespace, no other process's memory. What is not listed here fails
with ENOSYS, which a C library treats as an older Linux. brk(2) is not listed:
kernel/shims/heap.c explains why.

The list contains the calls of 6.x kernels in both of their modes (ptrace and
seccomp), and those of the C library around them. Numbers and arguments are
those of x86-64.

Sources: seccomp(2); include/uapi/linux/{filter,seccomp,audit}.h; and for
User-Mode Linux, arch/um/os-Linux and fs/hostfs/hostfs_user.c.
"""

from __future__ import annotations

import errno
import struct
from dataclasses import dataclass

_ARCHITECTURE = 0xC000003E  # AUDIT_ARCH_X86_64
_FIRST_X32 = 0x40000000

_ALLOW = 0x7FFF0000
_KILL = 0x80000000
_FAIL = 0x00050000  # and an errno in the low 16 bits

# The most frequent calls of a running machine come first.
_PLAIN = {
    "wait4": 61,
    "getpid": 39,
    "pread64": 17,
    "newfstatat": 262,
    "read": 0,
    "write": 1,
    "close": 3,
    "munmap": 11,
    "mprotect": 10,
    "futex": 202,
    "rt_sigprocmask": 14,
    "rt_sigaction": 13,
    "rt_sigreturn": 15,
    "epoll_wait": 232,
    "clock_gettime": 228,
    "clock_nanosleep": 230,
    "nanosleep": 35,
    "timer_settime": 223,
    "timer_gettime": 224,
    "kill": 62,
    "tgkill": 234,
    "access": 21,
    "getdents64": 217,
    "lseek": 8,
    "readlink": 89,
    "pwrite64": 18,
    "readv": 19,
    "writev": 20,
    "dup": 32,
    "dup2": 33,
    "poll": 7,
    "madvise": 28,
    "mremap": 25,
    "sched_yield": 24,
    "pipe": 22,
    "pipe2": 293,
    "stat": 4,
    "fstat": 5,
    "lstat": 6,
    "statx": 332,
    "statfs": 137,
    "fstatfs": 138,
    "faccessat": 269,
    "faccessat2": 439,
    "readlinkat": 267,
    "fsync": 74,
    "fdatasync": 75,
    "truncate": 76,
    "ftruncate": 77,
    "fallocate": 285,
    "mkdir": 83,
    "rmdir": 84,
    "link": 86,
    "unlink": 87,
    "symlink": 88,
    "rename": 82,
    "renameat2": 316,
    "chown": 92,
    "fchown": 93,
    "lchown": 94,
    "utime": 132,
    "utimes": 235,
    "futimesat": 261,
    "utimensat": 280,
    "uname": 63,
    "umask": 95,
    "gettimeofday": 96,
    "time": 201,
    "getrlimit": 97,
    "getuid": 102,
    "getgid": 104,
    "geteuid": 107,
    "getegid": 108,
    "getppid": 110,
    "getpgrp": 111,
    "setsid": 112,
    "getpgid": 121,
    "gettid": 186,
    "sigaltstack": 131,
    "set_tid_address": 218,
    "set_robust_list": 273,
    "rseq": 334,
    "getrandom": 318,
    "timer_create": 222,
    "timer_delete": 226,
    "clock_getres": 229,
    "epoll_create": 213,
    "epoll_create1": 291,
    "epoll_ctl": 233,
    "epoll_pwait": 281,
    "waitid": 247,
    "execve": 59,
    "exit": 60,
    "exit_group": 231,
}

# Additional calls of a kernel that runs its guest under seccomp: 6.16 and later.
_OF_SECCOMP_MODE = {
    "sendmsg": 46,
    "recvmsg": 47,
    "seccomp": 317,
    "close_range": 436,
    "execveat": 322,
    "signalfd4": 289,
}


@dataclass(frozen=True, slots=True)
class _Bits:
    """An argument that must have none of these bits."""

    argument: int
    forbidden: int


@dataclass(frozen=True, slots=True)
class _Values:
    """An argument that must be one of these values."""

    argument: int
    allowed: tuple[int, ...]


_SET_ID = 0o6000  # a file of the user's that runs as the user, whoever starts it
_NEW_NAMESPACES = 0x7E020080  # CLONE_NEW..., and CLONE_NEWTIME, which takes a signal's place
_SHARED_ANONYMOUS = 0x21  # memory that no limit but the address space's counts

_PTRACE = _Values(
    0,
    (
        *(0, 3, 6, 7, 8, 9),  # TRACEME, PEEKUSR, POKEUSR, CONT, KILL, SINGLESTEP
        *(12, 13, 14, 15, 18, 19),  # the registers
        *(21, 24, 30, 31, 32),  # OLDSETOPTIONS, SYSCALL, ARCH_PRCTL, SYSEMU...
        *(0x4200, 0x4201, 0x4202, 0x4204, 0x4205),  # options, events, signals, register sets
    ),
)

_FCNTL = _Values(
    # F_DUPFD, flags, record locks, and who gets a signal; F_DUPFD_CLOEXEC
    1,
    (*range(12), 1030),
)
_PDEATHSIG, _SET_NO_NEW_PRIVS, _SET_VMA = 1, 38, 0x53564D41
_TCGETS, _FIONREAD = 0x5401, 0x541B

# The system calls whose arguments are checked, the frequent ones first.
_CHECKED: dict[str, tuple[int, _Bits | _Values]] = {
    "ptrace": (101, _PTRACE),
    "openat": (257, _Bits(3, _SET_ID)),
    "open": (2, _Bits(2, _SET_ID)),
    "creat": (85, _Bits(1, _SET_ID)),
    "clone": (56, _Bits(0, _NEW_NAMESPACES)),
    "fcntl": (72, _FCNTL),
    "ioctl": (16, _Values(1, (_TCGETS, _FIONREAD))),
    "arch_prctl": (158, _Values(0, (0x1001, 0x1002, 0x1003, 0x1004))),
    "prctl": (157, _Values(0, (_PDEATHSIG, _SET_NO_NEW_PRIVS, _SET_VMA))),
    "chmod": (90, _Bits(1, _SET_ID)),
    "fchmod": (91, _Bits(1, _SET_ID)),
    "fchmodat": (268, _Bits(2, _SET_ID)),
    # Before 6.13 a new address space begins with the clearing of its table.
    "modify_ldt": (154, _Values(0, (0, 1, 2))),
    "prlimit64": (302, _Values(0, (0,))),  # its own
    "setrlimit": (160, _Values(0, (3,))),  # RLIMIT_STACK
}
_MMAP = 9
_SOCKETPAIR = 53
_AF_UNIX, _SOCK_STREAM, _SOCK_FLAGS = 1, 1, 0o2004000  # CLOEXEC and NONBLOCK

# What a process must not do to the host, and Landlock has no right for: change a
# file that may only be read (truncation: before version 3), and leave the process group,
# by which all of a machine's processes are killed.
_PAST_LANDLOCK = {
    "setsid": 112,
    "truncate": 76,
    "chmod": 90,
    "fchmod": 91,
    "chown": 92,
    "fchown": 93,
    "lchown": 94,
    "utime": 132,
    "utimes": 235,
    "futimesat": 261,
    "fchmodat": 268,
    "utimensat": 280,
}

# A guest's program may call these for a folder that it may write to: the result is EPERM.
_NOT_PERMITTED = {"mknod": 133, "mknodat": 259}


# A guest's program can read the host's clock by them, and without a system call that the guest's
# kernel sees: the host runs the calls of its vsyscall page, at the end of the address space, and
# asks the filter first (arch/x86/entry/vsyscall/vsyscall_64.c). A filter that is not asked for
# the place of other calls remains fast: the host caches what depends on the number only.
_OF_VSYSCALL_PAGE = ("gettimeofday", "time")
_HIGH_HALF_OF_PAGE = 0xFFFFFFFF


def filter_program(*, runs_guest_by_seccomp: bool, sees_host: bool) -> bytes:
    """Return the filter of a kernel process, as an array of `struct sock_filter`.

    Args:
        runs_guest_by_seccomp: the kernel runs its guest's processes by seccomp, not
            by ptrace.
        sees_host: the process has no view of files of its own: its paths lead to the
            host's files, with the rights that Landlock grants.
    """
    not_permitted = _NOT_PERMITTED | (_PAST_LANDLOCK if sees_host else {})
    program = _Program()
    program.load(4)
    program.unless_equal(_ARCHITECTURE, [_ret(_KILL)])
    program.load(0)
    program.add(_jump(_GREATER_EQUAL, _FIRST_X32, 0, 1), _ret(_KILL))
    number, check = _CHECKED["ptrace"]
    program.when_equal(number, _checked(check))
    program.when_equal(_MMAP, _mmap())
    plain = {**_PLAIN, **(_OF_SECCOMP_MODE if runs_guest_by_seccomp else {})}
    for name in _OF_VSYSCALL_PAGE:
        program.when_equal(plain.pop(name), _by_instruction())
    for name, number in plain.items():
        if name not in not_permitted:
            program.add(_jump(_EQUAL, number, 0, 1), _ret(_ALLOW))
    if runs_guest_by_seccomp:
        program.when_equal(_SOCKETPAIR, _socketpair())
    for name, (number, check) in _CHECKED.items():
        if name != "ptrace" and name not in not_permitted:
            program.when_equal(number, _checked(check))
    for number in not_permitted.values():
        program.add(_jump(_EQUAL, number, 0, 1), _ret(_FAIL | errno.EPERM))
    program.add(_ret(_FAIL | errno.ENOSYS))
    return program.bytes()


# The classic BPF that seccomp takes: linux/filter.h.
_INSTRUCTION = struct.Struct("=HBBI")
_LOAD, _RETURN = 0x20, 0x06
_EQUAL, _GREATER_EQUAL, _ANY_BIT = 0x15, 0x35, 0x45
_AND = 0x54


def _ret(action: int) -> bytes:
    return _INSTRUCTION.pack(_RETURN, 0, 0, action)


def _jump(test: int, value: int, if_so: int, if_not: int) -> bytes:
    return _INSTRUCTION.pack(test, if_so, if_not, value)


def _load(offset: int) -> bytes:
    return _INSTRUCTION.pack(_LOAD, 0, 0, offset)


def _argument(index: int) -> int:
    """Return the offset of the low half of an argument in struct seccomp_data.

    The kernel takes each of the arguments that are checked here as an int, so its high
    half is irrelevant.
    """
    return 16 + 8 * index


def _checked(check: _Bits | _Values) -> list[bytes]:
    """Return the instructions for a call whose number matched: they always return."""
    denied = _ret(_FAIL | errno.EPERM)
    load = _load(_argument(check.argument))
    if isinstance(check, _Bits):
        return [load, _jump(_ANY_BIT, check.forbidden, 1, 0), _ret(_ALLOW), denied]
    count = len(check.allowed)
    tests = [_jump(_EQUAL, value, count - index, 0) for index, value in enumerate(check.allowed)]
    return [load, *tests, denied, _ret(_ALLOW)]


def _by_instruction() -> list[bytes]:
    """Return the instructions for a call that is allowed outside of the vsyscall page."""
    high_half = 12  # of instruction_pointer in struct seccomp_data
    denied = _ret(_FAIL | errno.ENOSYS)
    return [
        _load(high_half),
        _jump(_EQUAL, _HIGH_HALF_OF_PAGE, 0, 1),
        denied,
        _ret(_ALLOW),
    ]


def _mmap() -> list[bytes]:
    both = _SHARED_ANONYMOUS
    return [
        _load(_argument(3)),
        _INSTRUCTION.pack(_AND, 0, 0, both),
        _jump(_EQUAL, both, 1, 0),
        _ret(_ALLOW),
        _ret(_FAIL | errno.EPERM),
    ]


def _socketpair() -> list[bytes]:
    """Return the instructions for socketpair(2): connected streams of this host only.

    A datagram socket could send to any other by its path or abstract name, with descriptors.
    """
    denied = _ret(_FAIL | errno.EPERM)
    return [
        _load(_argument(0)),
        _jump(_EQUAL, _AF_UNIX, 1, 0),
        denied,
        _load(_argument(1)),
        _INSTRUCTION.pack(_AND, 0, 0, 0xFFFFFFFF & ~_SOCK_FLAGS),
        _jump(_EQUAL, _SOCK_STREAM, 1, 0),
        denied,
        _ret(_ALLOW),
    ]


class _Program:
    """A BPF program that grows."""

    def __init__(self) -> None:
        self._code: list[bytes] = []

    def add(self, *instructions: bytes) -> None:
        self._code += instructions

    def load(self, offset: int) -> None:
        self.add(_load(offset))

    def unless_equal(self, value: int, block: list[bytes]) -> None:
        self.add(_jump(_EQUAL, value, len(block), 0), *block)

    def when_equal(self, value: int, block: list[bytes]) -> None:
        self.add(_jump(_EQUAL, value, 0, len(block)), *block)

    def bytes(self) -> bytes:
        return b"".join(self._code)
