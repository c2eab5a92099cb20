"""Slices: what is kept, at which line, what is followed into other files, and what is refused."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from skel.rewriter.kernel.package_slice import slice_package
from skel.rewriter.kernel.slice import SourceSlicer
from skel.rewriter.kernel.slice_names import names_bound, names_changed, names_read
from skel.rewriter.kernel.standins import STANDINS, standins_of
from skel.rewriter.reasons import Refuse
from skel.rewriter.resolve.archives import is_file, is_folder, read_file
from skel.rewriter.resolve.modules import find_import

MODULE = '''"""Doc."""
import os, heavy
import triton.language as tl
from .helpers import (
    guard,
    other,
)

print("side effect")
TABLE = {}
UNUSED = heavy.value
if os.environ.get("FAST"):
    exp = tl.fast
else:
    exp = tl.exp
TABLE["a"] = 1


@guard
def launch(x):
    LIMIT = 3
    return kernel(x, TABLE, LIMIT)


def kernel(x, table, limit):
    return exp(x)


LIMIT = 7
'''


def lines_of(text: str) -> dict[int, str]:
    return {number: line for number, line in enumerate(text.splitlines(), 1) if line}


def test_what_is_needed_is_kept_at_its_own_line() -> None:
    sliced = SourceSlicer(MODULE, "m.py", "pkg.m").slice(["launch"])
    kept, original = lines_of(sliced.text), MODULE.splitlines()
    assert {n: original[n - 1] for n in kept if n not in (2, 4)} == {n: kept[n] for n in kept if n not in (2, 4)}
    assert kept[2] == "import os"
    assert kept[4] == "from .helpers import guard"
    assert sorted(kept) == [2, 3, 4, 10, 12, 13, 14, 15, 16, 19, 20, 21, 22, 25, 26]
    assert not sliced.missing


def test_requests_name_what_each_import_must_bring() -> None:
    sliced = SourceSlicer(MODULE, "m.py", "pkg.m").slice(["launch"])
    found = {(r.module, r.name): r for r in sliced.requests}
    assert set(found) == {("os", None), ("triton.language", None), ("pkg.helpers", "guard")}
    assert found["os", None].attributes == {"environ"}
    assert found["triton.language", None].attributes == {"fast", "exp"}
    assert all(r.required for r in found.values())


def test_a_missing_name_is_said_with_its_line() -> None:
    sliced = SourceSlicer("def f():\n    return gone\n", "m.py", "m").slice(["f", "nowhere"])
    assert sliced.missing == (("gone", 1), ("nowhere", 0))


def test_a_global_that_only_a_function_sets_is_not_missing() -> None:
    text = "def set_it():\n    global STATE\n    STATE = 1\ndef get():\n    set_it()\n    return STATE\n"
    assert not SourceSlicer(text, "m.py", "m").slice(["get"]).missing


def test_annotations_are_not_followed_where_they_are_never_evaluated() -> None:
    body = "from heavy import Batch\ndef f(x: Batch) -> Batch:\n    y: Batch = x\n    return y\n"
    plain = SourceSlicer(body, "m.py", "m").slice(["f"])
    assert [r.module for r in plain.requests] == ["heavy"]
    future = SourceSlicer(f"from __future__ import annotations\n{body}", "m.py", "m").slice(["f"])
    assert not future.requests
    assert future.text.startswith("from __future__ import annotations\n")


def test_a_line_of_several_statements_stays_whole() -> None:
    sliced = SourceSlicer("a = 1; b = 2\nc = b\n", "m.py", "m").slice(["c"])
    assert sliced.text == "a = 1; b = 2\nc = b\n"


def test_a_stand_in_takes_the_place_of_a_definition() -> None:
    text = "import registry\n\n@registry.wrap\ndef guard(f):\n    return registry.go(f)\n\n"
    text += "@guard\ndef f():\n    return 1\n"
    sliced = SourceSlicer(text, "m.py", "m", standins={"guard": "def guard(f): return f"}).slice(["f"])
    assert lines_of(sliced.text) == {3: "def guard(f): return f", 7: "@guard", 8: "def f():", 9: "    return 1"}
    assert sliced.standins == ("guard",)
    assert not sliced.requests


def test_a_stand_in_wins_over_a_block_that_is_kept_for_another_name() -> None:
    text = "if True:\n    def guard(f):\n        raise OSError\n    other = 1\n"
    sliced = SourceSlicer(text, "m.py", "m", standins={"guard": "def guard(f): return f"}).slice(["guard", "other"])
    scope: dict[str, object] = {}
    exec(sliced.text, scope)
    assert scope["guard"](3) == 3  # type: ignore[operator]


def test_names_of_a_statement() -> None:
    import ast

    (statement,) = ast.parse("for i in range(n):\n    T[i] = g(i)\n    U.append(i)\n    v = lambda n: w\n").body
    assert names_bound(statement) == {"i", "v"}
    assert names_changed(statement) == {"T", "U"}
    assert names_read(statement, annotations=True) >= {"n", "T", "g", "U", "w"}
    (function,) = ast.parse("@deco\ndef f(a, b=default):\n    a = [c for c in d]\n    return a, len(b)\n").body
    assert names_read(function, annotations=True) == {"deco", "default", "d"}


@pytest.mark.parametrize("dotted", STANDINS)
def test_every_stand_in_is_one_line_that_binds_its_name(dotted: str) -> None:
    text = STANDINS[dotted].text
    scope: dict[str, object] = {}
    exec(text, scope)
    assert "\n" not in text
    assert callable(scope[dotted.rpartition(".")[2]])
    assert STANDINS[dotted].reason
    assert standins_of(dotted.rpartition(".")[0])[dotted.rpartition(".")[2]] == text


FILES = {
    "pkg/__init__.py": "import everything_heavy\nfrom .core import *\nversion = '1'\n",
    "pkg/core.py": "import math\nimport triton\nfrom pkg.more import base\nscale = math.pi\nshared = base\n",
    "pkg/more.py": "import orjson\nbase = 2\nother = orjson\n",
    "pkg/ops/target.py": (
        "from pkg import scale, shared as both\n"
        "from ..lazy import never\n"
        "def launch():\n"
        "    from pkg.ops import fast\n"
        "    try:\n"
        "        import pkg.absent\n"
        "    except ImportError:\n"
        "        pass\n"
        "    return fast.covered(scale), both\n"
        "def broken():\n"
        "    return never\n"
    ),
    "pkg/ops/__init__.py": "import everything_heavy\n",
    "pkg/ops/fast.py": "import cuda_thing\ndef covered(x):\n    return False\ndef run():\n    cuda_thing.go()\n",
}


@pytest.fixture(params=["folder", "wheel"])
def package(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "folder":
        for name, text in FILES.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        return tmp_path
    archive = tmp_path / "pkg-1.0-py3-none-any.whl"
    with zipfile.ZipFile(archive, "w") as opened:
        for name, text in FILES.items():
            opened.writestr(name, text)
    return archive


def test_imports_are_followed_through_a_package(package: Path) -> None:
    text = FILES["pkg/ops/target.py"]
    found = slice_package(package, "pkg.ops.target", "pkg/ops/target.py", text, ("launch",))
    texts = {m.module: lines_of(m.text) for m in found.modules}
    assert found.modules[0].module == "pkg.ops.target"
    assert texts["pkg"] == {2: "from .core import scale, shared"}
    assert sorted(texts["pkg.core"]) == [1, 3, 4, 5]
    assert texts["pkg.core"][3] == "from pkg.more import base"
    assert texts["pkg.more"] == {2: "base = 2"}
    assert texts["pkg.ops"] == {}
    assert texts["pkg.ops.fast"] == {2: "def covered(x):", 3: "    return False"}
    assert [module for module, _, _ in found.outside] == ["math"]


def test_what_is_not_there_is_refused_by_name_and_line(package: Path) -> None:
    text = FILES["pkg/ops/target.py"]
    with pytest.raises(Refuse) as caught:
        slice_package(package, "pkg.ops.target", "pkg/ops/target.py", text, ("broken",))
    (reason,) = caught.value.refusals
    assert (reason.code, reason.line) == ("slice_unresolved", 2)
    assert "pkg.lazy.never" in reason.message


def test_files_inside_an_archive(package: Path) -> None:
    target = package / "pkg" / "ops" / "target.py"
    assert is_file(target)
    assert not is_file(package / "pkg" / "ops")
    assert is_folder(package / "pkg")
    assert not is_folder(package / "pk")
    assert read_file(target) == FILES["pkg/ops/target.py"]
    assert read_file(package / "pkg" / "none.py") is None
    assert find_import(str(target), "pkg.core.scale") == (package / "pkg" / "core.py", "scale")
    assert find_import(str(target), ".fast.covered") == (package / "pkg" / "ops" / "fast.py", "covered")
