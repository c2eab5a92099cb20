"""The highest of many values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skel.store.top import top


@given(st.lists(st.integers(-3, 40), min_size=1, max_size=900), st.integers(1, 30))
def test_it_is_what_sorting_gives(values: list[int], count: int) -> None:
    wanted = sorted(range(len(values)), key=lambda at: (-values[at], at))[:count]
    assert top(np.array(values, np.float32), count).tolist() == wanted


@pytest.mark.parametrize("held", [0, 1, 5, 700])
def test_zeros_fill_up_in_their_order(held: int) -> None:
    values = np.zeros(5000, np.float32)
    values[::-1][:held] = 1
    wanted = sorted(range(5000), key=lambda at: (-values[at], at))[:20]
    assert top(values, 20).tolist() == wanted
