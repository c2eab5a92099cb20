"""The original and its candidates in one process: loaded side by side, recorded on the same inputs, compared.

Each keeps the modules it was loaded as; they are put in place while it runs, since hooks may import them lazily.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..numerics import trees
from ..numerics.outputs import Fact, compare_form, compare_values, fact
from ..protocol import Correctness
from ..subject import Subject
from ..workloads import Hooks, Loaded, load_subject, read_hooks
from ..workloads.hooks import is_scratch
from .recording import Launch, Recording, flat_bytes, recording

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True)
class Variant:
    """A loaded version: its hooks, and the modules that are its own."""

    name: str
    hooks: Hooks
    loaded: Loaded
    modules: Mapping[str, ModuleType]
    finders: Sequence[Any] = ()
    """What it put into `sys.meta_path`."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Launch options that are set at every launch: the original in another configuration."""
    exact: bool = False

    @contextmanager
    def active(self) -> Iterator[None]:
        """Within: the names of its modules mean its own."""
        before = {name: sys.modules.get(name) for name in self.modules}
        sys.modules.update(self.modules)
        sys.meta_path[:0] = self.finders
        try:
            yield
        finally:
            sys.meta_path[:] = [finder for finder in sys.meta_path if finder not in self.finders]
            for name, module in before.items():
                if module is None:
                    sys.modules.pop(name, None)
                else:
                    sys.modules[name] = module

    def with_options(self, name: str, options: Mapping[str, Any]) -> Variant:
        """The same code under another name, launched with other options."""
        return Variant(name, self.hooks, self.loaded, self.modules, self.finders, options, self.exact)


@dataclass(slots=True)
class Run:
    """One run of a variant: what it launched, the tensors it gave back (they live on), its inputs afterwards."""

    variant: Variant
    recorded: Recording
    launches: list[Launch]
    """Those that are timed."""
    outputs: dict[str, Any]
    inputs: dict[str, Any]

    def tensors(self) -> dict[str, torch.Tensor]:
        """Outputs and inputs that are tensors, by name; inputs are called `input NAME`."""
        import torch

        named = {**self.outputs, **{f"input {name}": leaf for name, leaf in self.inputs.items()}}
        return {name: leaf for name, leaf in named.items() if isinstance(leaf, torch.Tensor)}

    def compared(self) -> dict[str, torch.Tensor]:
        """Those of the original that a candidate is held against: scratch that it changes itself is left out."""
        scratch = self.variant.hooks.scratch
        return {
            name: leaf
            for name, leaf in self.tensors().items()
            if not (
                name.startswith("input ") and is_scratch(name.removeprefix("input "), scratch) and self.changed(leaf)
            )
        }

    def changed(self, leaf: torch.Tensor) -> bool:
        """True where a launch was given the tensor's memory, and it is not what it was before the first of them."""
        import torch

        before = self.recorded.contents.get(leaf.untyped_storage().data_ptr())
        return before is not None and not torch.equal(flat_bytes(leaf), before)


def load_variant(name: str, subject: Subject, folder: Path, *, exact: bool = False) -> Variant:
    """Loads a version in a folder of its own. Raises whatever it raises, and MissingHooks."""
    folder.mkdir(parents=True, exist_ok=True)
    before, finders = dict(sys.modules), list(sys.meta_path)
    try:
        loaded = load_subject(subject, folder)
        own = {key: module for key, module in sys.modules.items() if _lies_in(module, folder)}
    finally:
        new = [finder for finder in sys.meta_path if finder not in finders]
        sys.meta_path[:] = finders
        for key in [key for key, module in sys.modules.items() if _lies_in(module, folder)]:
            if key in before:
                sys.modules[key] = before[key]
            else:
                del sys.modules[key]
    return Variant(name, read_hooks(loaded.hooks_module), loaded, own, new, exact=exact)


def run_variant(variant: Variant, inputs: Any, timed: Sequence[str] | None) -> Run:
    """Runs it on `inputs` (changed where it works in place) and records. `timed` names kernels; None is all.

    Raises RuntimeError where it launches none of them, or none of its own file.
    """
    with variant.active(), poisoned_allocations(), recording(variant.options, timed) as recorded:
        result = variant.hooks.run(trees.map_tensors(lambda tensor: tensor, inputs))
    launches = [one for one in recorded.launches if timed is None or one.kernel in timed]
    if not launches:
        raise RuntimeError(f"{variant.name} launched no kernel that could be timed")
    if not any(one.file == variant.loaded.path for one in recorded.launches):
        raise RuntimeError(f"{variant.name} launched no kernel of its own file")
    return Run(variant, recorded, launches, trees.flatten(result), trees.flatten(inputs, alone="input"))


def timed_kernels(
    kernel: str | None, original: Recording, candidate: Recording
) -> tuple[list[str] | None, list[str] | None]:
    """Which kernels of each count: the target, and those that only one of the two launches. None where all count."""
    if kernel is None:
        return None, None
    first = {launch.kernel for launch in original.launches}
    second = {launch.kernel for launch in candidate.launches}
    return sorted({kernel} & first | first - second), sorted({kernel} & second | second - first)


def untimed_work(original: Recording, candidate: Recording) -> Counter[str]:
    """Operations outside launches that the candidate does and the original does not."""
    return candidate.operations - original.operations


def same_results(candidate: Run, original: Run, numbers: Correctness) -> list[Fact]:
    """What differs in outputs and in changed inputs; empty where all agree within the class."""
    exact = candidate.variant.exact
    found = compare_form(candidate.outputs, original.outputs)
    if found:
        return found
    return _differences(candidate.tensors(), original.compared(), exact, numbers)


def _differences(
    got: Mapping[str, torch.Tensor], expected: Mapping[str, torch.Tensor], exact: bool, numbers: Correctness
) -> list[Fact]:
    found = []
    for name, right in expected.items():
        if same_bits(got[name], right):
            continue
        bad = compare_values(name, got[name], right, exact=exact, reordered=not exact, numbers=numbers)
        if bad and name.startswith("input "):
            fields = {key: value for key, value in bad["fields"].items() if key != "output"}
            bad = fact("input_change_differs", name=name.removeprefix("input "), why=bad["code"], **fields)
        found += [bad] if bad else []
    return found


def same_bits(one: torch.Tensor, other: torch.Tensor) -> bool:
    """True where both hold the same bytes: the quick way to say that nothing differs."""
    import torch

    if one.shape != other.shape or one.dtype != other.dtype or one.is_complex():
        return False
    kinds = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    kind = kinds[one.element_size()]
    return bool(torch.equal(one.view(kind), other.view(kind)))


@contextmanager
def poisoned_allocations() -> Iterator[None]:
    """Within: memory that was never written holds NaN or a large integer; no stale right answer is found in it."""
    import torch

    # What use_deterministic_algorithms does, without its import of the whole of inductor, which takes seconds.
    choose = torch._C._set_deterministic_algorithms
    before = torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled()
    choose(True, warn_only=True)
    try:
        yield
    finally:
        choose(before[0], warn_only=before[1])


def copied_inputs(inputs: Any) -> Any:
    """Inputs in memory of their own: strides kept, views of one storage still views of one."""
    import torch

    bases: dict[int, torch.Tensor] = {}

    def copy(tensor: torch.Tensor) -> torch.Tensor:
        address = tensor.untyped_storage().data_ptr()
        if address not in bases:
            bases[address] = flat_bytes(tensor).clone()
        flat = bases[address]
        view = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
        return view.set_(flat.untyped_storage(), tensor.storage_offset(), tensor.shape, tensor.stride())

    return trees.map_tensors(copy, inputs)


def _lies_in(module: Any, folder: Path) -> bool:
    path = getattr(module, "__file__", None)
    return isinstance(path, str) and Path(path).is_relative_to(folder)
