"""The table of Triton's language functions, by what they do to shapes, lanes and zeros."""

from __future__ import annotations

TRANSCENDENTAL = frozenset(
    {
        "exp",
        "exp2",
        "log",
        "log2",
        "sqrt",
        "rsqrt",
        "sqrt_rn",
        "sin",
        "cos",
        "sigmoid",
        "erf",
        "tanh",
        "log1p",
        "expm1",
        "pow",
        "fdiv",
        "div_rn",
        "softplus",
    }
)
"""Elementwise and costly."""

ELEMENTWISE = TRANSCENDENTAL | frozenset(
    {
        "abs",
        "floor",
        "ceil",
        "maximum",
        "minimum",
        "clamp",
        "fma",
        "umulhi",
        "cast",
        "inline_elementwise",
        "neg",
        "float_to_int",
        "div_full",
        "rcp",
        "isnan",
        "isinf",
        "fast_expf",
        "fast_logf",
        "fast_dividef",
        "rint",
        "round",
        "trunc",
        "rand",
        "randint",
        "randn",
        "philox",
        "randint4x",
        "rand4x",
        "randn4x",
        "llrint",
        "nearbyint",
        "finitef",
        "isfinited",
        "copysign",
    }
)
"""One result lane depends on the same lane of the arguments only."""

KEEPS_ZERO = frozenset(
    {
        "sqrt",
        "abs",
        "floor",
        "ceil",
        "sin",
        "tanh",
        "erf",
        "cast",
        "neg",
        "sqrt_rn",
        "log1p",
        "expm1",
        "rint",
        "round",
        "trunc",
    }
)
"""f(0) = 0."""

REDUCTIONS = frozenset({"sum", "max", "min", "argmax", "argmin", "xor_sum", "reduce", "reduce_or"})
SCANS = frozenset({"cumsum", "cumprod", "associative_scan", "sort", "flip", "softmax", "topk", "cummax"})
"""Order along one dimension matters; other dimensions are independent."""

LAST_DIMENSION = frozenset({"sort", "flip", "topk"})
"""Scans that act on the last dimension unless told otherwise; the others act on the first."""

KEEP_DIMS_POSITION = {"sum": 2, "xor_sum": 2, "reduce_or": 2, "max": 4, "min": 4, "argmax": 3, "argmin": 3, "reduce": 3}
"""Where a reduction takes `keep_dims`."""

HINTS = frozenset({"multiple_of", "max_contiguous", "max_constancy"})
"""Return their first argument."""

NO_VALUE = frozenset(
    {
        "static_assert",
        "static_print",
        "device_print",
        "device_assert",
        "debug_barrier",
        "assume",
        "gdc_wait",
        "gdc_launch_dependents",
    }
)

PROGRAM_BARRIERS = frozenset({"num_programs"})

DTYPES = {
    "float32": "fp32",
    "float16": "fp16",
    "bfloat16": "bf16",
    "float64": "fp64",
    "int64": "int64",
    "int32": "int32",
    "int16": "int16",
    "int8": "int8",
    "int1": "int1",
    "uint8": "uint8",
    "uint16": "uint16",
    "uint32": "uint32",
    "uint64": "uint64",
    "float8e4nv": "fp8",
    "float8e5": "fp8",
    "float8e4b8": "fp8",
    "float8e5b16": "fp8",
}
"""Triton dtype attribute to its short name."""

FLOATS = frozenset({"fp64", "fp32", "fp16", "bf16", "fp8"})
INTEGERS = frozenset({"int64", "int32", "int16", "int8", "int1", "uint8", "uint16", "uint32", "uint64"})
WIDE_INTEGERS = frozenset({"int64", "int32", "uint32", "uint64"})
"""Wide enough for every index."""
