"""The packages whose kernels are ablated: licence, and which of a wheel's files are needed."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any

TUNED_FOR = "NVIDIA_H200"
"""The GPU's name in the names of files."""


@dataclass(frozen=True, slots=True)
class Source:
    """A wheel at a version."""

    name: str
    version: str
    licence: str
    folders: tuple[str, ...]
    """Folders of the wheel that are needed, with all below them."""
    without: tuple[str, ...] = ()
    """Parts of a path that no file may have: other platforms."""

    def wants(self, path: PurePosixPath) -> bool:
        """True for a file that is needed: Python, and configurations that were tuned for this GPU."""
        inside = any(path.is_relative_to(folder) for folder in self.folders)
        kind = path.suffix == ".py" or (path.suffix == ".json" and f"device_name={TUNED_FOR}" in path.name)
        return inside and kind and not set(path.parts) & set(self.without)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"folders": list(self.folders), "without": list(self.without)}


KNOWN: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "fla-core": ("MIT", ("fla",), ()),
    "sglang": ("Apache-2.0", ("sglang/kernels",), ("flash_attn", "kda_flydsl", "flydsl_v4nm", "cute_utils")),
    "einops": ("MIT", ("einops",), ()),
    "packaging": ("Apache-2.0 or BSD-2-Clause", ("packaging",), ()),
}
"""By package: licence, folders, and folders that are left out."""


def source_of(wheel: str) -> Source:
    """The package of a wheel's file name. Raises ValueError for one that is not known."""
    match = re.match(r"([A-Za-z0-9_.]+)-([^-]+)-", wheel)
    name = match.group(1).replace("_", "-").lower() if match else wheel
    if match is None or name not in KNOWN:
        raise ValueError(f"{wheel}: no cases for this package; there are some for {', '.join(KNOWN)}")
    return Source(name, match.group(2), *KNOWN[name])
