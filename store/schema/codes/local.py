"""Refusals of local rewrites: statements and expressions."""

from .code import refusal

LOCAL = (
    refusal("pattern_not_found", "{kernel} holds no place where {skeleton} applies", "nothing to do"),
    refusal(
        "divisor_unproved",
        "the divisor at line {line} is not proved to be finite, non-zero and not tiny",
        "add an epsilon or a lower bound in the kernel",
    ),
    refusal(
        "integer_division",
        "the division at line {line} is an integer division",
        "only floating-point divisions have a reciprocal",
    ),
    refusal("already_applied", "{kernel} already uses {skeleton}", "nothing to do"),
    refusal(
        "mixed_exponent_base",
        "a value in base {base} also reaches line {line}, which expects the natural base",
        "all consumers of an exponent must change together",
    ),
    refusal(
        "exponent_not_scalable",
        "the exponent at line {line} cannot take the factor log2(e) at one place",
        "scale it where the score is computed",
    ),
    refusal(
        "base_escapes",
        "the exponent or its logarithm is stored or passed on at line {line}, where others expect the natural base",
        "convert at the boundary",
    ),
    refusal(
        "dot_precision_pinned",
        "the dot at line {line} already names its precision",
        "skel does not override a precision that the author chose",
    ),
    refusal(
        "dot_operands_not_fp32",
        "the dot at line {line} has operands that are not both fp32",
        "tf32x3 acts on fp32 operands only",
    ),
    refusal(
        "dot_not_carried",
        "no fp32 dot in {kernel} feeds a loop-carried value",
        "a single product loses too little to pay for three",
    ),
    refusal("no_tf32_on_target", "{target} has no tf32: use ieee", "pass --set precision=ieee"),
    refusal("index_already_wide", "every offset of {kernel} is already int64 or bounded", "nothing to do"),
    refusal(
        "index_not_root",
        "the index at line {line} has no single root to widen",
        "cast it where it is loaded or computed",
    ),
    refusal(
        "store_between",
        "the load at line {line} repeats that of line {first}, but line {store} may change the memory in between",
        "keep the first value by hand, if the memory is another",
    ),
    refusal(
        "may_not_have_run",
        "line {line} repeats line {first}, which may not have run before it",
        "move the first out of its branch or loop",
    ),
    refusal(
        "loads_follow_carry",
        "the address of the load at line {line} depends on what its loop carries, so it cannot be issued early",
        "nothing can be loaded ahead there",
    ),
    refusal(
        "loop_writes_what_it_loads",
        "line {line} may write what its loop loads, or waits for others: a load issued early would miss it",
        "read what the loop writes from the values, not from memory",
    ),
    refusal(
        "state_not_zero",
        "{name} at line {line} is not proved to be zeros of the shape and type of what is added to it",
        "start it with tl.zeros of the shape and type of the load",
    ),
    refusal(
        "loop_not_first",
        "the load at line {line} cannot move into the first round of the loop at line {loop}",
        "use form=direct, which leaves it where it is",
    ),
    refusal(
        "constexpr_needed",
        "{name} must stay a constexpr: line {line} needs its value at compile time, or computes with it there",
        "compute on the host what needs it, and pass the result",
    ),
    refusal(
        "block_pointer_escapes",
        "the block pointer at line {line} is {how}, so its offsets cannot be followed",
        "keep a block pointer in one name, advanced in one place",
    ),
    refusal(
        "boundary_not_readable",
        "the access at line {line}: {why}",
        "write the bounds as constants, and pad with zero",
    ),
    refusal(
        "loop_bound_unknown",
        "the launcher cannot tell how often the loop at line {line} runs: {why}",
        "make the bound of parameters alone, or pass the largest count",
    ),
    refusal(
        "loop_not_independent",
        "the rounds of the loop cannot be separate programs (line {line}): {why}",
        "only rounds that read nothing of each other, and write places of their own, can run apart",
    ),
    refusal(
        "alignment_not_proved",
        "nothing proves that the offsets at line {line} stay in one run: {why}",
        "write them as (tile * BLOCK + tl.arange(0, BLOCK)) % SIZE, with a tile counted from program ids",
    ),
    refusal(
        "runtime_needed",
        "{name} cannot become a constexpr: line {line} {why}",
        "cast it with tl.cast, and compute with it outside loops and branches",
    ),
    refusal(
        "specialised_already",
        "Triton compiles a kernel of its own where {name} is 1, since nothing tells it not to",
        "nothing to do",
    ),
    refusal(
        "loop_not_additive",
        "the loop at line {line} cannot be taken in shares that are added afterwards: {why}",
        "only sums into fp32 accumulators that start at zero can be split",
    ),
    refusal(
        "mask_not_proved",
        "nothing known at compile time makes the mask of the load at line {line} true in every lane",
        "write the mask as lanes + tile < dimension, in a loop over the tiles of that dimension",
    ),
)
