import math

import pytest
import torch

from skel.validation.numerics.compare.close import close_difference, root_mean_square, tolerance
from skel.validation.numerics.compare.errors import Pooled
from skel.validation.numerics.compare.exact import exact_difference
from skel.validation.numerics.compare.nonfinite import nonfinite_difference
from skel.validation.numerics.compare.places import index_of
from skel.validation.numerics.compare.poison import unwritten
from skel.validation.numerics.compare.sentinels import sentinels
from skel.validation.numerics.outputs import compare_form, compare_values
from skel.validation.protocol import Correctness

NUMBERS = Correctness()
INF, NAN = math.inf, math.nan


def test_tolerance_is_relative_to_element_and_rms() -> None:
    right = torch.tensor([1.0, 0.0, -1.0, 100.0])
    atol = 1e-3 * root_mean_square(right)
    assert close_difference(right + 0.9 * atol, right, 1e-3) is None
    wrong = right.clone()
    wrong[1] += 1.2 * atol
    found = close_difference(wrong, right, 1e-3)
    assert found is not None and found["count"] == 1 and found["index"] == found["first_index"] == "[1]"
    wrong[3] += 1.0
    found = close_difference(wrong, right, 1e-3)
    assert found is not None and (found["count"], found["first_index"], found["index"]) == (2, "[1]", "[3]")


def test_tolerances_by_dtype_and_class() -> None:
    assert tolerance("float32", False, NUMBERS) == 1e-5
    assert tolerance("float32", True, NUMBERS) == 1e-4
    assert tolerance("float16", True, NUMBERS) == 1e-3
    assert tolerance("bfloat16", True, NUMBERS) == 1e-2
    assert tolerance("int64", True, NUMBERS) == 0


@pytest.mark.parametrize(
    ("candidate", "expected", "index"),
    [([1.0, INF], [1.0, 2.0], "[1]"), ([1.0, 2.0], [NAN, 2.0], "[0]"), ([INF], [-INF], "[0]"), ([NAN], [INF], "[0]")],
)
def test_nonfinite_values_must_stand_at_the_same_places(
    candidate: list[float], expected: list[float], index: str
) -> None:
    found = nonfinite_difference(torch.tensor(candidate), torch.tensor(expected))
    assert found is not None and found["index"] == index


def test_equal_nonfinite_values_are_no_difference() -> None:
    both = torch.tensor([NAN, INF, -INF, 1.0])
    assert nonfinite_difference(both, both.clone()) is None
    assert close_difference(both, both.clone(), 1e-5) is None
    assert exact_difference(both, both.clone()) is None


def test_exact_counts_and_names_the_first() -> None:
    found = exact_difference(torch.tensor([[1, 2], [3, 5]]), torch.tensor([[1, 2], [4, 4]]))
    assert found is not None
    assert (found["count"], found["total"], found["index"], found["candidate"], found["reference"]) == (
        2,
        4,
        "[1, 0]",
        3,
        4,
    )


def test_integers_and_booleans_must_be_equal() -> None:
    fact = compare_values("n", torch.tensor([1, 2]), torch.tensor([1, 3]), exact=False, reordered=True, numbers=NUMBERS)
    assert fact is not None and fact["code"] == "values_differ"
    flags = torch.tensor([True, False])
    assert compare_values("f", flags, flags.clone(), exact=False, reordered=True, numbers=NUMBERS) is None


def test_bitwise_is_stricter_than_close() -> None:
    right = torch.ones(8)
    near = right * (1 + 1e-6)
    assert compare_values("y", near, right, exact=False, reordered=True, numbers=NUMBERS) is None
    assert compare_values("y", near, right, exact=True, reordered=False, numbers=NUMBERS) is not None


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
def test_poison_is_told_from_a_computed_nan(dtype: torch.dtype) -> None:
    right = torch.ones(4, dtype=dtype)
    left = right.clone()
    left.view(torch.uint8)[2 * left.element_size() : 3 * left.element_size()] = 0xFF
    assert unwritten(left, right) == {"count": 1, "index": "[2]"}
    computed = right.clone()
    computed[2] = torch.tensor(0.0, dtype=dtype) / 0
    assert unwritten(computed, right) is None
    assert unwritten(left, left.clone()) is None, "what the original leaves unwritten too is no fault of the candidate"


def test_every_sentinel_is_rejected_where_the_output_is_rich() -> None:
    right = torch.randn(4, 32, generator=torch.Generator().manual_seed(0))
    wrong = sentinels(right, NUMBERS)
    assert set(wrong) == {"zeros", "mean", "shuffled", "last tile missing"}
    for bad in wrong.values():
        assert compare_values("y", bad, right, exact=False, reordered=True, numbers=NUMBERS) is not None


def test_an_output_of_zeros_lets_a_sentinel_pass() -> None:
    wrong = sentinels(torch.zeros(8), NUMBERS)
    assert set(wrong) == {"zeros"}
    assert compare_values("y", wrong["zeros"], torch.zeros(8), exact=False, reordered=True, numbers=NUMBERS) is None
    assert set(sentinels(torch.full((8,), 2.0), NUMBERS)) == {"zeros", "last tile missing"}


def test_error_growth_is_pooled() -> None:
    generator = torch.Generator().manual_seed(0)
    pool, grown = Pooled(), Pooled()
    for _ in range(3):
        reference = torch.randn(100, dtype=torch.float64, generator=generator)
        noise = torch.randn(100, dtype=torch.float64, generator=generator) * 1e-5
        pool.add(reference + 1.5 * noise, reference + noise, reference)
        grown.add(reference + 3 * noise, reference + noise, reference)
    eps = torch.finfo(torch.float32).eps
    assert pool.grew(eps, NUMBERS) is None
    found = grown.grew(eps, NUMBERS)
    assert found is not None and found["candidate"] == pytest.approx(3 * found["original"])
    assert grown.figures()["cases"] == 3


def test_form() -> None:
    one = torch.ones(2, 3)
    assert compare_form({"y": one}, {"y": one}) == []
    assert compare_form({"y": one}, {"z": one})[0]["code"] == "outputs_differ"
    assert compare_form({"y": one[:1]}, {"y": one})[0]["code"] == "shape_differs"
    assert compare_form({"y": one.half()}, {"y": one})[0]["code"] == "dtype_differs"
    assert compare_form({"y": None}, {"y": one})[0]["code"] == "outputs_differ"
    assert compare_form({"n": 3}, {"n": 4})[0]["code"] == "values_differ"
    assert compare_form({"n": NAN}, {"n": NAN}) == []


def test_index() -> None:
    assert index_of(7, (2, 2, 3)) == "[1, 0, 1]"
    assert index_of(0, ()) == "[]"


def test_an_empty_output_has_nothing_to_be_wrong_in() -> None:
    assert not sentinels(torch.empty(0, 4), NUMBERS) and sentinels(torch.ones(2, 4), NUMBERS)
