"""The targets that can be compiled for, and what a program may use there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """One architecture: its name, Triton's backend and number for it, and its limits for one program."""

    name: str
    backend: str
    architecture: int | str
    warp_size: int
    shared_memory_bytes: int
    """Most shared memory (LDS) of one program. CUDA C++ programming guide, technical specifications per compute
    capability; AMD CDNA ISA guides."""
    registers_per_block: int = 65536


TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target("sm_80", "cuda", 80, 32, 166_912),
        Target("sm_86", "cuda", 86, 32, 101_376),
        Target("sm_89", "cuda", 89, 32, 101_376),
        Target("sm_90", "cuda", 90, 32, 232_448),
        Target("sm_100", "cuda", 100, 32, 232_448),
        Target("sm_120", "cuda", 120, 32, 101_376),
        Target("gfx942", "hip", "gfx942", 64, 65_536),
        Target("gfx950", "hip", "gfx950", 64, 163_840),
    )
}


def target_of(name: str) -> Target:
    """The target of that name. Raises ValueError with the known names."""
    try:
        return TARGETS[name]
    except KeyError:
        raise ValueError(f"no target {name!r}; there are {', '.join(TARGETS)}") from None
