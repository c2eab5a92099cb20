"""A piece of evidence as everything that a report shows of it: plain data, the same for the page and for Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skel import __version__
from skel.meaning import MEANING
from skel.store.schema import Evidence

from .changes import Changes, changes_of
from .compiled import Figures, compiled_of
from .facts import Said, Table, control_of, environment_of, findings_of, method_of, protocol_of
from .means import Means, means_of
from .numerics import NumericsView, numerics_of
from .pieces import Piece
from .plots import Plot
from .ranking import Ranking, ranking_of
from .surface import Surface, surfaces_of
from .workloads import Workload, plots_of, workloads_of


@dataclass(frozen=True, slots=True)
class Article:
    """All that is said of one piece of evidence."""

    anchor: str
    piece: Piece
    title: str
    meaning: str
    means: Means | None
    workloads: tuple[Workload, ...]
    plots: tuple[Plot, ...]
    ranking: Ranking | None
    surfaces: tuple[Surface, ...]
    changes: Changes
    compiled: tuple[Figures, ...]
    numerics: NumericsView
    findings: tuple[Said, ...]
    control: str
    environment: Table
    method: Table
    protocol: tuple[Table, ...]

    @property
    def evidence(self) -> Evidence:
        return self.piece.evidence

    @property
    def is_timed(self) -> bool:
        return bool(self.plots)


@dataclass(frozen=True, slots=True)
class Report:
    """The articles of a report, and the version of skel that made it."""

    version: str
    articles: tuple[Article, ...]


def view_of(pieces: Sequence[Piece]) -> Report:
    """The report of these pieces, in their order. Sources that are at hand are read for the changed lines."""
    return Report(__version__, tuple(_article(number, piece) for number, piece in enumerate(pieces, 1)))


def _article(number: int, piece: Piece) -> Article:
    evidence = piece.evidence
    found = workloads_of(evidence)
    return Article(
        anchor=f"e{number}",
        piece=piece,
        title=piece.skeleton.title if piece.skeleton else evidence.skeleton,
        meaning=MEANING[evidence.verdict],
        means=means_of(evidence),
        workloads=found,
        plots=plots_of(found, evidence.protocol),
        ranking=ranking_of(evidence),
        surfaces=surfaces_of(evidence),
        changes=changes_of(piece),
        compiled=compiled_of(evidence, found),
        numerics=numerics_of(evidence),
        findings=findings_of(evidence),
        control=control_of(evidence),
        environment=environment_of(evidence),
        method=method_of(evidence),
        protocol=protocol_of(evidence),
    )
