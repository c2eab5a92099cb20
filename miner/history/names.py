"""What names mean in one file of kernels: the language's operations by one spelling, however a file imports them."""

from __future__ import annotations

import ast

OPERATIONS = frozenset(
    "abs advance arange argmax argmin associative_scan atomic_add atomic_and atomic_cas atomic_max atomic_min "
    "atomic_or atomic_xchg atomic_xor assume broadcast broadcast_to cast cat cdiv ceil clamp constexpr cos "
    "cummax cumprod cumsum debug_barrier device_assert device_print div_rn dot dot_scaled erf exp exp2 "
    "expand_dims expm1 fdiv flip floor fma full gather histogram inline_asm_elementwise interleave join load "
    "log log1p log2 make_block_ptr make_tensor_descriptor max max_contiguous max_constancy maximum min minimum "
    "multiple_of next_power_of_2 num_programs permute philox program_id rand randint range ravel reduce "
    "reshape rsqrt sigmoid sin softmax sort split sqrt sqrt_rn static_assert static_print static_range store "
    "sum swizzle2d tanh trans umulhi view where xor_sum zeros zeros_like gdc_wait gdc_launch_dependents".split()
)
"""Functions of triton.language, by name."""
_METHODS = frozenset(
    "abs associative_scan argmax argmin broadcast_to cumprod cumsum expand_dims exp flip log max min permute ravel "
    "reshape sigmoid softmax sqrt sum trans".split()
)
"""Those that a block also has as a method, and whose name no other object's method is likely to have."""
_HOST_PACKAGES = ("torch", "triton", "math", "os", "functools")


class Names:
    """The imports and plain aliases of one file."""

    def __init__(self, tree: ast.Module) -> None:
        self._of: dict[str, str] = {}
        for node in tree.body:
            self._read(node)
        self._known = frozenset(self._of) | {"tl", *_HOST_PACKAGES}

    def _read(self, node: ast.stmt) -> None:
        match node:
            case ast.Import(names=names):
                for alias in names:
                    self._of[alias.asname or alias.name.split(".")[0]] = (
                        alias.name if alias.asname else alias.name.split(".")[0]
                    )
            case ast.ImportFrom(module=module, names=names):
                for alias in names:
                    self._of[alias.asname or alias.name] = f"{module or ''}.{alias.name}"
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute() as value):
                self._of[name] = ast.unparse(value)
            case ast.If(body=body, orelse=orelse) | ast.Try(body=body, orelse=orelse):
                for inner in [*body, *orelse]:
                    self._read(inner)

    def dotted(self, node: ast.expr, local: frozenset[str] = frozenset()) -> str | None:
        """`tl.exp` for any spelling of it, `torch.empty`, `triton.cdiv`; None for what is no known name.

        `local`: names that the function binds itself.
        """
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id in local or (parts and node.id not in self._known):
            return None
        root = self._of.get(node.id, node.id if parts else "")
        if root in self._of and root != node.id:  # an alias of an imported module: `exp = tl.exp`
            root = self._of[root]
        head, _, rest = root.partition(".")
        if head in self._of and rest:
            root = f"{self._of[head]}.{rest}"
        full = ".".join([root, *reversed(parts)]) if root else node.id
        return _plain(full)


def is_method(name: str) -> bool:
    """True for a method of blocks that is a function of the language too."""
    return name in _METHODS


def _plain(full: str) -> str | None:
    last = full.rsplit(".", 1)[-1]
    if full.startswith(("tl.", "triton.language", "triton.math")) or "libdevice" in full or ".tldevice" in full:
        short = last.removeprefix("fast_")
        if short != last and short.endswith("f") and short[:-1] in OPERATIONS:
            short = short[:-1]
        return f"tl.{short}"
    if full.split(".")[0] in _HOST_PACKAGES:
        return full
    if "." in full and last in OPERATIONS and last not in ("range", "split", "sort", "load", "max", "min", "sum"):
        return f"tl.{last}"  # from a module of wrappers, such as `ops.utils.op`
    if "." not in full and last in ("exp", "exp2", "log", "log2", "safe_exp"):
        return f"tl.{last}"
    return None
