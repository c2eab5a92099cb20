"""Kernels are found behind a library's macros, with their bounds, whatever the grammar thinks of them."""

from __future__ import annotations

import pytest

from skel.miner.cuda.mining import mine_cuda
from skel.miner.cuda.preprocess import macros_in, marked
from tests.miner.cuda.reading import kernels


@pytest.mark.parametrize("head", [
    "__global__ void", "template <int N>\nCUTLASS_GLOBAL __launch_bounds__(N + 1, 2) void", "static __global__ void",
    "OWN_KERNEL void", "__global__ void __launch_bounds__(128)",
])  # fmt: skip
def test_a_kernel_is_found_behind_its_qualifiers(head: str) -> None:
    text = (
        f"#define OWN_KERNEL __global__ __launch_bounds__(256)\n{head} run(float* __restrict__ x) {{ x[0] = 1.f; }}\n"
    )
    assert set(kernels(text)) == {"run"}


def test_macros_of_another_file_count() -> None:
    assert set(kernels("THEIRS void run(float* x) { x[0] = 1.f; }", b="#define THEIRS __global__\n")) == {"run"}


def test_a_host_function_and_a_declaration_are_no_kernels() -> None:
    assert kernels("__global__ void later(float* x);\nvoid host(float* x) { x[0] = 1.f; }\n") == {}


def test_blanking_moves_nothing_and_leaves_strings_and_comments() -> None:
    text = b'// __global__\nconst char* s = "__device__";\n__device__ int f(int a) { return a; }\n'
    ready = marked(text, macros_in(text))
    assert len(ready.data) == len(text) and ready.data.count(b"\n") == text.count(b"\n")
    assert b"// __global__" in ready.data and b'"__device__"' in ready.data
    assert [meaning for _, meaning in ready.marks] == ["device"]


def test_bounds_templates_constants_and_conditions() -> None:
    kernel = kernels("""
template <uint32_t BLOCK_M, uint32_t kStages = 4>
__global__ void __launch_bounds__(128, 2) run(float* x) {
    static_assert(BLOCK_M % 64 == 0, "tile");
    DG_STATIC_ASSERT(kStages <= 8, "stages");
    constexpr uint32_t kRegisters = 40;
    // 2 stages are 30 % slower on H100
    if constexpr (BLOCK_M > 64) { x[0] = 1.f; }
}
""")["run"]
    assert kernel.resources["bounds"] == ["__launch_bounds__(128, 2)"]
    assert kernel.resources["template"] == ["uint32_t BLOCK_M", "uint32_t kStages = 4"]
    assert kernel.resources["constants"] == {"kRegisters": "40"}
    said = {(c.kind, c.text) for c in kernel.conditions}
    assert ("comment", "2 stages are 30 % slower on H100") in said
    assert ("guard", "if constexpr (BLOCK_M > 64)") in said
    assert any(kind == "assert" and "BLOCK_M % 64 == 0" in text for kind, text in said)
    assert any(kind == "assert" and "kStages <= 8" in text for kind, text in said)


def test_copies_share_a_digest_whatever_they_are_called() -> None:
    body = "(float* x) { x[threadIdx.x] += 1.f; }"
    one = kernels(f"__global__ void first{body}")["first"]
    two = kernels("__global__ void second(float* x)   { // said\n x[threadIdx.x]  += 1.f; }")["second"]
    three = kernels(f"__global__ void third{body.replace('1.f', '2.f')}")["third"]
    assert one.digest == two.digest != three.digest


def test_what_is_no_text_says_so_and_what_is_cut_short_is_read_as_far_as_it_goes() -> None:
    binary, short = mine_cuda([("a.cu", b"\0\1\2"), ("b.cu", b"__global__ void f(float* x) { x[0] = ")])
    assert binary.not_read == "is no text" and short.not_read is None
