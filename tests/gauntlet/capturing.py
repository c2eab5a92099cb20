"""Captures of public operators, called in the interpreter by the scripts of `workloads`: a zip for each family."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .sources import ROOT, unpacked

SCRIPT = ROOT / "tests" / "gauntlet" / "workloads" / "fla_operators.py"
FAMILIES = ("delta", "momentum", "kda", "generalised", "rwkv", "gla", "slots", "attention", "others", "utilities",
            "modules")  # fmt: skip
PACKAGES = ("fla_core-0.6.0", "fla_core-0.5.2")
SECONDS = 1800
"""For one family."""


@dataclass(frozen=True, slots=True)
class Family:
    """One capture to make."""

    package: str
    family: str
    work: Path

    @property
    def key(self) -> str:
        return f"{self.package}/{self.family}"

    @property
    def file(self) -> Path:
        return self.work / "captures" / self.package / f"{self.family}.zip"


def families(work: Path) -> list[Family]:
    """Every capture, newest package first."""
    return [Family(package, family, work) for package in PACKAGES for family in FAMILIES]


def environment(package: str, work: Path, **more: str) -> dict[str, str]:
    """The environment of a process that imports the package from its unpacked files, in one thread."""
    places = [str(unpacked(package, work)), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(places), **more}


def capture_family(one: Family) -> dict[str, Any]:
    """Captures a family; how many launches and calls it holds, and the operators that were left out."""
    one.file.parent.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "skel", "capture", "-o", str(one.file), "--json", "--",
         sys.executable, str(SCRIPT), one.family],
        env=environment(one.package, one.work, TRITON_INTERPRET="1"),
        text=True, capture_output=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    said = [line for line in done.stderr.splitlines() if line.startswith(("called ", "left out "))]
    return {"status": done.returncode, "operators": said, "captured": one.file.exists(), "stderr": done.stderr[-500:]}
