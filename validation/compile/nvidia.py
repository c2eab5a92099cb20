"""Figures of a cubin: registers and stack from cuobjdump, instruction counts from nvdisasm (both in Triton's wheel)."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

_RESOURCE = re.compile(r"REG:(\d+) STACK:(\d+) SHARED:(\d+) LOCAL:(\d+)")
_INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_]*(?:\.[A-Z0-9_]+)*)")

GROUPS: dict[str, str] = {
    "transcendentals": r"MUFU(\.|$)",
    "shuffles": r"(SHFL|REDUX|CREDUX)(\.|$)",
    "barriers": r"(BAR|UBAR|SYNCS|WARPSYNC)(\.|$)",
    "matrix": r"(HMMA|IMMA|DMMA|QMMA|OMMA|[HQIB]GMMA|UTC\w*MMA)(\.|$)",
    "global_loads": r"(LDG|LD)(\.|$)",
    "global_loads_128": r"LDG\.(.*\.)?128(\.|$)",
    "global_loads_64": r"LDG\.(.*\.)?64(\.|$)",
    "global_stores": r"(STG|ST)(\.|$)",
    "async_copies": r"(LDGSTS|UTMALDG|UBLKCP)(\.|$)",
    "shared_loads": r"(LDS|LDSM)(\.|$)",
    "shared_stores": r"(STS|STSM)(\.|$)",
    "atomics": r"(ATOMG?|RED|REDG)(\.|$)",
    "local_loads": r"LDL(\.|$)",
    "local_stores": r"STL(\.|$)",
    "fp32_arithmetic": r"(FADD|FMUL|FFMA|FADD2|FMUL2|FFMA2)(\.|$)",
}
"""What is counted, by regular expression over an opcode with its modifiers."""


def figures(cubin: bytes, folder: Path) -> dict[str, Any]:
    """Registers and stack bytes a thread, and the instruction mix. Raises OSError where a tool is missing."""
    path = folder / "kernel.cubin"
    path.write_bytes(cubin)
    usage = _RESOURCE.search(_tool("cuobjdump", "--dump-resource-usage", str(path)))
    mix = instruction_mix(_tool("nvdisasm", "-c", str(path)))
    if usage is None:
        raise OSError("cuobjdump printed no resource usage")
    registers, stack, _, local = map(int, usage.groups())
    spilled = mix["local_loads"] + mix["local_stores"] > 0
    return {
        "registers": registers,
        "stack_bytes": stack + local,
        "spill_bytes": stack + local if spilled else 0,
        "instructions": mix,
    }


def instruction_mix(assembly: str) -> dict[str, int]:
    """Counts of nvdisasm's text by group, with `total`."""
    opcodes = Counter(match.group(1) for match in _INSTRUCTION.finditer(assembly))
    mix = {
        group: sum(n for opcode, n in opcodes.items() if re.match(pattern, opcode)) for group, pattern in GROUPS.items()
    }
    return mix | {"total": sum(opcodes.values())}


def _tool(name: str, *arguments: str) -> str:
    import triton

    path = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / name
    done = subprocess.run([str(path), *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(f"{name}: {done.stderr.strip()[:500]}")
    return done.stdout
