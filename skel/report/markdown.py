"""The report as Markdown: the same content as the page, as tables. What others wrote is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from .compiled import span
from .difference import unified
from .markdown_text import code, fenced, line
from .plots import Ratio
from .view import Article, Report
from .workloads import Version, Workload

_HEAD = (
    "workload",
    "version",
    "cold µs",
    "ratio",
    "warm µs",
    "ratio",
    "over its own best",
    "of the floor",
    "verdict",
)
_MOST_RANKED = 12
"""Candidates listed from either end of the ranking."""


def as_markdown(report: Report) -> str:
    """The whole report. The same report gives the same text."""
    lines = [
        "<!-- skel report -->",
        f"# {'Report' if len(report.articles) == 1 else f'Report of {len(report.articles)} pieces of evidence'}",
        "",
        f"Made by skel {report.version} from stored evidence. Ratios are original over candidate: above 1 is faster;",
        "with a bootstrap 95 % interval of ratios taken pair by pair. The cold L2 cache decides.",
        "",
    ]
    for article in report.articles:
        lines += [*_article(article), ""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


def _article(article: Article) -> Iterator[str]:
    e = article.evidence
    yield f"## {line(e.skeleton)}: {code(e.kernel)} in {code(e.file)}"
    yield ""
    yield f"**{e.verdict}**: {article.meaning}. {line(article.title)}."
    yield ""
    stale = f" ({line(', '.join(article.piece.stale_because))})" if article.piece.stale_because else ""
    yield f"- status today: {article.piece.status}{stale}"
    yield f"- measured: {e.measured_at:%Y-%m-%d} on {line(e.environment.device)}, level {e.level}"
    if article.control:
        yield f"- control, the original against itself: {article.control}"
    yield f"- evidence: {code(article.piece.id)}"
    for mean in article.means.means if article.means else ():
        both = ", ".join(f"{ratio} {mode}" for mode, ratio in mean.ratio.items())
        yield f"- geometric mean over {mean.baseline}: {both}"
    if article.means and article.means.minimum:
        yield f"- worst workload: {', '.join(f'{least:.3f} {mode}' for mode, least in article.means.minimum.items())}"
    yield ""
    if article.is_timed:
        yield from _timing(article)
    else:
        yield from ("### Timing", "", f"Nothing was timed to its end: this evidence is of the level {e.level}.", "")
    yield from _changes(article)
    yield from _compiled(article)
    yield from _numerics(article)
    yield from _findings(article)
    yield from _environment(article)


def _timing(article: Article) -> Iterator[str]:
    yield from ("### Workloads", "")
    yield from _table(_HEAD, (row for one in article.workloads for row in _rows(one)))
    yield ""
    if article.ranking:
        listed = [*article.ranking.timed, *article.ranking.partly]
        yield from ("### Winners and losers", "")
        yield from ("Screened, cold: the geometric mean, the worst and the best workload.", "")
        shown = listed if len(listed) <= 2 * _MOST_RANKED else [*listed[:_MOST_RANKED], *listed[-_MOST_RANKED:]]
        yield from _table(
            ("candidate", "mean", "worst", "best", "not timed"),
            (
                (
                    one.name,
                    f"{one.mean:.3f}",
                    *(f"{ratio:.3f} on {label}" for label, ratio in one.ends),
                    ", ".join(dict.fromkeys(one.untimed.values())),
                )
                for one in shown
            ),
        )
        for one in article.ranking.untimed:
            yield f"- timed nowhere: {line(one.name)} ({line(', '.join(dict.fromkeys(one.untimed.values())))})"
        yield ""
    for grid in article.surfaces[0].grids if article.surfaces else ():
        yield f"### Search surface{': ' + line(grid.title) if grid.title else ''}"
        yield ""
        head = (grid.rows_are, *(f"{column} warps" for column in grid.columns))
        yield from _table(
            head,
            ((title, *(one.text + (" (chosen)" if one.chosen else "") for one in cells)) for title, cells in grid.rows),
        )
        yield ""


def _rows(one: Workload) -> Iterator[Sequence[str]]:
    if not one.versions:
        yield (one.label, one.chosen, *[""] * 6, one.verdict)
    for number, version in enumerate(one.versions):
        own = one.over_own("cold") if version.chosen else None
        yield (
            one.label if number == 0 else "",
            version.title + (" (chosen)" if version.chosen else ""),
            _microseconds(version, "cold"),
            _ratio(version.ratio.get("cold")),
            _microseconds(version, "warm"),
            _ratio(version.ratio.get("warm")),
            "" if own is None else f"{own:.3f}",
            ", ".join(f"{fraction:.0%} {mode}" for mode, fraction in version.of_floor.items()),
            one.verdict if number == 0 else "",
        )


def _microseconds(version: Version, mode: str) -> str:
    taken = version.microseconds.get(mode)
    return "" if taken is None else f"{taken:.2f}"


def _ratio(ratio: Ratio | None) -> str:
    return "" if ratio is None else str(ratio)


def _changes(article: Article) -> Iterator[str]:
    yield from ("### Changed lines", "")
    for change in article.changes.shown:
        yield f"{line(change.title)}{': ' + line(change.note) if change.note else ''}"
        yield ""
        yield from fenced(unified(change.before, change.after, change.path), "diff")
        yield ""
    for why in article.changes.why_not:
        yield from (line(why), "")


def _compiled(article: Article) -> Iterator[str]:
    yield from ("### Compiled", "")
    if not article.compiled:
        yield from ("No figures of the compiler are stored.", "")
        return
    yield from _table(
        ("version", "registers", "spills, bytes", "shared memory, bytes", "warps"),
        (
            (
                one.name + (" (chosen)" if one.chosen else ""),
                span(one.registers),
                span(one.spill_bytes),
                span(one.shared_memory_bytes),
                span(one.warps),
            )
            for one in article.compiled
        ),
    )
    yield ""


def _numerics(article: Article) -> Iterator[str]:
    yield from ("### Numerics", "")
    if article.numerics.compared:
        yield from _table(
            ("workload", "verdict", "passed", "wrong", "not counted", "RMS error against float64: candidate, original"),
            (
                (
                    one.label,
                    one.verdict,
                    str(one.passed),
                    str(one.wrong),
                    str(one.not_counted),
                    "; ".join(f"{name}: {candidate}, {original}" for name, candidate, original in one.errors),
                )
                for one in article.numerics.compared
            ),
        )
        yield ""
    elif not article.numerics.facts:
        yield "No comparison is stored with this evidence."
    yield from (f"- {name}: {line(value)}" for name, value in article.numerics.facts)
    yield ""


def _findings(article: Article) -> Iterator[str]:
    yield from ("### Findings", "")
    for said in article.findings:
        yield f"- {line(said.severity)} {code(said.code)}{': ' + line(said.hint) if said.hint else ''}"
        yield from (f"  - {line(message)}{f' ({line(place)})' if place else ''}" for message, place in said.messages)
    if not article.findings:
        yield "None."
    yield ""


def _environment(article: Article) -> Iterator[str]:
    yield from ("### Environment", "")
    for table in (article.environment, article.method):
        yield from (f"- {line(name)}: {line(value)}" for name, value in table.entries)
    for table in article.protocol:
        yield f"- protocol, {line(table.title)}: {line(', '.join(f'{name} {value}' for name, value in table.entries))}"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(line(one) for one in head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(line(one) for one in row) + " |"
