import pytest

from skel.validation.compile.layout import reductions, warps_along

BLOCKED = "#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>"


@pytest.mark.parametrize(
    ("layout", "axis", "shape", "warps"),
    [
        (BLOCKED, 0, (128, 32), 4),
        (BLOCKED, 1, (128, 32), 1),
        (BLOCKED, 0, (8, 32), 2),
        (BLOCKED, 0, (4, 32), 1),
        (f"#ttg.slice<{{dim = 1, parent = {BLOCKED}}}>", 0, (128,), 4),
        (f"#ttg.slice<{{dim = 0, parent = {BLOCKED}}}>", 0, (32,), 1),
        ("#ttg.linear<{register = [[1, 0]], lane = [[2, 0]], warp = [[0, 1], [4, 0]], block = []}>", 0, (8, 2), 2),
        ("#ttg.linear<{register = [[1, 0]], lane = [[2, 0]], warp = [], block = []}>", 0, (8, 2), 1),
        (
            "#ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 64, 16]}>",
            0,
            (64, 64),
            4,
        ),
        ("#ttg.something<{}>", 0, (8,), None),
    ],
)
def test_warps_along_an_axis(layout: str, axis: int, shape: tuple[int, ...], warps: int | None) -> None:
    assert warps_along(layout, axis, shape) == warps


def test_reductions_are_read_with_their_aliases() -> None:
    text = f"""#blocked = {BLOCKED}
module {{
  %1 = "tt.reduce"(%0) <{{axis = 0 : i32}}> ({{
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %c : f32
  }}) : (tensor<128x32xf32, #blocked>) -> tensor<32xf32, #ttg.slice<{{dim = 0, parent = #blocked}}>>
  %2 = "tt.reduce"(%1) <{{axis = 0 : i32}}> ({{
  }}) : (tensor<32xf32, #ttg.slice<{{dim = 0, parent = #blocked}}>>) -> f32
}}
"""
    assert [(r.shape, r.axis, r.warps) for r in reductions(text)] == [((128, 32), 0, 4), ((32,), 0, 1)]
