"""The environment of a worker: an allow-list, nothing else of the user's is handed on."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from . import compiled_here

ALLOWED = (
    "PATH",
    "LANG",
    "LC_ALL",
    "TZ",
    "LD_LIBRARY_PATH",
    "CUDA_HOME",
    "CUDA_PATH",
    "CUDA_VISIBLE_DEVICES",
    "NVIDIA_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "ROCM_PATH",
    "CC",
    "TRITON_PTXAS_PATH",
    "TRITON_LIBCUDA_PATH",
    "SYSTEMROOT",
    "COVERAGE_PROCESS_START",
)
"""Variables that are handed on where they are set: where compilers and devices are, no credentials, no proxies."""

_NOWHERE = "http://127.0.0.1:9"


def scrubbed(mode: str, scratch: Path, source: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables of a warm process: allowed ones of `source`, one thread a library, no route to a network."""
    kept = {name: source[name] for name in ALLOWED if name in source}
    own = {
        "PYTHONPATH": os.pathsep.join(filter(None, (str(package_root()), source.get("PYTHONPATH", "")))),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "PYTHONNOUSERSITE": "1",
        "PYTHONUNBUFFERED": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "CUBLAS_WORKSPACE_CONFIG": ":4096:8",
        compiled_here.VARIABLE: "1",
        "http_proxy": _NOWHERE,
        "https_proxy": _NOWHERE,
        "HF_HUB_OFFLINE": "1",
        **private_folders(scratch),
    }
    if mode == "interpret":
        own["TRITON_INTERPRET"] = "1"
    return kept | own


def private_folders(scratch: Path) -> dict[str, str]:
    """Home, temporary files and caches inside `scratch`."""
    return {
        "HOME": str(scratch),
        "TMPDIR": str(scratch / "tmp"),
        "TRITON_HOME": str(scratch),
        "TRITON_CACHE_DIR": str(scratch / "cache"),
        "XDG_CACHE_HOME": str(scratch / "cache"),
        "USER": "skel",
        "LOGNAME": "skel",
    }


def package_root() -> Path:
    """The folder that `import skel` finds the package in: three above this one, links not followed."""
    return Path(__file__).absolute().parents[3]
