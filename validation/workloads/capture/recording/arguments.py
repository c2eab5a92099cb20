"""Arguments as plain values: JSON, with every tensor replaced by its number in a list."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


class NotReplayable(Exception):
    """An argument that another process could not be given again: `str(error)` says which kind."""


def encode(value: Any, tensors: list[torch.Tensor]) -> Any:
    """`value` as JSON, its tensors appended to `tensors`. Raises NotReplayable.

    Forms: plain values as they are; `{"tensor": n}`, `{"float": "inf"}`, `{"tuple": [...]}`, `{"list": [...]}`,
    `{"dict": [[key, value], ...]}`, `{"dtype": "bfloat16"}`, `{"device": "cuda"}`, `{"language_dtype": "fp32"}`.
    """
    import torch

    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return value if math.isfinite(value) else {"float": repr(value)}
    if kind in (torch.Tensor, torch.nn.Parameter):
        if value.layout != torch.strided or value.device.type == "meta" or value.is_quantized:
            raise NotReplayable(f"a tensor without plain memory ({value.layout}, {value.device})")
        tensors.append(value.detach())
        return {"tensor": len(tensors) - 1}
    if kind in (tuple, torch.Size):
        return {"tuple": [encode(one, tensors) for one in value]}
    if kind is list:
        return {"list": [encode(one, tensors) for one in value]}
    if kind is dict and all(type(key) is str for key in value):
        return {"dict": [[key, encode(one, tensors)] for key, one in value.items()]}
    if kind is torch.dtype:
        return {"dtype": str(value).removeprefix("torch.")}
    if kind is torch.device:
        return {"device": value.type}
    if kind.__module__.startswith("triton.language"):
        if kind.__name__ == "constexpr":
            return encode(value.value, tensors)
        if kind.__name__ == "dtype":
            return {"language_dtype": str(value)}
    raise NotReplayable(f"a {kind.__module__}.{kind.__qualname__}")


def form_of(encoded: Any, tensors: list[torch.Tensor]) -> Any:
    """What tells two calls apart: the values, and for tensors their dtype, shape, strides and device."""
    return repr(encoded), tuple(
        (str(t.dtype), tuple(t.shape), tuple(t.stride()), t.storage_offset() % 16, t.device.type) for t in tensors
    )


def arguments_of(frame: Any) -> dict[str, Any]:
    """The arguments of a function that has just been entered, by name, and in which way they were given.

    `order`: names that are given by position; `keywords`: by name; `rest` and `extra`: names of `*args`, `**kwargs`.
    """
    code, values = frame.f_code, frame.f_locals
    count, only = code.co_argcount, code.co_kwonlyargcount
    names = code.co_varnames
    place = count + only
    rest = extra = None
    if code.co_flags & 0x04:
        rest, place = names[place], place + 1
    if code.co_flags & 0x08:
        extra = names[place]
    order, keywords = list(names[:count]), list(names[count : count + only])
    wanted = [*order, *keywords, *filter(None, (rest, extra))]
    return {
        "order": order,
        "keywords": keywords,
        "rest": rest,
        "extra": extra,
        "values": {name: values[name] for name in wanted},
    }
