"""The process that runs a script to record its launches: `python -m skel.agent.capturing REQUEST`.

Gives up every file but the roots (to read) and one folder (to write), the network, and root's rights, then runs it.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from skel.validation.isolation import limits
from skel.validation.protocol import Isolation

from .confine import confine


def main() -> None:
    """Run the script of the request, write `capture.zip` and `answer.json` into its folder."""
    request: dict[str, Any] = json.loads(sys.argv[1])
    folder = Path(request["folder"])
    roots = [Path(root) for root in request["roots"]]
    os.chdir(roots[0])
    tempfile.tempdir = str(folder)
    _give_up(folder, roots)
    from skel.validation.workloads.capture.command import capture

    command = [sys.executable, request["script"], *request["arguments"]]
    captured = capture(command, folder / "capture.zip", request["values"])
    launches = [
        {"kernel": str(one["kernel"]), "grid": list(one["grid"]), "count": int(one["count"])}
        for one in captured.manifest["launches"]
    ]
    (folder / "answer.json").write_text(json.dumps({"status": captured.status, "launches": launches}), encoding="utf-8")


def _give_up(folder: Path, roots: list[Path]) -> None:
    """Files, network and privileges. Raises OSError where that fails: then nothing runs."""
    numbers = Isolation()
    privileges = limits.possible_privileges(Path(os.__file__), Path(__file__), *roots, folder)
    if not confine(roots, (folder,), roots_are_writable=False):
        raise OSError("this kernel has no Landlock")
    limits.limit_resources(numbers.file_bytes, numbers.processes)
    if privileges != "kept":
        user = limits.FIRST_UNPRIVILEGED_USER + os.getpid() % limits.UNPRIVILEGED_USERS
        for path in (folder, *folder.iterdir()):
            os.chown(path, user, user)
        limits.drop_privileges(user, privileges)
    limits.die_with_parent()


if __name__ == "__main__":
    main()
