"""Random tiled Triton kernels with launchers, as files with the hooks of a target file. Deterministic in the seed."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from .bodies import HELPERS, Body, Writer
from .sums import sums

SUMS = 0.2
"""The part of the seeds that give kernels of `sums`."""


@dataclass(frozen=True)
class Sample:
    """One random file. `widened` is the same kernel launched with one tile for everything: what a rewrite that checks
    nothing would give, and so the ground truth of whether widening is legal; None of kernels without such tiles."""

    seed: int
    text: str
    widened: str | None
    dirty: bool
    """Whether features that make kernels depend on their tile were let in."""


@dataclass(frozen=True)
class Decoding:
    """How the kernel gets its axis and its row from program ids."""

    lines: tuple[str, ...]
    row: str
    rows: str
    grid: tuple[str, ...]
    parameters: tuple[str, ...] = ()
    """Extra parameters with the launcher's argument: `R=R`."""
    constexprs: tuple[str, ...] = ()
    host: tuple[str, ...] = ()
    """Lines of the launcher that set what the grid is made of."""


HEADS = ("B, H = inputs['heads'].shape",)


def decodings(rng: Random) -> Decoding:
    i, wide = rng.choice(["0", "1"]), rng.choice(["", ".to(tl.int64)"])
    j = "1" if i == "0" else "0"
    two = ("{NV}", "R") if i == "0" else ("R", "{NV}")
    return rng.choice(
        [
            Decoding((f"i_v, i_r = tl.program_id({i}), tl.program_id({j})",), "i_r", "R", two, ("R",)),
            Decoding((f"i_r = tl.program_id({j}){wide}", f"i_v = tl.program_id({i})"), "i_r", "R", two, ("R",)),
            Decoding((f"i_v = tl.program_id(axis={i}){wide}", f"i_r = tl.program_id({j})"), "i_r", "R", two, ("R",)),
            Decoding(
                ("i_v, i_b, i_h = tl.program_id(0), tl.program_id(1), tl.program_id(2)", "i_r = i_b * 2 + i_h"),
                "i_r",
                "R",
                ("{NV}", "R // 2", "2"),
                ("R",),
            ),
            Decoding(
                ("i_b, i_h, i_v = tl.program_id(0), tl.program_id(1), tl.program_id(2)",),
                "(i_b * 2 + i_h)",
                "R",
                ("R // 2", "2", "{NV}"),
                ("R",),
            ),
            Decoding(
                ("pid = tl.program_id(0)", "n = tl.cdiv(V, BV)", "i_v = pid % n", "i_r = pid // n"),
                "i_r",
                "R",
                ("{NV} * R",),
                ("R",),
            ),
            Decoding(
                ("pid = tl.program_id(0)", "i_v, i_r = pid % tl.cdiv(V, BV), pid // tl.cdiv(V, BV)"),
                "i_r",
                "R",
                ("R * {NV}",),
                ("R",),
            ),
            Decoding(("pid = tl.program_id(0)", "i_v = pid // R", "i_r = pid % R"), "i_r", "R", ("{NV} * R",), ("R",)),
            Decoding(
                ("pid = tl.program_id(0)", "i_v = pid % NT", "i_r = pid // NT"),
                "i_r",
                "R",
                ("{NV} * R",),
                ("R",),
                ("NT={NV}",),
            ),
            Decoding(
                (
                    "pid = tl.program_id(0)",
                    "n = tl.cdiv(V, BV)",
                    "i_v = pid % n",
                    "i_h = (pid // n) % 2",
                    "i_b = pid // (n * 2)",
                ),
                "(i_b * 2 + i_h)",
                "R",
                ("{NV} * R",),
                ("R",),
            ),
            Decoding(
                (f"i_v = tl.program_id({i})", f"i_bh = tl.program_id({j})", "i_b, i_h = i_bh // 2, i_bh % 2"),
                "(i_b * 2 + i_h)",
                "R",
                two,
                ("R",),
            ),
            Decoding(
                ("i_v = tl.program_id(0)", "i_bh = tl.program_id(1)", "i_b, i_h = i_bh // 2, i_bh % 2"),
                "(i_b * 2 + i_h)",
                "R",
                ("{NV}", "B * H"),
                ("R",),
                host=HEADS,
            ),
            Decoding(
                ("i_v, i_r = tl.program_id(0), tl.program_id(1)",), "i_r", "R", ("{NV}", "B * H"), ("R",), (), HEADS
            ),
        ]
    )


_ROWS = Decoding(("i_r = tl.program_id(0)",), "i_r", "R", ("R",), ("R",))
"""One program a row: the tiles are a loop of the kernel."""


def offsets(rng: Random) -> list[str]:
    return rng.choice(
        [
            ["o_v = i_v * BV + tl.arange(0, BV)"],
            ["o_v = tl.arange(0, BV) + i_v * BV"],
            ["o_v = tl.arange(0, BV) + BV * i_v"],
            ["first = i_v * BV", "o_v = first + tl.arange(0, BV)"],
            ["lanes = tl.arange(0, BV)", "o_v = (i_v * BV) + lanes"],
            ["o_v = i_v.to(tl.int64) * BV + tl.arange(0, BV)"],
        ]
    )


def generate(seed: int) -> Sample:
    """The sample of a seed."""
    if Random(f"family {seed}").random() < SUMS:
        return Sample(seed, sums(seed), None, False)
    rng = Random(f"body {seed}")
    dirty = rng.random() < 0.35
    masked = rng.random() < 0.85
    rows = rng.random() < 0.12
    decoding = _ROWS if rows else decodings(rng)
    wide = any("int64" in line for line in decoding.lines)
    writer = Writer(rng, decoding.row, decoding.rows, dirty, masked, wide)
    head = [*decoding.lines]
    middle = ["o_k = tl.arange(0, BK)", *offsets(rng)]
    if len(middle) == 2 and not rows:
        rng.shuffle(middle)
    masks = ["m_k, m_v = o_k < K, o_v < V"] if rng.random() < 0.4 else ["m_k = o_k < K", "m_v = o_v < V"]
    if rows:
        # A loop's variable is a plain number in the interpreter, and has no methods.
        body = writer.write_rows([line.replace(".to(tl.int64)", "") for line in middle[1:]] + ["m_v = o_v < V"])
        lines = [(1, line) for line in (*head, "o_k = tl.arange(0, BK)", "m_k = o_k < K")] + body.lines
    else:
        body = writer.write_body()
        lines = [(1, line) for line in (*head, *middle, *masks)] + body.lines
    tile = rng.choice([4, 8, 8, 16, 32])
    text = _file(seed, body, decoding, lines, tile, masked, widened=False)
    return Sample(seed, text, _file(seed, body, decoding, lines, tile, masked, widened=True), dirty)


def _file(
    seed: int, body: Body, decoding: Decoding, lines: list[tuple[int, str]], tile: int, masked: bool, *, widened: bool
) -> str:
    rng = Random(f"host {seed}")
    parts = ['"""A random kernel."""', "import torch", "import triton", "import triton.language as tl", "", ""]
    for name in sorted(body.helpers):
        parts += ["@triton.jit", HELPERS[name], "", ""]
    pointers = [*body.inputs, *(o.name for o in body.outputs)]
    scalars = list(decoding.parameters)
    constexprs = [
        "K: tl.constexpr",
        *(["V: tl.constexpr"] if rng.random() < 0.6 else []),
        *(["T: tl.constexpr"] if body.time and not body.counted else []),
        "BK: tl.constexpr",
        "BV: tl.constexpr",
        *(f"{f}: tl.constexpr" for f in body.flags),
        *(c.split("=")[0] + ": tl.constexpr" for c in decoding.constexprs),
    ]
    if "V: tl.constexpr" not in constexprs:
        scalars.append("V")
    if body.time and body.counted:
        scalars.append("T")
    tuned = not (widened or body.slots or decoding.constexprs) and Random(f"tuner {seed}").random() < 0.1
    parts += _tuner(Random(f"configurations {seed}"), tile) if tuned else []
    parts += ["@triton.jit", f"def kernel({', '.join([*pointers, *scalars, *constexprs])}):"]
    parts += _noisy(rng, lines)
    parts += ["", ""] + _launcher(rng, body, decoding, pointers, scalars, constexprs, tile, widened, tuned)
    parts += [
        "",
        "",
        *_workloads(
            Random(f"sizes {seed}"), body, tile, masked, 4 if "i_b" in "".join(decoding.lines) else 2, decoding
        ),
    ]
    text = "\n".join(parts) + "\n"
    style = rng.random()
    if style < 0.06:
        text = text.replace("\n", "\r\n")
    return text


def _tuner(rng: Random, tile: int) -> list[str]:
    """A decorator that chooses the tile."""
    tiles = [tile, *rng.sample([4, 8, 16], rng.randint(0, 2))]
    configs = [f"triton.Config({{'BV': {t}}}, num_warps={rng.choice([1, 2])})" for t in tiles]
    return [f"@triton.autotune(configs=[{', '.join(configs)}], key=[{rng.choice(['', repr('V')])}])"]


def _noisy(rng: Random, lines: list[tuple[int, str]]) -> list[str]:
    """Lines with indentation, comments and other things that a rewrite must leave alone."""
    unit = rng.choice(["    ", "    ", "    ", "  ", "\t"])
    noisy = rng.random() < 0.3
    found = [f'{unit}"""Does things.\n\n{unit}for i in range: no.\n{unit}"""'] if noisy and rng.random() < 0.4 else []
    for level, line in lines:
        if noisy and rng.random() < 0.12:
            found.append(rng.choice([f"{unit * level}# größe: i_v, BV \\", "", f"{unit * level}# if i_v == 0:"]))
        line = line.replace("\n    ", "\n" + unit).replace("    ", unit) if "\n" in line else line
        tail = "  # BV lanes" if noisy and rng.random() < 0.1 and not line.endswith(":") and "\n" not in line else ""
        if noisy and rng.random() < 0.06 and ", mask=" in line and line.startswith("tl.store("):
            line = line.replace(", mask=", f",\n{unit * (level + 2)}mask=", 1)
        found.append(f"{unit * level}{line}{tail}")
    return found


def _launcher(
    rng: Random,
    body: Body,
    decoding: Decoding,
    pointers: list[str],
    scalars: list[str],
    constexprs: list[str],
    tile: int,
    widened: bool,
    tuned: bool,
) -> list[str]:
    lines = ["def run(inputs):", "    R, T, K, V = inputs['sizes']"]
    lines += [f"    {line}" for line in decoding.host]
    form = rng.choice(["name", "name", "literal", "cap", "config", "conditional", "global"])
    grid_form = rng.choice(["tuple", "name", "lambda", "def", "count"])
    before: list[str] = []
    bv = "BV"
    if tuned:
        form, grid_form = "tuner", rng.choice(["lambda", "def"])
    elif widened:
        lines.append("    BV = triton.next_power_of_2(V)")
    elif form == "name":
        lines.append(f"    BV = {tile}")
    elif form == "literal":
        bv = str(tile)
    elif form == "cap":
        lines.append(f"    BV = min({tile}, triton.next_power_of_2(V))")
    elif form == "config":
        before = [f"CONFIG = dict(BV={tile}, num_warps=2)", "", ""]
        bv = "CONFIG['BV']"
    elif form == "conditional":
        lines.append(f"    BV = {tile} if V > {tile} else {max(4, tile // 2)}")
    else:
        before = [f"TILE = {tile}", "", ""]
        bv = "TILE"
    splat = form == "config" and not widened
    counted = f"triton.cdiv(V, {bv})"
    if body.slots or decoding.constexprs or grid_form == "count":
        lines.append(f"    NV = {counted}")
    for output in body.outputs:
        lines.append(f"    {output.name} = torch.zeros({output.shape})")
    count = "NV" if grid_form == "count" else counted
    dims = [d.replace("{NV}", count) for d in decoding.grid]
    grid = f"({', '.join(dims)}{',' if len(dims) == 1 else ''})"
    if grid_form in ("lambda", "def"):
        meta = grid.replace(counted, "triton.cdiv(V, meta['BV'])")
        if grid_form == "lambda":
            lines.append(f"    grid = lambda meta: {meta}")
        else:
            lines += ["    def grid(meta):", f"        return {meta}"]
        grid = "grid"
    elif grid_form == "name":
        lines.append(f"    grid = {grid}")
        grid = "grid"
    steps = [name for name, shape in body.inputs.items() if shape.startswith("R, T, ")]
    if steps and rng.random() < 0.7:
        rest = ", _" * (body.inputs[steps[0]].count(",") - 1)
        lines.append(f"    _, T{rest} = inputs['{steps[0]}'].shape")
    arguments = [f"inputs['{p}']" if p in body.inputs else p for p in pointers] + list(scalars)
    named = []
    for constexpr in constexprs:
        name = constexpr.split(":")[0]
        if name == "BV":
            if not splat and not tuned:
                named.append(f"BV={bv}")
        elif name == "BK":
            named.append("BK=triton.next_power_of_2(K)")
        elif name.startswith("FLAG"):
            named.append(f"{name}={rng.random() < 0.5}")
        elif name == "NT":
            named.append(f"NT={'NV' if rng.random() < 0.5 else counted}")
        else:
            named.append(f"{name}={name}")
    if splat:
        named.append("**CONFIG")
    elif not tuned and rng.random() < 0.5:
        named.append("num_warps=1")
    lines.append(f"    kernel[{grid}]({', '.join([*arguments, *named])})")
    returned = ", ".join(f"'{o.name}': {o.returned}" for o in body.outputs)
    lines.append(f"    return {{{returned}}}")
    return [*before, *lines]


def _workloads(rng: Random, body: Body, tile: int, masked: bool, rows: int, decoding: Decoding) -> list[str]:
    k = rng.choice([3, 4, 6])
    if masked:
        sizes = [
            rng.randint(tile + 1, 2 * tile),
            rng.randint(2 * tile + 1, max(2 * tile + 2, 30)),
            rng.choice([tile * 2, tile * 3]),
        ]
    else:
        sizes = [tile * 3, tile * 2]
    workloads = [f"dict(V={v}, K={k})" for v in sizes[:2]]
    lines = [
        f"WORKLOADS = [{', '.join(workloads)}]",
        "",
        "",
        f"def make_inputs(seed, V, K, R={rows}, T=2, device='cpu'):",
        "    g = torch.Generator().manual_seed(seed)",
        "    r = lambda *s: torch.randn(*s, generator=g).to(device)",
        "    return {'sizes': (R, T, K, V),",
    ]
    lines += [
        f"            '{name}': r({shape}){'.half()' if name in body.half else ''},"
        for name, shape in body.inputs.items()
    ]
    lines += ["            'heads': r(R // 2, 2),"] if decoding.host else []
    return [*lines, "            }"]
