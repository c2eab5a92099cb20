"""Reading histories: every reference, whole, and with clear errors where that cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from skel.miner.errors import SourceError
from skel.miner.history import GitHistory, HistoryError

from .repositories import KERNEL, Repository


def test_commits_of_all_references_come_parents_first(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "r")
    first = repository.commit("one", {"a.py": KERNEL})
    repository.git("checkout", "-q", "-b", "side")
    side = repository.commit("two\n\nwith a body: 3 ms -> 2 ms", {"a.py": KERNEL + "\n", "ü b.py": "x = 1\n"})
    repository.git("checkout", "-q", "main")
    renamed = repository.commit("three", {"a.py": None, "c.py": KERNEL})
    history = GitHistory(repository.path)
    commits = list(history.commits())
    assert {c.name for c in commits} == {first, side, renamed} and commits[0].name == first
    assert history.count() == 3 and history.count(["main"]) == 2
    assert [c.name for c in history.commits(["main"])] == [first, renamed]
    by_name = {c.name: c for c in commits}
    assert by_name[first].changes[0].before is None
    assert by_name[side].message.endswith("3 ms -> 2 ms") and by_name[side].subject == "two"
    assert {c.path for c in by_name[side].changes} == {"a.py", "ü b.py"}
    assert [(c.old_path, c.path) for c in by_name[renamed].changes] == [("a.py", "c.py")]
    assert [c.name for c in history.commits([side[:10], first[:10]], walk=False)] == [side, first]


def test_blobs_and_files_are_read_through_git(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "r")
    repository.commit("one", {"a.py": KERNEL, "empty.py": ""})
    history = GitHistory(repository.path / ".git")
    files = history.files("HEAD")
    with history.blobs() as blobs:
        assert blobs.read(files["a.py"]) == KERNEL.encode()
        assert blobs.read(files["empty.py"]) == b""
        assert blobs.read("1" * 40) is None
        assert blobs.read(files["a.py"]) == KERNEL.encode(), "goes on after an object that is not there"


def test_links_and_submodules_are_no_files(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "r")
    (repository.path / "link.py").symlink_to("/etc/passwd")
    name = repository.commit("link", {"a.py": "x = 1\n"})
    (commit,) = GitHistory(repository.path).commits()
    assert commit.name == name and [c.path for c in commit.changes] == ["a.py"]


def test_a_history_cut_short_is_refused_with_what_to_do(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "r")
    repository.commit("one", {"a.py": "x = 1\n"})
    repository.commit("two", {"a.py": "x = 2\n"})
    repository.git("clone", "-q", "--depth", "1", f"file://{repository.path}", str(tmp_path / "shallow"))
    with pytest.raises(HistoryError, match=r"cut short.*unshallow") as caught:
        GitHistory(tmp_path / "shallow")
    assert isinstance(caught.value, SourceError) and caught.value.missing


def test_a_lost_object_is_an_error_and_no_half_history(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "r")
    first = repository.commit("one", {"a.py": "x = 1\n"})
    repository.commit("two", {"a.py": "x = 2\n"})
    lost = repository.path / ".git" / "objects" / first[:2] / first[2:]
    lost.chmod(0o600)
    lost.unlink()
    with pytest.raises(HistoryError, match="history"):
        list(GitHistory(repository.path).commits())


@pytest.mark.parametrize("kind", ["absent", "no repository", "empty"])
def test_what_is_no_repository_is_said(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "r"
    if kind == "empty":
        Repository(path)
    elif kind == "no repository":
        path.mkdir()
    with pytest.raises(HistoryError) as caught:
        GitHistory(path)
    assert str(path) in str(caught.value)


def test_hooks_and_settings_of_the_repository_do_not_run(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "r")
    repository.commit("one", {"a.py": KERNEL, ".gitattributes": "*.py diff=evil\n"})
    repository.commit("two", {"a.py": KERNEL + "# more\n"})
    repository.git("config", "diff.evil.command", f"touch {tmp_path}/ran")
    repository.git("config", "diff.evil.textconv", f"touch {tmp_path}/ran")
    repository.git("config", "core.fsmonitor", f"touch {tmp_path}/ran")
    history = GitHistory(repository.path)
    assert len(list(history.commits())) == 2
    assert not (tmp_path / "ran").exists()
