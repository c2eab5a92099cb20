"""Linux capabilities, as far as an unprivileged worker needs one: to read a Python that lies in root's own folder."""

from __future__ import annotations

import ctypes
from pathlib import Path

DAC_READ_SEARCH = 2
"""Reading any file and searching any folder; no writing."""
_VERSION_3 = 0x20080522
_PR_SET_KEEPCAPS = 8
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_RAISE = 2


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Data(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


def held(capability: int) -> bool:
    """True where this process may use the capability."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("CapPrm:"):
            return bool(int(line.split()[1], 16) >> capability & 1)
    return False


def keep_over_change_of_user(libc: ctypes.CDLL) -> None:
    """To be called before the change: permitted capabilities then survive it."""
    libc.prctl(_PR_SET_KEEPCAPS, 1, 0, 0, 0)


def keep_only(libc: ctypes.CDLL, capability: int | None) -> bool:
    """Gives up every capability but one (or all), for this process and what it starts. False where that fails."""
    mask = 0 if capability is None else 1 << capability
    data = (_Data * 2)(_Data(mask, mask, mask), _Data(0, 0, 0))
    if libc.capset(ctypes.byref(_Header(_VERSION_3, 0)), data) != 0:
        return False
    return capability is None or libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, capability, 0, 0) == 0
