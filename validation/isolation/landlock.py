"""Landlock, the Linux kernel's way for a process to give up files and the network for good.

Numbers and structures: Linux, include/uapi/linux/landlock.h (the syscalls have no wrapper in libc).
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_NO_NEW_PRIVILEGES = 38
_EXECUTE, _WRITE, _READ, _LIST = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL = 1 << 14, 1 << 15
READING = _EXECUTE | _READ | _LIST
_OF_FILES = _EXECUTE | _WRITE | _READ | _TRUNCATE | _IOCTL
"""Rights that a rule on a single file may name."""
_BY_ABI = ((5, 0xFFFF), (3, 0x7FFF), (2, 0x3FFF), (1, 0x1FFF))
"""Rights on files that a kernel of at least this version of the interface knows."""


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """The version of the interface that this kernel has; 0 where it has none."""
    found = ctypes.CDLL(None, use_errno=True).syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    return max(0, int(found))


def restrict(readable: Iterable[Path], writable: Iterable[Path]) -> bool:
    """From now on this process and all it starts may reach these paths only, and no TCP. False where there is no
    Landlock. Paths that are not there are left out. Raises OSError where the kernel refuses."""
    return _restrict(~0, readable, writable, network=True)


def restrict_writing(writable: Iterable[Path]) -> bool:
    """The same for writing alone, whatever library it is done by; reading and devices stay as they are."""
    return _restrict(~(READING | _IOCTL), (), writable, network=False)


def _restrict(kept: int, readable: Iterable[Path], writable: Iterable[Path], *, network: bool) -> bool:
    abi = version()
    if abi == 0:
        return False
    handled = kept & next(rights for least, rights in _BY_ABI if abi >= least)
    library = ctypes.CDLL(None, use_errno=True)
    attributes = _Ruleset(handled, 3 if abi >= 4 and network else 0, 3 if abi >= 6 and network else 0)
    size = ctypes.c_size_t(8 if abi < 4 else 16 if abi < 6 else 24)
    ruleset = _checked(library.syscall(_CREATE, ctypes.byref(attributes), size, ctypes.c_uint32(0)))
    try:
        for paths, rights in ((readable, READING), (writable, handled)):
            for path in dict.fromkeys(paths):
                _allow(library, ruleset, path, rights & handled)
        _checked(library.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
        _checked(library.syscall(_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(0)))
    finally:
        os.close(ruleset)
    return True


def _allow(library: ctypes.CDLL, ruleset: int, path: Path, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not (rights := rights if path.is_dir() else rights & _OF_FILES):
            return
        rule = _Beneath(rights, descriptor)
        _checked(library.syscall(_ADD, ctypes.c_int(ruleset), ctypes.c_int(1), ctypes.byref(rule), ctypes.c_uint32(0)))
    finally:
        os.close(descriptor)


def _checked(result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result
