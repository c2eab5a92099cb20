"""Warm processes are started once for all tests of this folder: a fork of one costs a tenth of a second."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from skel.validation.isolation import Workers
from skel.validation.protocol import Protocol

FIXTURES = Path(__file__).parent / "fixtures"
QUICK = Protocol().override(
    {"isolation.run_seconds": 20, "isolation.compile_seconds": 20, "isolation.resident_megabytes": 1500}
)
"""The protocol with limits that a test can wait for."""


@pytest.fixture(scope="session")
def interpreting() -> Iterator[Workers]:
    with Workers("interpret", QUICK.isolation) as workers:
        yield workers


@pytest.fixture(scope="session")
def compiling() -> Iterator[Workers]:
    with Workers("compile", QUICK.isolation) as workers:
        yield workers


@pytest.fixture
def fixture_text() -> FixtureText:
    return FixtureText()


class FixtureText:
    """Texts of the fixture files, whole or broken in one place."""

    def path(self, name: str) -> str:
        return str(FIXTURES / name)

    def __call__(self, name: str, *replacements: tuple[str, str]) -> str:
        text = (FIXTURES / name).read_text(encoding="utf-8")
        for old, new in replacements:
            assert old in text, f"{name} has no {old!r}"
            text = text.replace(old, new)
        return text
