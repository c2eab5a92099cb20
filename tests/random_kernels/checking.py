"""Random kernels against the rewriter: what was rewritten, refused, and wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from .generator import Sample, generate
from .interpreting import Job, Ran, interpret
from .rewriting import FEW, Rewritten, Settings, rewrite

NAIVE = "(widened, nothing checked)"
WIDEN = "fuse_vtiles:form=widen:tile=whole"
GOOD = ("equal", "close")


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
    bitwise: int = 0
    """Candidates equal to the bit; the others differ by the order of a sum."""
    rewritten: int = 0
    """Kernels with at least one candidate."""
    originals: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    """Judged kernels that widening to the whole refuses, by the first code."""
    needless: Counter[str] = field(default_factory=Counter)
    """Those among them where widening without any check gives the same results on the inputs tried."""
    examples: dict[str, list[int]] = field(default_factory=dict)
    """A few seeds of needless refusals by code."""
    wrong: list[dict[str, Any]] = field(default_factory=list)
    faults: list[dict[str, Any]] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """As plain JSON, counts from the largest."""
        found = asdict(self)
        for name in ("originals", "refusals", "needless"):
            found[name] = dict(getattr(self, name).most_common())
        return found


def check_seeds(
    first: int, count: int, batch: int = 50, seen: Callable[[Summary], None] = lambda summary: None
) -> Summary:
    """Generate, rewrite, run and compare the kernels of a range of seeds; `seen` is called after every batch."""
    summary = Summary(first, count)
    for start in range(first, first + count, batch):
        samples = [generate(seed) for seed in range(start, min(start + batch, first + count))]
        made = {s.seed: rewrite(s.text, f"random_{s.seed}.py", "kernel", _choices(s.seed)) for s in samples}
        results = {int(r.name): r for r in interpret(_job(s, made[s.seed]) for s in samples)}
        for sample in samples:
            _count(summary, sample, made[sample.seed], results[sample.seed])
        summary.done += len(samples)
        seen(summary)
    return summary


def _choices(seed: int) -> list[tuple[str, Settings]]:
    """Widening to the whole, and three of the others in turn."""
    others = FEW[1:]
    return [FEW[0], *(others[(seed + i) % len(others)] for i in (0, 2, 5))]


def _job(sample: Sample, made: Rewritten) -> Job:
    texts = dict(made.candidates)
    if WIDEN in made.refusals:
        texts[NAIVE] = sample.widened
    return Job(str(sample.seed), sample.text, texts)


def _count(summary: Summary, sample: Sample, made: Rewritten, ran: Ran) -> None:
    summary.originals[ran.original] += 1
    for bug in made.bugs:
        summary.faults.append({"seed": sample.seed, "what": bug.strip().splitlines()[-1]})
    if ran.original == "error":
        summary.faults.append({"seed": sample.seed, "what": f"the original does not run: {ran.why}"})
    if ran.original != "equal":
        return
    summary.judged += 1
    summary.rewritten += bool(made.candidates)
    for name in made.candidates:
        summary.candidates += 1
        summary.bitwise += ran.candidates[name] == "equal"
        if ran.candidates[name] not in GOOD:
            summary.wrong.append(
                {"seed": sample.seed, "candidate": name, "is": ran.candidates[name], "why": ran.reasons[name]}
            )
    codes = [code for code, _ in made.refusals.get(WIDEN, ())]
    if codes:
        summary.refusals[codes[0]] += 1
        if ran.candidates[NAIVE] in GOOD:
            summary.needless[codes[0]] += 1
            _example(summary.examples.setdefault(codes[0], []), sample.seed)


def _example(seeds: Sequence[int], seed: int) -> None:
    if isinstance(seeds, list) and len(seeds) < 12:
        seeds.append(seed)
