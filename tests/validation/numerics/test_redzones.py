import torch

from skel.validation.numerics.cases import Case
from skel.validation.numerics.guarded_run import guarded_run
from skel.validation.numerics.redzones import Arena
from skel.validation.protocol import Correctness

NUMBERS = Correctness()
CASE = Case("c", "w", {}, 0, "normal", "declared", 1)


def beyond(tensor: torch.Tensor, offset: int) -> torch.Tensor:
    """One element `offset` elements from the tensor's first, wherever that is."""
    return torch.empty(0, dtype=tensor.dtype).set_(
        tensor.untyped_storage(), tensor.storage_offset() + offset, (1,), (1,)
    )


def test_inputs_keep_strides_values_and_aliasing() -> None:
    packed = torch.arange(24.0).reshape(4, 6)
    inputs = {"a": packed[:, :3], "t": packed.t(), "n": 3, "list": [torch.ones(2, dtype=torch.int32)]}
    arena = Arena(512, 0x3C)
    moved = arena.move(inputs, "cpu")
    assert torch.equal(moved["a"], inputs["a"]) and moved["a"].stride() == (6, 1) and moved["t"].stride() == (1, 6)
    assert (
        moved["a"].untyped_storage().data_ptr()
        == moved["t"].untyped_storage().data_ptr()
        != packed.untyped_storage().data_ptr()
    )
    assert moved["n"] == 3 and moved["list"][0].dtype == torch.int32
    assert moved["a"].data_ptr() % 64 == 0
    moved["a"].add_(1)
    assert arena.broken() == []
    assert packed[0, 0] == 0


def test_a_write_on_either_side_is_seen() -> None:
    arena = Arena(512, 0x3C)
    moved = arena.move({"x": torch.zeros(10), "y": torch.zeros(4)}, "cpu")
    beyond(moved["x"], 10).fill_(1.0)
    beyond(moved["x"], -2).fill_(1.0)
    broken = {zone["side"]: zone for zone in arena.broken()}
    assert broken["after"]["tensor"] == broken["before"]["tensor"] == "input x"
    assert broken["after"]["first_byte_away"] < 4
    assert 4 <= broken["before"]["first_byte_away"] < 8


def test_memory_that_a_run_allocates_is_guarded_and_poisoned() -> None:
    seen = {}

    def run(inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        empty, zeros = torch.empty_like(inputs["x"]), inputs["x"].new_zeros(5)
        product = inputs["x"] * 2
        seen["view"] = product[1:].storage_offset() - product.storage_offset()
        beyond(zeros, 5).fill_(9.0)
        beyond(product, -1).fill_(9.0)
        return {"empty": empty, "ints": torch.empty(3, dtype=torch.int64), "zeros": zeros, "product": product}

    ran = guarded_run(run, {"x": torch.ones(4)}, CASE, "cpu", 0x3C, NUMBERS)
    assert ran.outputs["empty"].isnan().all()
    assert (ran.outputs["ints"] > 2**60).all()
    assert torch.equal(ran.outputs["zeros"], torch.zeros(5)) and torch.equal(
        ran.outputs["product"], torch.full((4,), 2.0)
    )
    assert seen["view"] == 1
    assert {(zone["tensor"].split()[3], zone["side"]) for zone in ran.broken} == {
        ("new_zeros", "after"),
        ("mul", "before"),
    }


def test_inputs_afterwards_and_odd_outputs() -> None:
    class Lazy(torch.Tensor):
        pass

    def run(inputs: dict[str, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor, float]:
        inputs["x"][1] = 7
        return inputs["x"], torch.ones(2).as_subclass(Lazy), 1.5

    given = torch.zeros(3)
    ran = guarded_run(run, {"x": given}, CASE, "cpu", 0x3C, NUMBERS)
    assert ran.inputs_after["x"].tolist() == [0, 7, 0] and given.tolist() == [0, 0, 0]
    assert ran.odd_types == {"1": "Lazy"} and set(ran.outputs) == {"0", "2"}
    assert ran.launches == []


def test_what_lies_around_a_tensor_differs_between_fillings() -> None:
    def run(inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        return beyond(inputs["x"], 4).clone()

    first = guarded_run(run, {"x": torch.zeros(4)}, CASE, "cpu", NUMBERS.guard_bytes[0], NUMBERS)
    second = guarded_run(run, {"x": torch.zeros(4)}, CASE, "cpu", NUMBERS.guard_bytes[1], NUMBERS)
    assert first.outputs["output"] != second.outputs["output"]
    assert first.outputs["output"].isfinite().all() and second.outputs["output"].isfinite().all()
