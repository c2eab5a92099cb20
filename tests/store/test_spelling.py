"""Words with a slip in them."""

import pytest

from skel.store.database import Database
from skel.store.search import answer
from skel.store.spelling import nearest_stem, one_slip
from skel.store.stems import stems


@pytest.mark.parametrize(("a", "b", "wanted"), [
    ("bufer", "buffer", True), ("buffer", "bufer", True), ("overflwo", "overflow", True),
    ("ovarflow", "overflow", True), ("overflo", "overflow", True), ("overflow", "overflow", False),
    ("overflow", "overhaul", False), ("flow", "overflow", False), ("abcd", "badc", False),
])  # fmt: skip
def test_one_slip(a: str, b: str, wanted: bool) -> None:
    assert one_slip(a, b) is wanted


def test_a_slip_finds_what_was_meant(database: Database) -> None:
    assert answer(database, "address overflw in a big tensor").hits[0].name == "wide_index"
    with database.reading() as connection:
        for word in ("zzzzoverflow", "ovrf", "溢出溢出溢出", "over flow"):
            assert nearest_stem(connection, word, stems([word])[word]) is None
