"""Sidecars for a package's file: where it is found, and that a worker runs the slice of the text that is judged."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from skel.rewriter.reasons import Refuse
from skel.store.schema import Verdict
from skel.validation.check import check
from skel.validation.compile.check import compile_check
from skel.validation.isolation import Workers
from skel.validation.subject import CandidateSource, Subject
from skel.validation.workloads import SidecarError, sliced_text, subject_of, target_of
from skel.validation.workloads.target import find_target, read_declared

TARGET = '''import not_installed_anywhere

import torch
import triton
import triton.language as tl

from tiny.config import BLOCK
from tiny.helpers import contiguous, exp


@triton.jit
def scale_kernel(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + at, mask=at < n, other=0.0)
    tl.store(y + at, exp(value) * 2.0, mask=at < n)


@contiguous
def scale(x):
    from tiny import fast

    if fast.covered(x):
        return fast.go(x)
    y = torch.empty_like(x)
    scale_kernel[(triton.cdiv(x.numel(), BLOCK),)](x, y, x.numel(), BLOCK=BLOCK)
    return y


not_installed_anywhere.register(scale)
'''
FILES = {
    "tiny/__init__.py": "import not_installed_anywhere\n",
    "tiny/ops/__init__.py": "from not_installed_anywhere import everything\n",
    "tiny/ops/scale.py": TARGET,
    "tiny/config.py": "import os\nBLOCK = 16 if os.sep else 32\n",
    "tiny/fast.py": (
        "import not_installed_anywhere as cuda\n\ndef covered(x):\n    return False\n\n"
        "def go(x):\n    return x\n\ndef build():\n    return cuda.build()\n"
    ),
    "tiny/helpers.py": (
        "import functools\nimport triton.language as tl\n\nexp = tl.exp\n\n"
        "def contiguous(f):\n    @functools.wraps(f)\n    def call(x):\n        return f(x.contiguous())\n"
        "    return call\n"
    ),
}
SIDECAR = '''import torch
TARGET = "tiny/ops/scale.py"
def run(inputs):
    from tiny.ops.scale import scale
    return scale(inputs["x"])
def reference(inputs):
    return torch.exp(inputs["x"]) * 2
def make_inputs(seed, device="cpu", n=40):
    return {"x": torch.randn(n, generator=torch.Generator(device).manual_seed(seed), device=device)}
'''


@pytest.fixture
def sidecar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sidecar whose target lies in a wheel of the folder SKEL_SOURCES."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    write_wheel(wheels / "tiny-1.0-py3-none-any.whl")
    monkeypatch.setenv("SKEL_SOURCES", str(wheels))
    path = tmp_path / "work.py"
    path.write_text(SIDECAR)
    return path


def write_wheel(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as opened:
        for name, text in FILES.items():
            opened.writestr(name, text)


def test_the_slice_holds_what_the_hooks_import(sidecar: Path) -> None:
    path, text = target_of(str(sidecar))
    assert text == TARGET
    assert path.endswith("tiny-1.0-py3-none-any.whl/tiny/ops/scale.py")
    subject = subject_of(text, path, str(sidecar))
    assert subject.module == "tiny.ops.scale"
    assert subject.slice is not None
    assert subject.slice.names == ("scale",)
    assert Subject.from_dict(subject.to_dict()) == subject
    ours = sliced_text(subject).splitlines()
    assert "not_installed_anywhere" not in "".join(ours)
    assert ours[10:26] == TARGET.splitlines()[10:26]


def test_original_and_candidate_run_as_slices(sidecar: Path, interpreting: Workers) -> None:
    path, text = target_of(str(sidecar))
    same, wrong = text.replace("2.0", "1.0 * 2.0"), text.replace("2.0", "2.001")
    report = check(text, [same, wrong], path, workload_file=str(sidecar), workers=interpreting)
    assert report.has_reference
    assert [one.verdict for one in report.candidates] == [Verdict.EQUIVALENT, Verdict.WRONG]


def test_a_fault_in_the_target_has_its_own_line(sidecar: Path, interpreting: Workers) -> None:
    path, text = target_of(str(sidecar))
    broken = text.replace("    y = torch.empty_like(x)", "    y = torch.empty_lik(x)")
    report = check(text, [broken], path, workload_file=str(sidecar), workers=interpreting)
    (fault,) = [f for f in report.candidates[0].all_findings if f.code == "worker_raised"]
    assert fault.place.line == 1 + text.splitlines().index("    y = torch.empty_like(x)")


def test_a_candidate_that_needs_more_than_the_slice_has_fails(sidecar: Path, interpreting: Workers) -> None:
    path, text = target_of(str(sidecar))
    needs = text.replace("    y = torch.empty_like(x)", "    y = torch.empty_like(x) if missing_name else None")
    report = check(text, [needs], path, workload_file=str(sidecar), workers=interpreting)
    assert report.candidates[0].verdict is Verdict.FAILED
    assert any("missing_name" in f.message for f in report.candidates[0].all_findings)


def test_slices_compile(sidecar: Path, compiling: Workers) -> None:
    path, text = target_of(str(sidecar))
    subject = subject_of(text, path, str(sidecar))
    original, (candidate,) = compile_check(
        subject, [CandidateSource("same", text.replace("2.0", "3.0"))], workers=compiling
    )
    assert original.compiled
    assert candidate.compiled
    assert candidate.kernels[0].file == "scale.py"


def test_a_copy_elsewhere_and_a_file_in_its_package_are_the_target_too(sidecar: Path, tmp_path: Path) -> None:
    (tmp_path / "scale.py").write_text(TARGET)
    assert subject_of(TARGET, str(tmp_path / "scale.py"), str(sidecar)).module == "tiny.ops.scale"
    for name, text in FILES.items():
        (tmp_path / "unpacked" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "unpacked" / name).write_text(text)
    unpacked = tmp_path / "unpacked" / "tiny" / "ops" / "scale.py"
    assert subject_of(TARGET, str(unpacked), str(sidecar)).slice is not None
    with pytest.raises(SidecarError, match=r"is for .*scale\.py, not for"):
        subject_of(TARGET, str(tmp_path / "other.py"), str(sidecar))


def test_versions_side_by_side_need_a_choice(sidecar: Path, tmp_path: Path) -> None:
    write_wheel(tmp_path / "wheels" / "tiny-2.0-py3-none-any.whl")
    with pytest.raises(SidecarError, match="several places"):
        target_of(str(sidecar))
    declared = read_declared(f'{SIDECAR}PACKAGE = "tiny==2.0"\n', str(sidecar))
    assert find_target(declared, str(sidecar)).root == (tmp_path / "wheels" / "tiny-2.0-py3-none-any.whl").resolve()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("tiny/ops/scale.py", "tiny/ops/none.py"), "was found neither beside"),
        (("tiny/ops/scale.py", "../none.py"), "there is no file"),
        (("from tiny.ops.scale import scale", "import torch"), "imports nothing from tiny.ops.scale"),
        (("TARGET = ", "LAUNCHERS = 3\nTARGET = "), "line 2: LAUNCHERS must be a list"),
        (("TARGET = ", "PACKAGE = 3\nTARGET = "), "line 2: PACKAGE must be a plain string"),
    ],
)
def test_sidecars_that_name_no_target(sidecar: Path, change: tuple[str, str], message: str) -> None:
    sidecar.write_text(SIDECAR.replace(*change))
    with pytest.raises(SidecarError, match=message):
        path, text = target_of(str(sidecar))
        subject_of(text, path, str(sidecar))


def test_what_is_not_installed_is_refused(sidecar: Path) -> None:
    path, text = target_of(str(sidecar))
    needs = text.replace("    y = torch.empty_like(x)", "    y = not_installed_anywhere.empty(x)")
    with pytest.raises(Refuse) as caught:
        subject_of(needs, path, str(sidecar))
    (reason,) = caught.value.refusals
    assert (reason.code, reason.line) == ("slice_needs", 1)
    assert "not_installed_anywhere" in reason.message


def test_launchers_make_a_slice_of_any_file(tmp_path: Path) -> None:
    target = tmp_path / "alone.py"
    target.write_text("import not_installed_anywhere\ndef go(x):\n    return x\n")
    work = tmp_path / "work.py"
    work.write_text('TARGET = "alone.py"\nLAUNCHERS = ["go"]\n')
    subject = subject_of(target.read_text(), str(target), str(work))
    assert sliced_text(subject) == "\ndef go(x):\n    return x\n"
