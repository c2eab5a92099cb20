"""Workloads: how a file says what it is run on. One way a file: hooks in the module, or a sidecar."""

from .hooks import Hooks, MissingHooks, label_of, parameters_of, read_hooks
from .loading import Loaded, load_subject
from .sidecar import read_target, subject_of, target_of
from .slices import sliced_text
from .target import SidecarError

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
