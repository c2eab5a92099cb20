from pathlib import Path

import pytest

from skel.validation.subject import module_name
from skel.validation.workloads import SidecarError, read_target, subject_of


def test_the_target_is_beside_the_sidecar(tmp_path: Path) -> None:
    target = tmp_path / "kernel.py"
    target.write_text("x = 1\n")
    sidecar = tmp_path / "sub" / "work.py"
    sidecar.parent.mkdir()
    sidecar.write_text('raise SystemExit("must not run")\nTARGET = "../kernel.py"\n')
    subject = subject_of("x = 1\n", str(target), str(sidecar))
    assert subject.module == "kernel"
    assert subject.sidecar is not None
    assert subject.with_text("x = 2\n").sidecar == subject.sidecar


@pytest.mark.parametrize(
    ("text", "message"),
    [("x = 1\n", "has no TARGET"), ("TARGET = name\n", "line 1: TARGET must be a plain string"), ("x = (\n", "line 1")],
)
def test_a_sidecar_without_a_readable_target(text: str, message: str) -> None:
    with pytest.raises(SidecarError, match=message):
        read_target(text, "work.py")


def test_a_sidecar_for_another_file(tmp_path: Path) -> None:
    sidecar = tmp_path / "work.py"
    sidecar.write_text('TARGET = "other.py"\n')
    with pytest.raises(SidecarError, match=r"is for .*other\.py, not for"):
        subject_of("", str(tmp_path / "kernel.py"), str(sidecar))


@pytest.mark.parametrize(
    ("path", "name"), [("a/my-kernel.py", "my_kernel"), ("3d.py", "m_3d"), ("class.py", "m_class")]
)
def test_module_names(path: str, name: str) -> None:
    assert module_name(path) == name
