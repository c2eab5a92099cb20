"""SARIF output against the part of SARIF 2.1.0 that it uses, written down strictly: names, types, ranges, and nothing
more. Sources: OASIS SARIF 2.1.0, the section named at each object; URI references as RFC 3986 has them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from skel.store.schema import CODES
from tests.cli.running import Skel

_URI = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?(?:[A-Za-z0-9._~!$&'()*+,;=:@/?#-]|%[0-9A-F]{2})+")


def _uri(text: str) -> str:
    assert _URI.fullmatch(text), f"{text!r} is no URI reference"
    assert ":" not in text.partition("/")[0] or text.startswith(("file:", "https:")), "its first part reads as a scheme"
    return text


Uri = Annotated[str, AfterValidator(_uri)]
Level = Literal["none", "note", "warning", "error"]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Message(Strict):
    """3.11: here always with text."""

    text: str = Field(min_length=1)


class ArtifactLocation(Strict):
    """3.4."""

    uri: Uri


class Region(Strict):
    """3.30: lines count from 1."""

    startLine: int = Field(ge=1)
    endLine: int | None = Field(default=None, ge=1)


class PhysicalLocation(Strict):
    """3.29."""

    artifactLocation: ArtifactLocation
    region: Region | None = None


class Location(Strict):
    """3.28."""

    physicalLocation: PhysicalLocation


class Result(Strict):
    """3.27: `rank` is from 0 to 100, `properties` is a bag."""

    ruleId: str
    level: Level
    message: Message
    locations: list[Location] = Field(default_factory=list)
    rank: float | None = Field(default=None, ge=0, le=100)
    properties: dict[str, Any] = Field(default_factory=dict)


class Rule(Strict):
    """3.49, a reportingDescriptor."""

    id: str
    help: Message | None = None


class Driver(Strict):
    """3.19, a toolComponent."""

    name: Literal["skel"]
    version: str
    rules: list[Rule]


class Tool(Strict):
    """3.18."""

    driver: Driver


class Notification(Strict):
    """3.58."""

    level: Level
    message: Message
    locations: list[Location]


class Invocation(Strict):
    """3.20."""

    executionSuccessful: bool
    toolExecutionNotifications: list[Notification] = Field(default_factory=list)


class Run(Strict):
    """3.14."""

    tool: Tool
    invocations: list[Invocation]
    results: list[Result]


class Log(Strict):
    """3.13."""

    schema_: Uri = Field(alias="$schema")
    version: Literal["2.1.0"]
    runs: list[Run]


KERNEL = """import triton
import triton.language as tl


@triton.jit
def {name}(x, y, n, stride, N, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    o = tl.arange(0, BLOCK)
    b = tl.load(x + pid * stride + o, mask=o < N, other=0.0)
    t = pid * BLOCK + o
    c = tl.load(x + t, mask=t < N, other=0.0)
    tl.store(y + t, b / tl.sqrt(tl.sum(c * c)))
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "sp ace%" / "ü").mkdir(parents=True)
    for place in ("a.py", "sp ace%/b#?.py", "sp ace%/ü/c.py", "d:e.py"):
        (tmp_path / place).write_text(KERNEL.format(name="kernel"))
    (tmp_path / "broken.py").write_text("triton (\n")
    (tmp_path / "bytes.py").write_bytes(b"# triton \xff\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("named", [(".",), ("a.py", "sp ace%"), ("broken.py",)])
def test_the_log_is_what_the_standard_says(skel: Skel, folder: Path, named: tuple[str, ...]) -> None:
    document = skel("scan", *named, "--sarif").document
    log = Log.model_validate(document)
    (run,) = log.runs
    rules = [rule.id for rule in run.tool.driver.rules]
    assert sorted(set(rules)) == sorted(rules) and {r.ruleId for r in run.results} == set(rules)
    assert all(rule.help is not None for rule in run.tool.driver.rules if rule.id in CODES)
    if named != ("broken.py",):
        assert {"offset_may_overflow", "unmasked_access", "div_to_reciprocal"} <= set(rules)


def test_absolute_paths_are_uris(skel: Skel, folder: Path) -> None:
    log = Log.model_validate(skel("scan", str(folder), "--sarif").document)
    uris = {r.locations[0].physicalLocation.artifactLocation.uri for r in log.runs[0].results}
    assert {uri.rpartition("/")[2] for uri in uris} == {"a.py", "b%23%3F.py", "c.py", "d%3Ae.py"}
    assert all(uri.startswith("file:///") for uri in uris)


def test_files_that_were_not_read_are_notifications(skel: Skel, folder: Path) -> None:
    (run,) = Log.model_validate(skel("scan", ".", "--sarif").document).runs
    notes = run.invocations[0].toolExecutionNotifications
    assert [n.locations[0].physicalLocation.artifactLocation.uri for n in notes] == ["broken.py", "bytes.py"]


@pytest.mark.parametrize(
    "change", [{"extra": 1}, {"level": "info"}, {"rank": 101.0}, {"message": {}}, {"locations": [{"file": "a.py"}]}]
)
def test_the_model_is_strict(skel: Skel, folder: Path, change: dict[str, Any]) -> None:
    document = json.loads(json.dumps(skel("scan", "a.py", "--sarif").document))
    document["runs"][0]["results"][0] |= change
    with pytest.raises(ValidationError):
        Log.model_validate(document)
