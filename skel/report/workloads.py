"""What was timed, workload by workload: every version with its interval, both baselines, the floor, what was chosen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from skel.store.schema import Evidence

from .plots import Guide, Plot, Ratio, Row, all_ends, mark, neutral_band, one_guide, ratio_of
from .reading import MODES, get, named, number, part, plain, positive, rows, text
from .scale import Scale, scale_for

ORIGINAL, OWN = "original", "own"


@dataclass(frozen=True, slots=True)
class Version:
    """One version on one workload. Times in µs; `of_floor` is a fraction."""

    name: str
    title: str
    chosen: bool
    ratio: dict[str, Ratio]
    microseconds: dict[str, float]
    of_floor: dict[str, float]
    host_microseconds: float | None
    registers: float | None
    spill_bytes: float | None
    shared_memory_bytes: float | None
    warps: float | None


@dataclass(frozen=True, slots=True)
class Workload:
    """One workload that was timed, its versions, and what is said of it."""

    label: str
    parameters: str
    verdict: str
    chosen: str
    versions: tuple[Version, ...]
    control: dict[str, Ratio]
    floor_us: dict[str, float]
    widened: str
    """The fastest version that only widens the tile; empty where none was timed."""
    own_tried: bool = True
    """Other configurations of the original were tried."""

    def version(self, name: str) -> Version | None:
        return next((one for one in self.versions if one.name == name), None)

    @property
    def runs(self) -> Version | None:
        """The version that the result runs here."""
        return self.version(self.chosen)

    def over_own(self, mode: str) -> float | None:
        """The chosen version over the original's own best configuration, from their median times; 1 is as fast.

        None where no other configuration was tried, or one of the two has no time.
        """
        if not self.own_tried:
            return None
        runs, own = self.runs, self.version(OWN) or self.version(ORIGINAL)
        if runs is None or own is None or mode not in runs.microseconds or mode not in own.microseconds:
            return None
        return own.microseconds[mode] / runs.microseconds[mode]


def workloads_of(evidence: Evidence) -> tuple[Workload, ...]:
    """The workloads of a timing; none where nothing was timed."""
    if evidence.level != "timing":
        return ()
    widened = {
        text(entry, "candidate")
        for entry in rows(evidence.timing.get("screening"))
        if get(entry, "settings", "form") == "widen"
    }
    own_tried = any(get(entry, "cold") for entry in rows(evidence.timing.get("own_configurations")))
    return tuple(_workload(row, widened, own_tried) for row in evidence.workloads)


def plots_of(found: tuple[Workload, ...], protocol: Any) -> tuple[Plot, ...]:
    """A plot for each workload that has finals, all on one axis."""
    scale = scale_for(all_ends(r for one in found for version in one.versions for r in version.ratio.values()))
    return tuple(_plot(one, scale, protocol) for one in found if one.versions)


def _workload(row: dict[str, Any], widened: set[str], own_tried: bool) -> Workload:
    chosen = text(row, "chosen") or ORIGINAL
    own = text(row, "own", "name")
    versions = [_version(name, data, own, chosen) for name, data in named(row.get("candidates")).items()]
    versions.sort(key=_order)
    return Workload(
        label=text(row, "label") or "unnamed",
        parameters=plain(part(row, "parameters")),
        verdict=text(row, "verdict"),
        chosen=chosen,
        versions=tuple(versions),
        control={mode: r for mode in MODES if (r := ratio_of(get(row, "control", mode)))},
        floor_us={mode: us for mode in MODES if (us := positive(row, "floor", f"{mode}_us")) is not None},
        widened=next((one.name for one in versions if one.name in widened), ""),
        own_tried=own_tried,
    )


def _order(version: Version) -> tuple[bool, bool, float, str]:
    """The original, its own best configuration, then the fastest first."""
    first = version.microseconds.get("cold", float("inf"))
    return version.name != ORIGINAL, version.name != OWN, first, version.name


def _version(name: str, data: dict[str, Any], own: str, chosen: str) -> Version:
    return Version(
        name=name,
        title=own or "the original's own best" if name == OWN else name,
        chosen=name == chosen,
        ratio={mode: r for mode in MODES if (r := ratio_of(get(data, "ratio", mode)))},
        microseconds={mode: us for mode in MODES if (us := positive(data, "microseconds", mode)) is not None},
        of_floor={mode: f for mode in MODES if (f := positive(data, "of_floor", mode)) is not None},
        host_microseconds=positive(data, "host_microseconds"),
        registers=number(data, "registers"),
        spill_bytes=number(data, "spill_bytes"),
        shared_memory_bytes=number(data, "shared_memory_bytes"),
        warps=number(data, "num_warps"),
    )


def _plot(one: Workload, scale: Scale, protocol: Any) -> Plot:
    own, original = one.version(OWN), one.version(ORIGINAL)
    guides = [one_guide(scale)]
    if own is not None and "cold" in own.ratio:
        guides.append(Guide(scale.at(own.ratio["cold"].median), "own", "its own best configuration, cold"))
    notes = [one.parameters]
    floor = one.floor_us.get("cold")
    if original is not None and floor is not None and "cold" in original.microseconds:
        most = original.microseconds["cold"] / floor
        if scale.holds(most):
            guides.append(Guide(scale.at(most), "floor", "the memory floor, cold"))
        times = ", ".join(f"{us:.2f} µs {mode}" for mode, us in one.floor_us.items())
        notes.append(f"floor {times}: {most:.1f}× is the most that memory allows")
    drawn = tuple(_row(version, scale, version.name == one.widened) for version in one.versions)
    return Plot(
        one.label,
        scale,
        drawn,
        tuple(guides),
        " · ".join(filter(None, notes)),
        one.verdict,
        neutral_band(scale, protocol),
    )


def _row(version: Version, scale: Scale, widened: bool) -> Row:
    cold, warm = (version.microseconds.get(mode) for mode in MODES)
    times = " / ".join("–" if us is None else f"{us:.2f}" for us in (cold, warm)) + " µs"
    marks = tuple(mark(scale, version.ratio[mode], mode) for mode in MODES if mode in version.ratio)
    floors = tuple(
        (mode, round(min(100.0, 100 * version.of_floor[mode]), 1)) for mode in MODES if mode in version.of_floor
    )
    value = version.ratio["cold"].value if "cold" in version.ratio else ""
    return Row(version.title, marks, tuple(_tags(version, widened)), value, times, floors)


def _tags(version: Version, widened: bool) -> Iterator[str]:
    if version.chosen:
        yield "chosen"
    if version.name == ORIGINAL:
        yield "as shipped"
    if version.name == OWN:
        yield "own best"
    if widened:
        yield "only widened"
