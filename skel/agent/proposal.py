"""What a proposed record must hold beyond its schema: it names what there is, and its arguments are plain words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import resources

from skel.store.schema import Skeleton

from .errors import CallError

_PLAIN = re.compile(r"^\$?[A-Za-z0-9_.+-]{1,64}$")
MOST_STEPS = 16
MOST_VALUES = 64
RECORD_BYTES = 65_536
MOST_NUMBER = 2**53


def check_proposal(record: Skeleton) -> None:
    """Raises CallError(bad_record) with the first fault."""
    fault = next(_faults(record), None)
    if fault is not None:
        raise CallError("bad_record", message=fault)


def _faults(record: Skeleton) -> Iterator[str]:
    from skel.rewriter.engine.registry import PRIMITIVES

    if len(record.model_dump_json()) > RECORD_BYTES:
        yield f"the record is larger than {RECORD_BYTES} bytes"
    if len(record.schedule) > MOST_STEPS:
        yield f"schedule: more than {MOST_STEPS} steps"
    decisions = {decision.name for decision in record.decisions}
    for number, step in enumerate(record.schedule):
        at = f"schedule[{number}]"
        if step.primitive not in PRIMITIVES:
            yield f"{at}.primitive: there is no primitive {step.primitive}; there are {', '.join(sorted(PRIMITIVES))}"
        yield from _not_plain(f"{at}.arguments", step.arguments.values())
        yield from _not_plain(f"{at}.when", step.when.values())
        for value in step.arguments.values():
            if isinstance(value, str) and value.startswith("$") and value[1:] not in decisions:
                yield f"{at}.arguments: {value} is no decision of the record"
    for number, decision in enumerate(record.decisions):
        if len(decision.values) > MOST_VALUES:
            yield f"decisions[{number}].values: more than {MOST_VALUES}"
        yield from _not_plain(f"decisions[{number}].values", decision.values)
    for number, case in enumerate(record.cases):
        yield from _not_plain(f"cases[{number}].settings", case.settings.values())
    unknown = [name for name in record.conditions if name not in _conditions()]
    if unknown:
        yield f"conditions: there is no condition {unknown[0]}"
    expected = {case.expect for case in record.cases}
    if not record.is_advice and expected != {"rewrite", "refuse"}:
        yield "cases: a record that rewrites needs a case that is rewritten and one that is refused"
    if record.is_advice and "rewrite" in expected:
        yield "cases: advice (an empty schedule) rewrites nothing"


def _not_plain(at: str, values: Iterable[object]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str) and not _PLAIN.match(value):
            yield f"{at}: {value[:40]!r} is no plain word"
        elif isinstance(value, int | float) and not abs(value) <= MOST_NUMBER:
            yield f"{at}: {value:g} is no number that a kernel could take"


def _conditions() -> frozenset[str]:
    folder = resources.files("skel.rewriter.conditions")
    return frozenset(entry.name.removesuffix(".py") for entry in folder.iterdir() if entry.name.endswith(".py"))
