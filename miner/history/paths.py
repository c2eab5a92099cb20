"""Paths of a repository, by what they are for."""

from __future__ import annotations


def is_test(path: str) -> bool:
    """True for tests and benchmarks, whose kernels and launches are nobody's optimization."""
    parts = path.lower().split("/")
    folder = any(p in ("test", "tests", "benchmark", "benchmarks", "testing") for p in parts[:-1])
    return folder or parts[-1].startswith(("test_", "bench_", "benchmark_"))
