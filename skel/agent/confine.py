"""What the process that does a job may reach: the roots, its own scratch folder, the database, Python and the system's
libraries. Workers that run kernels are its children, and have given up more besides."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from skel.validation.isolation import landlock
from skel.validation.isolation.environment import package_root
from skel.validation.isolation.limits import leave_network

_SYSTEM = (
    "/usr",
    "/lib",
    "/lib64",
    "/lib32",
    "/bin",
    "/sbin",
    "/opt",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/alternatives",
    "/etc/OpenCL",
    "/etc/vulkan",
    "/sys",
)
_DEVICES = ("/dev", "/proc")


def confine(roots: Iterable[Path], writable: Iterable[Path], *, roots_are_writable: bool) -> bool:
    """Give up every file but these and every network. False where this kernel has no Landlock: then workers are still
    kept from writing, from sockets and from processes by their own means."""
    with contextlib.suppress(OSError):
        leave_network()
    folders = tuple(roots)
    python = (
        Path(sys.prefix),
        Path(sys.base_prefix),
        Path(sys.exec_prefix),
        package_root(),
        Path(os.path.realpath(sys.executable)).parent,
        *(Path(entry) for entry in sys.path if entry and os.path.isabs(entry)),
        *(Path(entry) for entry in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if entry),
        *(Path(entry) for entry in os.environ.get("SKEL_SOURCES", "").split(os.pathsep) if entry),
        *(Path(os.environ[name]) for name in ("CUDA_HOME", "CUDA_PATH", "ROCM_PATH") if name in os.environ),
    )
    # skel's inner packages are links out of the folder that holds them.
    linked = (entry.resolve() for entry in (package_root() / "skel").iterdir() if entry.is_symlink())
    return landlock.restrict(
        (*python, *linked, *map(Path, _SYSTEM), *folders),
        (*map(Path, _DEVICES), *writable, *(folders if roots_are_writable else ())),
    )
