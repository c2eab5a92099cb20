"""A kernel without a technique computes what it computed with it, in Triton's interpreter."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from skel.rewriter.ablation.registry import INVERSES

HERE = Path(__file__).parent


def test_results_stay(tmp_path: Path) -> None:
    command = [sys.executable, str(HERE / "run_without.py"), str(HERE / "expert.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert len(found) == len(INVERSES) - 3
    rounded = {"exp2_to_exp": 1e-5, "rsqrt_to_division": 1e-5, "dots_in_tf32": 1e-5}
    assert all(difference <= rounded.get(name, 0.0) for name, difference in found.items()), found
    assert 0 < found["exp2_to_exp"] + found["rsqrt_to_division"]
