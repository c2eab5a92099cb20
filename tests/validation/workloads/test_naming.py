"""Files of packages are named as the package names them: no path of this machine stands in evidence."""

from __future__ import annotations

from pathlib import Path

import pytest

from skel.validation.subject import SliceSpec, Subject
from skel.validation.workloads.naming import name_of_file

INSIDE = "fla/ops/kda/gate.py"


def subject(path: str, inside: str | None = None) -> Subject:
    return Subject("", path, "m", None, SliceSpec(("f",), inside, ()) if inside else None)


@pytest.mark.parametrize(
    ("path", "inside", "name"),
    [
        (f"/home/a/wheels/fla_core-0.6.0-py3-none-any.whl/{INSIDE}", INSIDE, f"fla-core==0.6.0:{INSIDE}"),
        ("w/sglang-0.5.23-py3-none-any.whl/sglang/srt/k.py", None, "sglang==0.5.23:sglang/srt/k.py"),
        ("w/a.b-1.0rc1-1-cp311-cp311-linux_x86_64.whl/a/b.py", None, "a-b==1.0rc1:a/b.py"),
        ("examples/kernel.py", None, "examples/kernel.py"),
        ("my-wheel.whl/k.py", None, "my-wheel.whl/k.py"),
    ],
)
def test_by_the_path_alone(path: str, inside: str | None, name: str) -> None:
    assert name_of_file(subject(path, inside)) == name


def test_an_installed_package_says_its_version_and_a_clone_has_none(tmp_path: Path) -> None:
    installed = subject(str(tmp_path / INSIDE), INSIDE)
    assert name_of_file(installed) == INSIDE
    for name, files in (("other-2.0", "other/ops.py,,\n"), ("fla_core-0.6.1", f"fla/__init__.py,,\n{INSIDE},x,1\n")):
        (tmp_path / f"{name}.dist-info").mkdir()
        (tmp_path / f"{name}.dist-info" / "RECORD").write_text(files)
    assert name_of_file(installed) == f"fla-core==0.6.1:{INSIDE}"
