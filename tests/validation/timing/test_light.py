"""The measuring side runs where torch and triton are, and nothing else that skel depends on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
MISSING = ("pydantic", "libcst", "sqlalchemy", "alembic", "typer", "rich", "yaml", "platformdirs", "mcp", "jinja2")
CODE = f"""
import sys
sys.modules.update(dict.fromkeys({MISSING!r}))
import skel.validation.timing.run, skel.validation.isolation.worker
from skel.validation.isolation import tasks
for name in tasks.TASKS:
    tasks.load(name)
assert "torch" not in sys.modules, "torch is imported where it is used"
"""


def test_the_measuring_side_needs_no_other_package() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
