"""Tool propose_skeleton."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from skel.store.schema import Case, Record, Skeleton

from ..errors import CallError
from ..proposal import check_proposal
from ..session_type import Session
from ..tool import Tool, Waiting, paragraphs
from ..views import JobOutput
from ..work import Work, Worked, dump, dump_refusals, follow

CaseFile = Annotated[str, StringConstraints(pattern=r"^cases/[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}\.py$")]
CaseText = Annotated[str, StringConstraints(min_length=1, max_length=32_768)]
RecordText = Annotated[str, StringConstraints(min_length=1, max_length=65_536)]
GOOD = frozenset({"equivalent", "improved", "faster", "neutral"})


class Given(Waiting):
    """A record and its cases."""

    record: Skeleton | RecordText
    """The record as an object, or as the text of its YAML. Steps name primitives and give plain words and numbers:
    nothing in it is run."""
    cases: Annotated[dict[CaseFile, CaseText], Field(max_length=12)] = Field(default_factory=dict)
    """Every file that the record's cases name: kernels with run() and make_inputs() to rewrite, kernels to refuse,
    and expected results."""


class CaseView(Record):
    """What became of one case."""

    file: str
    expect: str
    passed: bool
    why: str


class Result(Record):
    """Whether the record was added."""

    name: str
    admitted: bool
    status: str | None
    """`hypothesis` where it was added: its claims count once they are measured."""
    cases: tuple[CaseView, ...]


class Output(JobOutput):
    """The job and its result."""

    result: Result | None = None


def _start(session: Session, given: Given) -> str:
    from skel.store.load import load_skeleton
    from skel.store.records import list_skeletons

    with tempfile.TemporaryDirectory(prefix="skel-record-") as scratch:
        try:
            record = load_skeleton(lay_out(Path(scratch), given))
        except ValueError as error:  # RecordError, whose file is a temporary one
            raise CallError("bad_record", message=_said(error)) from error
    shipped = {one.name: one.origin for one in list_skeletons(session.database)}
    if shipped.get(record.name) == "packaged":
        raise CallError("bad_record", message=f"name: skel ships a skeleton named {record.name}")
    unknown = [name for _, names in record.interactions for name in names if name not in shipped]
    if unknown:
        raise CallError("bad_record", message=f"interactions: there is no skeleton named {unknown[0]}")
    check_proposal(record)
    request = {"record": record.model_dump(mode="json"), "cases": given.cases}
    return session.dispatcher.submit(TOOL.name, session.roots.names, request)


def lay_out(folder: Path, given: Given) -> Path:
    """Write the record and its cases as they lie in a folder of skeletons; the record's path."""
    (folder / "cases").mkdir()
    for name, text in given.cases.items():
        (folder / name).write_text(text, encoding="utf-8")
    path = folder / "skeleton.yaml"
    record = given.record
    text = record if isinstance(record, str) else _as_yaml(record)
    path.write_text(text, encoding="utf-8")
    return path


def _as_yaml(record: Skeleton) -> str:
    """The record's YAML. Not its JSON: `1e-05` is a number there and a word in YAML."""
    import yaml

    class Plain(yaml.SafeDumper):
        """Writes no anchors, which records may not have."""

        def ignore_aliases(self, data: Any) -> bool:
            return True

    return yaml.dump(record.model_dump(mode="json", exclude_none=True), Dumper=Plain, allow_unicode=True)


def _said(error: ValueError) -> str:
    """Lines, fields and messages of a RecordError, without the place of the temporary file."""
    faults = [error, *getattr(error, "others", ())]
    parts = []
    for one in faults[:8]:
        line, field = getattr(one, "line", None), getattr(one, "field", None)
        text = f"{field}: {one.message}" if field else str(getattr(one, "message", one))
        parts.append(f"line {line}: {text}" if line and line > 1 else text)
    return "; ".join(parts)[:1500]


def _work(work: Work, given: Given) -> Worked:
    from skel.store.records import add_skeleton

    record = given.record
    assert isinstance(record, Skeleton)
    check_proposal(record)
    views: list[dict[str, Any]] = []
    findings: list[dict[str, Any]] = []
    for case in record.cases:
        passed, why, found = _try(work, record, case, given.cases)
        views.append({"file": case.file, "expect": case.expect, "passed": passed, "why": why[:300]})
        findings += [] if passed else found
        work.report("case", f"{case.file}: {'passed' if passed else 'failed'}")
    admitted = all(view["passed"] for view in views)
    if admitted:
        add_skeleton(work.database, record)
    failed = [view for view in views if not view["passed"]]
    summary = (
        f"{record.name} was added as a hypothesis"
        if admitted
        else f"not added: {len(failed)} of {len(views)} cases failed; {failed[0]['file']}: {failed[0]['why']}"
    )
    onward = [follow("get_skeleton", "as others will see it", name=record.name)] if admitted else []
    result = {"name": record.name, "admitted": admitted, "status": "hypothesis" if admitted else None, "cases": views}
    return Worked(summary, result, findings=findings, next=onward, report={"cases": views, "findings": findings})


def _try(work: Work, record: Skeleton, case: Case, texts: dict[str, str]) -> tuple[bool, str, list[dict[str, Any]]]:
    """Whether a case comes out as it says, why, and the findings."""
    from skel.apply import Job, apply
    from skel.rewriter.engine import candidates
    from skel.rewriter.result import Bug, Refused

    text = texts[case.file]
    found = candidates(record, text, case.file, None, case.settings)
    if isinstance(found, Bug):
        return False, f"skel itself failed while {found.doing}", []
    if case.expect == "refuse":
        if not isinstance(found, Refused):
            return False, "it was rewritten", []
        codes = [one.code for one in found.refusals]
        return case.refusal in codes, f"refused: {', '.join(codes)}", dump(found.findings)
    if isinstance(found, Refused):
        first = found.refusals[0]
        return False, f"refused: {first.code}: {first.message}", dump_refusals_as(found.refusals)
    result = apply(Job(record, case.file, text, settings=dict(case.settings)), work.step)
    verdict = result.verdict.value
    if verdict not in GOOD:
        errors = [one["message"] for one in result.document["findings"] if one["severity"] != "info"]
        return False, f"{verdict}: {errors[0] if errors else 'it was not run'}", result.document["findings"]
    if case.after is not None and result.text != texts[case.after]:
        return False, f"the result is not {case.after}", result.document["findings"]
    return True, verdict, []


def dump_refusals_as(refusals: Any) -> list[dict[str, Any]]:
    """Refusals of a case as findings: an answer about several files has no refusals of its own."""
    from skel.rewriter.reasons import finding
    from skel.store.schema import Place

    return dump(
        [
            finding(
                "candidate_refused",
                Place(line=one["line"]),
                severity="error",
                candidate="the case",
                why=f"{one['code']}: {one['message']}",
            )
            for one in dump_refusals(refusals)
        ]
    )


TOOL = Tool(
    "propose_skeleton",
    paragraphs("""Add a skeleton of your own, without Python: a strict record whose steps name primitives of skel, with
    cases: small kernels that it must rewrite (they have run() and make_inputs(), and run in the isolated worker) and
    kernels that it must refuse, at least one of each unless the record is advice (an empty schedule). It is added as a
    hypothesis when every case passes, and then found by search_skeletons. `skel schema` prints the record's form; the
    resource skel://schema/skeleton has it too.

    A job. Next: the failed cases say why; get_skeleton shows what was added."""),
    Given,
    Output,
    _start,
    _work,
    reads_only=False,
)
