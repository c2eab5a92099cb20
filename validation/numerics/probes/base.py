"""What a probe is: a name, a kind, and a run that gives outputs by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from ...protocol import Correctness
from ...workloads import Hooks
from ..cases import Case


@dataclass(frozen=True, slots=True)
class Setting:
    """What probes are made from: the case they belong to, its saved inputs, and those of another seed."""

    module: ModuleType
    hooks: Hooks
    case: Case
    inputs: dict[str, Any]
    other_case: Case | None
    other_inputs: dict[str, Any] | None
    device: str
    thorough: bool
    numbers: Correctness


@dataclass(frozen=True, slots=True)
class Probe:
    """One further run. `about` holds what the judge and its message need."""

    kind: str
    name: str
    run: Callable[[], dict[str, Any]]
    about: dict[str, Any] = field(default_factory=dict)


Maker = Callable[[Setting], Iterator[Probe]]
