"""What is made of one file for a run: every skeleton that leaves the launcher alone in one text, the others apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from skel.rewriter.engine import Candidates, candidates
from skel.store.schema import NumericsClass, Skeleton
from skel.validation.workloads.capture.judged import host_changed

from .applying import skeletons

LOCAL = "local"


@dataclass
class Variant:
    """One rewritten text."""

    name: str
    text: str
    steps: list[tuple[str, str]] = field(default_factory=list)
    """Skeletons and kernels that it holds, in order."""
    approximate: bool = False
    host: bool = False
    """Whether host code differs as well."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def variants(text: str, path: str, kernels: Sequence[str]) -> list[Variant]:
    """The variants of a file whose `kernels` a capture launches."""
    together = [r for r in skeletons() if r.kind == LOCAL]
    found = [_together(text, path, kernels, together)]
    for kernel in kernels:
        for record in (r for r in skeletons() if r.kind != LOCAL):
            found += _apart(text, path, kernel, record)
    return [v for v in found if v.steps]


def single(text: str, path: str, steps: Sequence[tuple[str, str]]) -> list[Variant]:
    """Each step of a variant on its own, to tell which one is wrong."""
    records = {r.name: r for r in skeletons()}
    return [v for name, kernel in steps for v in _apart(text, path, kernel, records[name])[:1]]


def _together(text: str, path: str, kernels: Sequence[str], records: Sequence[Skeleton]) -> Variant:
    made = Variant(LOCAL, text)
    for kernel in kernels:
        for record in records:
            result = candidates(record, made.text, path, kernel)
            if isinstance(result, Candidates):
                made.text = result.items[0].text
                made.steps.append((record.name, kernel))
                made.approximate |= _is_approximate(result.items[0].numerics)
    made.host = host_changed(text, made.text)
    return made


def _apart(text: str, path: str, kernel: str, record: Skeleton) -> list[Variant]:
    result = candidates(record, text, path, kernel)
    if not isinstance(result, Candidates):
        return []
    # The first of each form: the others differ in a number.
    first = {str(item.settings.get("form")): item for item in reversed(result.items)}
    return [
        Variant(
            f"{record.name}:{kernel}:{item.name}",
            item.text,
            [(record.name, kernel)],
            _is_approximate(item.numerics),
            host_changed(text, item.text),
        )
        for item in first.values()
    ]


def _is_approximate(numerics: NumericsClass) -> bool:
    return NumericsClass.APPROXIMATE.join(numerics) == numerics
