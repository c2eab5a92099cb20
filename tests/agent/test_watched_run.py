"""A script that is run while its launches are recorded: its output and its memory are watched."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from skel.agent.errors import CallError
from skel.agent.watched_run import last_of, run_watched
from skel.validation.protocol import Isolation

NUMBERS = Isolation(resident_megabytes=200, output_bytes=100_000)


def run(text: str, log: Path) -> int:
    return run_watched([sys.executable, "-c", text], os.environ, log, NUMBERS)


def test_of_long_output_the_last_is_kept(tmp_path: Path) -> None:
    text = "import time\nfor n in range(8):\n    print('x' * 90_000, flush=True)\n    time.sleep(0.1)\nprint('END')"
    assert run(text, tmp_path / "log") == 0
    assert (tmp_path / "log").stat().st_size < 600_000
    assert last_of(tmp_path / "log").endswith("END\n") and len(last_of(tmp_path / "log")) <= 1500


def test_the_status_is_the_scripts(tmp_path: Path) -> None:
    assert run("import sys; sys.exit(7)", tmp_path / "log") == 7


def test_too_much_memory_ends_it_with_all_it_started(tmp_path: Path) -> None:
    hungry = "b = bytearray(b'x' * (300 << 20)); import time; time.sleep(60)"
    text = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {hungry!r}])"
    begun = time.monotonic()
    with pytest.raises(CallError) as raised:
        run(text, tmp_path / "log")
    assert raised.value.code == "too_large" and time.monotonic() - begun < 30
