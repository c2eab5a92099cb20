"""What a worker gives up before it loads a candidate: files, processes, privileges, the network."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import signal
from pathlib import Path
from typing import Any, Literal

from . import capabilities

_CLONE_NEWNET = 0x40000000
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
FIRST_UNPRIVILEGED_USER = 61184
"""Workers of a root process run as users from here on, a range kept for users without a name."""
UNPRIVILEGED_USERS = 4096


def libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def leave_network() -> bool:
    """Moves this process into a network namespace without interfaces. False where that is not allowed."""
    return bool(libc().unshare(_CLONE_NEWNET) == 0)


def adopt_orphans() -> None:
    """Makes this process the parent of descendants whose own parent ends, so that none gets away."""
    libc().prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent() -> None:
    """Asks the kernel to kill this process when its parent ends. To be called after any change of user."""
    libc().prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def limit_resources(file_bytes: int, processes: int) -> None:
    """Caps the size of files, the number of processes of this user, and core dumps."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _lower(resource.RLIMIT_FSIZE, file_bytes)
    _lower(resource.RLIMIT_NPROC, processes)


Privileges = Literal["kept", "dropped", "dropped_but_reading"]
"""What becomes of root's rights in a worker: nothing, all given up, or all but reading."""


def possible_privileges(*needed: Path) -> Privileges:
    """How far a worker's rights can be given up while it can still import from the folders `needed`.

    Not root: `kept`, as there is nothing to give up. Root whose Python lies in a folder of its own (/root) needs to
    keep the right to read.
    """
    if os.geteuid() != 0:
        return "kept"
    if readable_by_all(*needed):
        return "dropped"
    return "dropped_but_reading" if capabilities.held(capabilities.DAC_READ_SEARCH) else "kept"


def drop_privileges(user: int, how: Privileges) -> None:
    """Becomes `user`, with no groups and no way back. Raises OSError where that fails: then nothing may run."""
    if how == "kept":
        return
    library = libc()
    if how == "dropped_but_reading":
        capabilities.keep_over_change_of_user(library)
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)
    if how == "dropped_but_reading" and not capabilities.keep_only(library, capabilities.DAC_READ_SEARCH):
        raise PermissionError("capabilities could not be given up")
    library.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def readable_by_all(*paths: Path) -> bool:
    """True where another user could import from `paths`: every folder above them is open, and they can be read."""
    for path in paths:
        real = path.resolve()
        if not real.stat().st_mode & 0o004 or any(not parent.stat().st_mode & 0o001 for parent in real.parents):
            return False
    return True


def first_to_be_killed() -> None:
    """Where the machine runs out of memory, the kernel takes this process first."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def _lower(what: int, limit: int) -> None:
    hard = resource.getrlimit(what)[1]
    value: Any = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(what, (value, value))
