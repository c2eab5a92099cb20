"""Which binary a compiled kernel is, and what it follows from: source, target, options and specialisation.

What a step of a run compiled is held against what an earlier step compiled; where they cannot be the same, the fact
says in what they differ.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from .elf import code_sha256
from .numerics.outputs import Fact, fact

OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg", "enable_fp_fusion", "waves_per_eu")
"""Launch options that change a binary."""
MADE_OF = ("source", "target", "options", "specialisation")
"""What a binary follows from, in the order in which a difference is told."""
ANOTHER_SOURCE = "another source"
Identity = dict[str, Any]
"""`binary_sha256` (of the code, without debugging information), `key` (Triton's), and all of `MADE_OF`."""


def identity(compiled: Any) -> Identity | None:
    """The identity of a compiled kernel; None where it was interpreted, or is nothing that Triton compiled."""
    held = getattr(compiled, "asm", None) or {}
    binary = next((held[kind] for kind in ("cubin", "hsaco") if kind in held), None)
    if binary is None:
        return None
    metadata, source = getattr(compiled, "metadata", None), getattr(compiled, "src", None)
    target = getattr(metadata, "target", None)
    special = [_sorted(getattr(source, name, None)) for name in ("signature", "constants", "attrs")]
    return {
        "binary_sha256": code_sha256(bytes(binary)),
        "key": getattr(compiled, "hash", None),
        "source": _short(str(getattr(getattr(source, "fn", None), "cache_key", ""))),
        "target": f"{target.backend}:{target.arch}" if target is not None else "",
        "options": {name: getattr(metadata, name) for name in OPTIONS if hasattr(metadata, name)},
        "specialisation": _short(repr(special)),
    }


def _sorted(value: Any) -> Any:
    return sorted((str(key), str(one)) for key, one in value.items()) if isinstance(value, Mapping) else str(value)


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def other_binaries(
    what: str,
    ran: Iterable[Mapping[str, Any]],
    checked: Iterable[Mapping[str, Any]],
    step: str,
    *,
    same_text: bool = False,
) -> list[Fact]:
    """Facts on binaries of `ran` that `checked` (what the earlier `step` had) does not hold. Both are figures of
    launches: `kernel` and the fields of an identity; those without a binary were interpreted and say nothing.

    An error where the binary of the same source, target, options and specialisation is another one, and where a kernel
    of the `same_text` has another source; a warning where such a binary was not checked at all.
    """
    known = [one for one in checked if "source" in one]  # figures of an earlier version of skel have none
    found: list[Fact] = []
    for one in ran:
        same_kernel = [other for other in known if other["kernel"] == one["kernel"]]
        if not one.get("binary_sha256") or not same_kernel:
            continue
        if any(one["binary_sha256"] == other["binary_sha256"] for other in same_kernel):
            continue
        fields = {"what": what, "kernel": one["kernel"], "ran": one["binary_sha256"][:12], "step": step}
        same = next((other for other in same_kernel if not differences(one, other)), None)
        if same is not None:
            made = fact("other_binary_ran", **fields, meant=same["binary_sha256"][:12])
        else:
            told = min((differences(one, other) for other in same_kernel), key=len)
            made = fact("unchecked_binary", "warning", **fields, differs="; ".join(told))
            if same_text and ANOTHER_SOURCE in told:
                ran_instead = f"another source of {one['kernel']}"
                made = fact("wrong_code_ran", what=what, ran=ran_instead, meant=f"the one that {step} ran")
        found += [made] if made not in found else []
    return found


def launched(ran: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What a check says that it ran (see `CandidateCheck.ran`), one entry a binary, as `other_binaries` takes it."""
    return [{"kernel": one["kernel"], **built} for one in ran for built in one["built"]]


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """In words, in what two binaries cannot be the same; empty where nothing tells them apart."""
    if one.get("key") and one.get("key") == other.get("key"):
        return []
    told = [
        _told(name, one[name], other[name])
        for name in MADE_OF
        if name in one and name in other and one[name] != other[name]
    ]
    return told or (["another key of Triton's"] if one.get("key") and other.get("key") else [])


def _told(name: str, now: Any, before: Any) -> str:
    if name == "options":
        changed = [key for key in now if now[key] != before.get(key)]
        return ", ".join(f"{key} {now[key]} instead of {before.get(key)}" for key in changed) or "options"
    return f"{name} {now} instead of {before}" if name == "target" else f"another {name}"
