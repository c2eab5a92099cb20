"""Features of a snippet's syntax, each with the symptom it stands for."""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_EXTENTS = frozenset({"T", "N", "M", "L", "B", "S", "seq_len", "seqlen", "n_tokens", "num_tokens", "n_rows", "batch",
                      "total_tokens", "max_len", "batch_size"})
"""Names that launchers use for what changes from call to call."""
_BATCH_AND_HEADS = [{batch, heads} for batch in ("B", "N", "batch", "batch_size") for heads in
                    ("H", "HV", "HQ", "H_q", "n_heads", "num_heads", "heads")]


@dataclass(frozen=True, slots=True)
class Feature:
    """Something that a snippet does."""

    seen: Callable[[ast.Module], bool]
    symptom: str
    weight: float
    because: str


def calls(tree: ast.AST, *names: str) -> Iterator[ast.Call]:
    """Calls of a function or method by its last name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and last_name(node.func) in names:
            yield node


def last_name(node: ast.expr) -> str | None:
    """`exp` of `tl.math.exp`."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else None


def _calls(*names: str) -> Callable[[ast.Module], bool]:
    return lambda tree: any(calls(tree, *names))


def _natural_exponential(tree: ast.Module) -> bool:
    return any(calls(tree, "exp"))


def _division_by_root(tree: ast.Module) -> bool:
    return any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and any(calls(node.right, "sqrt"))
               for node in ast.walk(tree))


def _division_by_row(tree: ast.Module) -> bool:
    return any(isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and isinstance(node.right, ast.Subscript)
               for node in ast.walk(tree))


def _dot_of_floats(tree: ast.Module) -> bool:
    plain = [call for call in calls(tree, "dot")
             if not {keyword.arg for keyword in call.keywords} & {"input_precision", "allow_tf32"}]
    return any("float32" in ast.unparse(call) for call in plain)


def _twice(*names: str) -> Callable[[ast.Module], bool]:
    def seen(tree: ast.Module) -> bool:
        found = [ast.dump(call) for call in calls(tree, *names)]
        return len(found) > len(set(found))

    return seen


def _state_added_to_zeros(tree: ast.Module) -> bool:
    zeros = {target.id for node in ast.walk(tree) if isinstance(node, ast.Assign) and any(calls(node.value, "zeros"))
             for target in node.targets if isinstance(target, ast.Name)}
    return any(isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add) and isinstance(node.target, ast.Name)
               and node.target.id in zeros and _is_load(node.value) for node in ast.walk(tree))


def _is_load(node: ast.expr) -> bool:
    """A load, at most converted: `tl.load(p).to(...)`."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "to":
        node = node.func.value
    return isinstance(node, ast.Call) and last_name(node.func) == "load"


def _guard_of_first_tile(tree: ast.Module) -> bool:
    return any(calls(tree, "program_id")) and any(
        isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq)
        and isinstance(node.comparators[0], ast.Constant) and node.comparators[0].value == 0
        and (isinstance(node.left, ast.Name) or any(calls(node.left, "program_id"))) for node in _tests(tree))


def _tests(tree: ast.Module) -> Iterator[ast.expr]:
    return (node.test for node in ast.walk(tree) if isinstance(node, ast.If))


def _narrow_offset(tree: ast.Module) -> bool:
    """A program id times something named like a stride, with no widening anywhere."""
    ids = {target.id for node in ast.walk(tree) if isinstance(node, ast.Assign) and any(calls(node.value, "program_id"))
           for target in node.targets if isinstance(target, ast.Name)}
    products = [node for node in ast.walk(tree) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)]
    wide = any(isinstance(node, ast.Attribute) and node.attr == "int64" for node in ast.walk(tree))
    ids |= {"pid"} - {target.id for node in ast.walk(tree) if isinstance(node, ast.Assign)
                      for target in node.targets if isinstance(target, ast.Name)}
    return not wide and any(_about_id(side, ids) and "stride" in ast.unparse(other).lower()
                            for node in products for side, other in ((node.left, node.right), (node.right, node.left)))


def _about_id(node: ast.expr, ids: set[str]) -> bool:
    return (isinstance(node, ast.Name) and node.id in ids) or (
        isinstance(node, ast.Call) and last_name(node.func) == "program_id")


def _widened(tree: ast.Module) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == "int64" for node in ast.walk(tree))


def _loops(tree: ast.Module) -> Iterator[ast.For]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.For))


def _masked_tail_in_loop(tree: ast.Module) -> bool:
    return any(keyword.arg == "mask" and any(isinstance(part, ast.Sub) for part in ast.walk(keyword.value))
               for loop in _loops(tree) for call in calls(loop, "load") for keyword in call.keywords)


def _carries(loop: ast.For) -> bool:
    """Whether an iteration hands a value to the next: `+=`, or an assignment that reads its own target."""
    for node in ast.walk(loop):
        if isinstance(node, ast.AugAssign):
            return True
        if isinstance(node, ast.Assign):
            targets = {target.id for target in node.targets if isinstance(target, ast.Name)}
            if any(isinstance(part, ast.Name) and part.id in targets for part in ast.walk(node.value)):
                return True
    return False


def _reduction_loop(tree: ast.Module) -> bool:
    return any(_carries(loop) and any(calls(loop, "load")) and not any(
        keyword.arg == "num_stages" for call in calls(loop.iter, "range") for keyword in call.keywords)
        for loop in _loops(tree))


def _independent_loop(tree: ast.Module) -> bool:
    return any(any(calls(loop, "store", "atomic_add")) and not _carries(loop) for loop in _loops(tree))


def _grid_of_heads(tree: ast.Module) -> bool:
    """A launch over batch and heads alone: the grid has their product or both, and nothing is cut into blocks."""
    grids = [node.func.slice for node in ast.walk(tree)
             if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript)]
    grids += [node.value for node in ast.walk(tree) if isinstance(node, ast.Assign)
              and any(isinstance(target, ast.Name) and target.id == "grid" for target in node.targets)]
    return any(isinstance(grid, ast.Tuple) and not any(calls(grid, "cdiv"))
               and {name.id for name in ast.walk(grid) if isinstance(name, ast.Name)} in _BATCH_AND_HEADS
               for grid in grids)


def _tile_loop(tree: ast.Module) -> bool:
    """A stepped loop that stores, or of which no more than the head is given, and that carries nothing."""
    return any(isinstance(loop.iter, ast.Call) and len(loop.iter.args) == 3 and not _carries(loop)
               and (any(calls(loop, "store")) or isinstance(loop.body[0], ast.Pass))
               and last_name(loop.iter.func) in ("range", "static_range") for loop in _loops(tree))


def _constant_extent(tree: ast.Module) -> bool:
    return any(argument.arg in _EXTENTS and argument.annotation is not None
               and last_name(argument.annotation) == "constexpr"
               for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) for argument in node.args.args)


def _capped_tile(tree: ast.Module) -> bool:
    return any(any(calls(call, "next_power_of_2")) for call in calls(tree, "min")) and any(calls(tree, "cdiv"))


def _launches(tree: ast.Module) -> list[str]:
    return [ast.unparse(node.func.value) for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Subscript)]


def _same_kernel_twice(tree: ast.Module) -> bool:
    launched = _launches(tree)
    return len(launched) > len(set(launched))


def _several_kernels(tree: ast.Module) -> bool:
    return len(set(_launches(tree))) > 1


def _cast_after_wide_output(tree: ast.Module) -> bool:
    return any("float32" in ast.unparse(call) for call in calls(tree, "empty", "zeros", "empty_like")) and bool(
        _launches(tree)) and any(calls(tree, "to", "bfloat16", "half"))


def _short_autotune(tree: ast.Module) -> bool:
    tuned = list(calls(tree, "autotune"))
    return bool(tuned) and sum(1 for call in tuned for _ in calls(call, "Config")) <= 4


def _keywords(*names: str) -> Callable[[ast.Module], bool]:
    return lambda tree: any(isinstance(node, ast.keyword) and node.arg in names for node in ast.walk(tree))


def _staged_range(tree: ast.Module) -> bool:
    return any(keyword.arg == "num_stages" for call in calls(tree, "range") for keyword in call.keywords)


def _state_in_place(tree: ast.Module) -> bool:
    """A tile that is loaded from and stored to the same pointer."""
    loaded = {ast.dump(call.args[0]) for call in calls(tree, "load") if call.args}
    return any(ast.dump(call.args[0]) in loaded for call in calls(tree, "store") if call.args)


def _product_on_later_axis(tree: ast.Module) -> bool:
    """A grid whose second or third extent is a product, which the device limits to 65535."""
    grids = [node.value for node in ast.walk(tree) if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple)
             and any(isinstance(target, ast.Name) and target.id == "grid" for target in node.targets)]
    grids += [node.func.slice for node in ast.walk(tree) if isinstance(node, ast.Call)
              and isinstance(node.func, ast.Subscript) and isinstance(node.func.slice, ast.Tuple)]
    return any(isinstance(extent, ast.BinOp) and isinstance(extent.op, ast.Mult)
               for grid in grids for extent in grid.elts[1:])


def _online_softmax(tree: ast.Module) -> bool:
    """A loop that keeps a running maximum of what it reduces."""
    return any(any(calls(call, "max")) for loop in _loops(tree) for call in calls(loop, "maximum"))


FEATURES = (
    Feature(_online_softmax, "online softmax, each program loops over the whole sequence of keys", 0.9,
            "a running maximum in a loop"),
    Feature(_division_by_root, "x / tl.sqrt divides by a square root where rsqrt and a multiplication would do", 1.0,
            "a division by a square root"),
    Feature(_state_added_to_zeros, "the accumulator begins as tl.zeros and the initial state is added before the loop",
            1.0, "zeros with a load added"),
    Feature(_twice("load"), "two loads with the same pointer and the same mask appear in one kernel body", 1.0,
            "a repeated load"),
    Feature(_twice("exp", "exp2", "log", "sqrt", "rsqrt", "sin", "cos", "sigmoid"),
            "the same exponential or other transcendental is evaluated twice", 0.95, "a repeated function"),
    Feature(_calls("make_block_ptr", "advance"), "block pointers tl.make_block_ptr and boundary_check as masks", 1.0,
            "a block pointer"),
    Feature(_calls("make_tensor_descriptor", "experimental_descriptor_load"),
            "tensor descriptor tl.make_tensor_descriptor bulk copy by TMA", 1.0, "a tensor descriptor"),
    Feature(_natural_exponential, "natural exponential tl.exp of scaled scores where base two exp2 would do", 0.95,
            "a natural exponential"),
    Feature(_dot_of_floats, "tl.dot on float32 tiles is called without input_precision", 1.0, "a product of float32"),
    Feature(_guard_of_first_tile, "a guard such as if i_v == 0 around a store, all other tiles hold the same value",
            1.0, "a store guarded by the first tile"),
    Feature(_narrow_offset, "the offset of a pointer is the product of a program id and a stride, both 32-bit", 1.0,
            "a 32-bit offset"),
    Feature(_widened, "index cast to int64 before it is multiplied by a stride", 0.9, "a 64-bit index"),
    Feature(_masked_tail_in_loop, "masks for the tail are evaluated in every iteration of the loop", 1.0,
            "a mask for the tail in a loop"),
    Feature(_tile_loop, "one program walks several tiles in a loop, shared work before it", 0.8, "a loop over tiles"),
    Feature(_independent_loop, "a run-time loop carries nothing from one iteration to the next", 0.85,
            "a loop whose iterations are independent"),
    Feature(_grid_of_heads, "the grid is batch times heads only, each program loops over the whole sequence", 0.9,
            "a launch over batch and heads"),
    Feature(_reduction_loop, "the main loop was written with a plain range and no number of stages", 0.7,
            "a loop of loads without stages"),
    Feature(_constant_extent, "a token count is a tl.constexpr argument, each new value compiles again", 1.0,
            "an extent as constexpr"),
    Feature(_capped_tile, "the grid is cdiv(V, BV) and the launcher caps the block with min(next_power_of_2(V), 8)",
            1.0, "a capped tile"),
    Feature(_keywords("eviction_policy", "cache_modifier"),
            "eviction policy evict_first or evict_last and cache modifiers on loads and stores", 0.95, "a cache hint"),
    Feature(_calls("multiple_of", "max_contiguous", "max_constancy"),
            "tl.multiple_of and tl.max_contiguous tell the compiler about alignment of an address", 1.0,
            "an alignment hint"),
    Feature(_keywords("input_precision", "allow_tf32"), "input_precision or allow_tf32 of tl.dot on float32 tiles", 1.0,
            "a precision of a product"),
    Feature(_calls("exp2"), "exponentials in base two, scores pre-scaled by LOG2E", 0.8, "a power of two"),
    Feature(_calls("rsqrt"), "reciprocal square root tl.rsqrt instead of dividing by a root", 0.8, "rsqrt"),
    Feature(_calls("gdc_wait", "gdc_launch_dependents"), "programmatic dependent launch with gdc_wait", 1.0,
            "a dependent launch"),
    Feature(_calls("num_programs"), "persistent kernel, each program strides over the work by the number of programs",
            0.95, "a stride by the number of programs"),
    Feature(_keywords("do_not_specialize"), "do_not_specialize keeps a changing integer a run-time value", 1.0,
            "an integer that is not specialised"),
    Feature(_staged_range, "tl.range with num_stages, a software pipeline of loads", 0.9, "a pipelined loop"),
    Feature(_product_on_later_axis, "a product of batch and heads on a later axis of the grid exceeds 65535", 0.55,
            "a product on a later axis of the grid"),
    Feature(_state_in_place, "the recurrent state is read and written back in memory in each step", 0.8,
            "a tile loaded and stored at one place"),
    Feature(_calls("contiguous"), ".contiguous() is called on arguments of the launch", 1.0, "a contiguous copy"),
    Feature(_calls("item", "tolist", "cpu", "nonzero"), ".item() or .tolist() stalls the host", 1.0,
            "a read by the host"),
    Feature(_cast_after_wide_output, "the output buffer is float32 and the next operation casts it to bfloat16", 1.0,
            "a cast after the launch"),
    Feature(_same_kernel_twice, "the same kernel is launched twice in a row on different tensors", 1.0,
            "two launches of one kernel"),
    Feature(_several_kernels, "successive kernels hand a small tile to each other through global memory", 0.8,
            "several launches"),
    Feature(_short_autotune, "autotune has few configurations and a key that leaves out a dimension", 1.0,
            "a short list of configurations"),
    Feature(_calls("atomic_add"), "partial sums are added into the output with atomic_add", 0.9, "an atomic add"),
    Feature(_division_by_row, "every element is divided by the same scalar, where one reciprocal could be shared", 0.7,
            "a division by a row"),
)
