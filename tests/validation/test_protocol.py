import json

import pytest

from skel.validation.protocol import Protocol


def test_every_number_survives_json() -> None:
    changed = Protocol().override({"timing.final_samples": 20, "correctness.rtol_bfloat16": 0.02})
    assert Protocol.from_dict(json.loads(json.dumps(changed.to_dict()))) == changed
    assert changed.timing.final_samples == 20
    assert Protocol().timing.final_samples == 50


def test_an_int_is_a_float_but_not_the_other_way() -> None:
    assert Protocol().override({"isolation.run_seconds": 5}).isolation.run_seconds == 5.0
    with pytest.raises(TypeError, match="final_samples"):
        Protocol().override({"timing.final_samples": 2.5})


@pytest.mark.parametrize("name", ["timing.samples", "clocks.fast", "timing", "override.x"])
def test_unknown_numbers_are_refused(name: str) -> None:
    with pytest.raises(KeyError, match="the protocol has no number"):
        Protocol().override({name: 1})
