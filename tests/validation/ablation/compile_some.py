"""Compiles made-up launches ahead, in a process of its own since that forks: `FOLDER TARGET SECONDS`."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from skel.validation.ablation.compiling import compile_ahead
from skel.validation.timing.recording import Launch


class Kernel:
    """Leaves a file behind instead of compiling, and takes its time."""

    def __init__(self, path: Path, seconds: float = 0.0) -> None:
        self.path, self.seconds = path, seconds

    def run(self, *_: Any, warmup: bool, **__: Any) -> None:
        assert warmup
        time.sleep(self.seconds)
        self.path.write_text("compiled")


def main(folder: Path, target: str, seconds: float) -> None:
    (folder / "slots").mkdir()
    kernels = [Kernel(folder / "missing" / "folder"), *(Kernel(folder / str(number)) for number in range(3))]
    kernels.append(Kernel(folder / "late", 300.0))
    launches = [Launch(kernel, (), (1,), {}) for kernel in kernels]
    compile_ahead(launches, folder / "slots", 5, target or None, time.monotonic() + seconds)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]))
