"""Scanning one file: what its kernels use, what they could use and what stands against it, and hazards. Never raises on
a user's file."""

from __future__ import annotations

import ast
import re
import sys
import traceback
from dataclasses import dataclass, field

from skel.store.schema import Finding, Refusal

from ..analysis.callees import files_read
from ..analysis.facts import analyse
from ..detectors import DETECTORS, KernelView
from ..detectors.base import merged
from ..detectors.hazards import HAZARDS
from ..kernel.definition import KernelDef, Module, read_module
from ..kernel.source import read_source
from ..reasons import Refuse
from .dry import applicable
from .footprint import Footprint, Known, footprint
from .gain import expected_gain, invariant_work
from .other_languages import other_kernels

NOT_FOR_SPEED = frozenset(
    {
        *("int64_offsets", "nonlinear_partial", "unguarded_invariant_store"),
        *("dot_tf32x3", "two_level_accumulation", "block_pointer_to_mask"),
    }
)
"""Skeletons for right results, accuracy or porting; a test holds them against the records."""


@dataclass(frozen=True, slots=True)
class Use:
    """A technique that a kernel has already."""

    skeleton: str
    line: int
    why: str


@dataclass(frozen=True, slots=True)
class Opportunity:
    """A technique whose symptom a kernel shows."""

    skeleton: str
    line: int
    why: str
    applicable: bool | None
    """True, False with refusals, or None where there is nothing to apply."""
    refusals: tuple[Refusal, ...] = ()
    gain: float = 0.0
    """What it may be worth, from 0 to 1: an order among the opportunities of a kernel."""
    gain_why: str = ""


@dataclass(frozen=True, slots=True)
class RankingFacts:
    """What a kernel's opportunities are ranked by, beside the places they stand at."""

    invariant_work: dict[str, int]
    """Operations that repeat in every tile, by kind."""
    registers_per_thread: Known
    waves: Known


@dataclass(frozen=True, slots=True)
class KernelScan:
    """One kernel of a scan."""

    file: str
    kernel: str
    line: int
    uses: tuple[Use, ...]
    opportunities: tuple[Opportunity, ...]
    facts: RankingFacts | None = None
    """What the opportunities are ranked by; None where there are none."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something of ours that failed on a kernel; the rest of the file was scanned."""

    file: str
    kernel: str
    doing: str
    traceback: str
    refused: str | None = None
    """Where the kernel is beyond what is understood, and nothing failed: why."""


@dataclass(frozen=True, slots=True)
class FileScan:
    """One file of a scan."""

    kernels: tuple[KernelScan, ...] = ()
    findings: tuple[Finding, ...] = ()
    not_read: str | None = None
    """Why the file could not be read."""
    faults: tuple[Fault, ...] = ()
    other_languages: dict[str, int] = field(default_factory=dict)
    """Kernels in other languages by language: seen, not read."""
    files_read: tuple[tuple[str, str, str | None], ...] = ()
    """What was looked up in other files: the asking file, the imported name, and the file that holds it."""


def scan(text: str, path: str) -> FileScan:
    """Uses, opportunities and hazards of every kernel that the file starts."""
    with files_read() as read:
        try:
            module = read_module(read_source(text, path))
        except Refuse as refused:
            return FileScan(not_read=refused.refusal.message)
        kernels: list[KernelScan] = []
        findings: list[Finding] = []
        faults: list[Fault] = []
        for kernel in module.kernels:
            one = _Scan(module, kernel, path, faults)
            if one.is_started():
                kernels.append(one.kernel())
                findings += one.hazards()
        return FileScan(
            tuple(kernels), tuple(findings), None, tuple(faults), other_kernels(module), tuple(sorted(read, key=str))
        )


class _Scan:
    """The scan of one kernel: what fails is noted, and the rest goes on."""

    def __init__(self, module: Module, kernel: KernelDef, path: str, faults: list[Fault]) -> None:
        self.module, self.definition, self.path, self.faults = module, kernel, path, faults
        self.view: KernelView | None = None
        self._footprint: Footprint | None = None

    def is_started(self) -> bool:
        """True for a kernel that is launched here, or reads a program id; never for a helper that returns a value."""
        returns = [n for n in ast.walk(self.definition.node) if isinstance(n, ast.Return) and n.value is not None]
        if any(not (isinstance(n.value, ast.Constant) and n.value.value is None) for n in returns):
            return False
        name = re.escape(self.definition.name)
        launched = re.search(rf"\b{name}\s*(\[|\.run\b)", self.module.source.text) is not None
        try:
            self.view = KernelView(analyse(self.module, self.definition))
            if self.definition.is_entry or (launched and self.view.launches):
                return True
            return any(b.called("program_id") for b in self.view.bodies[1:]) and not self._is_called()
        except Exception:  # a fault of ours must not end a user's scan
            self._failed("analysing the kernel")
            return False

    def _is_called(self) -> bool:
        name = re.escape(self.definition.name)
        return re.search(rf"(?<!def )\b{name}\s*\(", self.module.source.text) is not None

    def kernel(self) -> KernelScan:
        uses: list[Use] = []
        opportunities: list[Opportunity] = []
        assert self.view is not None
        for skeleton, detector in DETECTORS.items():
            try:
                used, seen = merged(detector.uses(self.view)), merged(detector.opportunities(self.view))
                if used is not None:
                    uses.append(Use(skeleton, used.line, used.why))
                if seen is not None:
                    state, refusals = applicable(skeleton, self.module, self.definition)
                    speed = skeleton not in NOT_FOR_SPEED
                    gain = expected_gain(skeleton, speed, self.view.facts, seen.line, self.footprint())
                    opportunities.append(
                        Opportunity(skeleton, seen.line, seen.why, state, refusals, gain.score, gain.why)
                    )
            except Exception:  # a fault of ours must not end a user's scan
                self._failed(f"looking for {skeleton}")
        opportunities.sort(key=lambda o: ({True: 0, None: 1, False: 2}[o.applicable], -o.gain, o.line))
        line = self.definition.node.lineno
        facts = self._ranking_facts() if opportunities else None
        return KernelScan(self.path, self.definition.name, line, tuple(uses), tuple(opportunities), facts)

    def footprint(self) -> Footprint:
        """What the kernel takes of a device; found out once."""
        if self._footprint is None:
            assert self.view is not None
            self._footprint = footprint(self.view)
        return self._footprint

    def _ranking_facts(self) -> RankingFacts:
        assert self.view is not None
        taken = self.footprint()
        return RankingFacts(invariant_work(self.view.facts), taken.registers_per_thread, taken.waves)

    def hazards(self) -> list[Finding]:
        assert self.view is not None
        found: list[Finding] = []
        for hazard in HAZARDS:
            try:
                found += hazard(self.view)
            except Exception:  # a fault of ours must not end a user's scan
                self._failed("looking for hazards")
        return found

    def _failed(self, doing: str) -> None:
        error = sys.exception()
        why = None
        if isinstance(error, Refuse):
            why = error.refusal.message
        elif isinstance(error, RecursionError):
            why = "its expressions are nested too deeply to be understood"
        self.faults.append(Fault(self.path, self.definition.name, doing, traceback.format_exc(), why))
