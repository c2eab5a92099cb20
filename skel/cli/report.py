"""`skel report`: stored evidence as a page, or as Markdown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from skel.faults import WrongUse
from skel.files import write_whole

from .database import open_store
from .options import Db, Json
from .output import emit, say, working

Which = Annotated[
    list[str] | None,
    typer.Argument(metavar="[WHICH]...", help="Skeletons, kernels, first letters of ids, files; else everything."),
]
Form = Annotated[str | None, typer.Option("--format", metavar="html|md", help="By default by the name of OUT.")]
Out = Annotated[str | None, typer.Option("-o", "--out", metavar="OUT", help="Write it there; else print it.")]


def command(which: Which = None, form: Form = None, out: Out = None, as_json: Json = False, db: Db = None) -> int:
    """Show evidence, good and bad: verdicts, plots, winners and losers, the search, changed lines, findings.

    WHICH names skeletons, kernels, the first letters of ids, or files of evidence. With `-o OUT` a page is written that
    needs nothing else (or Markdown, where OUT ends in `.md`); without it Markdown is printed. A file that is there and
    is no report is never replaced.
    """
    from skel.report import as_html, as_markdown, view_of
    from skel.report.pieces import pieces_of

    chosen = _form(form, out)
    if out is not None:
        _require_replaceable(Path(out))
    with working("making the report"):
        report = view_of(pieces_of(open_store(db), which or []))
        text = as_html(report) if chosen == "html" else as_markdown(report)
    if out is not None:
        write_whole(Path(out), text)
        say(f"wrote {out}")
    document = {
        "format": chosen,
        "out": out,
        "evidence": [_short(one) for one in report.articles],
        "report": text if out is None else None,
    }
    if as_json or out is None:
        emit(document, as_json, lambda console: _print(console, text))
    return 0


def _form(form: str | None, out: str | None) -> Literal["html", "md"]:
    """Raises WrongUse for a form that does not exist."""
    if form is None:
        return "md" if out is None or Path(out).suffix.lower() in (".md", ".markdown") else "html"
    if form == "html":
        return "html"
    if form == "md":
        return "md"
    raise WrongUse(f"there is no format {form}", hint="--format html, or --format md")


def _require_replaceable(path: Path) -> None:
    """Raises WrongUse where something is there that is no earlier report."""
    from skel.report.html import GENERATOR

    if not path.is_file():
        return
    try:
        with path.open("rb") as file:
            start = file.read(1000)
    except OSError as error:
        raise WrongUse(f"{path} cannot be read: {error.strerror}", hint="give another name") from error
    if start.strip() and GENERATOR.encode() not in start:
        raise WrongUse(f"{path} is there already and is no report", hint="give another name, or remove it first")


def _short(article: Any) -> dict[str, Any]:
    """What a report says first of a piece of evidence."""
    evidence = article.evidence
    return {
        "id": article.piece.id,
        "skeleton": evidence.skeleton,
        "kernel": evidence.kernel,
        "file": evidence.file,
        "level": evidence.level,
        "verdict": evidence.verdict.value,
        "status": article.piece.status.value,
        "device": evidence.environment.device,
        "geometric_mean": {
            mean.baseline: {mode: ratio.median for mode, ratio in mean.ratio.items()}
            for mean in (article.means.means if article.means else ())
        },
        "changed_lines": [change.title for change in article.changes.shown],
    }


def _print(console: Any, text: str) -> None:
    console.file.write(text)
