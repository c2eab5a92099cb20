"""`skel apply`: rewrite a kernel by a skeleton, check the result, write it where the verdict is good."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from skel.faults import WrongUse
from skel.files import SourceFile, path_inside, read_source, write_whole
from skel.store.schema.words import ExitStatus

from .database import open_store
from .evidence_files import Evidence, State, keep_evidence
from .options import Db, Json, existing_file, parse_kernel, parse_settings, parse_target_file
from .output import emit, working

WRONG_USE_CODES = frozenset({"unknown_kernel", "no_such_option", "bad_setting"})
"""Refusals that are about FILE::KERNEL or --set, not about the kernel."""

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of a skeleton; see `skel list`.")]
Target = Annotated[
    str | None,
    typer.Argument(
        metavar="FILE[::KERNEL]",
        help="The file; the kernel where it has several. Without FILE, the target that --workload names.",
    ),
]
Out = Annotated[str | None, typer.Option("-o", "--out", metavar="OUT", help="Write there, not to STEM_NAME.py here.")]
InPlace = Annotated[bool, typer.Option("--in-place", help="Write the result into FILE itself.")]
Diff = Annotated[bool, typer.Option("--diff", help="Print the difference; write nothing.")]
NoBench = Annotated[bool, typer.Option("--no-bench", help="Do not time anything.")]
Full = Annotated[bool, typer.Option("--full", help="Compile every candidate and run the full protocol.")]
Set = Annotated[list[str], typer.Option("--set", metavar="KEY=VALUE", help="Pin a decision of the skeleton.")]
Workload = Annotated[str | None, typer.Option("--workload", metavar="FILE", help="A file with the hooks to run it by.")]
Arch = Annotated[str, typer.Option("--target", metavar="ARCH", help="The architecture to compile for.")]


def command(
    name: Name,
    target: Target = None,
    out: Out = None,
    in_place: InPlace = False,
    diff: Diff = False,
    no_bench: NoBench = False,
    full: Full = False,
    settings: Set = [],  # noqa: B006
    workload: Workload = None,
    architecture: Arch = "sm_90",
    state: State = None,
    evidence: Evidence = None,
    as_json: Json = False,
    db: Db = None,
) -> int:
    """Rewrite FILE by the skeleton NAME, compile and run the result against the original, and say the verdict.

    The rewritten file is written only where the verdict is good, whole or not at all.
    """
    from skel.agent.feedback.after import after_apply
    from skel.apply import Job, apply, unified_diff
    from skel.store.records import get_skeleton

    from .verdict import render_verdict

    source, kernel = source_of(target, workload)
    path = source.path
    destination = _destination(source, name, out, in_place, diff)
    job = Job(
        skeleton=get_skeleton(open_store(db), name),
        file=str(path),
        text=source.text,
        kernel=kernel,
        settings=parse_settings(settings),
        target=architecture,
        full=full,
        bench=not no_bench,
        state=state,
        workload=str(existing_file(workload)) if workload is not None else None,
    )
    with working(f"applying {name} to {path}") as tell:
        result = apply(job, tell)
        document = result.document
        document["findings"] += after_apply(job, result.text, document, tell)
    if result.bench is not None:
        keep_evidence(result.bench, evidence, db)
    if result.verdict.is_success and result.text is not None:
        if diff:
            document["diff"] = unified_diff(source.text, result.text, path_inside(path))
        elif destination is not None:
            write_whole(destination, result.text, source.encoding)
            document["out"] = str(destination)
    emit(document, as_json, lambda console: render_verdict(console, document))
    return status_of(document)


def status_of(document: dict[str, Any]) -> int:
    """The exit status of a document: wrong use where a name or value that was given on the command line is none."""
    from skel.store.schema import Verdict

    if Verdict(document["verdict"]).is_success:
        return ExitStatus.OK
    codes = {refusal["code"] for refusal in document["refusals"]}
    return ExitStatus.WRONG_USE if codes and codes <= WRONG_USE_CODES else ExitStatus.BAD_VERDICT


def source_of(target: str | None, workload: str | None) -> tuple[SourceFile, str | None]:
    """The file to be rewritten and the kernel's name. Raises WrongUse where neither FILE nor a sidecar names one."""
    if target and not target.startswith("::"):
        path, kernel = parse_target_file(target)
        return read_source(path), kernel
    if workload is None:
        raise WrongUse("FILE is missing", hint="name the file, or give --workload a file with a TARGET")
    from skel.validation.workloads import SidecarError, target_of

    try:
        found, text = target_of(str(existing_file(workload)))
    except SidecarError as error:
        raise WrongUse(str(error), hint="TARGET names a file, also one of an installed package or a wheel") from error
    return SourceFile(Path(found), text, "utf-8"), parse_kernel(target)


def _destination(source: SourceFile, name: str, out: str | None, in_place: bool, diff: bool) -> Path | None:
    """Where the result goes; None for --diff. Raises WrongUse where the options contradict each other."""
    given = [option for option, there in (("-o", out is not None), ("--in-place", in_place), ("--diff", diff)) if there]
    if len(given) > 1:
        raise WrongUse(f"{' and '.join(given)} contradict each other", hint="give one of them")
    if diff:
        return None
    if in_place:
        if not source.path.is_file():
            raise WrongUse(f"{source.path} lies in an archive, which is not changed", hint="use -o or --diff")
        return source.path
    destination = Path(out) if out is not None else Path(f"{source.path.stem}_{name}.py")
    if destination.is_dir() or not destination.parent.is_dir():
        raise WrongUse(f"{destination} cannot be written", hint="-o takes the path of a file in an existing folder")
    if destination.exists() and source.path.exists() and destination.samefile(source.path):
        raise WrongUse(f"{destination} is the file to be rewritten", hint="say --in-place if that is what you want")
    return destination
