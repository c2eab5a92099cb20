"""Lines of stdin that the SDK would drop: mended, or answered with an error. No line leaves its sender waiting."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from skel.agent import wire
from skel.store.calls import list_calls
from skel.store.database import open_database
from tests.agent.calling import Place

ROOT = Path(__file__).resolve().parents[2]


def call(number: int, tool: str, **arguments: Any) -> bytes:
    params = {"name": tool, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode() + b"\n"


def test_a_line_that_can_be_read_is_left_alone() -> None:
    line = call(1, "get_skeleton", name="x")
    assert wire.mended(line) is line


def test_half_a_surrogate_pair_is_replaced() -> None:
    whole = wire.mended(call(2, "search_skeletons", query="slow \ud83d norm"))
    assert whole is not None and json.loads(whole)["params"]["arguments"]["query"] == "slow \ufffd norm"


@pytest.mark.parametrize(
    "line",
    [
        b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":' + b'{"a":' * 3000 + b"1" + b"}" * 3001,
        b'{"jsonrpc":"2.0","id":7,"method":"x","params":{"limit":' + b"9" * 5000 + b"}}",
        b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{',
        b'{"jsonrpc": "2.0", "id": 7, "x": "\xff\xfe"',
    ],
)
def test_a_line_that_cannot_be_read_becomes_one_that_is_answered(line: bytes) -> None:
    whole = wire.mended(line)
    assert whole is not None
    assert json.loads(whole) == {"jsonrpc": "2.0", "id": 7, "method": wire.UNREADABLE}


def test_what_has_no_id_has_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    assert wire.mended(b"nonsense\n") is None and wire.mended(b"[" * 100_000) is None
    monkeypatch.setattr(wire, "LINE_BYTES", 100)
    assert wire.mended(b'{"id": "a", "x": "' + b"x" * 100 + b'"}') == (
        b'{"jsonrpc":"2.0","id":"a","method":"unreadable_line"}\n'
    )


def test_a_server_answers_all_of_them_and_ends_with_its_client(place: Place) -> None:
    start = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": start}).encode() + b"\n",
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n',
        b"nonsense\n", b"\xff\xfe\n", b"\n", b"[" * 50_000 + b"\n",
        b'{"id":2,"method":"tools/call","params":' + b'{"a":' * 3000 + b"\n",
        call(3, "search_skeletons", query="division \ud83d in a loop"),
        call(4, "no_such_tool"),
        call(5, "get_skeleton", name="fuse_vtiles"),
    ]  # fmt: skip
    command = [sys.executable, "-m", "skel", "serve", "--root", str(place.root), "--db", str(place.database)]
    server = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert server.stdin and server.stdout
    watchdog = threading.Timer(60, server.kill)
    watchdog.start()
    server.stdin.write(b"".join(lines))
    server.stdin.flush()
    answers: dict[int, Any] = {}
    while len(answers) < 5 and (line := server.stdout.readline()):
        if "id" in (one := json.loads(line)):
            answers[one["id"]] = one
    server.stdin.close()
    assert server.wait() == 0 and set(answers) == {1, 2, 3, 4, 5}
    watchdog.cancel()
    assert wire.UNREADABLE in json.dumps(answers[2]["error"])
    assert "result" in answers[3] and not answers[3]["result"]["isError"]
    assert answers[4]["result"]["structuredContent"]["error"]["code"] == "unknown_tool"
    assert answers[5]["result"]["structuredContent"]["name"] == "fuse_vtiles"
    logged = {one.tool: one.outcome for one in list_calls(open_database(str(place.database)))}
    assert logged == {"no_such_tool": "unknown_tool", "search_skeletons": "ok", "get_skeleton": "ok"}
