"""What a range of seeds came to: counts that add up over ranges, and everything that was wrong."""

from __future__ import annotations

import hashlib
import importlib.metadata
import platform
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from .interpreting import ROOT

GOOD = ("equal", "close")
_COUNTERS = ("originals", "applied", "equivalent", "widening_refused", "needless")
_NUMBERS = ("done", "judged", "candidates", "bitwise", "rewritten")


@dataclass
class Summary:
    """Counts over a range of seeds. `wrong` and `faults` must stay empty."""

    first: int
    count: int
    done: int = 0
    """Kernels looked at so far."""
    judged: int = 0
    """Kernels whose original runs, inside its tensors, the same in any order of programs."""
    candidates: int = 0
    """Rewritten files that ran against their original. One may hold several rewrites, one on top of the other."""
    bitwise: int = 0
    """Candidates equal to the bit; the others differ by rounding."""
    rewritten: int = 0
    """Kernels with at least one candidate."""
    originals: Counter[str] = field(default_factory=Counter)
    applied: Counter[str] = field(default_factory=Counter)
    """By skeleton: how often it was applied."""
    equivalent: Counter[str] = field(default_factory=Counter)
    """By skeleton: how often what it gave, alone or with others, ran like its original."""
    refused: dict[str, Counter[str]] = field(default_factory=dict)
    """By skeleton: the first code of each refusal."""
    widening_refused: Counter[str] = field(default_factory=Counter)
    """Judged kernels that widening to the whole refuses, by the first code."""
    needless: Counter[str] = field(default_factory=Counter)
    """Those among them where widening without any check gives the same results on the inputs tried."""
    examples: dict[str, list[int]] = field(default_factory=dict)
    """A few seeds of needless refusals by code."""
    wrong: list[dict[str, Any]] = field(default_factory=list)
    faults: list[dict[str, Any]] = field(default_factory=list)

    def add(self, other: Summary) -> None:
        """Takes over what another range came to."""
        for name in _NUMBERS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in _COUNTERS:
            getattr(self, name).update(getattr(other, name))
        for skeleton, codes in other.refused.items():
            self.refused.setdefault(skeleton, Counter()).update(codes)
        for code, seeds in other.examples.items():
            self.examples[code] = (self.examples.get(code, []) + seeds)[:6]
        self.wrong += other.wrong
        self.faults += other.faults

    def document(self) -> dict[str, Any]:
        """As plain JSON, counts from the largest."""
        found = asdict(self)
        for name in _COUNTERS:
            found[name] = dict(getattr(self, name).most_common())
        found["refused"] = {name: dict(self.refused[name].most_common()) for name in sorted(self.refused)}
        return found

    @classmethod
    def read(cls, document: dict[str, Any]) -> Summary:
        """The inverse of `document`."""
        made = cls(**document)
        for name in _COUNTERS:
            setattr(made, name, Counter(getattr(made, name)))
        made.refused = {name: Counter(codes) for name, codes in made.refused.items()}
        return made


def versions() -> dict[str, str]:
    """What the kernels ran with, and the hashes of the rewriter and of the generator."""
    found = {name: importlib.metadata.version(name) for name in ("triton", "torch", "numpy")}
    return {
        "python": platform.python_version(),
        **found,
        "rewriter": _hash("rewriter"),
        "generator": _hash("tests/random_kernels"),
    }


def _hash(folder: str) -> str:
    digest = hashlib.sha256()
    for path in sorted((ROOT / folder).rglob("*.py")):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
