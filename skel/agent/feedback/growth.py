"""How an output's error grows from one workload to the next."""

from __future__ import annotations

from math import isfinite, prod
from typing import Any

from skel.rewriter.reasons import finding
from skel.store.schema import Finding, Place

_GROWS = 2.0
"""Times by which an error must differ to be told: less is chance."""


def error_growth(numerics: dict[str, Any], name: str, file: str) -> list[Finding]:
    """One finding an output whose error is larger on the largest workload than on the smallest.

    Errors are RMS against float64 over the reference's RMS; `numerics` is that part of the document, `name` the
    candidate; workloads are ordered by the product of their whole-number parameters.
    """
    entry = next((one for one in numerics["candidates"] if one["name"] == name), None)
    if entry is None:
        return []
    sized = sorted((one for one in entry["workloads"] if one["errors"]), key=lambda one: _size(one["parameters"]))
    found = []
    for output in dict.fromkeys(key for one in sized for key in one["errors"]):
        errors = [(one["label"], _relative(one["errors"][output])) for one in sized if output in one["errors"]]
        known = [(label, value) for label, value in errors if value is not None and value > 0]
        if len(known) < 2:
            continue
        (smallest, small), (largest, large) = known[0], known[-1]
        if large < _GROWS * small:
            continue
        found.append(
            finding(
                "error_by_workload",
                Place(file=file),
                measured=numerics["device"],
                data={"errors": dict(known)},
                output=output,
                small=small,
                smallest=smallest,
                large=large,
                largest=largest,
                growth=large / small,
            )
        )
    return found


def _size(parameters: dict[str, Any]) -> int:
    return prod(value for value in parameters.values() if isinstance(value, int) and not isinstance(value, bool))


def _relative(figures: dict[str, Any]) -> float | None:
    error, reference = figures["candidate_rms_error"], figures["reference_rms"]
    return error / reference if reference and isfinite(error) and isfinite(reference) else None
