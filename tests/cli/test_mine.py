"""`skel mine`: what it prints, what it stores, and how it ends."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

import pytest

from skel.miner import mining
from tests.cli.running import Skel

KERNEL = """import triton
import triton.language as tl


@triton.jit
def norm(x, y, D: tl.constexpr):
    o = tl.program_id(0) * D + tl.arange(0, D)
    b = tl.load(x + o)
    tl.store(y + o, b * tl.rsqrt(tl.sum(b * b, 0)))
"""


@pytest.fixture
def mined(tmp_path: Path) -> str:
    """The URL of a database of its own: what is mined here is no other test's business."""
    return f"sqlite:///{tmp_path / 'mined.db'}"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "library"
    folder.mkdir()
    (folder / "k.py").write_text(KERNEL)
    return folder


def test_mining_showing_and_reporting(skel: Skel, mined: str, source: Path) -> None:
    ended = skel("mine", str(source), "--db", mined, "--json")
    assert ended.status == 0
    (entry,) = ended.document["sources"]
    assert (entry["name"], entry["state"], entry["kernels"]) == ("library", "mined", 1)
    assert entry["techniques"]["div_to_reciprocal"] == {"uses": 1, "new": 1}
    again = skel("mine", str(source), "--db", mined)
    assert again.status == 0 and "mined before, nothing to do" in again.out
    report = skel("mine", "--report", "--db", mined, "--json").document["sources"]
    assert [one["name"] for one in report] == ["library"] and report[0]["techniques"] == entry["techniques"]
    assert "div_to_reciprocal" in skel("mine", "--report", "library", "--db", mined).out
    by_path = skel("mine", "--report", str(source), "--db", mined).out
    assert "1 file, 1 kernel (1 triton)" in by_path and "uses  new\n" in by_path and "hazard" not in by_path
    shown = skel("show", "div_to_reciprocal", "--db", mined)
    assert "Used at 1 place in" in shown.out and "k.py:9 norm (NOASSERTION)" in shown.out
    (occurrence,) = skel("show", "div_to_reciprocal", "--db", mined, "--json").document["mined"]["occurrences"]
    assert occurrence["role"] == "uses" and occurrence["places"][0]["kernel"] == "norm"


def test_a_report_is_of_the_version_that_is_asked_for(skel: Skel, mined: str, tmp_path: Path) -> None:
    wheel = tmp_path / "fla_core-0.6.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("fla/ops/k.py", KERNEL)
    assert skel("mine", str(wheel), "--db", mined).status == 0
    for name in (str(wheel), "fla-core", "fla-core==0.6.0", "fla_core==0.6.0"):
        assert "fla-core 0.6.0 (package" in skel("mine", "--report", name, "--db", mined).out
    other = skel("mine", "--report", "fla-core==0.5.2", "--db", mined)
    assert other.status == 2 and "what is kept of fla-core is 0.6.0" in other.err


def test_claims_name_their_repository(skel: Skel, mined: str, tmp_path: Path) -> None:
    repository = tmp_path / "history"
    repository.mkdir()
    _git(repository, "init", "-q")
    head, _, kernel = KERNEL.partition("@triton.jit")
    slow = head + "@triton.jit" + kernel.replace("tl.rsqrt(tl.sum(b * b, 0))", "tl.exp(b * 0.5 - 1.0)")
    _commit(repository, "Start", {"k.py": slow})
    fast = slow.replace("tl.exp(b * 0.5 - 1.0)", "tl.exp2((b * 0.5 - 1.0) * 1.4426950408889634)")
    _commit(repository, "Use exp2: 12.5 us to 9.8 us on H100, 1.28x faster", {"k.py": fast})
    assert "2 commits changed kernels, with 2 claims (2 new)" in skel("mine", str(repository), "--db", mined).out
    shown = skel("show", "exp_to_exp2", "--db", mined).out
    assert "Claimed in 1 commit\n" in shown and shown.count("1.28x faster (history ") == 1


def test_what_goes_wrong_has_a_status_and_a_hint(skel: Skel, mined: str, source: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken-1.0-py3-none-any.whl"
    broken.write_bytes(b"PK\x03\x04 not really")
    ended = skel("mine", str(broken), "--db", mined)
    assert ended.status == 2 and "the archive is broken" in ended.err and str(broken) in ended.err
    assert skel("mine", "no/such/place", "--db", mined).status == 2
    (source / "k.py").write_text("x = 1\n")
    ended = skel("mine", str(source), "--db", mined)
    assert ended.status == 2 and "holds no kernels" in ended.err
    assert skel("mine", "--report", "library", "--db", mined).status == 2
    assert skel("mine", "--report", "--db", mined, "--json").document == {"sources": []}


def test_a_history_cut_short_is_missing_here(skel: Skel, mined: str, tmp_path: Path) -> None:
    def git(folder: Path, *words: str) -> str:
        known = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        return subprocess.run(["git", *known, *words], cwd=folder, check=True, capture_output=True, text=True).stdout

    made = tmp_path / "made"
    made.mkdir()
    git(made, "init", "--quiet")
    for text in (KERNEL, KERNEL + "\n"):
        (made / "k.py").write_text(text)
        git(made, "add", "k.py")
        git(made, "commit", "--quiet", "-m", "kernel")
    first = git(made, "rev-list", "--max-parents=0", "HEAD").strip()
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{made}", "short")
    ended = skel("mine", f"{tmp_path / 'short'}@{first}", "--db", mined)
    assert ended.status == 4 and "cut short" in ended.err and "unshallow" in ended.err


def test_an_interrupt_stores_nothing(skel: Skel, mined: str, source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*words: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(mining, "read_files", interrupted)
    assert skel("mine", str(source), "--db", mined).status == 130
    assert skel("mine", "--report", "--db", mined, "--json").document == {"sources": []}


def test_drafts_of_a_history_are_written(skel: Skel, mined: str, tmp_path: Path) -> None:
    """Fifteen kernels whose program id becomes 64-bit wide in one commit, and enough others to try the draft on."""
    kernels = "".join(KERNEL.partition("@triton.jit")[2].join(["@triton.jit", "\n\n"]).replace("norm", f"k{i}")
                      for i in range(15))  # fmt: skip
    others = "".join(f"@triton.jit\ndef u{i}(x):\n    tl.store(x, tl.exp(tl.load(x)) + {i})\n\n\n" for i in range(24))
    head = KERNEL.partition("@triton.jit")[0]
    repository = tmp_path / "history"
    repository.mkdir()
    _git(repository, "init", "-q")
    _commit(repository, "Start", {"k.py": head + kernels, "u.py": head + others})
    wide = kernels.replace("tl.program_id(0) * D", "tl.program_id(0).to(tl.int64) * D")
    _commit(repository, "Offsets in 64 bits", {"k.py": head + wide})
    folder = tmp_path / "drafts"
    ended = skel("mine", str(repository), "--drafts", str(folder), "--db", mined, "--json")
    assert ended.status == 0, ended.err
    (made,) = ended.document["drafts"]
    assert made["written"] and sorted(str(p) for p in folder.iterdir()) == sorted(made["written"])
    assert "tl.int64" in Path(made["written"][0]).read_text()


def test_drafts_need_a_history(skel: Skel, mined: str, source: Path, tmp_path: Path) -> None:
    ended = skel("mine", str(source), "--drafts", str(tmp_path / "drafts"), "--db", mined)
    assert ended.status == 2 and "name a git repository" in ended.err and not (tmp_path / "drafts").exists()


def _git(repository: Path, *words: str) -> None:
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(repository), *identity, *words], check=True, capture_output=True)


def _commit(repository: Path, subject: str, files: dict[str, str]) -> None:
    for name, text in files.items():
        (repository / name).write_text(text)
    _git(repository, "add", "-A")
    _git(repository, "commit", "-q", "-m", subject)
