"""Each technique in CUDA that has it, and in CUDA that only looks like it."""

from __future__ import annotations

import pytest

from skel.miner.cuda.detectors.registry import DETECTORS
from skel.store.load import load_all
from tests.miner.cuda.reading import kernels, uses

COPY = """
namespace tma {
template <int N> struct Ops { using Load = cute::SM90_TMA_LOAD_2D; };
CUTLASS_DEVICE void copy(void const* map, Barrier* barrier, float* to, uint32_t ctas) {
    using Wide = cute::SM90_TMA_LOAD_MULTICAST_2D;
    using Plain = cute::SM90_TMA_LOAD_2D;
    if (ctas == 1) { Plain::copy(map, barrier, to); } else { Wide::copy(map, barrier, to, (1 << ctas) - 1); }
}
}
"""
SCHEDULER = """
struct Scheduler {
    CUTLASS_DEVICE void swizzled(uint32_t i, uint32_t& m, uint32_t& n) {
        const auto per_group = rows * SIZE;
        const auto first = (i / per_group) * SIZE;
        const auto in_group = i % per_group;
        const auto size = min(SIZE, columns - first);
        m = in_group / size;
        n = first + in_group % size;
    }
    CUTLASS_DEVICE bool next(uint32_t& m, uint32_t& n) {
        const auto i = (++ round) * kNumSMs + blockIdx.x;
        swizzled(i, m, n);
        return i < count;
    }
};
"""
CASES = {
    "alignment_hints": (
        "float4 v = *reinterpret_cast<const float4*>(x + 4 * threadIdx.x); x[0] = v.x;",
        "float v = *reinterpret_cast<const float*>(x + threadIdx.x); x[0] = v;",
    ),
    "bulk_copy": (
        'asm volatile("cp.async.bulk.shared::cluster.global [%0], [%1], %2;" :: "r"(n));',
        'asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" :: "r"(n));',
    ),
    "cache_hints": (
        'asm volatile("ld.global.nc.L1::no_allocate.v4.f32 %0, [%1];" :: "l"(x));',
        'asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "l"(x));',
    ),
    "dependent_launch": (
        "cudaGridDependencySynchronize(); x[0] = 1.f;",
        "cudaDeviceSynchronize(); x[0] = 1.f;",
    ),
    "div_to_reciprocal": ("x[0] *= rsqrtf(x[1]);", "x[0] /= sqrtf(x[1]);"),
    "exp_to_exp2": ("x[0] = exp2f(x[0] * 1.4426950408889634f);", "x[0] = exp2f(x[0]);"),
    "persistent_grid": (
        "for (int i = blockIdx.x; i < n; i += gridDim.x) { x[i] = 0.f; }",
        "for (int i = threadIdx.x; i < n; i += blockDim.x) { x[i] = 0.f; }",
    ),
    "pipeline_loads": (
        "for (int k = 0; k < n; ++k) { full[s]->wait(phase); use(s); empty[s]->arrive(); }",
        "for (int k = 0; k < n; ++k) { full[0]->wait(phase); use(k); empty[0]->arrive(); }",
    ),
    "reorder_grid": (
        "int tiles = ceil_div(n, 64); int row = blockIdx.x / tiles, col = blockIdx.x % tiles; x[row] = col;",
        "int warp = threadIdx.x / 32, lane = threadIdx.x % 32; x[warp] = lane;",
    ),
    "stream_rows": (
        "for (int r = 0; r < n; ++r) { float4 v = *reinterpret_cast<const float4*>(x + r); "
        "v.x += __shfl_xor_sync(~0u, v.x, 1); *reinterpret_cast<float4*>(x + r) = v; }",
        "for (int r = 0; r < n; ++r) { float4 v = *reinterpret_cast<const float4*>(x + r); "
        "__syncthreads(); v.x += __shfl_xor_sync(~0u, v.x, 1); *reinterpret_cast<float4*>(x + r) = v; }",
    ),
    "swizzle_shared_memory": (
        "__shared__ float tile[1024]; int row = threadIdx.x / 8, column = threadIdx.x % 8; "
        "column ^= row % 8; tile[row * 8 + column] = x[0];",
        "__shared__ float tile[1024]; int stage = 0, phase = 0; phase ^= stage == 0; tile[stage ^ 1] = x[0];",
    ),
    "two_level_accumulation": (
        "__nv_fp8_e4m3 a; float part[4], total[4]; for (int k = 0; k < n; ++k) { "
        "WGMMA::wgmma(d, e, part, k); for (int i = 0; i < 4; ++i) total[i] += x[k] * part[i]; }",
        "__nv_fp8_e4m3 a; float part[4], total[4]; for (int k = 0; k < n; ++k) WGMMA::wgmma(d, e, part, k); "
        "for (int i = 0; i < 4; ++i) total[i] += x[i] * part[i];",
    ),
    "warp_specialise": (
        "int warp = threadIdx.x / 32; if (warp == 0) { cutlass::arch::warpgroup_reg_dealloc<40>(); } "
        "else { cutlass::arch::warpgroup_reg_alloc<232>(); }",
        "int warp = threadIdx.x / 32; if (warp == 0) { x[0] = 1.f; } else { x[1] = 1.f; }",
    ),
}
"""For each technique the body of a kernel that has it, and of one that only looks like it."""


@pytest.mark.parametrize("technique", CASES)
def test_a_technique_is_seen_where_it_is_and_not_where_it_is_not(technique: str) -> None:
    there, absent = CASES[technique]
    frame = "__global__ void run(float* x, int n) {{ {} }}"
    assert technique in uses(kernels(frame.format(there))["run"])
    assert technique not in uses(kernels(frame.format(absent))["run"])


def test_every_detector_is_of_a_skeleton_and_has_a_test() -> None:
    assert set(DETECTORS) <= {skeleton.name for skeleton in load_all()}
    assert set(DETECTORS) == set(CASES) | {"multicast_tma", "release_gil"}


def test_a_helper_of_another_file_shows_in_the_kernel_that_calls_it() -> None:
    run = "__global__ void run(float* x) { Scheduler s; uint32_t m, n; while (s.next(m, n)) { x[m] = n; } }"
    found = kernels(run, scheduler=SCHEDULER)
    assert {"persistent_grid", "reorder_grid"} <= uses(found["run"])
    assert uses(found["swizzled"]) == {"reorder_grid"} and uses(found["next"]) == {"persistent_grid"}
    why = {o.technique: o.why for o in found["run"].occurrences}
    assert "walks tiles in groups" in why["reorder_grid"] and "in next" in why["reorder_grid"]


@pytest.mark.parametrize(("body", "hinted"), [
    ("load(x, y, Hint::EVICT_FIRST);", True),
    ("load(x, y, last ? Hint::EVICT_LAST : Hint::EVICT_NORMAL);", True),
    ("load(x, y, policy);", True),
    ("load(x, y, static_cast<uint64_t>(Hint::EVICT_NORMAL));", False),
    ("const auto policy = static_cast<uint64_t>(Hint::EVICT_NORMAL); load(x, y, policy);", False),
    ("load(x, y);", False),
])
def test_the_normal_policy_is_no_hint(body: str, hinted: bool) -> None:
    load = (
        "CUTLASS_DEVICE void load(float* x, float* y, const Hint& hint = Hint::EVICT_NORMAL) "
        '{ asm volatile("cp.async.bulk.shared::cta.global.L2::cache_hint [%0], [%1], 16, %2;" :: "l"(hint)); }'
    )
    found = kernels(f"{load}\n__global__ void run(float* x, float* y) {{ {body} }}")
    assert ("cache_hints" in uses(found["run"])) is hinted
    assert "cache_hints" in uses(found["load"])


@pytest.mark.parametrize(("ctas", "multicasts"), [("kClusters", True), ("1", False)])
def test_a_helper_multicasts_where_it_is_told_to(ctas: str, multicasts: bool) -> None:
    found = kernels(f"__global__ void run(Map* a) {{ tma::copy(&a, &b, s, {ctas}); }}", copy=COPY)
    assert "multicast_tma" in uses(found["copy"])
    assert ("multicast_tma" in uses(found["run"])) is multicasts
    assert "bulk_copy" in uses(found["run"])


def test_kernels_of_later_architectures_do_not_multicast_through_that_helper() -> None:
    run = "__global__ void run(Map* a) {\n#if (__CUDA_ARCH__ >= 1000)\n tma::copy(&a, &b, s, kClusters);\n#endif\n}"
    assert "multicast_tma" not in uses(kernels(run, copy=COPY)["run"])


def test_roles_are_seen_by_what_the_arms_do() -> None:
    arms = "if (threadIdx.x / 32 == 0) {{ tma::copy(&a, &b, s, 1); }} else if (threadIdx.x / 32 == 1) {{ {} }}"
    run = "__global__ void run(Map* a) {{ {} }}"
    assert "warp_specialise" in uses(kernels(run.format(arms.format("MMA::fma_mma(s, t);")), copy=COPY)["run"])
    assert "warp_specialise" not in uses(kernels(run.format(arms.format("store(s);")), copy=COPY)["run"])


def test_the_interpreters_lock() -> None:
    spin = "void wait(Buffer* b) {{ {} while (true) {{ if (*static_cast<volatile int*>(b->counter) == 0) break; }} }}"
    held = kernels(spin.format(""))["wait"]
    assert [(o.technique, o.role) for o in held.occurrences] == [("release_gil", "could_use")]
    assert held.language == "host"
    assert uses(kernels(spin.format("pybind11::gil_scoped_release release;"))["wait"]) == {"release_gil"}


def test_a_function_that_calls_itself_ends() -> None:
    text = "__device__ void again(float* x) { again(x); cudaGridDependencySynchronize(); }\n"
    assert uses(kernels(text + "__global__ void run(float* x) { again(x); }")["run"]) == {"dependent_launch"}
