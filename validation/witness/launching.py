"""Launches one kernel in the interpreter on memory that is not there, chosen programs only, and keeps every access."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from .memory import Memory


def kernel_of(module: ModuleType, name: str) -> Any:
    """The interpreted function behind autotuners and heuristics. Raises LookupError."""
    found = getattr(module, name, None)
    while found is not None and not hasattr(found, "rewrite") and hasattr(found, "fn"):
        found = found.fn
    if not hasattr(found, "rewrite"):
        raise LookupError(f"{name} is no kernel at the top level of its file")
    return found


def launch(
    kernel: Any,
    pointers: dict[str, str],
    arguments: dict[str, Any],
    programs: list[list[int]],
    index: int | None = None,
    wide: bool = False,
) -> Memory:
    """Runs the programs in the order given and hands back the memory with all accesses. `wide` computes integers in 64
    bits: what an offset would be if nothing wrapped.

    Raises whatever the kernel or the interpreter raises.
    """
    from triton.runtime import interpreter

    memory = Memory(pointers, index, wide)
    function = kernel.rewrite()
    constexprs = interpreter.GridExecutor(function, kernel.arg_names, (1,)).constexprs
    missing = [name for name in kernel.arg_names if name not in arguments and name not in pointers]
    if missing:
        raise LookupError(f"nothing is known of its argument {missing[0]}")
    scope = interpreter._patch_lang(function)
    try:
        with _watched(memory, kernel.fn.__code__):
            values = {name: _argument(name, memory, arguments, constexprs) for name in kernel.arg_names}
            grid = [1 + max(program[k] for program in programs) for k in range(3)]
            interpreter.interpreter_builder.set_grid_dim(*grid)
            for program in programs:
                memory.program = (program[0], program[1], program[2])
                interpreter.interpreter_builder.set_grid_idx(*program)
                function(**values)
    finally:
        scope.restore()
    return memory


def _argument(name: str, memory: Memory, arguments: dict[str, Any], constexprs: list[str]) -> Any:
    import numpy
    import triton.language as tl
    from triton.runtime import interpreter

    if name in memory.kinds:
        element = tl.int32 if memory.kinds[name] == "int" else tl.float32
        kind = tl.pointer_type(element)
        return tl.tensor(interpreter.TensorHandle(numpy.array([memory.address(name)], numpy.uint64), kind), kind)
    value = arguments[name]
    if isinstance(value, dict):
        value = getattr(tl, value["dtype"])
    if name in constexprs:
        return value
    converted = interpreter._implicit_cvt(value)
    if memory.wide and isinstance(value, int):
        converted.handle.data = converted.handle.data.astype(numpy.int64)
    return converted


@contextmanager
def _watched(memory: Memory, code: Any) -> Iterator[None]:
    """Within: the interpreter reads and writes `memory`; in wide memory integers stay in 64 bits."""
    import numpy
    from triton.runtime import interpreter

    builder: Any = interpreter.interpreter_builder
    handle: Any = interpreter.TensorHandle

    def line() -> int:
        frame: Any = sys._getframe(2)
        found = 0
        while frame is not None:
            if frame.f_code.co_filename == code.co_filename and frame.f_code.co_name == code.co_name:
                found = frame.f_lineno
            frame = frame.f_back
        return found

    def kinds(ptrs: Any) -> tuple[Any, Any, int]:
        element = ptrs.get_element_ty()
        numpy_kind = interpreter._get_np_dtype(element)
        if element.is_floating() and numpy_kind.kind != "f":
            raise TypeError(f"memory of {element} is not made here")
        return element, numpy_kind, max(1, element.primitive_bitwidth // 8)

    def load(ptrs: Any, mask: Any, other: Any, *_: Any) -> Any:
        element, kind, width = kinds(ptrs)
        filling = numpy.zeros(ptrs.data.shape, kind) if other is None else numpy.broadcast_to(
            other.data, ptrs.data.shape)
        return handle(memory.load(ptrs.data, mask.data, width, line(), filling, kind), element)

    def store(ptrs: Any, value: Any, mask: Any, *_: Any) -> None:
        _, kind, width = kinds(ptrs)
        values = numpy.broadcast_to(value.data, ptrs.data.shape).astype(kind)
        memory.store(ptrs.data, mask.data, values, width, line())

    def atomic(operation: Any, ptr: Any, value: Any, mask: Any, *_: Any) -> Any:
        element, kind, width = kinds(ptr)
        at = line()
        combine = _COMBINE.get(str(operation).rpartition(".")[2])
        if combine is None:
            raise TypeError(f"{operation} is not made here")
        before = memory.load(ptr.data, mask.data, width, at, numpy.zeros(ptr.data.shape, kind), kind)
        memory.accesses.pop()
        after = combine(before, numpy.broadcast_to(value.data, ptr.data.shape)).astype(kind)
        memory.store(ptr.data, mask.data, after, width, at, "atomic")
        return handle(before, element)

    def program_id(axis: int) -> Any:
        import triton.language as tl

        place = memory.program[axis]
        return handle(numpy.array([place], numpy.int64 if memory.wide else numpy.int32), tl.int32)

    def multiply(left: Any, right: Any) -> Any:
        product = type(builder).create_mul(builder, left, right)
        kind = left.data.dtype
        if not memory.wide and kind.kind in "iu" and kind.itemsize == 4:
            exact = left.data.astype(numpy.int64) * right.data.astype(numpy.int64)
            if (exact != product.data).any():
                memory.wrapped.add(line())
        return product

    own = {
        "create_mul": multiply,
        "create_masked_load": load,
        "create_masked_store": store,
        "create_atomic_rmw": atomic,
        "create_get_program_id": program_id,
    }
    validated = interpreter._validate_np_data_size
    options = builder.options
    for name, function in own.items():
        setattr(builder, name, function)
    # Where a product wraps is what is looked at: it must not end the run.
    builder.options = interpreter.InterpreterOptions(sanitize_overflow=False)
    if memory.wide:
        interpreter._validate_np_data_size = lambda *_: True
    try:
        with numpy.errstate(all="ignore"):
            yield
    finally:
        for name in own:
            delattr(builder, name)
        builder.options = options
        interpreter._validate_np_data_size = validated


_COMBINE: dict[str, Any] = {
    "ADD": lambda a, b: a + b,
    "FADD": lambda a, b: a + b,
    "MAX": lambda a, b: a * (a > b) + b * (a <= b),
    "MIN": lambda a, b: a * (a < b) + b * (a >= b),
    "AND": lambda a, b: a & b,
    "OR": lambda a, b: a | b,
}
"""What an atomic leaves, of what was there and what it brings."""
