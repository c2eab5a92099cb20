"""The bundle: what of a wheel goes into it, and the edits of its plan."""

from __future__ import annotations

import json
import sys
import zipfile
from pathlib import Path

import pytest

from skel.rewriter.kernel.edits import Edit, apply_edits
from skel.validation.ablation.prepare import main, prepare
from skel.validation.ablation.sources import KNOWN, source_of
from tests.validation.ablation.wheels import KERNEL, PLACE, wheel


def test_a_bundle(tmp_path: Path) -> None:
    plan = prepare([wheel(tmp_path)], tmp_path / "bundle")
    assert json.loads((tmp_path / "bundle" / "plan.json").read_text()) == plan
    with zipfile.ZipFile(tmp_path / "bundle" / "tree.zip") as archive:
        assert archive.namelist() == [PLACE, "fla/modules/plain.py", "fla/ops/ascend/npu.py"]
    (source,) = plan["sources"]
    assert (source["name"], source["version"], source["licence"]) == ("fla-core", "0.0.1", "MIT")
    assert list(plan["files"]) == [PLACE]
    kernel = plan["files"][PLACE]["kernels"]["rows_kernel"]
    assert KERNEL.splitlines()[kernel["line"] - 1].startswith("def rows_kernel")
    assert set(kernel["inverses"]) == {"rsqrt_to_division", "drop_cache_hints"}
    edits = [Edit(*edit) for one in kernel["inverses"].values() for edit in one["edits"]]
    after = apply_edits(KERNEL, edits)
    assert "tl.load(x + at).to" in after and "v / tl.sqrt(tl.sum(v * v) + 1e-6)" in after


def test_kernels_that_share_a_name_are_left_out(tmp_path: Path) -> None:
    text = KERNEL + "\n\n" + KERNEL[KERNEL.index("@triton.jit") : KERNEL.index("def l2norm")]
    plan = prepare([wheel(tmp_path, text=text)], tmp_path / "bundle")
    assert not plan["files"]


@pytest.mark.parametrize("name", ["numpy-2.0-py3-none-any.whl", "fla_core.whl"])
def test_other_packages_are_refused(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = wheel(tmp_path, name)
    with pytest.raises(ValueError, match="no cases for this package"):
        source_of(name)
    monkeypatch.setattr(sys, "argv", ["prepare", str(path), "--out", str(tmp_path / "bundle")])
    assert main() == 2
    assert name in capsys.readouterr().err


def test_a_broken_wheel_leaves_no_bundle(tmp_path: Path) -> None:
    path = tmp_path / "fla_core-0.0.1-py3-none-any.whl"
    path.write_bytes(b"PK broken")
    with pytest.raises(zipfile.BadZipFile):
        prepare([path], tmp_path / "bundle")
    assert not (tmp_path / "bundle" / "plan.json").exists() and not (tmp_path / "bundle" / "tree.zip").exists()


def test_licences_of_all_packages_are_named() -> None:
    assert {"fla-core": "MIT", "sglang": "Apache-2.0"}.items() <= {n: one[0] for n, one in KNOWN.items()}.items()
