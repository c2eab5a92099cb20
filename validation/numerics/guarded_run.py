"""One run of a target on guarded copies of saved inputs, with everything that can be seen of it."""

from __future__ import annotations

import _thread
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..protocol import Correctness
from . import trees
from .cases import Case
from .fresh import fresh_memory
from .launches import recorded
from .modes import depths, strip
from .reads import watched_reads
from .redzones import Arena
from .surface import Surface, own_methods
from .writers import watched_stores
from .written import Watch


@dataclass(frozen=True, slots=True)
class Ran:
    """What one run left: outputs by name, the inputs afterwards, broken zones, launches by (kernel, file)."""

    outputs: dict[str, Any]
    inputs_after: dict[str, Any]
    broken: list[dict[str, Any]]
    launches: list[dict[str, Any]]
    odd_types: dict[str, str]
    """Outputs that are no plain tensors, by name, with their type."""
    reads: list[dict[str, Any]]
    """Loads from guard zones: tensor, side, how far away."""
    threads: int = 0
    """Threads started in the run, and streams that it used, still at work when it returned."""
    surface: dict[str, Any] = field(default_factory=dict)
    """What the run does to its caller beside the values: see `surface`; `modes` that it left on."""
    outside: dict[str, Any] = field(default_factory=dict)
    """Outputs in memory that was there before the run: the tensors, by name."""

    def facts(self) -> dict[str, Any]:
        """Everything but the tensors."""
        return {
            "broken": self.broken,
            "launches": self.launches,
            "odd_types": self.odd_types,
            "reads": self.reads,
            "threads": self.threads,
            **self.surface,
        }


def guarded_run(
    run: Callable[[dict[str, Any]], Any],
    inputs: Any,
    case: Case,
    device: str,
    fill: int,
    numbers: Correctness,
    watch: Watch | None = None,
    writers: Path | None = None,
) -> Ran:
    """Runs `run` on a guarded copy of `inputs`, zones filled with the byte `fill`; `watch` looks at its launches. Who
    stored what is saved at `writers`.

    Raises whatever `run` raises.
    """
    import torch

    arena = Arena(numbers.redzone_bytes, fill)
    guarded = arena.move(inputs, device)
    torch.manual_seed(case.seed)
    threads = _thread._count()
    if watch is not None:
        watch.begin(arena)
    following = watched_stores(arena) if writers is not None else nullcontext()
    surface = Surface(guarded)
    with recorded(watch) as launches, watched_reads(arena) as reads, following as stores, fresh_memory(arena):
        # The containers are copies: a target that rebinds a key of its inputs does not change what is looked at later.
        before = depths()
        result = run(trees.map_tensors(lambda tensor: tensor, guarded))
        modes = strip(before)
        result = trees.map_tensors(lambda tensor: tensor, result)  # read once: a container may say something else later
        left = _thread._count() - threads + launches.unfinished_streams()
        if device.startswith("cuda"):
            torch.cuda.synchronize()
    if watch is not None:
        watch.end(result, guarded)
    outputs = trees.flatten(result)
    seen = surface.facts(guarded, result) | {"modes": modes}
    seen["written_inputs"] = watch.written_inputs if watch is not None else []
    if stores is not None and writers is not None:
        stores.save(outputs, writers)
    odd = {name: kind for name, leaf in outputs.items() if (kind := _oddity(leaf)) is not None}
    kept = {name: _own(leaf) for name, leaf in outputs.items() if name not in odd}
    after = trees.flatten(trees.map_tensors(_own, guarded), alone="input")
    return Ran(
        kept,
        {name: leaf for name, leaf in after.items() if isinstance(leaf, torch.Tensor)},
        arena.broken(),
        launches.facts(),
        odd,
        [{"tensor": tensor, "side": side, "away": away} for (tensor, side), away in reads.items()],
        max(0, left),
        seen,
        {name: leaf for name, leaf in outputs.items() if name in seen["layouts"] and not arena.knows(leaf)},
    )


def run_and_save(
    run: Callable[[dict[str, Any]], Any], inputs: Any, case: Case, device: str, folder: Path, numbers: Correctness
) -> dict[str, Any]:
    """Runs a case as often as it asks for and saves each run as `CASE.RUN.pt`; the facts of all runs. What the launches
    of the first one wrote is saved as `CASE.launches.pt`.

    The last of several runs has other values around its tensors: a result that follows them reads what is not its own.
    """
    facts: list[dict[str, Any]] = []
    from_kernels: list[str] = []
    first: dict[str, Any] = {}
    for number in range(case.reruns):
        other = case.reruns > 1 and number == case.reruns - 1
        watch = Watch() if number == 0 else None
        writers = folder / f"{case.id}.writers.pt" if number == 0 else None
        ran = guarded_run(run, inputs, case, device, numbers.guard_bytes[1 if other else 0], numbers, watch, writers)
        saved = folder / f"{case.id}.{number}.pt"
        trees.save({"outputs": ran.outputs, "inputs": ran.inputs_after}, saved)
        if number == 0:
            first = ran.outside
        same = [n for n, leaf in ran.outside.items() if n not in first or first[n].data_ptr() == leaf.data_ptr()]
        facts.append(ran.facts() | {"reused": same if number else [], "sealed": trees.seal(saved)})
        if watch is not None:
            trees.save(watch.saved, folder / f"{case.id}.launches.pt")
            from_kernels = watch.from_kernels
    return {"case": case.id, "runs": facts, "from_kernels": from_kernels}


def _oddity(leaf: Any) -> str | None:
    """What an output is, where it is neither a plain value nor a tensor that gives its own values."""
    import torch

    if isinstance(leaf, (int, float, bool, str, type(None))):
        return None
    if type(leaf) not in (torch.Tensor, torch.nn.Parameter):
        return type(leaf).__name__
    if leaf.layout != torch.strided:
        return f"{str(leaf.layout).removeprefix('torch.')} tensor"
    return f"tensor with its own {', '.join(methods)}" if (methods := own_methods(leaf)) else None


def _own(leaf: Any) -> Any:
    """A plain copy on the CPU, out of the guarded memory; by the class's methods, whatever stands on the tensor."""
    import torch

    if not isinstance(leaf, torch.Tensor):
        return leaf
    return torch.Tensor.detach(leaf).to("cpu", copy=True).contiguous()
