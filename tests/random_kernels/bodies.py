"""Random kernel bodies: statements over the values of `expressions`."""

from __future__ import annotations

from .expressions import HELPERS, KINDS, Body, Expressions, Output

__all__ = ["HELPERS", "KINDS", "Body", "Output", "Writer"]


class Writer(Expressions):
    """Writes one random body."""

    renew = True
    """Whether assignments may set names again."""

    def assign(self, kinds: str = "SSKKVVMMN") -> None:
        kind = self.rng.choice(kinds)
        text = self.expr(kind)
        if self.cast and kind == "K" and self.chance(0.3):
            text = f"({text}){self.cast}"
        if self.pool[kind] and self.renew and self.chance(0.3):
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

    def state(self) -> tuple[str, str]:
        """A tile that starts as zeros, to be carried: its kind and name."""
        kind = self.rng.choice("MMNV")
        name = self.fresh("acc")
        shape = {"M": "[BK, BV]", "N": "[BV, BK]", "V": "[BV]"}[kind]
        self.emit(f"{name} = tl.zeros({shape}, dtype=tl.float32)")
        if self.chance(0.4):
            flag = self.fresh("FLAG")
            guarded = self.chance(0.6)
            if guarded:
                self.body.flags.append(flag)
                self.emit(f"if {flag}:")
            self.level += guarded
            self.emit(f"{name} += {self.load(kind)}")
            self.level -= guarded
        self.pool[kind].append(name)
        return kind, name

    def softmax(self) -> None:
        """Exponentials of scaled values below their maximum, along K: of a vector or of each lane of a tile."""
        kind = self.rng.choice("KKM")
        scaled, top, power = self.fresh("s"), self.fresh("m"), self.fresh("e")
        lanes, column = ("[:, None]", "[None, :]") if kind == "M" else ("", "")
        factor = self.rng.choice(["0.7", "0.125", self.expr("S", 0)])
        self.emit(f"{scaled} = {self.expr(kind, 1)} * {factor}")
        if self.chance(0.5):
            self.emit(f"{scaled} = tl.where((o_k < K){lanes}, {scaled}, float('-inf'))")
        self.emit(f"{top} = tl.max({scaled}, 0)")
        self.emit(f"{power} = tl.exp({scaled} - {top}{column})")
        self.pool[kind].append(power)
        if self.chance(0.7):
            total, share = self.fresh("l"), self.fresh("k" if kind == "K" else "h")
            self.emit(f"{total} = tl.sum({power}, 0)")
            self.emit(f"{share} = {power} / {total}{column}")
            self.pool[kind].append(share)
        if self.chance(0.25):
            self.pool["S" if kind == "K" else "V"].append(top)

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

    def loop(self, independent: bool = False) -> None:
        """A time loop; names set in it for the first time do not leave it. `independent`: it carries nothing."""
        self.body.time = True
        state = self.state() if not independent and self.chance(0.7) else None
        square = None
        if state and state[0] == "M" and self.chance(0.3):
            square = self.fresh("a")
            column, row = self.expr("K", 1), self.expr("K", 1)
            self.emit(f"{square} = ((({column})[:, None] * ({row})[None, :]) * 0.1).to(tl.float32)")
        variable = self.fresh("t")
        heads = ["range(T)", "range(0, T)", "tl.range(T)"]
        heads += [] if self.body.counted else ["tl.static_range(T)"]
        head = self.rng.choice(heads if independent else [*heads, "range(T - 1, -1, -1)"])
        self.emit(f"for {variable} in {head}:")
        self.level += 1
        outer, self.step = self.step, variable
        before = {k: list(v) for k, v in self.pool.items()}
        self.renew = not independent
        for _ in range(self.rng.randint(1, 4)):
            self.assign()
        self.renew = True
        carried = [(k, n) for k in "MNVKS" for n in before[k]]
        if independent:
            carried = []
            self.store()
        chosen = self.rng.sample(carried, min(len(carried), self.rng.randint(1, 2)))
        if square and state:
            self.emit(f"{state[1]} = tl.dot({square}, {state[1]}) + {self.expr('M', 1)}")
        elif state and state not in chosen:
            chosen.append(state)
        for kind, name in chosen:
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

    def write_rows(self, first: list[str]) -> Body:
        """A body for one program a row, which walks the tiles itself. `first`: how a round begins."""
        # Nothing of a tile is there before the loop.
        dirty, self.dirty = self.dirty, False
        for _ in range(self.rng.randint(1, 3)):
            self.assign("SK")
        self.dirty = dirty
        carried = self.fresh("s") if self.chance(0.25) else None
        if carried:
            self.emit(f"{carried} = 0.0")
        heads = ["range(tl.cdiv(V, BV))", "range(0, tl.cdiv(V, BV))", "tl.range(0, tl.cdiv(V, BV))"]
        self.emit(f"for i_v in {self.rng.choice(heads)}:")
        self.level += 1
        for line in first:
            self.emit(line)
        self.renew = self.chance(0.2)
        for _ in range(self.rng.randint(1, 3)):
            self.assign("KVVVMN")
        for _ in range(self.rng.randint(1, 2)):
            kind = self.rng.choice("VVMN")
            if self.chance(0.2):
                self.in_place(kind)
            else:
                self.write(self.place(self.out(kind), kind), self.expr(kind), self.mask(kind))
        if carried:
            self.emit(f"{carried} += {self.partial('S')}")
        self.level -= 1
        if carried:
            self.write(self.place(self.out("S"), "S"), carried, None)
        return self.body

    def write_body(self) -> Body:
        for _ in range(self.rng.randint(2, 5)):
            self.assign("SKKKV")
        if self.chance(0.12):
            self.loop(independent=True)
            return self.body
        loops = 1 if self.chance(0.4) else 0
        for part in range(self.rng.randint(2, 5)):
            roll = self.rng.random()
            if loops and part == 1:
                self.loop()
            elif roll < 0.4:
                self.assign()
            elif roll < 0.5:
                self.softmax()
            elif roll < 0.65:
                self.branch()
            else:
                self.store()
        name, value = self.out("V"), self.expr("V", 1)
        if self.pool["K"] and self.chance(0.6):
            value = f"({value}) * tl.sum({' + '.join(self.pool['K'][-3:])})"
        self.write(self.place(name, "V"), value, self.mask("V"))
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
