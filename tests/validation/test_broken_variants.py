"""For every skeleton that rewrites, variants of its output with one fault each, made mechanically: all are rejected."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from skel.rewriter.engine.apply import candidates
from skel.rewriter.engine.candidate import Candidates
from skel.store.schema import NumericsClass, Skeleton
from skel.validation.check import check
from skel.validation.isolation import Workers
from skel.validation.subject import CandidateSource

from .conftest import FIXTURES, QUICK
from .mutants import KINDS, Mutant, mutants

ROOT = Path(__file__).parents[2]
FEWER = QUICK.override({"correctness.seeds": 1})
"""One seed, all value classes and shapes."""
ENOUGH = 5
"""Broken variants of a skeleton that are tried in every run of the tests."""
HARMLESS = {
    "dropped mask in gather_rows_kernel: tl.store(out + i_n * D + o_d, b_x, mask=i_n < N)": (
        "the grid has exactly N programs"
    ),
    "dropped mask in normalised_keys_kernel: tl.store(o + i_b * V + o_v, b_o / tl.sum(b_o, 0), mask=o_v < V)": (
        "its tiles are whole"
    ),
    "off by one tile in normalised_keys_producer_kernel: tl.program_id(0)": "nothing there depends on the tile",
    "stale value in decode_step_t_1_kernel: p += D": "its loop has one round, after which nothing is read",
}
"""Variants that are no faults, and why; the check finds them right, and others take their place."""


def rewriting() -> list[Skeleton]:
    records = [
        Skeleton.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
        for path in sorted((ROOT / "skeletons").glob("*/skeleton.yaml"))
    ]
    return [record for record in records if not record.is_advice]


SKELETONS = rewriting()


def sources(record: Skeleton) -> list[Path]:
    """Files with hooks that the skeleton may apply to: its own cases, a small fixture, the examples."""
    own = [ROOT / "skeletons" / record.name / case.file for case in record.cases if case.expect == "rewrite"]
    found = [*own, FIXTURES / "row_norm.py", *sorted((ROOT / "examples").glob("*.py"))]
    return [path for path in found if "def make_inputs" in path.read_text(encoding="utf-8")]


def rewritten(record: Skeleton) -> Iterator[tuple[Path, Candidates]]:
    """Those of them that it does apply to, with its candidates."""
    for path in sources(record):
        settings = next((case.settings for case in record.cases if path.name == Path(case.file).name), {})
        found = candidates(record, path.read_text(encoding="utf-8"), str(path), settings=settings)
        if isinstance(found, Candidates):
            yield path, found


def variants(path: Path, text: str, kernel: str) -> Iterator[Mutant]:
    """Broken variants of what the rewriting changed: of each kernel that is new or another one in turn; of `kernel`
    where only the launch is."""
    original = {ast.dump(node) for node in jitted(path.read_text(encoding="utf-8"))}
    changed = [node.name for node in jitted(text) if ast.dump(node) not in original] or [kernel]
    turns = [mutants(text, name) for name in changed]
    for together in itertools.zip_longest(*turns):
        yield from (one for one in together if one is not None)


def jitted(text: str) -> list[ast.FunctionDef]:
    """Functions of a file whose decorators name `jit`."""
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return [node for node in functions if any("jit" in ast.unparse(one) for one in node.decorator_list)]


def judge(workers: Workers, path: Path, right: str, broken: list[Mutant], numerics: NumericsClass) -> set[str] | None:
    """Names of the variants that the check let pass; the right text itself must pass.

    None where the workload's outputs are such that no check can vouch for anything (zeros only, for example).
    """
    texts = [CandidateSource("right", right), *(CandidateSource(one.name, one.text) for one in broken)]
    original = path.read_text(encoding="utf-8")
    report = check(original, texts, str(path), workers=workers, protocol=FEWER, numerics_class=numerics)
    verdicts = {one.name: one.verdict.value for one in report.candidates}
    right_verdict = verdicts.pop("right")
    if right_verdict == "inconclusive":
        return None
    assert right_verdict == "equivalent", (path, report.candidates[0].all_findings)
    return {name for name, verdict in verdicts.items() if verdict not in ("wrong", "failed")}


@pytest.mark.parametrize("record", SKELETONS, ids=lambda record: record.name)
def test_broken_variants_are_rejected(record: Skeleton, interpreting: Workers) -> None:
    tried = 0
    for path, found in rewritten(record):
        best = found.items[0]
        made: list[Mutant] = []
        for one in variants(path, best.text, found.kernel):
            made.append(one)
            if sum(other.name not in HARMLESS for other in made) >= ENOUGH - tried:
                break
        passed = judge(interpreting, path, best.text, made, best.numerics)
        if passed is not None:  # those that are said to be no faults are shown to be none, and are not counted
            assert passed == {one.name for one in made if one.name in HARMLESS}, path
            tried += len(made) - len(passed)
        if tried >= ENOUGH:
            return
    pytest.fail(f"{record.name}: only {tried} broken variants could be made; it needs cases with hooks")


@pytest.mark.exhaustive
@pytest.mark.parametrize("record", SKELETONS, ids=lambda record: record.name)
def test_every_fault_at_every_place_is_rejected_or_none(record: Skeleton, interpreting: Workers) -> None:
    """A variant that passes is shown to be none: it computes what the rewritten file does, to the bit (a mask that a
    grid or a loop makes good)."""
    for path, found in rewritten(record):
        best = found.items[0]
        broken = list(variants(path, best.text, found.kernel))
        passed = judge(interpreting, path, best.text, broken, best.numerics)
        if passed is not None:
            break
    assert passed is not None
    same = [CandidateSource(one.name, one.text) for one in broken if one.name in passed]
    workload = {"workers": interpreting, "protocol": QUICK, "numerics_class": NumericsClass.BITWISE}
    report = check(best.text, same, str(path), **workload) if same else None  # type: ignore[arg-type]
    for one in report.candidates if report else ():
        assert one.verdict.value == "equivalent", (one.name, one.all_findings[:2])
    kinds = {one.kind for one in broken if one.name not in passed}
    assert len(passed) <= len(broken) // 3, passed
    assert len(kinds) >= min(3, len({one.kind for one in broken})), kinds


def test_every_kind_of_fault_can_be_made() -> None:
    text = (FIXTURES / "row_norm.py").read_text(encoding="utf-8")
    looped = (
        (FIXTURES / "recurrence.py").read_text(encoding="utf-8").replace("h = h * 0.9 +", "h *= 0.9\n        h = h +")
    )
    made = [*mutants(text, "row_norm_kernel"), *mutants(looped, "recurrence_kernel")]
    assert {one.kind for one in made} == set(KINDS)
    assert len({one.text for one in made}) == len(made)
