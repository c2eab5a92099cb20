"""The whole loop: over MCP with the official client, and through `skel call`."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from skel.agent.session import Session
from skel.cli import main
from skel.store.calls import list_calls
from skel.store.database import open_database
from skel.validation.isolation.environment import package_root
from tests.agent.calling import PATIENCE, Place, call
from tests.agent.kernels import SCALE

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@contextlib.asynccontextmanager
async def served(place: Place) -> AsyncIterator[Client]:
    """`skel serve` in a process of its own, and a client that has connected to it."""
    parameters = StdioServerParameters(
        command=sys.executable,
        args=["-m", "skel", "serve", "--root", str(place.root), "--db", str(place.database)],
        env={**os.environ, "PYTHONPATH": str(package_root())},
    )
    async with Client(stdio_client(parameters)) as client:
        yield client


async def ask(client: Client, tool: str, progress: list[str] | None = None, **arguments: Any) -> dict[str, Any]:
    """The structured answer; jobs are waited for."""

    async def told(done: float, total: float | None, message: str | None) -> None:
        if progress is not None:
            progress.append(message or "")

    end = time.monotonic() + PATIENCE
    while True:
        result = await client.call_tool(tool, arguments, progress_callback=told)
        answer = dict(result.structured_content or {})
        text = result.content[0].text  # type: ignore[union-attr]
        assert result.is_error == ("error" in answer and "job" not in answer), answer
        assert len(text) < (16_000 if "part" in arguments else 8000)
        if answer.get("state") not in ("queued", "running"):
            return answer
        assert time.monotonic() < end
        tool, arguments = "get_job", {"job": answer["job"], "wait_seconds": 20}


async def loop(place: Place) -> None:
    async with served(place) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert len(tools) == 13 and all(tool.output_schema for tool in tools.values())
        hits = (await ask(client, "search_skeletons", query="every tile repeats the same norm of q and k"))["hits"]
        assert "fuse_vtiles" in [hit["name"] for hit in hits]
        (place.root / "mine.py").write_text((EXAMPLES / "kda_decode.py").read_text())  # a kernel the client writes
        why = await ask(client, "explain", skeleton="fuse_vtiles", file="mine.py")
        assert why["result"]["applicable"] is True and why["result"]["candidates"]
        begun = time.monotonic()
        handle = (await client.call_tool("apply_skeleton", {"skeleton": "fuse_vtiles", "file": "mine.py"}))
        took = time.monotonic() - begun
        job = dict(handle.structured_content or {})
        assert job["state"] in ("queued", "running") and took < 4, took  # two seconds, on a machine that is not busy
        progress: list[str] = []
        answer = await ask(client, "get_job", progress, job=job["job"], wait_seconds=50)
        assert answer["verdict"] in ("equivalent", "faster"), answer
        assert len(progress) >= 3 and any("compiled" in said for said in progress)
        out = place.root / answer["result"]["out"]
        assert out.name == "mine_fuse_vtiles.py" and out.is_file()
        kept = await ask(client, "add_evidence", job=job["job"])
        evidence = await ask(client, "get_evidence", skeleton="fuse_vtiles")
        assert kept["id"] in [one["id"] for one in evidence["evidence"]]
        whole = await client.read_resource(kept["reference"])
        assert json.loads(whole.contents[0].text)["candidate_sha256"]  # type: ignore[union-attr]
        diff = await client.read_resource(f"skel://jobs/{job['job']}/diff")
        assert diff.contents[0].text.startswith("--- a/mine.py")  # type: ignore[union-attr]
        text = await ask(client, "get_job", job=job["job"], part="text")
        assert out.read_text().startswith(text["piece"]["text"])
        assert (await ask(client, "scan_kernel", file="../outside/secret.py"))["error"]["code"] == "outside_roots"
    outcomes = [(one.tool, one.outcome) for one in list_calls(open_database(str(place.database)))]
    assert ("scan_kernel", "outside_roots") in outcomes and ("add_evidence", "ok") in outcomes


@pytest.mark.slow
def test_the_loop_over_mcp(place: Place) -> None:
    anyio.run(loop, place)


async def leave(place: Place) -> str:
    """Start a job, and go while the call still waits for it."""
    async with served(place) as client:
        (place.root / "scale.py").write_text(SCALE)
        handle = await client.call_tool("apply_skeleton", {"skeleton": "div_to_reciprocal", "file": "scale.py"})
        with anyio.move_on_after(1):
            await client.call_tool("get_job", {"wait_seconds": 50})
        return str((handle.structured_content or {})["job"])


@pytest.mark.slow
def test_the_client_goes_and_the_job_goes_on(place: Place, session: Session) -> None:
    job = anyio.run(leave, place)
    answer = call(session, "get_job", job=job)  # another server, later
    assert answer["state"] == "done" and answer["verdict"] in ("equivalent", "faster", "neutral", "slower")


@pytest.fixture
def skel(place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """`skel call TOOL JSON` with the place's root and database: status and document."""
    monkeypatch.setenv("PYTHONPATH", str(package_root()))

    def run(tool: str, **arguments: Any) -> tuple[int, dict[str, Any]]:
        capsys.readouterr()
        words = ["call", tool, json.dumps(arguments), "--root", str(place.root), "--db", str(place.database)]
        status = main(words)
        document = json.loads(capsys.readouterr().out)
        end = time.monotonic() + PATIENCE
        while document.get("state") in ("queued", "running"):
            assert time.monotonic() < end
            words[1:3] = ["get_job", json.dumps({"job": document["job"], "wait_seconds": 20})]
            status = main(words)
            document = json.loads(capsys.readouterr().out)
        return status, document

    return run


@pytest.mark.slow
def test_the_loop_through_skel_call(skel: Any, place: Place) -> None:
    status, found = skel("search_skeletons", query="division by a square root is slow")
    assert status == 0 and "div_to_reciprocal" in [hit["name"] for hit in found["hits"]]
    shutil.copy(EXAMPLES / "gated_norm.py", place.root / "mine.py")
    status, why = skel("explain", skeleton="div_to_reciprocal", file="mine.py")
    assert status == 0 and why["result"]["applicable"] is True
    status, answer = skel("apply_skeleton", skeleton="div_to_reciprocal", file="mine.py")
    assert (status, answer["verdict"]) in [(0, "equivalent"), (0, "faster"), (0, "neutral"), (1, "slower")], answer
    status, kept = skel("add_evidence", job=answer["job"])
    assert status == 0
    status, evidence = skel("get_evidence", skeleton="div_to_reciprocal")
    assert status == 0 and kept["id"] in [one["id"] for one in evidence["evidence"]]


def test_what_skel_call_refuses_ends_with_a_status_and_a_code(skel: Any, place: Place, capsys: Any) -> None:
    assert skel("scan_kernel", file="../outside/secret.py")[0] == 2
    status, document = skel("get_skeleton", name="no_such")
    assert status == 2 and document["error"]["code"] == "unknown_skeleton" and document["error"]["status"] == 2
    for words in (["get_skeleton", "{not json"], ["get_skeleton", "[" * 5000], ["no_tool"]):
        capsys.readouterr()
        assert main(["call", *words, "--root", str(place.root), "--db", str(place.database)]) == 2
        assert json.loads(capsys.readouterr().out)["error"]["code"] in ("bad_input", "unknown_tool", "too_large")
    assert main(["call", "get_job", "--root", str(place.root / "none"), "--db", str(place.database)]) == 2
