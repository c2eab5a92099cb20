"""Small git repositories for the tests."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ENVIRONMENT = {
    **os.environ,
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


class Repository:
    """A repository that a test fills commit by commit."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=self.path, env=ENVIRONMENT, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def commit(self, message: str, files: dict[str, str | None]) -> str:
        """Writes files, None removes one, and commits. Gives the commit's name."""
        for name, text in files.items():
            target = self.path / name
            if text is None:
                target.unlink()
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text, encoding="utf-8")
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")


KERNEL = '''import triton
import triton.language as tl


@triton.jit
def scale_kernel(x, o, s, N, BN: tl.constexpr):
    """Scales rows."""
    i_n = tl.program_id(0)
    o_n = i_n * BN + tl.arange(0, BN)
    b_x = tl.load(x + o_n, mask=o_n < N)
    tl.store(o + o_n, tl.exp(b_x - s), mask=o_n < N)


def scale(x, s):
    N, V = x.shape
    BV = min(triton.next_power_of_2(V), 8)
    scale_kernel[(triton.cdiv(N, 64),)](x, x, s, N, BN=64, num_warps=1)
    return x
'''
