"""The tools as frameworks take them, and `skel tools`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest

from skel.agent.prompts import PROMPTS
from skel.agent.registry import TOOLS
from skel.agent.rendering import anthropic, openai, plain_json
from skel.cli import main

NAMES = [
    "search_skeletons", "get_skeleton", "scan_kernel", "explain", "apply_skeleton", "check_equivalence", "benchmark",
    "capture_workloads", "propose_skeleton", "add_evidence", "get_evidence", "get_job", "cancel_job",
]  # fmt: skip


def test_every_tool_is_there_in_every_form() -> None:
    assert [one["function"]["name"] for one in openai()] == NAMES
    assert [one["name"] for one in anthropic()] == NAMES
    assert [one["name"] for one in plain_json()["tools"]] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_schemas_are_schemas_and_closed(name: str) -> None:
    tool = TOOLS[name]
    for schema in (tool.input_schema(), tool.output_schema()):
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object" and schema["additionalProperties"] is False
    assert len(tool.description) > 60
    assert re.fullmatch(r"[a-z_]{1,64}", name)


def test_jobs_can_be_waited_for() -> None:
    assert {tool.name for tool in TOOLS.values() if tool.work} < {tool.name for tool in TOOLS.values() if tool.waits}


def test_files_and_tools_have_the_same_names() -> None:
    folder = Path(__file__).resolve().parents[2] / "skel" / "agent" / "tools"
    assert {path.stem for path in folder.glob("[!_]*.py")} == set(NAMES)


def test_prompts_name_only_tools_that_there_are() -> None:
    for prompt in PROMPTS.values():
        assert "{" + prompt.argument + "}" in prompt.text
        called = set(re.findall(r"\b(?:get|add|scan|apply|check|cancel|capture|propose|search)_[a-z]+\b", prompt.text))
        assert called - set(PROMPTS) <= set(NAMES)


def test_what_is_put_into_a_prompt_is_not_filled_in_further() -> None:
    assert "{file}{0.__class__}%s" in PROMPTS["optimize_kernel"].filled("{file}{0.__class__}%s")


@pytest.mark.parametrize(("form", "kind"), [("openai", list), ("anthropic", list), ("json", dict)])
def test_skel_tools_prints_one_document(
    form: str, kind: type, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["tools", "--format", form]) == 0
    assert isinstance(json.loads(capsys.readouterr().out), kind)


def test_an_unknown_form_is_wrong_use(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tools", "--format", "xml"]) == 2
