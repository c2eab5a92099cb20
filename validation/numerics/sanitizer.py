"""Task `sanitize`: one case of a target under NVIDIA's compute-sanitizer, memcheck and racecheck, where the tool is.

Payload: subject, case (its id), exchange, device, tools. The tool starts a process of its own (`sanitized`), which runs
the target once. Event `sanitized` a tool: `errors` (what, kernel, line), or `failed` where it came to no end.
Format of its log: NVIDIA Compute Sanitizer documentation, Memcheck and Racecheck error reports.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from ..isolation.channel import Emit

PROGRAM = "compute-sanitizer"
TOOLS = ("memcheck", "racecheck")
MARK = "SANITIZED RUN DONE"
_REPORTED = re.compile(
    r"=+ (?P<what>(Invalid|Misaligned|Out-of-range|Illegal|(Error|Warning): (Potential )?(RAW|WAR|WAW|Race)).*)",
    re.I,
)
_AT = re.compile(r"=+\s+(Access )?at (?P<kernel>\w+)\S*( in .*?\.py:(?P<line>\d+))?")
_RACE = re.compile(r"at (?P<kernel>\w+)\S*( in .*?\.py:(?P<line>\d+))?")


def here() -> bool:
    """True where the tool is on the path."""
    return shutil.which(PROGRAM) is not None


def read_log(text: str) -> list[dict[str, Any]]:
    """The errors of a log: `what` it is, the `kernel` and `line` where they are said. The same error is told once."""
    found: list[dict[str, Any]] = []
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if (reported := _REPORTED.match(line)) is None:
            continue
        below = filter(None, map(_AT.match, lines[number + 1 : number + 3]))
        place = _RACE.search(reported["what"]) or next(below, None)
        one = {"what": re.split(r" at \w+\+", reported["what"])[0].strip()[:200], "kernel": None, "line": None}
        if place is not None:
            one |= {"kernel": place["kernel"], "line": int(place["line"]) if place["line"] else None}
        found += [one] if one not in found else []
    return found


def main(payload: dict[str, Any], emit: Emit) -> dict[str, Any]:
    """See the module."""
    job = Path("job.json").absolute()
    job.write_text(json.dumps(payload), encoding="utf-8")
    for tool in payload["tools"]:
        emit("begin", what=f"under {tool}")
        log = Path(f"{tool}.log").absolute()
        command = [
            PROGRAM, "--tool", tool, "--log-file", str(log), "--print-limit", "20",
            sys.executable, "-m", "skel.validation.numerics.sanitized", str(job),
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False, errors="replace")
        text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        errors = read_log(text)
        ended = MARK in done.stdout
        failed = None if ended or errors else (done.stderr or done.stdout)[-400:] or f"exit status {done.returncode}"
        emit("sanitized", tool=tool, errors=errors, failed=failed)
    return {}
