"""Random kernels of few programs with a long loop each: products of matrices, statistics of rows, copies of rows.

They hold what the kernels of `bodies` do not: sums that several programs could share, offsets that wrap round an end,
flags that a launch knows, loops whose rounds have nothing to do with each other, and autotuners.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

FLAG = "with_bias"
"""A parameter that is no constexpr, and that launches give as a number."""


@dataclass
class Sums:
    """One random file, as it is written."""

    rng: Random
    lines: list[str] = field(default_factory=list)
    """The kernel's body, indented below its head."""
    pointers: list[str] = field(default_factory=list)
    scalars: list[str] = field(default_factory=list)
    tiles: dict[str, int] = field(default_factory=dict)
    """Constexpr tiles, with their sizes."""
    wide: frozenset[str] = frozenset()
    """Sizes that are constexprs."""
    outputs: dict[str, str] = field(default_factory=dict)
    """Shapes of what the launcher allocates."""
    grid: tuple[str, ...] = ()
    tuned: str | None = None
    """The tile that an autotuner chooses."""
    flagged: bool = False

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def emit(self, line: str, level: int = 1) -> None:
        self.lines.append("    " * level + line)

    # -- bodies ----------------------------------------------------------------------------------------------------

    def product(self) -> None:
        """y = f(a @ b), tile by tile, with one or two sums over the inner dimension."""
        rng = self.rng
        self.pointers, self.outputs = ["a", "b", "bias", "y"], {"y": "M, N"}
        self.scalars = ["M", "N", "K"]
        self.tiles = {"BM": rng.choice([4, 8]), "BN": rng.choice([4, 8, 16]), "BK": rng.choice([4, 8, 16])}
        self._product_tiles()
        wrapped = {d for d in "mn" if self.chance(0.35)}
        for d, size in (("m", "M"), ("n", "N")):
            start = f"i_{d} * B{size} + tl.arange(0, B{size})"
            self.emit(f"o_{d} = ({start}) % {size}" if d in wrapped else f"o_{d} = {start}")
        self.emit("o_k = tl.arange(0, BK)")
        second = rng.choice([None, None, "norm += tl.sum(b_a * b_a, 1)", "norm = norm + tl.sum(tl.abs(b_b), 0)"])
        bad = self.chance(0.2)
        starts = [
            "tl.zeros([BM, BN], dtype=tl.float32)",
            "tl.zeros((BM, BN), tl.float32)",
            "tl.full([BM, BN], 0, tl.float32)",
        ]
        if bad and self.chance(0.3):
            starts = ["tl.zeros([BM, BN], dtype=tl.float32) + 0.5"]
        self.emit(f"acc = {rng.choice(starts)}")
        if second:
            self.emit(f"norm = tl.zeros([{'BM' if 'b_a' in second else 'BN'}], dtype=tl.float32)")
        self._product_loop(wrapped, second, bad)
        self._product_end(second)

    def _product_tiles(self) -> None:
        way = self.rng.choice(["two", "flat", "flat", "narrow", "turned"])
        m, n = "triton.cdiv(M, BM)", "triton.cdiv(N, BN)"
        if way == "two":
            self.emit("i_m, i_n = tl.program_id(0), tl.program_id(1)")
            self.grid = (m, n)
        elif way == "turned":
            self.emit("i_n = tl.program_id(0)")
            self.emit("i_m = tl.program_id(axis=1)")
            self.grid = (n, m)
        elif way == "flat":
            self.emit("pid = tl.program_id(0)")
            self.emit("tiles_n = tl.cdiv(N, BN)")
            self.emit("i_m, i_n = pid // tiles_n, pid % tiles_n")
            self.grid = (f"{m} * {n}",)
        else:
            self.tiles["BM"] = 16
            self.emit("i_m = 0")
            self.emit("i_n = tl.program_id(0)")
            self.grid = (n,)

    def _product_loop(self, wrapped: set[str], second: str | None, bad: bool) -> None:
        rng = self.rng
        way = rng.choice(["moved", "moved", "computed", "stepped"])
        m, n = ("" if "m" in wrapped else "(o_m[:, None] < M) & "), ("" if "n" in wrapped else " & (o_n[None, :] < N)")
        if way == "moved":
            self.emit("p_a = a + o_m[:, None] * K + o_k[None, :]")
            self.emit("p_b = b + o_k[:, None] * N + o_n[None, :]")
        if way == "stepped":
            self.emit(f"for start in {rng.choice(['range', 'tl.range'])}(0, K, BK):")
            left, at = "K - start", "start + o_k"
        else:
            head = rng.choice(["range(0, tl.cdiv(K, BK))", "range(tl.cdiv(K, BK))", "tl.range(0, tl.cdiv(K, BK))"])
            if self.chance(0.3):
                self.emit("rounds = tl.cdiv(K, BK)")
                head = "range(rounds)"
            self.emit(f"for i_k in {head}:")
            left, at = "K - i_k * BK", "i_k * BK + o_k"
        self.emit(f"left = {left}", 2)
        a, b = "p_a", "p_b"
        if way != "moved":
            a, b = f"a + o_m[:, None] * K + ({at})[None, :]", f"b + ({at})[:, None] * N + o_n[None, :]"
        cast = rng.choice(["", ".to(tl.float32)"])
        self.emit(f"b_a = tl.load({a}, mask={m}(o_k[None, :] < left), other=0.0){cast}", 2)
        self.emit(f"b_b = tl.load({b}, mask=(o_k[:, None] < left){n}, other=0.0){cast}", 2)
        if self.chance(0.3):
            what = rng.choice(["b_a * tl.sigmoid(b_a)", "tl.exp(-tl.abs(b_a)) - 1.0", "b_a / (1.0 + tl.abs(b_a))"])
            self.emit(f"b_a = {what}", 2)
        pinned = rng.choice(["", "", ', input_precision="ieee"'])
        sums = [
            f"acc += tl.dot(b_a, b_b{pinned})",
            f"acc = tl.dot(b_a, b_b, acc{pinned})",
            f"acc = acc + tl.dot(b_a, b_b{pinned})",
            "acc += tl.sum(b_a[:, :, None] * b_b[None, :, :], 1)",
            f"acc -= tl.dot(b_a, b_b{pinned}) * 0.5",
        ]
        if bad:
            sums = [f"acc = acc * 0.5 + tl.dot(b_a, b_b{pinned})", "acc = tl.maximum(acc, tl.dot(b_a, b_b))", *sums[:1]]
        self.emit(rng.choice(sums), 2)
        if second:
            self.emit(second, 2)
        if way == "moved":
            self.emit("p_a += BK", 2)
            self.emit(rng.choice(["p_b += BK * N", "p_b = p_b + BK * N"]), 2)

    def _product_end(self, second: str | None) -> None:
        self.emit("r_m, r_n = i_m * BM + tl.arange(0, BM), i_n * BN + tl.arange(0, BN)")
        if second:
            lanes = "[:, None]" if "b_a" in second else "[None, :]"
            self.emit(f"acc = acc / tl.sqrt(norm + 1e-3){lanes}")
        self._flagged("acc += tl.load(bias + r_n, mask=r_n < N, other=0.0)[None, :]")
        if self.chance(0.5):
            ends = ["acc * tl.sigmoid(acc)", "tl.maximum(acc, 0.0)", "tl.exp(-tl.abs(acc * 0.25))"]
            self.emit(f"acc = {self.rng.choice(ends)}")
        self.emit("tl.store(y + r_m[:, None] * N + r_n[None, :], acc, mask=(r_m[:, None] < M) & (r_n[None, :] < N))")

    def _flagged(self, line: str) -> None:
        """The line always, or where a launch asks for it."""
        if self.chance(0.5):
            self.flagged = True
            self.scalars.append(FLAG)
            self.emit(f"if {self.rng.choice([FLAG, f'{FLAG} != 0', f'{FLAG} == 1'])}:")
            self.emit(line, 2)
        else:
            self.emit(line)

    def moments(self) -> None:
        """Statistics of the rows of a, and with some luck the rows made alike."""
        rng = self.rng
        self.pointers, self.outputs = ["a", "bias", "y"], {"y": "M, 2"}
        self.scalars, self.tiles = ["M", "K"], {"BK": rng.choice([4, 8, 16])}
        self.grid = ("M",)
        self.emit(f"row = tl.program_id(0){rng.choice(['', '.to(tl.int64)'])}")
        self.emit("o_k = tl.arange(0, BK)")
        self.emit(rng.choice(["total = 0.0", "total = tl.zeros([BK], dtype=tl.float32)"]))
        scalar = self.lines[-1].endswith("0.0")
        self.emit(rng.choice(["squares = tl.full([BK], 0, tl.float32)", "squares = tl.zeros([BK], tl.float32)"]))
        self._row_loop("tl.load(a + row * K + o, mask=o < K, other=0.0)")
        self.emit("total += tl.sum(b_x, 0)" if scalar else "total = total + b_x", 2)
        more = "squares += b_x * b_x"
        if self.chance(0.15):
            more = "squares = tl.maximum(squares, b_x * b_x)"
        self.emit(more, 2)
        self.emit("mean = total / K" if scalar else "mean = tl.sum(total, 0) / K")
        ends = ["tl.rsqrt(tl.sum(squares, 0) / K + 1e-3)", "1.0 / tl.sqrt(tl.sum(squares, 0) / K + 1e-3)"]
        self.emit(f"spread = {rng.choice(ends)}")
        self._flagged("spread = spread + tl.load(bias + row)")
        self.emit("tl.store(y + row * 2, mean)")
        self.emit("tl.store(y + row * 2 + 1, spread)")
        if self.chance(0.5):
            self.pointers.append("z")
            self.outputs["z"] = "M, K"
            self._row_loop("tl.load(a + row * K + o, mask=o < K, other=0.0)")
            self.emit("tl.store(z + row * K + o, (b_x - mean) * spread, mask=o < K)", 2)

    def _row_loop(self, load: str) -> None:
        """A loop over blocks of a row that loads `b_x` at offsets `o`."""
        if self.chance(0.5):
            self.emit(f"for i in {self.rng.choice(['range(tl.cdiv(K, BK))', 'tl.range(0, tl.cdiv(K, BK))'])}:")
            self.emit("o = i * BK + tl.arange(0, BK)", 2)
        else:
            self.emit(f"for start in {self.rng.choice(['range', 'tl.range'])}(0, K, BK):")
            self.emit("o = start + tl.arange(0, BK)", 2)
        self.emit(f"b_x = {load}", 2)

    def copies(self) -> None:
        """Rows of a, scaled, block after block: a loop that carries nothing, or a tile a program."""
        rng = self.rng
        self.pointers, self.outputs = ["a", "bias", "y"], {"y": "M, K"}
        self.scalars, self.tiles = ["M", "K"], {"BK": rng.choice([4, 8, 16])}
        end = rng.choice(["b_x * b_s", "b_x + b_s", "tl.where(b_s > 0, b_x, -b_x)"])
        if self.chance(0.45):
            self.grid = ("triton.cdiv(K, BK)", "M")
            self.emit("i, row = tl.program_id(0), tl.program_id(1)")
            self.emit("o = i * BK + tl.arange(0, BK)")
            source = rng.choice(["i + 2", "i * 3", "i"])
            self.emit(f"source = ({source}) * BK")
            self.emit("o_s = (source + tl.arange(0, BK)) % K")
            self.emit("b_s = tl.load(bias + row)")
            self.emit("b_x = tl.load(a + row * K + o_s, mask=o < K, other=0.0)")
            self._flagged("b_x = b_x + 1.0")
            self.emit(f"tl.store(y + row * K + o, {end}, mask=o < K)")
            return
        self.grid = ("M",)
        self.emit("row = tl.program_id(0)")
        self.emit("b_s = tl.load(bias + row)")
        if self.chance(0.2):
            self.emit("last = 0.0")
        carried = self.lines[-1].endswith("last = 0.0")
        self._row_loop("tl.load(a + row * K + o, mask=o < K, other=0.0)")
        if carried:
            self.emit("b_x = b_x + last", 2)
            self.emit("last = tl.sum(b_x, 0) * 0.1", 2)
        self.emit(f"tl.store(y + row * K + o, {end}, mask=o < K)", 2)

    # -- the file --------------------------------------------------------------------------------------------------

    def decorators(self) -> list[str]:
        found = []
        if self.tiles and self.chance(0.3):
            self.tuned = self.rng.choice(sorted(self.tiles))
            size = self.tiles[self.tuned]
            named = self.rng.choice(['"K"', '"M", "K"', ""])
            key = f"key=[{named}]"
            if self.chance(0.5):
                configs = ", ".join(
                    f'triton.Config({{"{self.tuned}": {s}}}, num_warps={w})' for s, w in ((size, 2), (2 * size, 4))
                )
                found = [f"@triton.autotune(configs=[{configs}], {key})"]
            else:
                each = f'triton.Config({{"{self.tuned}": {size}}}, num_warps=w) for w in [2, 4]'
                found = [f"@triton.autotune([{each}], {key})"]
        return [*found, "@triton.jit"]

    def text(self) -> str:
        """The whole file."""
        {"product": self.product, "moments": self.moments, "copies": self.copies}[
            self.rng.choice(["product", "product", "moments", "copies"])
        ]()
        decorators = self.decorators()
        constexprs = {n for n in self.scalars if n != FLAG and self.chance(0.25)}
        runtime = [n for n in self.scalars if n not in constexprs]
        given = [t for t in self.tiles if t != self.tuned]
        signature = [*self.pointers, *runtime, *(f"{n}: tl.constexpr" for n in [*sorted(constexprs), *self.tiles])]
        parts = ['"""A random kernel."""', "import torch", "import triton", "import triton.language as tl", "", ""]
        parts += [*decorators, f"def kernel({', '.join(signature)}):", *self.lines, "", ""]
        return "\n".join([*parts, *self.launcher(runtime, sorted(constexprs), given), *self.inputs()]) + "\n"

    def launcher(self, runtime: list[str], constexprs: list[str], given: list[str]) -> list[str]:
        inputs = [p for p in self.pointers if p not in self.outputs]
        flag = [FLAG] if self.flagged else []
        lines = [f"def launch({', '.join([*inputs, *flag])}):", "    M, K = a.shape"]
        lines += ["    N = b.shape[1]"] if "b" in inputs else []
        for name, shape in self.outputs.items():
            how = self.rng.choice(["empty", "zeros"])
            lines.append(f"    {name} = torch.{how}({shape}, device=a.device)")
        grid = f"({', '.join(self.grid)}{',' if len(self.grid) == 1 else ''})"
        named = self.chance(0.3)
        for tile in given:
            if named:
                lines.append(f"    {tile} = {self.tiles[tile]}")
        if self.tuned or self.chance(0.3):
            for tile in self.tiles:
                grid = grid.replace(f", {tile})", f", meta['{tile}'])")
            grid = f"lambda meta: {grid}"
        elif not named:
            for tile, size in self.tiles.items():
                grid = grid.replace(f", {tile})", f", {size})")
        if grid.startswith("lambda") and self.chance(0.5):
            lines.append(f"    grid = {grid}")
            grid = "grid"
        arguments = [*self.pointers, *runtime, *(f"{n}={n}" for n in constexprs)]
        arguments += [f"{t}={t if named else self.tiles[t]}" for t in given]
        lines.append(f"    kernel[{grid}]({', '.join(arguments)})")
        lines += [f"    return {', '.join(self.outputs)}{',' if len(self.outputs) == 1 else ''}", "", ""]
        lines.append("def run(inputs):")
        pass_on = [f"inputs['{p}']" for p in inputs]
        calls = [f"launch({', '.join([*pass_on, *([n] if self.flagged else [])])})" for n in ("1", "0")]
        both = self.flagged and self.chance(0.5)
        return [*lines, f"    return {' + '.join(calls) if both else calls[0]}", "", ""]

    def inputs(self) -> list[str]:
        rng = self.rng
        shapes = {"a": "M, K", "b": "K, N", "bias": "max(M, N)"}
        tile = self.tiles["BK"]
        sizes = [(rng.randint(1, 12), rng.choice([8, 16, rng.randint(5, 30)]), rng.randint(2, 6) * tile)]
        sizes += [(rng.randint(2, 16), rng.choice([8, 32, rng.randint(5, 30)]), rng.randint(2 * tile, 6 * tile))]
        workloads = [f"dict(M={m}, N={n}, K={k})" for m, n, k in sizes]
        lines = [f"WORKLOADS = [{', '.join(workloads)}]", "", "", "def make_inputs(seed, M, N, K, device='cpu'):"]
        lines += [
            "    g = torch.Generator().manual_seed(seed)",
            "    r = lambda *s: torch.randn(*s, generator=g).to(device)",
        ]
        asked = [f"'{p}': r({shapes[p]})" for p in self.pointers if p in shapes]
        return [*lines, f"    return {{{', '.join(asked)}}}"]


def sums(seed: int) -> str:
    """The file of a seed."""
    return Sums(Random(f"sums {seed}")).text()
