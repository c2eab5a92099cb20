"""What ran is what was compiled: binaries held against each other, Triton's cache never read, swapped entries found."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from skel.validation.binaries import differences, identity, other_binaries
from skel.validation.compile.check import compile_check
from skel.validation.compile.report import CompileReport
from skel.validation.elf import code_sha256
from skel.validation.isolation import Workers
from skel.validation.isolation.environment import scrubbed
from skel.validation.protocol import Protocol
from skel.validation.subject import CandidateSource, Subject

TARGET = Path(__file__).parent / "exploits" / "target.py"
TEXT = TARGET.read_text(encoding="utf-8")
SWAPS = (TARGET.parent / "gpu_candidates" / "swapped_cache.py").read_text(encoding="utf-8")
READ_AGAIN = "triton.knobs.compilation.always_compile = False"


def built(cubin: bytes = b"code", *, warps: int = 4, key: str | None = "k", arch: int = 90, of: str = "source") -> Any:
    """A compiled kernel as Triton's, as far as it is looked at."""
    target = SimpleNamespace(backend="cuda", arch=arch)
    source = SimpleNamespace(fn=SimpleNamespace(cache_key=of), signature={"x": "*fp32"}, constants={}, attrs={})
    metadata = SimpleNamespace(target=target, num_warps=warps, num_stages=3)
    return SimpleNamespace(asm={"cubin": cubin}, hash=key, metadata=metadata, src=source)


def launch(*given: Any, **named: Any) -> dict[str, Any]:
    found = identity(built(*given, **named))
    assert found is not None
    return {"kernel": "norm_kernel", **found}


def codes(ran: dict[str, Any], *checked: dict[str, Any]) -> list[tuple[str, str]]:
    found = other_binaries("it", [ran], checked, "its check")
    return [(one["code"], one["severity"]) for one in found]


def test_a_binary_that_was_checked_is_no_finding() -> None:
    assert codes(launch(), launch(b"other", warps=8, key="l"), launch()) == []
    assert identity(SimpleNamespace(asm={})) is None and identity(None) is None
    interpreted = {"kernel": "norm_kernel"}
    assert codes(interpreted, launch()) == [] and codes(launch(), interpreted) == []


def test_another_binary_of_the_same_is_an_error() -> None:
    assert codes(launch(b"swapped"), launch()) == [("other_binary_ran", "error")]
    assert codes(launch(b"swapped", key=None), launch()) == [("other_binary_ran", "error")], "leaving it out is no help"
    assert codes(launch(b"swapped", of="another"), launch()) == [("other_binary_ran", "error")]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"warps": 8}, "num_warps 8 instead of 4"),
        ({"arch": 80}, "target cuda:80 instead of cuda:90"),
        ({"of": "another"}, "another source"),
    ],
)
def test_what_was_never_checked_says_in_what_it_differs(change: dict[str, Any], told: str) -> None:
    ran = launch(b"other", key="l", **change)
    (found,) = other_binaries("it", [ran], [launch()], "its check")
    assert (found["code"], found["severity"], found["fields"]["differs"]) == ("unchecked_binary", "warning", told)


def test_one_text_has_one_source() -> None:
    (found,) = other_binaries("it", [launch(b"other", key="l", of="another")], [launch()], "its check", same_text=True)
    assert (found["code"], found["severity"]) == ("wrong_code_ran", "error")
    old = {"kernel": "norm_kernel", "binary_sha256": "hash of all bytes, with the folder's name in them"}
    assert codes(launch(), old) == [], "states of an earlier version can be gone on with"


def test_two_keys_with_nothing_to_tell_them_apart() -> None:
    assert differences(launch(key="l"), launch()) == ["another key of Triton's"]


def test_what_is_no_elf_file_is_hashed_whole() -> None:
    for data in (b"", b"\x7fELF\x02\x01", b"\x7fELF\x02\x01" + bytes(80)):
        assert code_sha256(data) in (hashlib.sha256(data).hexdigest(), hashlib.sha256().hexdigest())
    assert code_sha256(b"one") != code_sha256(b"two")


@pytest.fixture(scope="module")
def compiled() -> Iterator[dict[str, CompileReport]]:
    """The original, itself again, a change of a number, and candidates that swap an entry of Triton's cache."""
    limits = Protocol()
    texts = {
        "again": TEXT,
        "changed": TEXT.replace("1e-6", "1e-5"),
        "swaps": f"{TEXT}\n\n{SWAPS.replace(READ_AGAIN, '')}",
        "swaps, cache read": f"{TEXT}\n\n{SWAPS}",
    }
    assert texts["changed"] != TEXT and texts["swaps"] != texts["swaps, cache read"]
    with Workers("compile", limits.isolation) as workers:
        subject = Subject(TEXT, str(TARGET), "target")
        sources = [CandidateSource(name, text) for name, text in texts.items()]
        original, reports = compile_check(subject, sources, workers=workers, protocol=limits)
    yield {"original": original} | {one.candidate: one for one in reports}


def of(report: CompileReport) -> dict[str, Any]:
    """The last binary that was made of the target's kernel."""
    kernel = [one for one in report.kernels if one.kernel == "norm_kernel"][-1]
    return {"kernel": kernel.kernel, **kernel.identity}


def test_one_source_gives_one_binary_in_whatever_folder(compiled: dict[str, CompileReport]) -> None:
    first, second, changed = (of(compiled[name]) for name in ("original", "again", "changed"))
    assert first == second and len(first["binary_sha256"]) == 64
    assert changed["binary_sha256"] != first["binary_sha256"] and differences(changed, first) == ["another source"]


def test_a_swapped_entry_of_the_cache_is_not_used(compiled: dict[str, CompileReport]) -> None:
    assert compiled["swaps"].compiled, compiled["swaps"].findings
    assert of(compiled["swaps"])["binary_sha256"] == of(compiled["original"])["binary_sha256"]


def test_a_swapped_entry_that_is_used_is_found_by_name(compiled: dict[str, CompileReport]) -> None:
    cheat = compiled["swaps, cache read"]
    assert "stale_binary" in [finding.code for finding in cheat.findings] and not cheat.compiled
    assert codes(of(cheat), of(compiled["original"])) == [("other_binary_ran", "error")], "the swap did work"


def test_workers_are_told_to_compile_always() -> None:
    assert scrubbed("cuda", Path("/s"), {"TRITON_ALWAYS_COMPILE": "0"})["TRITON_ALWAYS_COMPILE"] == "1"
