"""The lines that the skeleton changed. Evidence holds hashes, not sources: the text is made again where the original is
at hand, and shown where it is the text that was measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from skel.store.schema import Evidence

from .pieces import Piece
from .reading import get, named, part, rows, text
from .source import Text, source_of


@dataclass(frozen=True, slots=True)
class Change:
    """Original and rewritten text of one variant, or of the result that chooses among them."""

    title: str
    before: str
    after: str
    path: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Changes:
    """What can be shown, and why the rest cannot."""

    shown: tuple[Change, ...] = ()
    why_not: tuple[str, ...] = ()


def changes_of(piece: Piece) -> Changes:
    """The variants that were chosen, then the guarded file that comes of them."""
    evidence = piece.evidence
    wanted = _variants(evidence)
    if not wanted:
        return Changes(why_not=("No candidate was chosen: the original's text stays.",))
    if piece.skeleton is None:
        return Changes(why_not=(f"The record {evidence.skeleton} is not known here, so nothing can be made again.",))
    source = source_of(evidence)
    if source.why_not:
        hint = "run `skel report` where it lies to see the lines"
        return Changes(why_not=(f"The changed lines are not stored: {source.why_not}; {hint}.",))
    shown, why_not, made = [], [], {}
    for name, settings, digest in wanted:
        after = _made_again(piece, source, settings, digest)
        if after is None:
            why_not.append(f"{name}: skel makes another text of these settings today than the one measured.")
            continue
        made[name] = after
        note = "the text measured, by its hash" if digest else "made again from its settings; its hash is not stored"
        shown.append(Change(name, source.text, after, evidence.file, note))
    if get(evidence.timing, "guarded") is True and len(made) == len(wanted):
        shown += _guarded(evidence, source, made)
    return Changes(tuple(shown), tuple(why_not))


def _variants(evidence: Evidence) -> list[tuple[str, dict[str, Any], str | None]]:
    """Name, settings and hash of what was chosen. Older evidence has the hash of the first variant alone."""
    hashes = part(evidence.timing, "variant_sha256")
    several = named(evidence.settings.get("variants"))
    listed = evidence.timing.get("variants")
    order = [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []
    if several:
        first = next(iter(order), None)  # as it was chosen; names in `settings` are sorted
        return [
            (name, settings, text(hashes, name) or (evidence.candidate_sha256 if name == first else None))
            for name, settings in sorted(several.items(), key=lambda pair: _place(order, pair[0]))
        ]
    if evidence.candidate_sha256 is None:
        return []
    name = order[0] if len(order) == 1 else "the candidate"
    return [(name, dict(evidence.settings), evidence.candidate_sha256)]


def _place(order: list[str], name: str) -> int:
    return order.index(name) if name in order else len(order)


def _made_again(piece: Piece, source: Text, settings: dict[str, Any], digest: str | None) -> str | None:
    """The rewritten text; None where it is another one today."""
    from skel.rewriter.engine import candidates
    from skel.store.canonical import sha256

    assert piece.skeleton is not None
    evidence = piece.evidence
    plain = {key: value for key, value in settings.items() if isinstance(value, str | int | float | bool)}
    sizes = {key: value for key, value in _constants(evidence).items() if type(value) is int}
    found = candidates(piece.skeleton, source.text, source.path, evidence.kernel, plain, known=sizes)
    for item in getattr(found, "items", ()):
        if digest is None or sha256(item.text) == digest:
            return str(item.text)
    return None


def _constants(evidence: Evidence) -> dict[str, Any]:
    """The sizes that the kernel was launched with first."""
    for row in evidence.workloads:
        for launch in rows(row.get("launches")):
            if launch.get("kernel") == evidence.kernel:
                return part(launch, "constants")
    return {}


def _guarded(evidence: Evidence, source: Text, made: dict[str, str]) -> Iterator[Change]:
    """The file that chooses by shape, as `skel bench -o` writes it."""
    from skel.rewriter.engine.guard import emit_guard
    from skel.rewriter.engine.guard_choices import choices_of
    from skel.rewriter.reasons import Refuse

    try:
        choices = choices_of(evidence.workloads, evidence.kernel, made)
        guarded = emit_guard(source.text, source.path, evidence.kernel, made, choices)
    except (Refuse, KeyError, TypeError, ValueError):
        return
    note = "; ".join(f"{name} where {condition}" for name, condition in guarded.conditions.items())
    yield Change("the result, which chooses by shape", source.text, guarded.text, evidence.file, note)
