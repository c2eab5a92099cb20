"""The JSON document of `apply`, `check` and `bench`, as a contract: the fields that every one of them has."""

from __future__ import annotations

from typing import Any

from skel.store.schema import Environment, Finding, Record, Refusal, Verdict


class Document(Record):
    """One document a command, whatever was found out before its verdict. Unknown fields are errors."""

    skeleton: str | None
    """The record that was applied; absent for `check` and `bench`."""
    file: str
    """The original, as the user gave it."""
    kernel: str | None
    verdict: Verdict
    out: str | None
    """The file that was written; absent where none was."""
    refusals: tuple[Refusal, ...]
    findings: tuple[Finding, ...]
    candidates: tuple[dict[str, Any], ...]
    """One entry a candidate: name, settings, verdict, figures of its compiled kernel, findings."""
    compile: dict[str, Any] | None
    """Target, workload, figures of the original, one report a candidate that was compiled."""
    numerics: dict[str, Any] | None
    """`CheckReport.numerics()`."""
    timing: dict[str, Any] | None
    environment: Environment
    diff: str | None = None
    """With `--diff`: the patch."""
