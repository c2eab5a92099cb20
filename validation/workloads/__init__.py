"""Workloads: how a file says what it is run on: hooks in the module, a sidecar, a capture, or KernelBench's form.

What workers need is imported at once. Sidecars are read in the main process only, and with the rewriter's help: they
are imported when they are asked for, so that a worker needs torch and triton and nothing else.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from .hooks import Hooks, MissingHooks, label_of, parameters_of, read_hooks
from .loading import Loaded, load_subject
from .slices import sliced_text

if TYPE_CHECKING:
    from .choose import subject_of
    from .sidecar import read_target, target_of
    from .target import SidecarError

_LATE = {"read_target": ".sidecar", "subject_of": ".choose", "target_of": ".sidecar", "SidecarError": ".target"}


def __getattr__(name: str) -> Any:
    """The names of `_LATE`. Raises AttributeError for any other."""
    if name in _LATE:
        return getattr(importlib.import_module(_LATE[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Hooks",
    "Loaded",
    "MissingHooks",
    "SidecarError",
    "label_of",
    "load_subject",
    "parameters_of",
    "read_hooks",
    "read_target",
    "sliced_text",
    "subject_of",
    "target_of",
]
