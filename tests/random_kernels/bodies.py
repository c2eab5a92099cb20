"""Random kernel bodies: typed expressions and statements over scalars, vectors along K and V, and tiles of both."""

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


HELPERS = {
    "squash": "def squash(x):\n    return x / (1.0 + tl.abs(x))",
    "normalise": "def normalise(x, eps: tl.constexpr = 1e-3):\n    n = tl.sqrt(tl.sum(x * x) + eps)\n    return x / n",
    "gate": "def gate(x, USE: tl.constexpr):\n    if USE:\n        x = x * tl.sigmoid(x)\n    return x",
    "put": "def put(p, x, m):\n    tl.store(p, x, mask=m)",
}


class Writer:
    """Writes one random body. `dirty` lets in what makes a kernel depend on its tile."""

    def __init__(self, rng: Random, row: str, rows: str, dirty: bool, masked: bool) -> None:
        self.rng, self.row, self.rows = rng, row, rows
        self.dirty, self.masked = dirty, masked
        self.body = Body()
        self.pool: dict[str, list[str]] = {k: [] for k in KINDS}
        self.level = 1
        self.step: str | None = None
        self.count = 0
        self.pointers = rng.random() < 0.3

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
            return f"tl.load({place})"
        other = self.rng.choice([", other=0.0", ", other=0.0", ", other=0.0", ", other=0", ", other=1.0", ""])
        return f"tl.load({place}, mask={mask}{other})"

    def shape(self, kind: str, timed: bool) -> str:
        return f"R{', T' if timed else ''}{self.size(kind)[1]}"

    # -- expressions -----------------------------------------------------------------------------------------------

    def expr(self, kind: str, depth: int = 2) -> str:
        if self.pool[kind] and (depth <= 0 or self.chance(0.35)):
            return self.rng.choice(self.pool[kind])
        if depth <= 0:
            return self.leaf(kind)
        return self.rng.choice(self.productions(kind))(depth - 1)

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

    # -- statements ------------------------------------------------------------------------------------------------

    def assign(self, kinds: str = "SSKKVVMMN") -> None:
        kind = self.rng.choice(kinds)
        text = self.expr(kind)
        if self.pool[kind] and self.chance(0.3):
            name = self.rng.choice(self.pool[kind])
            self.emit(f"{name} {self.rng.choice('+*-')}= {text}" if self.chance(0.5) else f"{name} = {text}")
            return
        name = self.fresh({"S": "s", "K": "k", "V": "v", "M": "h", "N": "n"}[kind])
        if self.chance(0.12):
            other_kind = self.rng.choice(kinds)
            other = self.fresh("w")
            self.emit(f"{name}, {other} = {text}, {self.expr(other_kind)}")
            self.pool[other_kind].append(other)
        else:
            self.emit(f"{name} = {text}")
        self.pool[kind].append(name)

    def state(self) -> None:
        """A tile that starts as zeros, to be carried."""
        kind = self.rng.choice("MMNV")
        name = self.fresh("acc")
        shape = {"M": "[BK, BV]", "N": "[BV, BK]", "V": "[BV]"}[kind]
        self.emit(f"{name} = tl.zeros({shape}, dtype=tl.float32)")
        self.pool[kind].append(name)

    def branch(self) -> None:
        """Existing names set again in one or both arms."""
        kinds = [k for k in "SKVMN" if self.pool[k]]
        if not kinds:
            return
        choice = self.rng.random()
        if choice < 0.5:
            flag = self.fresh("FLAG")
            self.body.flags.append(flag)
            test = flag if self.chance(0.7) else f"not {flag}"
        elif choice < 0.8 or not self.dirty:
            test = f"{self.expr('S', 1)} > 0.25"
        else:
            test = "i_v > 0"
        self.emit(f"if {test}:")
        for arm in range(2):
            if arm:
                if self.chance(0.6):
                    return
                self.emit("else:")
            self.level += 1
            before = {k: list(v) for k, v in self.pool.items()}
            for _ in range(self.rng.randint(1, 2)):
                kind = self.rng.choice(kinds)
                self.emit(f"{self.rng.choice(before[kind])} = {self.expr(kind)}")
            if arm == 0 and self.chance(0.15):
                self.store()
            self.pool = before
            self.level -= 1

    def loop(self) -> None:
        """A time loop; names set in it for the first time do not leave it."""
        self.body.time = True
        if self.chance(0.7):
            self.state()
        variable = self.fresh("t")
        head = self.rng.choice(["range(T)", "range(0, T)", "tl.range(T)", "tl.static_range(T)", "range(T - 1, -1, -1)"])
        self.emit(f"for {variable} in {head}:")
        self.level += 1
        outer, self.step = self.step, variable
        before = {k: list(v) for k, v in self.pool.items()}
        for _ in range(self.rng.randint(1, 4)):
            self.assign()
        carried = [(k, n) for k in "MNVKS" for n in before[k]]
        for kind, name in self.rng.sample(carried, min(len(carried), self.rng.randint(1, 2))):
            self.emit(
                f"{name} = {name} * 0.5 + {self.expr(kind)}" if self.chance(0.7) else f"{name} += {self.expr(kind)}"
            )
        if self.chance(0.6):
            self.store()
        self.step = outer
        self.pool = before
        self.level -= 1

    def store(self) -> None:
        weights = list("VVVVMMNKSS")
        kind = self.rng.choice(weights)
        if kind in "VMN" and self.chance(0.15):
            return self.in_place(kind)
        if kind in "VMN" and self.dirty and self.chance(0.15):
            self.emit(f"if {self.rng.choice(['i_v == 0', 'BV > 8', 'i_v == 0 and BV < 16'])}:")
            self.level += 1
            self.write(self.place(self.out(kind), kind), self.expr(kind, 1), self.mask(kind))
            self.level -= 1
            return
        if kind in "VMN":
            name = self.out(kind)
            self.write(self.place(name, kind), self.expr(kind), self.mask(kind))
        else:
            self.shared(kind)

    def out(self, kind: str, shape: str | None = None, returned: str | None = None) -> str:
        name = self.fresh("o")
        self.body.outputs.append(Output(name, shape or self.shape(kind, self.step is not None), returned or name))
        return name

    def write(self, place: str, value: str, mask: str | None) -> None:
        if mask and self.chance(0.1):
            self.body.helpers.add("put")
            self.emit(f"put({place}, {value}, {mask})")
        else:
            self.emit(f"tl.store({place}, {value}{f', mask={mask}' if mask else ''})")

    def in_place(self, kind: str) -> None:
        """Read a buffer, change it, write it back to the same place."""
        name = self.fresh("p")
        self.body.inputs[name] = self.shape(kind, self.step is not None)
        place, mask = self.place(name, kind), self.mask(kind)
        held = self.fresh("b")
        self.emit(f"{held} = tl.load({place}{f', mask={mask}, other=0.0' if mask else ''})")
        self.pool[kind].append(held)
        value = self.expr(kind, 1)
        if kind == "V" and self.bad():
            place = place.replace(" + o_v", " + (o_v + 1) % V")
        self.write(place, f"{held} + {value}", mask)

    def shared(self, kind: str) -> None:
        """A store to a place that does not run along V: guarded, the same value, a slot a tile, or an atomic add."""
        way = self.rng.choice(
            ["guarded", "guarded", "same", "slot", "slot", "atomic"]
            + (["partial", "product", "reread"] if self.dirty else [])
        )
        value, mask = self.expr(kind), self.mask(kind)
        if way in ("slot", "atomic"):
            value = self.partial(kind)
            if self.chance(0.15) and self.dirty:
                value = f"tl.abs({value})"
        if way == "guarded":
            name = self.out(kind)
            self.emit(f"if {self.rng.choice(['i_v == 0', 'i_v == 0', '0 == i_v', 'i_v < 1', 'i_v <= 0'])}:")
            self.level += 1
            self.write(self.place(name, kind), value, mask)
            self.level -= 1
        elif way == "same":
            self.write(self.place(self.out(kind), kind), value, mask)
        elif way == "atomic":
            name = self.out(kind)
            self.emit(
                f"tl.{'atomic_max' if self.bad() else 'atomic_add'}"
                f"({self.place(name, kind)}, {value}{f', mask={mask}' if mask else ''})"
            )
        elif way == "slot" and self.step is None:
            self.body.slots = True
            tail = self.size(kind)[1]
            if self.chance(0.5):
                name = self.out(kind, f"NV, R{tail}", "{}.sum(0)")
                row = f"(i_v * {self.rows} + {self.row})"
            else:
                name = self.out(kind, f"R, NV{tail}", "{}.sum(1)")
                row = f"({self.row} * tl.cdiv(V, BV) + i_v)"
            returned = self.body.outputs[-1].returned.format(name)
            if self.bad():
                returned = returned.replace(".sum", ".amax")
            self.body.outputs[-1].returned = returned
            self.write(self.place(name, kind, row), value, mask)
        elif way == "reread":
            name = self.fresh("p")
            self.body.inputs[name] = self.shape(kind, self.step is not None)
            place = self.place(name, kind)
            self.emit(f"if {self.rng.choice(['i_v == 0', 'True'])}:")
            self.emit(
                f"    tl.store({place}, tl.load({place}{f', mask={mask}, other=0.0' if mask else ''})"
                f" + {value}{f', mask={mask}' if mask else ''})"
            )
        else:
            self.write(self.place(self.out(kind), kind), self.partial(kind) if way == "partial" else value, mask)

    def partial(self, kind: str) -> str:
        """A sum over the tile's lanes, with padded lanes at zero more often than not."""
        if kind == "S":
            inner = self.expr("V", 1)
            if self.masked and self.chance(0.8):
                inner = f"tl.where({self.mask_v()}, {inner}, 0.0)"
            return f"tl.sum({inner}{self.rng.choice([', 0', '', ', axis=0'])})" + self.rng.choice(
                ["", " * 0.5", f" * {self.expr('S', 0)}", " + 1.0" if self.dirty else ""]
            )
        inner = self.expr("M", 1)
        if self.masked and self.chance(0.8):
            inner = (
                f"tl.where({self.mask_v()}[None, :], {inner}, 0.0)".replace("o_v < V[", "(o_v < V)[")
                .replace("o_v <= V - 1[", "(o_v <= V - 1)[")
                .replace("V > o_v[", "(V > o_v)[")
            )
        return f"tl.sum({inner}, 1)"

    def write_body(self) -> Body:
        for _ in range(self.rng.randint(2, 5)):
            self.assign("SKKKV")
        loops = 1 if self.chance(0.4) else 0
        for part in range(self.rng.randint(2, 5)):
            roll = self.rng.random()
            if loops and part == 1:
                self.loop()
            elif roll < 0.5:
                self.assign()
            elif roll < 0.65:
                self.branch()
            else:
                self.store()
        name = self.out("V")
        self.write(self.place(name, "V"), self.expr("V", 1), self.mask("V"))
        if self.dirty and self.chance(0.08):
            at = self.rng.randint(0, len(self.body.lines) - 1)
            while at and self.body.lines[at][0] != 1:
                at -= 1
            self.body.lines.insert(
                at,
                (
                    1,
                    self.rng.choice(
                        [
                            "if i_v > 1:\n        return",
                            "if i_v * BV > V - 3:\n        return",
                            "if tl.load(flagged + 0) > 0:\n        return",
                        ]
                    ),
                ),
            )
            if "flagged" in self.body.lines[at][1]:
                self.body.inputs["flagged"] = "R"
        return self.body
