"""Random kernels against the rewriter: what was rewritten, refused, and wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from random import Random

from .generator import Sample, generate
from .interpreting import Job, Ran, interpret_some
from .rewriting import FEW, RARE, Rewritten, Settings, Stack, others, rewrite, stack
from .summary import GOOD, Summary

NAIVE = "(widened, nothing checked)"
WIDEN = "fuse_vtiles:form=widen:tile=whole"


class Made:
    """One sample with everything that the engine made of it."""

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        path, rng = f"random_{sample.seed}.py", Random(f"stacks {sample.seed}")
        self.single: Rewritten = rewrite(sample.text, path, "kernel", _choices(sample.seed))
        names = list(others())
        rng.shuffle(names)
        if rng.random() < 0.5:
            names.sort(key=lambda name: name not in RARE)
        self.stacks: list[Stack] = [stack(sample.text, path, "kernel", names)]
        fused = list(self.single.candidates.items())
        if fused and rng.random() < 0.5:
            self.over, text = rng.choice(fused)
            rng.shuffle(names)
            self.stacks.append(stack(text, path, "kernel", names))

    def job(self) -> Job:
        texts = dict(self.single.candidates)
        if WIDEN in self.single.refusals and self.sample.widened is not None:
            texts[NAIVE] = self.sample.widened
        stacks = {self.title(s): s for s in self.stacks if s.steps}
        texts |= {name: s.text for name, s in stacks.items()}
        rough = tuple(name for name, s in stacks.items() if s.approximate)
        return Job(str(self.sample.seed), self.sample.text, texts, approximate=rough)

    def title(self, one: Stack) -> str:
        return one.name if one is self.stacks[0] else f"{self.over} > {one.name}"


def check_seeds(
    first: int, count: int, batch: int = 50, seen: Callable[[Summary], None] = lambda summary: None
) -> Summary:
    """Generate, rewrite, run and compare the kernels of a range of seeds; `seen` is called after every batch."""
    summary = Summary(first, count)
    for start in range(first, first + count, batch):
        made = [Made(generate(seed)) for seed in range(start, min(start + batch, first + count))]
        results = _run([one.job() for one in made], summary)
        for one in made:
            _count(summary, one, results.get(one.sample.seed))
        summary.done += len(made)
        seen(summary)
    return summary


def _run(jobs: Sequence[Job], summary: Summary) -> dict[int, Ran]:
    """What came of each job by its seed. A job that ends the process is a fault, and the others go on without it."""
    found: dict[int, Ran] = {}
    left = list(jobs)
    while left:
        results, death = interpret_some(left)
        found |= {int(r.name): r for r in results}
        left = left[len(results) :]
        if death is not None and left:
            summary.faults.append({"seed": int(left[0].name), "what": death})
            left = left[1:]
    return found


def _choices(seed: int) -> list[tuple[str, Settings]]:
    """Widening to the whole, and two of the others in turn."""
    rest = FEW[1:]
    return [FEW[0], *(rest[(seed + i) % len(rest)] for i in (0, 2))]


def _count(summary: Summary, one: Made, ran: Ran | None) -> None:
    seed = one.sample.seed
    _count_engine(summary, one)
    if ran is None:
        summary.originals["died"] += 1
        return
    summary.originals[ran.original] += 1
    if ran.original == "error":
        summary.faults.append({"seed": seed, "what": f"the original does not run: {ran.why}"})
    if ran.original != "equal":
        return
    summary.judged += 1
    summary.rewritten += bool(one.single.candidates or any(s.steps for s in one.stacks))
    for name, word in ran.candidates.items():
        if name == NAIVE:
            continue
        summary.candidates += 1
        summary.bitwise += word == "equal"
        if word not in GOOD:
            summary.wrong.append({"seed": seed, "candidate": name, "is": word, "why": ran.reasons[name]})
    for made in one.stacks:
        if made.steps and ran.candidates[one.title(made)] in GOOD:
            summary.equivalent.update(name for name, _ in made.steps)
    for name in one.single.candidates:
        summary.equivalent[name.split(":")[0]] += ran.candidates[name] in GOOD
    codes = [code for code, _ in one.single.refusals.get(WIDEN, ())]
    if codes:
        summary.widening_refused[codes[0]] += 1
        if ran.candidates.get(NAIVE) in GOOD:
            summary.needless[codes[0]] += 1
            seeds = summary.examples.setdefault(codes[0], [])
            seeds += [seed] if len(seeds) < 6 else []


def _count_engine(summary: Summary, one: Made) -> None:
    """What the engine said, whatever the kernel does."""
    seed = one.sample.seed
    for bug in [*one.single.bugs, *(bug for made in one.stacks for bug in made.bugs)]:
        summary.faults.append({"seed": seed, "what": bug.strip().splitlines()[-1], "bug": bug[-1500:]})
    for title, refusals in one.single.refusals.items():
        summary.refused.setdefault(title.split(":")[0], Counter())[refusals[0][0]] += 1
    for name in one.single.candidates:
        summary.applied[name.split(":")[0]] += 1
    for made in one.stacks:
        summary.applied.update(name for name, _ in made.steps)
        for name, code in made.refusals.items():
            summary.refused.setdefault(name, Counter())[code] += 1
