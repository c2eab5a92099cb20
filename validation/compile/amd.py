"""Figures of AMD code, read from the assembly that Triton keeps beside the binary."""

from __future__ import annotations

import re
from typing import Any

GROUPS: dict[str, str] = {
    "transcendentals": r"v_(exp|log|rcp|rsq|sqrt|sin|cos)_",
    "shuffles": r"(ds_bpermute|ds_permute|ds_swizzle|v_permlane|v_readlane)|.*_dpp",
    "barriers": r"s_barrier",
    "matrix": r"v_s?mfma_",
    "global_loads": r"(global|buffer|flat)_load_",
    "global_loads_128": r"(global|buffer|flat)_load_dwordx4",
    "global_loads_64": r"(global|buffer|flat)_load_dwordx2",
    "global_stores": r"(global|buffer|flat)_store_",
    "shared_loads": r"ds_read",
    "shared_stores": r"ds_write",
    "atomics": r"(global|buffer|flat)_atomic_",
    "local_loads": r"scratch_load",
    "local_stores": r"scratch_store",
    "fp32_arithmetic": r"v_(pk_)?(add|mul|fma|fmac|sub)_f32",
}
"""What is counted, by regular expression at the start of a mnemonic."""

_MNEMONIC = re.compile(r"^\s+([a-z][a-z0-9]*_[a-z0-9_]+)\b", re.MULTILINE)


def figures(assembly: str) -> dict[str, Any]:
    """Vector registers, spilled and private bytes a thread, occupancy, and the instruction mix.

    Raises ValueError where the assembly has no metadata.
    """
    registers = _number(r"\.vgpr_count:\s+(\d+)", assembly)
    if registers is None:
        raise ValueError("the assembly has no .vgpr_count")
    spilled = _number(r"\.vgpr_spill_count:\s+(\d+)", assembly) or 0
    private = _number(r"\.private_segment_fixed_size:\s+(\d+)", assembly) or 0
    mnemonics = _MNEMONIC.findall(assembly)
    mix = {group: sum(bool(re.match(pattern, m)) for m in mnemonics) for group, pattern in GROUPS.items()}
    return {
        "registers": registers,
        "stack_bytes": private,
        "spill_bytes": 4 * spilled,
        "waves_per_simd": _number(r"; Occupancy:\s+(\d+)", assembly),
        "instructions": mix | {"total": len(mnemonics)},
    }


def _number(pattern: str, text: str) -> int | None:
    found = re.search(pattern, text)
    return int(found.group(1)) if found else None
