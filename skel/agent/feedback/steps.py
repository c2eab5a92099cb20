"""Which of several changes, made one after the other, is the first after which the result is wrong."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from skel.rewriter.reasons import Refuse, finding
from skel.store.schema import Finding, Place, Skeleton, Verdict

MOST = 8
"""Versions that are judged at most: each is one more run of every workload."""


@dataclass(frozen=True, slots=True)
class Version:
    """The file after some of the changes."""

    step: str
    """The last of them, in words."""
    text: str
    by_hand: bool = False
    """Whether it is a change of somebody's, rather than a step of a schedule."""


Judge = Callable[[Sequence[Version]], Sequence[Verdict]]
"""The verdict of each version against the original."""


def by_schedule(
    skeleton: Skeleton, text: str, path: str, kernel: str, settings: dict[str, str | int | float | bool]
) -> list[Version]:
    """The file after the first step of the schedule, after the first two, and so on; steps not taken are left out."""
    from skel.rewriter.engine.schedule import apply_schedule, step_arguments
    from skel.rewriter.kernel.definition import load_module

    versions: list[Version] = []
    module = load_module(text, path)
    for number, step in enumerate(skeleton.schedule, 1):
        arguments = step_arguments(step, settings)
        if arguments is None:
            continue
        part = skeleton.model_copy(update={"schedule": skeleton.schedule[:number]})
        try:
            made, _ = apply_schedule(part, module, kernel, settings)
        except Refuse:
            return versions
        said = ", ".join(f"{key}={value}" for key, value in arguments.items())
        if made != (versions[-1].text if versions else text):
            versions.append(Version(f"step {number} of {skeleton.name}, {step.primitive}({said})", made))
    return versions


def by_hunk(original: str, candidate: str) -> list[Version]:
    """The original with the first changed place of the candidate, with the first two, and so on.

    Empty where there are more than `MOST` places.
    """
    before, after = original.splitlines(keepends=True), candidate.splitlines(keepends=True)
    changes = [
        one for one in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes() if one[0] != "equal"
    ]
    if len(changes) > MOST:
        return []
    versions = []
    for number in range(1, len(changes) + 1):
        lines, at = [], 0
        for _, low, high, new_low, new_high in changes[:number]:
            lines += [*before[at:low], *after[new_low:new_high]]
            at = high
        low, high = changes[number - 1][1:3]
        where = f"line {low + 1}" if high - low <= 1 else f"lines {low + 1} to {high}"
        text = "".join([*lines, *before[at:]])
        versions.append(Version(f"the change at {where} of the original", text, by_hand=True))
    return versions


def first_wrong(original: str, versions: Sequence[Version], judge: Judge, path: str, measured: str) -> Finding | None:
    """The finding that names the first change after which the result is wrong, right before it.

    None where no version is wrong, or where one before it could not be judged (it does not stand alone).
    """
    if not versions or len(versions) > MOST:
        return None
    before = original
    for version, verdict in zip(versions, judge(versions), strict=True):
        if verdict is Verdict.WRONG:
            return _finer(before, version, judge, path, measured) or _finding(version, before, path, measured)
        if verdict is not Verdict.EQUIVALENT:
            return None
        before = version.text
    return None


def _finer(before: str, version: Version, judge: Judge, path: str, measured: str) -> Finding | None:
    """The finding for one line of a change of several, where each stands alone; None where it does not."""
    lines = by_line(before, version)
    return first_wrong(before, lines, judge, path, measured) if 1 < len(lines) <= MOST else None


def by_line(before: str, version: Version) -> list[Version]:
    """A change that replaces lines by as many, one line after the other; empty for other changes."""
    old, new = before.splitlines(keepends=True), version.text.splitlines(keepends=True)
    if len(old) != len(new):
        return []
    changed = [number for number, (one, other) in enumerate(zip(old, new, strict=True)) if one != other]
    return [
        Version(f"{version.step}, up to its line {at + 1},", "".join([*new[: at + 1], *old[at + 1 :]]), version.by_hand)
        for at in changed
    ]


def _finding(version: Version, before: str, path: str, measured: str) -> Finding:
    lines = changed_lines(before, version.text)
    shown = ", ".join(map(str, lines[:6])) + (f" and {len(lines) - 6} more" if len(lines) > 6 else "")
    shown = ("line " if len(lines) == 1 else "lines ") + shown
    where = "candidate" if version.by_hand else "rewritten file"
    statement = version.text.splitlines()[lines[0] - 1].strip() if len(lines) == 1 else None
    return finding(
        "wrong_change" if version.by_hand else "wrong_step",
        Place(file=path, line=lines[0] if lines else None),
        severity="error",
        measured=measured,
        data={"lines": lines[:50], **({"statement": statement} if statement else {})},
        step=version.step,
        lines=f"{shown} of the {where}" + (f" (`{statement[:120]}`)" if statement else ""),
    )


def changed_lines(before: str, after: str) -> list[int]:
    """Lines of `after` (1-based) that `before` does not have there; where lines only went, the line behind them."""
    old, new = before.splitlines(), after.splitlines()
    found: list[int] = []
    for tag, _, _, low, high in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            found += range(low + 1, max(high, low + 1) + 1)
    return [line for line in found if line <= max(len(new), 1)]
