"""Parsing of the option values that several commands share."""

from __future__ import annotations

from pathlib import Path

import pytest

from skel.cli.options import parse_settings, parse_target_file
from skel.faults import WrongUse


def test_settings_are_typed() -> None:
    given = ["form=loop", "tile=64", "scale=0.5", "guard=true", "text=a=b"]
    assert parse_settings(given) == {"form": "loop", "tile": 64, "scale": 0.5, "guard": True, "text": "a=b"}


@pytest.mark.parametrize("given", [["form"], ["=loop"], ["a b=1"], ["form=loop", "form=widen"]])
def test_settings_that_are_none(given: list[str]) -> None:
    with pytest.raises(WrongUse, match="--set"):
        parse_settings(given)


def test_target_files(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_text("")
    assert parse_target_file(str(path)) == (path, None)
    assert parse_target_file(f"{path}::kern") == (path, "kern")
    for wrong in (f"{path}::not a name", f"{path}::", str(tmp_path), str(tmp_path / "none.py")):
        with pytest.raises(WrongUse):
            parse_target_file(wrong)
