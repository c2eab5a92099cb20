"""Histories that were made to mislead, and repositories whose settings would change what is seen."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from skel.miner.claimed import _moment
from skel.miner.errors import SourceError
from skel.miner.history.git import GitHistory
from skel.miner.history.mine import mine_history
from tests.miner.history.repositories import ENVIRONMENT, KERNEL, Repository


def filled(path: Path) -> Repository:
    made = Repository(path)
    made.commit("first", {"k.py": KERNEL})
    made.commit("exp2: 12% faster", {"k.py": KERNEL.replace("tl.exp(", "tl.exp2(")})
    return made


@pytest.mark.parametrize("setting", ["i18n.logOutputEncoding=UTF-16", "log.showRoot=false"])
def test_settings_hide_no_commit(tmp_path: Path, setting: str) -> None:
    made = filled(tmp_path / "made")
    made.git("config", *setting.split("="))
    assert [c.subject for c in mine_history(made.path)] == ["first", "exp2: 12% faster"]


def test_objects_named_by_sha256_are_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "made"
    path.mkdir()
    done = subprocess.run(["git", "init", "-q", "--object-format=sha256"], cwd=path, env=ENVIRONMENT, check=False)
    if done.returncode:
        pytest.skip("this git knows SHA-1 only")
    filled(path)
    assert [c.changes[0].before is None for c in GitHistory(path).commits()] == [True, False]
    assert len(list(mine_history(path))) == 2


def test_a_damaged_commit_and_a_nul_in_a_message_end_nothing(tmp_path: Path) -> None:
    made = filled(tmp_path / "made")
    tree, head = made.git("rev-parse", "HEAD^{tree}"), made.git("rev-parse", "HEAD")
    for number, people in enumerate((b"author a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000", b"author a")):
        text = f"tree {tree}\nparent {head}\n".encode() + people + b"\n\na\0b: 3% faster\n"
        done = subprocess.run(["git", "hash-object", "-t", "commit", "-w", "--stdin", "--literally"], cwd=made.path,
                              input=text, capture_output=True, check=True)  # fmt: skip
        (made.path / f".git/refs/heads/made{number}").write_bytes(done.stdout)
    assert len(list(GitHistory(made.path).commits())) == 4


def test_a_missing_file_is_an_error_and_is_read_once_it_is_there(tmp_path: Path) -> None:
    made = filled(tmp_path / "made")
    blob = made.git("rev-parse", "HEAD~1:k.py")
    lost = made.path / ".git/objects" / blob[:2] / blob[2:]
    kept = lost.read_bytes()
    lost.unlink()
    with pytest.raises(SourceError, match=r"content of k\.py is not there"):
        list(mine_history(made.path, cache=tmp_path / "cache.sqlite"))
    lost.write_bytes(kept)
    assert len(list(mine_history(made.path, cache=tmp_path / "cache.sqlite"))) == 2


def test_a_file_that_a_history_lacks_is_fetched_by_no_command(tmp_path: Path) -> None:
    made = filled(tmp_path / "made")
    mark, command = tmp_path / "ran", tmp_path / "command"
    command.write_text(f"#!/bin/sh\ntouch {mark}\nexit 1\n")
    command.chmod(0o755)
    blob = made.git("rev-parse", "HEAD~1:k.py")
    (made.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    for setting in ("core.repositoryformatversion=1", "extensions.partialClone=origin", "remote.origin.promisor=true",
                    "protocol.ext.allow=always", f"remote.origin.url=ext::{command}"):  # fmt: skip
        made.git("config", *setting.split("=", 1))
    history = GitHistory(made.path)
    assert history.environment()["GIT_ALLOW_PROTOCOL"] == "none"  # for git that knows no GIT_NO_LAZY_FETCH
    with pytest.raises(SourceError):
        list(mine_history(made.path))
    assert not mark.exists()


@pytest.mark.parametrize("seconds", [10**14, -(10**14), 2**63])
def test_a_time_that_no_calendar_holds(seconds: int) -> None:
    assert _moment(seconds) == "1970-01-01T00:00:00+00:00"
