"""Random expressions of kernels, typed: scalars, vectors along K and V, and tiles of both."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

KINDS = ("S", "K", "V", "M", "N")
"""Scalar, [BK], [BV], [BK, BV], [BV, BK]."""


@dataclass
class Output:
    """A buffer that the launcher allocates: its shape and what the launcher returns of it, as source."""

    name: str
    shape: str
    returned: str


@dataclass
class Body:
    """Lines of a kernel's body (indented by levels), with what they ask of signature and launcher."""

    lines: list[tuple[int, str]] = field(default_factory=list)
    inputs: dict[str, str] = field(default_factory=dict)
    """Input tensors: name to shape."""
    outputs: list[Output] = field(default_factory=list)
    flags: list[str] = field(default_factory=list)
    time: bool = False
    helpers: set[str] = field(default_factory=set)
    slots: bool = False
    counted: bool = False
    """Whether the number of time steps is known at run time only."""
    half: set[str] = field(default_factory=set)
    """Inputs in half precision."""


HELPERS = {
    "squash": "def squash(x):\n    return x / (1.0 + tl.abs(x))",
    "normalise": "def normalise(x, eps: tl.constexpr = 1e-3):\n    n = tl.sqrt(tl.sum(x * x) + eps)\n    return x / n",
    "gate": "def gate(x, USE: tl.constexpr):\n    if USE:\n        x = x * tl.sigmoid(x)\n    return x",
    "put": "def put(p, x, m):\n    tl.store(p, x, mask=m)",
}


class Expressions:
    """Writes random expressions. `dirty` lets in what makes a kernel depend on its tile."""

    def __init__(self, rng: Random, row: str, rows: str, dirty: bool, masked: bool, wide: bool) -> None:
        self.rng, self.row, self.rows = rng, row, rows
        self.dirty, self.masked = dirty, masked
        self.body = Body(counted=rng.random() < 0.4)
        self.pool: dict[str, list[str]] = {k: [] for k in KINDS}
        self.level = 1
        self.step: str | None = None
        self.count = 0
        self.cast = ".to(tl.float32)" if rng.random() < 0.75 else ""
        self.half = bool(self.cast) and rng.random() < 0.15
        # Offsets of block pointers must be 32 bits wide.
        self.blocks = not wide and rng.random() < 0.12
        self.said: list[tuple[str, str]] = []
        """Kinds and texts of expressions outside of loops and branches, to be said again."""

    # -- small things ----------------------------------------------------------------------------------------------

    def chance(self, p: float) -> bool:
        return self.rng.random() < p

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def emit(self, line: str) -> None:
        self.body.lines.append((self.level, line))

    def bad(self) -> bool:
        return self.dirty and self.chance(0.12)

    def mask_k(self) -> str:
        return self.rng.choice(["m_k", "o_k < K"])

    def mask_v(self) -> str:
        return self.rng.choice(["m_v", "m_v", "o_v < V", "o_v <= V - 1", "V > o_v"])

    def mask(self, kind: str) -> str | None:
        k = self.rng.choice(["m_k", "(o_k < K)"])
        v = (
            self.rng.choice(["m_v", "m_v", "(o_v < V)"])
            if self.masked and not (self.dirty and self.chance(0.01))
            else None
        )
        if kind == "S":
            return None
        if kind == "K":
            return k
        if kind == "V":
            return v
        if kind == "M":
            return f"{k}[:, None] & {v}[None, :]" if v else f"{k}[:, None]"
        return f"{v}[:, None] & {k}[None, :]" if v else f"{k}[None, :]"

    def offset(self, kind: str) -> str:
        return {
            "S": "",
            "K": " + o_k",
            "V": " + o_v",
            "M": " + o_k[:, None] * V + o_v[None, :]",
            "N": " + o_v[:, None] * K + o_k[None, :]",
        }[kind]

    def size(self, kind: str) -> tuple[str, str]:
        """Elements a row in the kernel, and the tail of the buffer's shape on the host."""
        return {
            "S": ("1", ""),
            "K": ("K", ", K"),
            "V": ("V", ", V"),
            "M": ("K * V", ", K, V"),
            "N": ("K * V", ", V, K"),
        }[kind]

    def place(self, name: str, kind: str, row: str | None = None) -> str:
        size, _ = self.size(kind)
        index = row or self.row
        if self.step and row is None:
            index = f"({self.row} * T + {self.step})"
        if "*" in size and self.chance(0.5):
            size = f"({size})"
        scale = "" if size == "1" else f" * {size}"
        return f"{name} + {index}{scale}{self.offset(kind)}"

    def load(self, kind: str) -> str:
        timed = self.step is not None
        known = [n for n, s in self.body.inputs.items() if s == self.shape(kind, timed)]
        if known and self.chance(0.35):
            name = self.rng.choice(known)
        else:
            name = self.fresh("x")
            self.body.inputs[name] = self.shape(kind, timed)
            if self.half:
                self.body.half.add(name)
        if self.blocks and kind != "S" and self.chance(0.6):
            return self.block_load(name, kind)
        place = self.place(name, kind)
        if kind == "V" and self.bad():
            place = place.replace(
                " + o_v",
                self.rng.choice(
                    [
                        " + (i_v + 1) * BV % V + tl.arange(0, BV)",
                        " + tl.arange(0, BV)",
                        " + V - 1 - o_v",
                        " + (o_v + 1)",
                    ]
                ),
            )
        mask = self.mask(kind)
        if mask is None:
            return f"tl.load({place}){self.cast}"
        other = self.rng.choice([", other=0.0", ", other=0.0", ", other=0.0", ", other=0", ", other=1.0", ""])
        return f"tl.load({place}, mask={mask}{other}){self.cast}"

    def block_load(self, name: str, kind: str) -> str:
        """A load through a block pointer that a statement of its own makes."""
        size, _ = self.size(kind)
        index = f"({self.row} * T + {self.step})" if self.step else self.row
        k, v = ("K", "0", "BK"), ("V", "i_v * BV", "BV")
        dims = {"K": [k], "V": [v], "M": [k, v], "N": [v, k]}[kind]
        strides = [dims[1][0], "1"] if len(dims) == 2 else ["1"]
        comma = "," if len(dims) == 1 else ""
        columns = [f"({', '.join(column)}{comma})" for column in ([d[i] for d in dims] for i in range(3))]
        pointer = self.fresh("q")
        order = "(1, 0)" if len(dims) == 2 else "(0,)"
        self.emit(
            f"{pointer} = tl.make_block_ptr({name} + {index} * ({size}), {columns[0]}, "
            f"({', '.join(strides)}{comma}), {columns[1]}, {columns[2]}, {order})"
        )
        checked = [str(i) for i, d in enumerate(dims) if d[0] == "K" or self.masked]
        check = f", boundary_check=({', '.join(checked)}{',' if len(checked) == 1 else ''})" if checked else ""
        # Without an option it is undefined what lies outside, and so is what a kernel makes of it.
        padding = ', padding_option="zero"' if checked else ""
        return f"tl.load({pointer}{check}{padding}){self.cast}"

    def shape(self, kind: str, timed: bool) -> str:
        return f"R{', T' if timed else ''}{self.size(kind)[1]}"

    # -- expressions -----------------------------------------------------------------------------------------------

    def expr(self, kind: str, depth: int = 2) -> str:
        if self.pool[kind] and (depth <= 0 or self.chance(0.35)):
            return self.rng.choice(self.pool[kind])
        if depth <= 0:
            return self.leaf(kind)
        again = [text for held, text in self.said if held == kind]
        if again and self.chance(0.12):
            return self.rng.choice(again)
        text: str = self.rng.choice(self.productions(kind))(depth - 1)
        if self.level == 1 and self.step is None and len(text) < 120:
            self.said.append((kind, text))
        return text

    def leaf(self, kind: str) -> str:
        if kind == "S":
            return self.rng.choice(["0.5", "2.0", "-1.0", self.load("S")])
        return self.load(kind)

    def productions(self, kind: str):  # type: ignore[no-untyped-def]
        e, c = self.expr, self.rng.choice
        common = [
            lambda d: f"({e(kind, d)} {c('+-*')} {e(kind, d)})",
            lambda d: f"({e(kind, d)} {c('+-*')} {e('S', d)})",
            lambda d: f"{e('S', 0)} * {e(kind, d)}",
            lambda d: f"tl.{c(['sigmoid', 'abs'])}({e(kind, d)})",
            lambda d: f"tl.exp(-tl.abs({e(kind, d)}))",
            lambda d: f"{e(kind, d)} / (1.0 + tl.abs({e(kind, d)}))",
            lambda d: f"tl.maximum({e(kind, d)}, {e(kind, d)})",
            lambda d: f"-{e(kind, 0)}",
            lambda d: self.helper(kind, d),
            lambda d: self.load(kind),
            lambda d: f"tl.where({e(kind, d)} > 0, {e(kind, d)}, {c(['0.0', e('S', 0)])})",
        ]
        if kind == "S":
            common += [
                lambda d: f"tl.sum({e('K', d)})",
                lambda d: f"tl.max({e('K', d)}, 0)",
                lambda d: f"tl.sum({e('K', d)}, axis=0)",
            ]
            if self.bad():
                return [
                    lambda d: f"tl.sum({e('V', d)}, 0)",
                    lambda d: f"tl.max({e('V', d)}, 0)",
                    lambda d: "i_v * 0.5",
                    lambda d: "BV * 0.25",
                    lambda d: "tl.num_programs(0) * 0.5",
                    lambda d: f"tl.sum({e('M', d)})",
                ]
        if kind == "K":
            common += [
                lambda d: f"tl.where({self.mask_k()}, {e('K', d)}, 0.0)",
                lambda d: f"{e('K', d)} / (1.0 + tl.sqrt(tl.sum({e('K', 0)} * {e('K', 0)})))",
                lambda d: f"tl.exp({e('K', 0)} - tl.max({e('K', 0)}, 0))",
                lambda d: f"tl.cumsum({e('K', d)}, 0)",
                lambda d: self.normalised(d),
            ]
            if self.bad():
                return [lambda d: f"tl.sum({e('M', d)}, 1)", lambda d: f"tl.max({e('N', d)}, 0)"]
        if kind == "V":
            common += [
                lambda d: f"tl.sum({e('M', d)}, 0)",
                lambda d: f"tl.sum({e('N', d)}, 1)",
                lambda d: f"tl.sum({e('M', d)} * ({e('K', d)})[:, None], axis=0)",
                lambda d: "o_v.to(tl.float32) * 0.1",
            ]
            if self.masked:
                common.append(lambda d: f"tl.where({self.mask_v()}, {e('V', d)}, 0.0)")
            if self.bad():
                return [
                    lambda d: f"tl.cumsum({e('V', d)}, 0)",
                    lambda d: f"{e('V', 0)} - tl.max({e('V', 0)}, 0)",
                    lambda d: "tl.arange(0, BV).to(tl.float32)",
                    lambda d: f"{e('V', d)} * (i_v + 1)",
                    lambda d: f"{e('V', d)} / tl.sum({e('V', d)} + 8.0, 0)",
                ]
        if kind == "M":
            common += [
                lambda d: f"({e('K', d)})[:, None] * ({e('V', d)})[None, :]",
                lambda d: f"{e('M', d)} * ({e('K', d)})[:, None]",
                lambda d: f"{e('M', d)} + ({e('V', d)})[None, :]",
                lambda d: f"tl.trans({e('N', d)})",
                lambda d: f"{e('M', d)} * tl.expand_dims({e('K', d)}, 1)",
            ]
        if kind == "N":
            common += [
                lambda d: f"({e('V', d)})[:, None] * ({e('K', d)})[None, :]",
                lambda d: f"{e('N', d)} - ({e('V', d)})[:, None]",
                lambda d: f"tl.trans({e('M', d)})",
            ]
        return common

    def normalised(self, depth: int) -> str:
        self.body.helpers.add("normalise")
        return f"normalise({self.expr('K', depth)})"

    def helper(self, kind: str, depth: int) -> str:
        name = self.rng.choice(["squash", "gate"])
        self.body.helpers.add(name)
        return f"{name}({self.expr(kind, depth)}{', True' if name == 'gate' else ''})"
