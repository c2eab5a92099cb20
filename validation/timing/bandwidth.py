"""What this device can move, measured once a session: the ceilings of which floors are made."""

from __future__ import annotations

from typing import Any

from .timers import Timer

_COPIES = 4
_IN_CACHE = 100


def ceilings(device: str, timer: Timer, size: int) -> dict[str, float]:
    """Bytes a second from device memory and from L2: the faster of a copy (read plus written) and a mere read."""
    import torch

    large = torch.empty(size, dtype=torch.uint8, device=device).random_(0, 256)
    small = torch.empty(max(1 << 12, timer.l2_bytes // 4), dtype=torch.uint8, device=device).random_(0, 256)
    found = {
        "device_copy": 2 * large.numel() / _seconds(timer, _copying(large), _COPIES),
        "l2_copy": 2 * small.numel() / _seconds(timer, _copying(small), _IN_CACHE),
    }
    if device.startswith("cuda"):
        found["device_read"] = large.numel() / _seconds(timer, _reading(large), _COPIES)
        found["l2_read"] = small.numel() / _seconds(timer, _reading(small), _IN_CACHE)
    device_rate = max(value for name, value in found.items() if name.startswith("device"))
    l2_rate = max(value for name, value in found.items() if name.startswith("l2"))
    return found | {"device_bytes_per_second": device_rate, "l2_bytes_per_second": l2_rate}


def _seconds(timer: Timer, step: Any, times: int) -> float:
    step()
    replay = timer.capture([step] * times)
    replay()
    return min(timer.seconds(replay) for _ in range(5)) / times


def _copying(source: Any) -> Any:
    import torch

    target = torch.empty_like(source)
    return lambda: target.copy_(source)


def _reading(source: Any) -> Any:
    import torch

    from .read_kernel import BLOCK, read_kernel

    words = source.view(torch.int32)
    programs = words.numel() // BLOCK
    out = torch.empty(programs, dtype=torch.int32, device=source.device)
    return lambda: read_kernel[(programs,)](words, out, BLOCK, num_warps=8)
