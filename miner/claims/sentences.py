"""Claims in running text: comparisons, ratios, percentages and figures that were reached."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .model import Claim, Outcome, Quantity
from .numbers import NUMBER, UNIT, is_rate, number, outcome_of, unit_name

_ABOUT = r"(?:~|≈|about |around |roughly )?\s?"
_PER = r"(?:/(?:call|step|iter|token|layer))?"
_ARROW = re.compile(
    rf"{_ABOUT}({NUMBER})\s?({UNIT})?{_PER}[^\S\n]*(?:\([^()]{{0,60}}\)\s?)?(->|-->|→|=>|⇒|\bto\b|\bvs\.?|\bversus\b)\s*"
    rf"(?:[A-Za-z]\w* )?{_ABOUT}({NUMBER})(?:\s?({UNIT}){_PER}|(?!\s?[\w%×]))"
)
_UNCHANGED = re.compile(
    rf"{_ABOUT}({NUMBER})\s?({UNIT}){_PER}\s(?:(?:both|either)\s)?(?:before and after|unchanged|either way|in both)",
    re.I,
)
_LABELLED = re.compile(
    rf"\b(before|old|baseline|prev(?:ious(?:ly)?)?|was|main|after|new|now|ours?)\b\s*[:=]\s*"
    rf"{_ABOUT}({NUMBER})\s?({UNIT})",
    re.I,
)
_OLD_LABELS = ("before", "old", "baseline", "prev", "was", "main")
_RATIO = re.compile(
    rf"(?<![\w.×*/-])(?:({NUMBER})\s?[x×]?\s?(?:-|–|—|~|\bto\b|\.\.)\s?)?({NUMBER})\s?[x×](?![\w×*])(?!\s?\d)"
)
_PERCENT = re.compile(
    rf"([+−–-]|(?<![\w.,-]))\s?(?:({NUMBER})\s?%?\s?(?:-|–|—|~|\bto\b)\s?[+−-]?)?({NUMBER})\s?%(?!\w)"
)
_LEVELS = re.compile(rf"\bfrom {_ABOUT}({NUMBER})\s?%\s?(?:\bto\b|->|→) ?{_ABOUT}({NUMBER})\s?%")
_REACHED = re.compile(rf"({NUMBER})\s?\+?\s?({UNIT})")
_SPEED = re.compile(
    r"\b(fast(er)?|slow(er|down)?|speed[- ]?ups?|sped|speeds?|improv\w*|gain\w*|reduc\w*|less|fewer|perf\w*|throughput|"
    r"latency|geomean|win|wins|winning|a/b|overhead|regress\w*|costs?|saves?|sav(ed|ing)|lower|higher|cut|drops?|e2e|"
    r"denoise|decode|prefill|boost\w*|better|worse|ahead|behind|quicker|bandwidth|cubla\w*|kernel|shorter|longer|ttft)\b",
    re.I,
)
_WORSE = re.compile(r"\b(slow(er|down)?|regress\w*|costs?|overhead|worse|behind|degrad\w*|longer|loses?|lost)\b", re.I)
_COUNTED = re.compile(
    r"\s*(?:(?:NVIDIA|AMD)\s)?(?:[ABH]\d{2,3}|GB\d|MI\d|GPUs?\b|nodes?\b|unroll|tiles?\b|warps?\b|loads?\b|blocks?\b|SMs?\b)"
)
_SHARE = re.compile(r"\s?(?:of\b|util|occup|SM\b|sparsity|density|coverage|confidence)", re.I)


Found = tuple[int, Claim]
"""Where a claim ends in its segment, and the claim."""


def sentence_claims(text: str) -> Iterator[Found]:
    """Claims of one segment, without shape and device. Each number counts once."""
    taken: list[tuple[int, int]] = []
    yield from _comparisons(text, taken)
    yield from _unchanged(text, taken)
    yield from _levels(text, taken)
    yield from _ratios(text, taken)
    yield from _percents(text, taken)
    if not taken:
        yield from _reached(text)


def labelled(text: str) -> tuple[str, Quantity] | None:
    """`("before", 31 us)` for a line such as `Before: 31 us (5 blocks)`; None for any other."""
    found = _LABELLED.search(text)
    unit = unit_name(found[3]) if found else None
    if found is None or unit is None or found[3] == "T":
        return None
    side = "before" if found[1].lower().startswith(_OLD_LABELS) else "after"
    return side, Quantity(value=number(found[2]), unit=unit)


def _comparisons(text: str, taken: list[tuple[int, int]]) -> Iterator[Found]:
    known: str | None = None
    for found in _ARROW.finditer(text):
        unit = unit_name(found[5]) if found[5] else known if found[2] is None and "o" not in found[3] else None
        if unit is None or (found[2] is not None and unit_name(found[2]) != unit) or _is_range(text, found):
            continue
        known = unit  # a list of comparisons states its unit once
        before = Quantity(value=number(found[1]), unit=unit)
        after = Quantity(value=number(found[4]), unit=unit)
        end = found.end()
        ratio, percent, more = _attached(text[end:])
        if not _agrees(before, after, ratio, percent):
            ratio, percent, more = None, None, 0
        taken.append((found.start(), end + more))
        versus = found[3].startswith("v")
        yield (
            end,
            Claim(
                text=_around(text, found.start(), end + more),
                before=before,
                after=after,
                ratio=ratio,
                percent=percent,
                outcome="unknown" if versus else outcome_of(before, after),
            ),
        )


def _is_range(text: str, found: re.Match[str]) -> bool:
    """`10 to 20 us` with no `from` before it is a range; with a unit on both sides it is a change."""
    if found[3] != "to":
        return False
    return found[2] is None and not re.search(r"\bfrom\s*[~≈]?\s?\Z", text[: found.start()], re.I)


def _attached(rest: str) -> tuple[float | None, float | None, int]:
    """The ratio or percentage in the bracket right behind a comparison."""
    bracket = re.match(r"\s*(?:per \w+ )?[(\[:,=]\s?([^()\[\]]{1,60})", rest)
    if bracket is None:
        return None, None, 0
    ratio = re.match(rf"[~≈]?\s?({NUMBER})\s?[x×](?![\w×])", bracket[1])
    percent = re.match(rf"[~≈]?\s?([+−–-]?)\s?({NUMBER})\s?%", bracket[1])
    if ratio:
        return number(ratio[1]), None, bracket.start(1) + ratio.end()
    if percent:
        sign = -1 if percent[1] and percent[1] != "+" else 1
        return None, sign * number(percent[2]), bracket.start(1) + percent.end()
    return None, None, 0


def _agrees(before: Quantity, after: Quantity, ratio: float | None, percent: float | None) -> bool:
    """False where the bracket compares with something else than the two figures before it."""
    if min(before.value, after.value) <= 0:
        return False
    up, down = after.value / before.value, before.value / after.value
    if ratio is not None:
        return min(abs(ratio - up) / up, abs(ratio - down) / down) < 0.06
    if percent is not None:
        return min(abs(abs(percent) - 100 * abs(change - 1)) for change in (up, down)) < 3
    return True


def _levels(text: str, taken: list[tuple[int, int]]) -> Iterator[Found]:
    """`from 61% to 41%`: the level of something, no change of a time."""
    for found in _LEVELS.finditer(text):
        taken.append(found.span())
        before, after = (Quantity(value=number(v), unit="%") for v in (found[1], found[2]))
        yield found.end(), Claim(text=_around(text, *found.span()), before=before, after=after)


def _unchanged(text: str, taken: list[tuple[int, int]]) -> Iterator[Found]:
    for found in _UNCHANGED.finditer(text):
        unit = unit_name(found[2])
        if unit is None or _is_taken(found, taken):
            continue
        taken.append(found.span())
        quantity = Quantity(value=number(found[1]), unit=unit)
        yield found.end(), Claim(text=_around(text, *found.span()), before=quantity, after=quantity, outcome="none")


def _ratios(text: str, taken: list[tuple[int, int]]) -> Iterator[Found]:
    for found in _RATIO.finditer(text):
        if _is_taken(found, taken) or _COUNTED.match(text[found.end() :]):
            continue
        low, high = (number(found[1]) if found[1] else None), number(found[2])
        if "." not in found[2] and not _SPEED.search(text):
            continue
        if low is not None and not 0 < low <= high * 1.0001:
            low, high = None, high
        taken.append(found.span())
        near = text[max(0, found.start() - 60) : found.end() + 40]
        yield (
            found.end(),
            Claim(text=_around(text, *found.span()), ratio=high, ratio_low=low, outcome=_factor_outcome(high, near)),
        )


def _factor_outcome(factor: float, near: str) -> Outcome:
    if _WORSE.search(near):
        return "loss"
    return "gain" if factor > 1.01 else "loss" if factor < 0.99 else "none"


def _percents(text: str, taken: list[tuple[int, int]]) -> Iterator[Found]:
    for found in _PERCENT.finditer(text):
        if _is_taken(found, taken):
            continue
        signed = bool(found[1])
        near = text[max(0, found.start() - 60) : found.end() + 40]
        if not (signed or _SPEED.search(near)) or (_SHARE.match(text[found.end() :]) and not signed):
            continue
        sign = -1 if signed and found[1] != "+" else 1
        value = sign * number(found[3])
        taken.append(found.span())
        yield (
            found.end(),
            Claim(
                text=_around(text, *found.span()),
                percent=value,
                percent_low=sign * number(found[2]) if found[2] else None,
                outcome=_percent_outcome(sign, signed, near),
            ),
        )


def _percent_outcome(sign: int, signed: bool, near: str) -> Outcome:
    if _WORSE.search(near):
        return "loss"
    if not signed or sign > 0:
        return "gain" if _SPEED.search(near) or signed else "unknown"
    rate = re.search(r"\b(throughput|tflops|tok/s|bandwidth|perf\w*)\b", near, re.I)
    return "loss" if rate else "gain"  # a minus on a time


def _reached(text: str) -> Iterator[Found]:
    for found in _REACHED.finditer(text):
        unit = unit_name(found[2])
        if unit is not None and is_rate(unit) and found[2] != "T":
            reached = Quantity(value=number(found[1]), unit=unit)
            yield found.end(), Claim(text=_around(text, *found.span()), value=reached)
            return


def _is_taken(found: re.Match[str], taken: list[tuple[int, int]]) -> bool:
    return any(found.start() < end and start < found.end() for start, end in taken)


def _around(text: str, start: int, end: int) -> str:
    left = max(0, start - 90)
    return text[left : max(end, min(len(text), left + 200))].strip()[:200]
