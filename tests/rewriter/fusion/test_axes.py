"""Independence of grid axes, against every program id of a small grid."""

from __future__ import annotations

from itertools import product
from math import prod

from hypothesis import given, settings
from hypothesis import strategies as st

from skel.rewriter.analysis.axes import UNKNOWN_ROOT, Axis

NAMES = ("A", "B", "C", "2", "3")
STEPS = st.lists(st.tuples(st.sampled_from(["%", "//"]), st.sampled_from([*NAMES, "A*B", "B*C", "2*A"])), max_size=3)


def _value(axis: Axis, pid: int, sizes: dict[str, int]) -> int:
    for operator, divisor in axis.steps:
        number = prod(sizes.get(part, int(part) if part.isdigit() else 0) for part in divisor.split("*"))
        pid = pid % number if operator == "%" else pid // number
    return pid


@settings(max_examples=400, deadline=None)
@given(STEPS, STEPS, st.tuples(*[st.integers(1, 4)] * 3))
def test_parts_called_independent_take_every_pair_of_values(
    first: list, second: list, numbers: tuple[int, ...]
) -> None:  # type: ignore[type-arg]
    a, b = Axis("0", tuple(first)), Axis("0", tuple(second))
    if a.overlaps(b):
        return
    sizes = dict(zip("ABC", numbers, strict=True))
    whole = prod(sizes.values()) ** 2 * 36
    pairs = {(_value(a, pid, sizes), _value(b, pid, sizes)) for pid in range(whole)}
    assert pairs == set(product({x for x, _ in pairs}, {y for _, y in pairs}))


def test_digits_of_one_id_are_independent() -> None:
    pid = Axis("0")
    tile, row = pid.split("%", "NV"), pid.split("//", "NV")
    head, batch = row.split("%", "H"), pid.split("//", "H*NV")
    for one, other in ((tile, row), (tile, head), (tile, batch), (head, batch)):
        assert not one.overlaps(other) and not other.overlaps(one)
    assert row.overlaps(head) and row.overlaps(batch) and pid.overlaps(tile)


def test_other_divisors_overlap() -> None:
    pid = Axis("0")
    assert pid.split("%", "NV").overlaps(pid.split("//", "NT"))
    assert pid.split("%", "A+B").overlaps(pid.split("//", "A"))
    assert not pid.split("%", "cdiv(V,BV)").overlaps(pid.split("//", "B*cdiv(V,BV)"))


def test_program_ids_are_independent_unless_unknown() -> None:
    assert not Axis("0").overlaps(Axis("1"))
    assert Axis(UNKNOWN_ROOT).overlaps(Axis("1")) and Axis("1").overlaps(Axis(UNKNOWN_ROOT))


def test_overlap_is_symmetric_and_reflexive() -> None:
    pid = Axis("0")
    parts = [pid, *(pid.split(o, d) for o in ("%", "//") for d in ("A", "A*B", "2"))]
    for a, b in product(parts, parts):
        assert a.overlaps(b) == b.overlaps(a)
        assert a.overlaps(a)
