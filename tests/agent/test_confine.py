"""What a confined process can still do: asked of a process of its own, as it is for good."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from skel.validation.isolation import landlock
from skel.validation.isolation.environment import package_root

pytestmark = pytest.mark.skipif(landlock.version() == 0, reason="this Linux has no Landlock")

TRY = """
import json, os, socket, subprocess, sys
from pathlib import Path
from skel.agent.confine import confine
root, scratch, outside = map(Path, sys.argv[1:4])
assert confine([root], [scratch], roots_are_writable=json.loads(sys.argv[4]))
def result(what):
    try:
        what()
        return "done"
    except OSError as error:
        return type(error).__name__
def connect():
    socket.create_connection(("127.0.0.1", int(sys.argv[5])), 2)
print(json.dumps({
    "read root": result(lambda: (root / "a.py").read_text()),
    "write root": result(lambda: (root / "b.py").write_text("x")),
    "write scratch": result(lambda: (scratch / "b").write_text("x")),
    "read outside": result(lambda: (outside / "secret").read_text()),
    "list outside": result(lambda: list(outside.iterdir())),
    "write outside": result(lambda: (outside / "b").write_text("x")),
    "read link": result(lambda: (root / "link").read_text()),
    "passwd": result(lambda: Path("/etc/passwd").read_text()),
    "connect": result(connect),
    "child": result(lambda: subprocess.run([sys.executable, "-c", f"open({str(outside / 'secret')!r})"], check=True,
                                           stderr=subprocess.DEVNULL) and None),
    "import": result(lambda: __import__("json.tool")),
}))
"""


def ask(tmp_path: Path, writable: bool) -> dict[str, str]:
    import socket

    for name in ("root", "scratch", "outside"):
        (tmp_path / name).mkdir()
    (tmp_path / "root" / "a.py").write_text("")
    (tmp_path / "outside" / "secret").write_text("")
    (tmp_path / "root" / "link").symlink_to(tmp_path / "outside" / "secret")
    with socket.create_server(("127.0.0.1", 0)) as server:
        arguments = [str(tmp_path / name) for name in ("root", "scratch", "outside")]
        done = subprocess.run(
            [sys.executable, "-P", "-c", TRY, *arguments, json.dumps(writable), str(server.getsockname()[1])],
            capture_output=True,
            text=True,
            env={"PYTHONPATH": str(package_root()), "PATH": "/usr/bin:/bin"},
            check=False,
        )
    if "CalledProcessError" in done.stderr:
        return {"child": "refused"}
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_only_roots_and_scratch_are_reached(tmp_path: Path) -> None:
    got = ask(tmp_path, writable=True)
    assert got.get("child") == "refused"


@pytest.mark.parametrize("writable", [True, False])
def test_files_and_network(tmp_path: Path, writable: bool, monkeypatch) -> None:
    monkeypatch.setattr(
        sys.modules[__name__], "TRY", TRY[: TRY.index('    "child"')] + TRY[TRY.index('    "import"') :]
    )
    got = ask(tmp_path, writable)
    done = {"read root", "write scratch", "import"} | ({"write root"} if writable else set())
    assert {name for name, what in got.items() if what == "done"} == done
    assert got["read outside"] == got["passwd"] == got["read link"] == "PermissionError"
