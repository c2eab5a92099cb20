"""Calls that mean harm: refused or contained, logged, and nothing lost."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.client import Client

from skel.agent.registry import TOOLS
from skel.agent.server import build_server
from skel.agent.session import Session
from skel.store.calls import list_calls
from skel.store.jobs import list_jobs
from skel.store.records import get_skeleton, list_skeletons
from skel.store.schema import Skeleton
from tests.agent.calling import Place, call, code_of

PATHS = {
    "scan_kernel": ["file"], "explain": ["file"], "apply_skeleton": ["file", "out", "workload"],
    "check_equivalence": ["original", "candidate", "workload"], "benchmark": ["original", "candidate", "workload"],
    "capture_workloads": ["script"],
}  # fmt: skip
FILLED: dict[str, dict[str, Any]] = {
    "scan_kernel": {"file": "kda_decode.py"},
    "explain": {"file": "kda_decode.py", "skeleton": "fuse_vtiles"},
    "apply_skeleton": {"file": "kda_decode.py", "skeleton": "fuse_vtiles"},
    "check_equivalence": {"original": "kda_decode.py", "candidate": "kda_decode.py"},
    "benchmark": {"original": "kda_decode.py", "candidate": "kda_decode.py"},
    "capture_workloads": {"script": "kda_decode.py"},
}
CODE = "{{7*7}}{0.__class__.__init__.__globals__}%s${IFS}`touch PWNED`'; import os; os.system('touch PWNED') #"


@pytest.mark.parametrize(("tool", "field"), [(tool, field) for tool, fields in PATHS.items() for field in fields])
def test_no_path_leads_out(idle: Session, place: Place, tool: str, field: str) -> None:
    (place.root / "link.py").symlink_to(place.secret)
    (place.root / "folder").symlink_to(place.secret.parent)
    tried = ["../outside/secret.py", str(place.secret), "link.py", "folder/secret.py", "/proc/self/root/etc/passwd"]
    if field == "out":
        tried = ["../outside/new.py", "folder/new.py", str(place.secret.parent / "new.py")]
    for path in tried:
        assert code_of(idle, tool, {**FILLED[tool], field: path, "wait_seconds": 0}) == "outside_roots"
    assert [one.outcome for one in list_calls(idle.database)] == ["outside_roots"] * len(tried)
    assert list_jobs(idle.database, idle.roots.names) == ()
    assert not (place.secret.parent / "new.py").exists()


RECORD: dict[str, Any] = {
    "name": "my_trick", "title": "A trick", "summary": "What it does.", "symptoms": {"en": ["It is slow."]},
    "kind": "local", "numerics": {"result": "bitwise", "why": "Nothing moves."},
}  # fmt: skip
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(9)
)


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        "[" * 30_000,
        "{" * 30_000,
        "a: " + "- " * 20_000,
        "!!python/object/apply:os.system ['touch PWNED']",
        "name: !!python/name:os.system",
        "--- {a: 1}\n--- {b: 2}\n",
        "? [a, b]\n: c\n",
        "name: my_trick\nname: my_trick\n",
        "just text",
        "\x00",
        json.dumps({**RECORD, "unknown": 1}),
        json.dumps({**RECORD, "schedule": [{"primitive": "os_system"}]}),
    ],
)
def test_yaml_that_bites_is_refused_at_once(idle: Session, text: str) -> None:
    begun = time.monotonic()
    assert code_of(idle, "propose_skeleton", {"record": text}) == "bad_record"
    assert time.monotonic() - begun < 5
    assert list_jobs(idle.database, idle.roots.names) == ()


def with_code(value: Any) -> Any:
    """The value with code in every text."""
    if isinstance(value, str):
        return CODE
    if isinstance(value, dict):
        return {key: with_code(one) for key, one in value.items()}
    return [with_code(one) for one in value] if isinstance(value, list) else value


FULL: dict[str, Any] = {
    **RECORD, "tags": ["x"], "applies_if": ["x"], "conditions": ["bounds"],
    "schedule": [{"primitive": "set_launch", "arguments": {"num_warps": "$num_warps"}, "when": {"form": "loop"}}],
    "decisions": [{"name": "num_warps", "values": ["kept"], "description": "x"}],
    "limits": [{"architecture": "sm_90", "note": "x"}], "interactions": {"requires": ["fuse_vtiles"]},
    "evidence": [{"statement": "x", "outcome": "gain", "source": "x", "before": "x", "hardware": "x"}],
    "sources": [{"repository": "x", "revision": "x", "path": "x", "licence": "x"}],
    "cases": [{"file": "cases/a.py", "expect": "rewrite", "settings": {"num_warps": "kept"}},
              {"file": "cases/b.py", "expect": "refuse", "refusal": "no_launch_site"}],
}  # fmt: skip
CASES = {"cases/a.py": "x = 1\n", "cases/b.py": "x = 1\n"}


@pytest.mark.parametrize("field", list(FULL))
def test_code_in_any_field_is_refused_or_stays_text(idle: Session, place: Place, field: str) -> None:
    record = {**FULL, field: with_code(FULL[field])}
    if field in ("title", "summary", "symptoms", "tags", "applies_if", "limits", "sources"):
        idle.call("propose_skeleton", {"record": record, "cases": CASES, "wait_seconds": 0})
        (job,) = list_jobs(idle.database, idle.roots.names)
        assert job.request["record"][field] == get_field(record, field)
    else:
        code = code_of(idle, "propose_skeleton", {"record": record, "cases": CASES, "wait_seconds": 0})
        assert code in ("bad_record", "bad_input")
    assert not list(place.root.rglob("PWNED")) and not Path("PWNED").exists()
    assert list_calls(idle.database)


def get_field(record: dict[str, Any], field: str) -> Any:
    """The field as the schema reads it, in plain JSON."""
    return Skeleton.model_validate(record).model_dump(mode="json")[field]


@pytest.mark.parametrize("where", ["arguments", "when"])
def test_arguments_of_steps_are_plain_words_and_numbers(idle: Session, where: str) -> None:
    for value in (CODE, "1, **__import__('os').environ", "x\ny", "$none", "a b", "1e999", float("1e300"), "é"):
        step = {"primitive": "set_launch", where: {"num_warps": value}}
        record = {**RECORD, "schedule": [step], "cases": FULL["cases"]}
        given = {"record": record, "cases": CASES, "wait_seconds": 0}
        if value == "1e999" or (value == "$none" and where == "when"):
            continue  # a plain word, which the primitive or the record's own decisions refuse
        assert code_of(idle, "propose_skeleton", given) == "bad_record"


@pytest.mark.parametrize(
    "given",
    [
        {"record": RECORD, "cases": {"cases/../../x.py": "x"}},
        {"record": RECORD, "cases": {"/etc/x.py": "x"}},
        {"record": RECORD, "cases": {"cases/a.py": "x" * 40_000}},
        {"record": RECORD, "cases": {f"cases/a{n}.py": "x" for n in range(13)}},
        {"record": {**RECORD, "summary": "x" * 4001}},
    ],
)
def test_cases_and_texts_have_limits(idle: Session, given: dict[str, Any]) -> None:
    assert code_of(idle, "propose_skeleton", given) == "bad_input"


def test_a_record_of_many_texts_is_too_large(idle: Session) -> None:
    record = {**RECORD, "tags": ["x" * 1000] * 70}
    assert code_of(idle, "propose_skeleton", {"record": record}) == "bad_record"


def test_a_shipped_record_is_not_replaced(idle: Session) -> None:
    before = get_skeleton(idle.database, "fuse_vtiles")
    assert code_of(idle, "propose_skeleton", {"record": {**RECORD, "name": "fuse_vtiles"}}) == "bad_record"
    assert get_skeleton(idle.database, "fuse_vtiles") == before
    assert all(one.origin == "packaged" for one in list_skeletons(idle.database))


def test_evidence_cannot_be_made_up(idle: Session) -> None:
    given = {"job": "job_0123456789abcdef", "verdict": "faster", "timing": {"ratio": 100}}
    assert code_of(idle, "add_evidence", given) == "bad_input"


async def answers(session: Session, calls: list[tuple[str, Any]]) -> list[str]:
    """All calls at once over MCP: the codes of what came back."""
    codes = [""] * len(calls)
    async with Client(build_server(session)) as client:

        async def one(number: int, tool: str, arguments: Any) -> None:
            result = await client.call_tool(tool, arguments)
            content = result.structured_content or {}
            codes[number] = content["error"]["code"] if result.is_error else "ok"

        async with anyio.create_task_group() as group:
            for number, (tool, arguments) in enumerate(calls):
                group.start_soon(one, number, tool, arguments)
    return codes


def test_two_hundred_calls_at_once_are_all_answered_and_logged(idle: Session) -> None:
    mixed: list[tuple[str, Any, str]] = [
        ("get_skeleton", {"name": "fuse_vtiles"}, "ok"),
        ("scan_kernel", {"file": "kda_decode.py", "wait_seconds": 0}, "ok"),
        ("scan_kernel", {"file": "../outside/secret.py"}, "outside_roots"),
        ("get_job", {"job": "job_0123456789abcdef"}, "unknown_job"),
        ("search_skeletons", {"nonsense": CODE}, "bad_input"),
    ]
    codes = anyio.run(answers, idle, [(tool, given) for tool, given, _ in mixed] * 40)
    assert codes == [expected for _, _, expected in mixed] * 40
    assert sorted(one.outcome for one in list_calls(idle.database)) == sorted(codes)
    assert len(list_jobs(idle.database, idle.roots.names)) == 1


def test_more_calls_than_may_be_open_are_refused(idle: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    import dataclasses

    from skel.agent import server

    monkeypatch.setattr(server, "LIMITS", dataclasses.replace(server.LIMITS, open_calls=3))
    codes = anyio.run(answers, idle, [("get_skeleton", {"name": "fuse_vtiles"})] * 20)
    assert {"ok", "too_many_calls"} == set(codes)
    assert len(list_calls(idle.database)) == 20


SPY = '''
import torch
import triton
import triton.language as tl

SECRET = {secret!r}


@triton.jit
def double_kernel(x, y, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    value = tl.load(x + at, mask=at < n, other=1.0)
    tl.store(y + at, value / tl.sqrt(value * value + 1.0), mask=at < n)


def run(inputs):
    for spy in (read, connect, write, program):
        try:
            spy()
        except OSError as error:
            pass
    x = inputs["x"]
    y = torch.empty_like(x)
    double_kernel[(triton.cdiv(x.numel(), 16),)](x, y, x.numel(), B=16)
    {ending}
    return y


def read():
    raise ValueError(open(SECRET).read())


def connect():
    import socket

    socket.create_connection(("127.0.0.1", 9), 1)


def write():
    open({written!r}, "w").write("x")


def program():
    import os

    os.system("touch {written}")


def make_inputs(seed, device="cpu", *, N=40):
    return {{"x": torch.randn(N, generator=torch.Generator().manual_seed(seed))}}


WORKLOADS = [{{"name": "small", "N": 40}}]
'''


@pytest.mark.slow
def test_a_kernel_that_spies_is_contained(session: Session, place: Place) -> None:
    written = place.root / "written"
    text = SPY.format(secret=str(place.secret), written=str(written), ending="")
    (place.root / "spy.py").write_text(text)
    answer = call(session, "check_equivalence", original="spy.py", candidate="spy.py")
    whole = json.dumps(answer) + str(call(session, "get_job", job=answer["job"], part="report")["piece"]["text"])
    assert "nobody may see this" not in whole
    assert answer["verdict"] in ("failed", "inconclusive")
    codes = {one["code"] for one in answer["findings"]}
    assert codes & {"used_network", "wrote_outside", "started_process"}
    assert not written.exists()


@pytest.mark.slow
def test_a_kernel_that_never_ends_is_cancelled_with_all_it_started(session: Session, place: Place) -> None:
    import psutil

    text = SPY.format(secret="", written="", ending="while True: pass").replace(
        "    for spy in (read, connect, write, program):", "    for spy in ():"
    )
    (place.root / "endless.py").write_text(text)
    job = session.call("check_equivalence", {"original": "endless.py", "candidate": "endless.py"}).model_dump()["job"]
    state = session.call("get_job", {"job": job, "wait_seconds": 6}).model_dump()
    assert state["state"] == "running"
    (runner,) = [one for one in list_jobs(session.database, session.roots.names) if one.id == job]
    assert runner.process is not None
    family = psutil.Process(runner.process).children(recursive=True)
    assert family
    assert session.call("cancel_job", {"job": job}).model_dump()["state"] == "cancelled"
    _, left = psutil.wait_procs(family, timeout=30)
    assert left == []
    assert code_of(session, "get_job", {"job": job, "part": "report"}) == "job_not_done"


@pytest.mark.slow
def test_a_job_whose_process_is_killed_says_so_and_the_next_one_runs(session: Session) -> None:
    import psutil

    given = {"file": "kda_decode.py", "skeleton": "fuse_vtiles"}
    job = session.call("apply_skeleton", given).model_dump()["job"]
    end = time.monotonic() + 30
    while (found := list_jobs(session.database, session.roots.names)[0]).process is None:
        assert time.monotonic() < end
        time.sleep(0.05)
    psutil.Process(found.process).kill()
    answer = call(session, "get_job", job=job)
    assert (answer["state"], answer["error"]["code"]) == ("failed", "job_interrupted")
    assert call(session, "scan_kernel", file="kda_decode.py")["state"] == "done"
    assert not list(Path(tempfile.gettempdir()).glob(f"skel-{job}-*"))


def test_every_tool_with_a_path_is_tried_here() -> None:
    paths = {"file", "out", "workload", "original", "candidate", "script"}
    for tool in TOOLS.values():
        found = paths & set(tool.input.model_fields)
        assert found == set(PATHS.get(tool.name, ())) | ({"out"} & found), tool.name


@pytest.mark.parametrize(
    "tail",
    ["(" * 5000, "-" * 6000 + "1", "+".join(["x"] * 3000), "a" + ".b" * 3000, "tl.load(" * 60 + ")" * 60, "\x00",
     "lambda: " * 900 + "1", "[" * 90 + "]" * 90],
)  # fmt: skip
def test_code_in_a_query_that_parsers_choke_on_is_still_only_a_query(idle: Session, tail: str) -> None:
    query = f"@triton.jit\ndef f(x):\n    y = tl.sum({tail})"
    begun = time.monotonic()
    answer = idle.call("search_skeletons", {"query": query[:8000]}).model_dump()
    assert answer["read_as"] and time.monotonic() - begun < 20
