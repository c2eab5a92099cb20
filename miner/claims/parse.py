"""All claims of one message."""

from __future__ import annotations

from collections.abc import Callable

from .context import dtype_in, gpus_in, shape_in
from .model import Claim
from .numbers import outcome_of
from .segments import Segment, split_message
from .sentences import labelled, sentence_claims
from .tables import table_claims

MAX_CHARACTERS = 60_000
"""What is read of a message: some carry whole logs."""


def parse_claims(message: str) -> tuple[Claim, ...]:
    """Claims in the order of the message. Sizes and devices come from the sentence, else its paragraph, else, for
    devices and where the message knows only one, from anywhere in it."""
    message = message[:MAX_CHARACTERS]
    if not any(c.isdigit() for c in message):
        return ()
    segments, tables = split_message(message)
    devices = gpus_in(message)
    anywhere = devices[0] if len(devices) == 1 else None
    found: list[Claim] = []
    found += _labelled_pairs(segments, anywhere)
    for segment in segments:
        if labelled(segment.text) is not None:
            continue
        found += [_placed(c, segment, segments, anywhere, end) for end, c in sentence_claims(segment.text)]
    for table in tables:
        found += table_claims(table, _gpu(table.context) or anywhere)
    return tuple(dict.fromkeys(found))


def _labelled_pairs(segments: list[Segment], anywhere: str | None) -> list[Claim]:
    """`Before: 31 us` and, at most three lines on, `After: 8.5 us`."""
    found = []
    for i, segment in enumerate(segments):
        first = labelled(segment.text)
        if first is None or first[0] != "before":
            continue
        for later in segments[i : i + 4]:
            rest = later.text if later is not segment else segment.text.split(str(first[1].unit), 1)[-1]
            second = labelled(rest)
            if second is not None and second[0] == "after" and second[1].unit == first[1].unit:
                text = segment.text if later is segment else f"{segment.text}; {later.text}"
                claim = Claim(
                    text=text[:200], before=first[1], after=second[1], outcome=outcome_of(first[1], second[1])
                )
                found.append(_placed(claim, segment, segments, anywhere, len(segment.text)))
                break
    return found


def _placed(claim: Claim, segment: Segment, segments: list[Segment], anywhere: str | None, end: int) -> Claim:
    """With size, device and type: what stands last before the claim's end, else the only one of the sentence, of its
    paragraph, or of the line that leads to it."""
    places = [segment.text[:end], segment.text]
    near = [s.text for s in segments if s.block == segment.block]
    return claim.model_copy(
        update={
            "shape": _first(shape_in, places) or _only(shape_in, near) or shape_in(segment.lead),
            "gpu": _first(_gpu, places) or _only(_gpu, near) or _gpu(segment.lead) or anywhere,
            "dtype": _first(dtype_in, places) or _only(dtype_in, near) or dtype_in(segment.lead),
        }
    )


def _first(read: Callable[[str], str | None], texts: list[str]) -> str | None:
    return next((found for text in texts if (found := read(text)) is not None), None)


def _only(read: Callable[[str], str | None], texts: list[str]) -> str | None:
    found = {value for text in texts if (value := read(text)) is not None}
    return found.pop() if len(found) == 1 else None


def _gpu(text: str) -> str | None:
    found = gpus_in(text)
    return found[0] if len(found) == 1 else None  # of two devices none is guessed
