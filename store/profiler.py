"""Profiler output as symptoms: stall reasons and metrics by name, and tables of them as Nsight Compute exports them.

A metric in a table counts only where its value is a complaint. The table of rules is data: a pattern on the name, the
symptom in the words of users, and when the value is one.
"""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

Symptom = tuple[str, float, str]
"""Text, weight, and where it comes from."""
MAX_TABLE = 4_000_000
"""Characters of a table that are read."""
_TOP_STALLS = 3
_ALSO = 0.75


@dataclass(frozen=True, slots=True)
class Profiled:
    """What a text says as profiler output."""

    symptoms: tuple[Symptom, ...] = ()
    is_table: bool = False


@dataclass(frozen=True, slots=True)
class _Rule:
    pattern: re.Pattern[str]
    symptom: str
    low: float | None = None
    """A complaint only below this value."""
    high: float | None = None
    """A complaint only above this value."""
    also: str | None = None
    """Another symptom behind the same finding, less common."""

    def symptoms(self, weight: float, because: str) -> Iterator[Symptom]:
        """What is searched for."""
        yield self.symptom, weight, because
        if self.also:
            yield self.also, _ALSO * weight, because


def _rule(pattern: str, symptom: str, low: float | None = None, high: float | None = None,
          also: str | None = None) -> _Rule:
    return _Rule(re.compile(pattern), symptom, low, high, also)


_STALLS = (
    _rule("long_?scoreboard|scoreboard_dependency_on_a_l1tex",
          "warps stall on long scoreboard waiting for global loads, memory latency is exposed"),
    _rule("short_?scoreboard", "stalls on short scoreboard, shared memory accesses or special functions"),
    _rule("mio_?throttle", "MIO throttle stalls around shared memory accesses with bank conflicts"),
    _rule("math_?pipe(_?throttle)?", "arithmetic pipes are saturated by work that is repeated in every block"),
    _rule("lg_?throttle", "the load-store unit is throttled by many small element by element global accesses"),
    _rule("tex_?throttle", "the texture and load path is throttled by many narrow loads"),
    _rule("stall(?:ed|s)?_barrier|barrier_stall", "barrier stalls dominate because all warps meet once per tile"),
    _rule("membar", "stalls on memory barriers and fences between blocks"),
    _rule("stall(?:ed|s)?_drain", "stores of a large output drain at the end of each block"),
    _rule("branch_?resol", "predicates and branches take a visible share of a hot inner loop"),
    _rule("no_?instructions?", "instruction cache misses in a kernel with many branches and dead code"),
    _rule("gmma", "tensor pipe waits, wgmma is not overlapped with the copies of its operands"),
)
_SERIAL = "a long reduction or a long history of keys is walked by few blocks and should be split"
_LARGE = "the state tile takes most of the registers of a thread, a narrower tile would do"
_METRICS = (
    _rule("bank_?conflict", "shared memory bank conflicts", high=0),
    _rule("waves_?per|configured_to_execute_only|grid_is_too_small",
          "the launch does not fill a single wave of the GPU, the grid has fewer blocks than SMs", low=1,
          also=_SERIAL),
    _rule("achieved_?occupancy|warps_active.*pct", "achieved occupancy is low, too few blocks and warps run", low=40,
          also=_SERIAL),
    _rule("lts.*hit_rate|l2_?hit_?rate", "L2 hit rate is low, neighbouring tiles that share operands run far apart",
          low=60, also="reused operands fall out of the L2 cache"),
    _rule("sectors_per_request|uncoalesced_global|(sector|byte)s?.*per.*request",
          "sectors per request are poor, loads are not vectorised",
          high=8),
    _rule("local_?(mem|load|store|spill)|op_local|lmem|spill", "register spills to local memory", high=0, also=_LARGE),
    _rule("registers_?per_?thread|number_of_required_registers",
          "registers per thread cap occupancy, the tile is too large and has to be walked in smaller pieces", high=128,
          also=_LARGE),
    _rule("(?:^|_)xu(?:_|$)|mufu|special_?function", "special function pipe MUFU is saturated by exponentials",
          high=60),
    _rule("pipe_(tensor|hmma)|tensor_?(pipe|core|op)", "tensor pipe utilisation is low, matrix units wait for operands",
          low=50),
    _rule("lts.*throughput|l2_?(cache_?)?throughput", "L2 to multiprocessor traffic limits the kernel", high=70),
    _rule("tail_effect|partial_wave", "the last wave of blocks occupies only a part of the GPU, a clear tail effect"),
    _rule("memcpy.*(?:dtoh|d2h|device_to_host)|streamsynchroni[sz]e", "a device to host copy of a few numbers makes "
          "the host wait in each step"),
    _rule("dram.*throughput|memory_?throughput", "bandwidth stays far below the DRAM peak, too few bytes in flight",
          low=60),
    _rule("pipe_(fma|alu|fp32)", "FP32 pipes are busy with work that is identical in neighbouring blocks", high=70),
)
SYMPTOMS = tuple(dict.fromkeys(text for rule in (*_STALLS, *_METRICS) for text, _, _ in rule.symptoms(1.0, "")))
"""Every symptom that profiler output is read as."""
_SPOKEN = re.compile(r"\b(?:stall(?:s|ed)?|pipe|throttle|scoreboard|occupancy|hit rate|sectors?|ncu|nsight|"
                     r"nsys|ptxas|est\. speedup|"
                     r"uncoalesced|configured to execute|required registers|tail effect|"
                     r"registers per thread|spill (?:store|load)s|cuda(?:Memcpy|Stream)\w+)\b", re.I)
"""A text with such a word may name a metric or stall reason in words."""
_PREFIX = re.compile(r"\b(?:smsp|sm|l1tex|lts|dram|gpu|launch|idc|gpc|breakdown)__\w+(?:\.\w+)*|\bstall_\w+")


def read_profiler(text: str) -> Profiled:
    """The symptoms in a table of metrics, or those of the metrics and stall reasons that a text names."""
    table = list(_table(text[:MAX_TABLE]))
    found: dict[str, Symptom] = {}
    if table:
        _add(found, _judged(table))
        return Profiled(tuple(found.values()), is_table=True)
    for name in dict.fromkeys(_PREFIX.findall(text[:4000])):
        for rule in (*_STALLS, *_METRICS):
            if rule.pattern.search(_plain(name)):
                _add(found, rule.symptoms(0.95, name))
                break
    if not found and text[:4000].isascii() and _SPOKEN.search(text[:4000]):
        plain = _plain(text[:4000])
        for rule in (*_STALLS, *_METRICS):
            if said := rule.pattern.search(plain):
                _add(found, rule.symptoms(0.85, said.group().replace("_", " ")))
    return Profiled(tuple(found.values()))


def _add(found: dict[str, Symptom], symptoms: Iterator[Symptom]) -> None:
    for symptom in symptoms:
        found.setdefault(symptom[0], symptom)


def _judged(table: list[tuple[str, float]]) -> Iterator[Symptom]:
    """The metrics whose values are complaints, and the stall reasons that cost most."""
    stalls: dict[str, tuple[float, str, str]] = {}
    seen: set[str] = set()
    for name, value in table:
        plain = _plain(name)
        stall = next((rule for rule in _STALLS if "stall" in plain and rule.pattern.search(plain)), None)
        if stall is not None:
            if value > stalls.get(stall.symptom, (0.0, "", ""))[0]:
                stalls[stall.symptom] = value, stall.symptom, name
            continue
        for rule in _METRICS:
            bad = (rule.low is not None and value < rule.low) or (rule.high is not None and value > rule.high)
            if bad and rule.symptom not in seen and rule.pattern.search(plain):
                seen.add(rule.symptom)
                yield from rule.symptoms(0.9, f"{name} is {value:g}")
    worst = sorted(stalls.values(), reverse=True)[:_TOP_STALLS]
    for value, symptom, name in worst:
        yield symptom, 0.8 + 0.2 * value / worst[0][0], f"{name} is {value:g}"


def _table(text: str) -> Iterator[tuple[str, float]]:
    """Names and values out of comma-separated metrics: one a row (the details page), or one a column (raw)."""
    lines = text.splitlines()
    start = next((at for at, line in enumerate(lines[:200]) if line.count(",") >= 1 and re.search(
        r"Metric Name|[a-z]+__\w+", line)), None)
    if start is None or len(lines) < start + 2:
        return
    try:
        rows = list(csv.reader(io.StringIO("\n".join(lines[start:]))))
    except csv.Error:
        return
    head = rows[0]
    if "Metric Name" in head and "Metric Value" in head:
        name, value = head.index("Metric Name"), head.index("Metric Value")
        pairs = [(row[name], row[value]) for row in rows[1:] if len(row) > max(name, value)]
    elif sum(column.count("__") > 0 for column in head) > 1:
        pairs = [(column, cell) for row in rows[1:] for column, cell in zip(head, row, strict=False)]
    else:
        pairs = [(row[0], row[-1]) for row in rows if len(row) >= 2]
    for column, cell in pairs:
        number = _number(cell)
        if number is not None:
            yield column, number


def _number(cell: str) -> float | None:
    try:
        return float(cell.replace(",", "").rstrip("% "))
    except ValueError:
        return None


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.strip().lower())
