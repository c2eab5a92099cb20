"""`skel bench`: time a candidate, or all candidates of a skeleton, against the original on a GPU."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skel.faults import WrongUse
from skel.files import read_source, write_whole
from skel.store.schema.words import ExitStatus, Verdict

from .apply import source_of, status_of
from .database import open_store
from .evidence_files import Evidence, State, keep_evidence
from .options import Db, Json, existing_file, parse_settings
from .output import emit, working

if TYPE_CHECKING:
    from skel.validation.bench import BenchResult
    from skel.validation.protocol import Protocol
    from skel.validation.timing.plan import Plan

Original = Annotated[
    str | None,
    typer.Argument(metavar="ORIGINAL[::KERNEL]", help="The file with the hooks; the kernel that is timed, else all."),
]
Candidate = Annotated[str | None, typer.Argument(metavar="CANDIDATE", help="The version to be judged.")]
Skeleton = Annotated[str | None, typer.Option("--skeleton", metavar="NAME", help="Time all candidates of a skeleton.")]
Set = Annotated[list[str], typer.Option("--set", metavar="KEY=VALUE", help="Pin a decision of the skeleton.")]
Workload = Annotated[str | None, typer.Option("--workload", metavar="FILE", help="A file with the hooks to run it by.")]
Arch = Annotated[str, typer.Option("--target", metavar="ARCH", help="The architecture candidates must compile for.")]
PlanFile = Annotated[
    str | None,
    typer.Option("--plan", metavar="PLAN", help="Write a plan there and stop; with --state, read what came of it."),
]
Out = Annotated[
    str | None, typer.Option("-o", "--out", metavar="OUT", help="Write the file there where the verdict is good.")
]
Numbers = Annotated[
    list[str], typer.Option("--number", metavar="KEY=VALUE", help="Set a number of the protocol: timing.batch=4.")
]


def command(
    original: Original = None,
    candidate: Candidate = None,
    skeleton: Skeleton = None,
    settings: Set = [],  # noqa: B006
    workload: Workload = None,
    architecture: Arch = "sm_90",
    plan: PlanFile = None,
    state: State = None,
    evidence: Evidence = None,
    out: Out = None,
    numbers: Numbers = [],  # noqa: B006
    as_json: Json = False,
    db: Db = None,
) -> int:
    """Time CANDIDATE, or every candidate of --skeleton, against ORIGINAL on the GPU here, and say the verdict.

    Without a GPU, --plan writes what `python -m skel.validation.timing.run PLAN --state DIR` works off where there is
    one, with torch and triton alone; --plan PLAN --state DIR reads what came of it.
    """
    from skel.bench import load_plan, measure_here, plan_document, require_gpu, result_of

    from .timing import render_plan
    from .verdict import render_verdict

    if plan is not None and state is not None:
        return _finish(result_of(load_plan(plan), Path(state)), evidence, out, as_json, db)
    if (original is None and workload is None) or (candidate is None) == (skeleton is None):
        hint = "ORIGINAL with CANDIDATE or --skeleton NAME; or --plan PLAN with --state DIR"
        raise WrongUse("say what is timed", hint=hint)
    if plan is None:
        require_gpu()
    elif not Path(plan).parent.is_dir():
        raise WrongUse(f"{plan} cannot be written", hint="--plan takes the path of a file in an existing folder")
    with working(f"planning the timing of {original or workload}"):
        made = _plan(original, candidate, skeleton, settings, workload, architecture, _protocol(numbers), db)
    if isinstance(made, dict):
        emit(made, as_json, lambda console: render_verdict(console, made))
        return status_of(made)
    if plan is not None:
        write_whole(Path(plan), made.to_json())
        document = plan_document(made, plan)
        emit(document, as_json, lambda console: render_plan(console, document))
        return ExitStatus.OK
    with working(f"timing {original or workload}"):
        result = measure_here(made, state)
    return _finish(result, evidence, out, as_json, db)


def _plan(
    original: str | None, candidate: str | None, skeleton: str | None, settings: list[str], workload: str | None,
    architecture: str, numbers: Protocol, db: str | None,
) -> Plan | dict[str, Any]:
    """The plan; the document where the skeleton does not apply or nothing of it compiles."""
    from skel.apply import Job, Progress
    from skel.bench import pair_plan, search_plan
    from skel.store.records import get_skeleton

    source, kernel = source_of(original, workload)
    path = source.path
    sidecar = str(existing_file(workload)) if workload is not None else None
    if candidate is not None:
        other = read_source(existing_file(candidate))
        return pair_plan(source.text, str(path), other.text, candidate, sidecar, kernel, numbers)
    record = get_skeleton(open_store(db), str(skeleton))
    job = Job(record, str(path), source.text, kernel, parse_settings(settings), architecture, True, True,
              workload=sidecar)
    progress = Progress(job)
    made = search_plan(progress, numbers)
    if made.candidates:
        return made
    return progress.end(Verdict.NOT_APPLICABLE if progress.candidates is None else Verdict.OVER_LIMITS).document


def _finish(result: BenchResult, folder: str | None, out: str | None, as_json: bool, db: str | None) -> int:
    """Keeps the evidence, writes the file where it was asked for and is good, prints the document."""
    from skel.bench import bench_document, checked_text

    from .verdict import render_verdict

    keep_evidence(result, folder, db)
    document = bench_document(result)
    if out is not None and result.verdict.is_success:
        with working("checking the file that comes of it"):
            write_whole(Path(out), checked_text(result))
        document["out"] = out
    emit(document, as_json, lambda console: render_verdict(console, document))
    return ExitStatus.OK if result.verdict.is_success else ExitStatus.BAD_VERDICT


def _protocol(pairs: list[str]) -> Protocol:
    """The protocol with numbers set. Raises WrongUse for one that does not exist."""
    from skel.validation.protocol import Protocol

    from .options import parse_scalar

    values = {key: parse_scalar(value) for key, _, value in (pair.partition("=") for pair in pairs)}
    try:
        return Protocol().override(values)
    except (KeyError, TypeError) as error:
        raise WrongUse(str(error.args[0]), hint="for example --number timing.final_samples=30") from error
