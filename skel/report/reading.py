"""Reading the open parts of evidence, which others may have written: what has not the expected form is not there."""

from __future__ import annotations

import math
from typing import Any

MODES = ("cold", "warm")


def part(value: Any, *path: str) -> dict[str, Any]:
    """The dict at `path` inside `value`; empty where there is none."""
    found = get(value, *path)
    return found if isinstance(found, dict) else {}


def get(value: Any, *path: str) -> Any:
    """What stands at `path` inside nested dicts; None where nothing does."""
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def rows(value: Any) -> list[dict[str, Any]]:
    """The dicts in a list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list | tuple) else []


def named(value: Any) -> dict[str, dict[str, Any]]:
    """The dicts in a dict, by name."""
    return {str(key): one for key, one in value.items() if isinstance(one, dict)} if isinstance(value, dict) else {}


def number(value: Any, *path: str) -> float | None:
    """A finite number at `path`; None where there is none."""
    found = get(value, *path)
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
        return None
    return float(found)


def positive(value: Any, *path: str) -> float | None:
    """A number above zero, as times and ratios are."""
    found = number(value, *path)
    return found if found is not None and found > 0 else None


def text(value: Any, *path: str) -> str:
    """What stands there as text; empty where nothing does."""
    found = get(value, *path)
    return "" if found is None else plain(found)


def plain(value: Any) -> str:
    """A value as people write it: no quotes, `yes` and `no`, lists with commas, `a=1` for what has names."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return short(value)
    if isinstance(value, dict):
        return ", ".join(f"{key}={plain(one)}" for key, one in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(plain, value))
    return str(value)


def short(value: float) -> str:
    """At most four digits that matter: 0.3537, 21.61, 4294967296."""
    if not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    return f"{value:.4g}"
