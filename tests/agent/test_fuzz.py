"""Every tool's schema, fuzzed: whatever comes in, what comes out is an answer of its schema or an error with a code."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from skel.agent.errors import CallError
from skel.agent.registry import TOOLS
from skel.agent.session import Session
from skel.store.schema import CODES
from tests.agent.calling import Place, do

QUICK = settings(
    max_examples=40, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large,
                           HealthCheck.filter_too_much, HealthCheck.large_base_example],
)  # fmt: skip
ODD = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3),
    st.sampled_from(["../../etc/passwd", "{{7*7}}", "${HOME}", "__import__('os')", "%s%n", "\x00", "🎲", "a" * 5000,
                     "kda_decode.py", "gated_norm.py", "fuse_vtiles", "div_to_reciprocal", float("nan"), 10**400]),
)  # fmt: skip
FILES = st.sampled_from(["kda_decode.py", "gated_norm.py", "none.py", "../outside/secret.py", ".", ""])
NAMES = st.sampled_from(["fuse_vtiles", "div_to_reciprocal", "exp_to_exp2", "split_kv", "no_such_name"])


def strategy(schema: dict[str, Any], definitions: dict[str, Any], name: str = "") -> st.SearchStrategy[Any]:
    """Values of a JSON Schema, as far as the tools' schemas use it."""
    if "$ref" in schema:
        return strategy(definitions[schema["$ref"].rpartition("/")[2]], definitions, name)
    if "anyOf" in schema:
        return st.one_of([strategy(one, definitions, name) for one in schema["anyOf"]])
    if "const" in schema or "enum" in schema:
        return st.sampled_from(schema.get("enum", [schema.get("const")]))
    return KINDS[schema["type"]](schema, definitions, name)


def of_object(schema: dict[str, Any], definitions: dict[str, Any], name: str) -> st.SearchStrategy[Any]:
    if "properties" not in schema:
        keys = schema.get("propertyNames") or {
            "pattern": next(iter(schema.get("patternProperties", {"^[a-z]{1,8}$": 0})))
        }
        inner = schema.get("additionalProperties")
        values = (
            inner
            if isinstance(inner, dict)
            else next(iter(schema.get("patternProperties", {"": {"type": "string"}}).values()))
        )
        return st.dictionaries(of_string(keys, definitions, ""), strategy(values, definitions), max_size=3)
    required = set(schema.get("required", ()))
    fields = {key: strategy(one, definitions, key) for key, one in schema["properties"].items()}
    return st.fixed_dictionaries(
        {key: one for key, one in fields.items() if key in required},
        optional={key: one for key, one in fields.items() if key not in required},
    )


def of_string(schema: dict[str, Any], definitions: dict[str, Any], name: str) -> st.SearchStrategy[Any]:
    if name in ("file", "original", "candidate", "script", "workload", "out"):
        return FILES
    if name in ("skeleton", "name"):
        return NAMES
    if "pattern" in schema:
        pattern = schema["pattern"].removeprefix("^").removesuffix("$")
        return st.from_regex(re.compile(pattern, re.ASCII), fullmatch=True)
    return st.text(min_size=schema.get("minLength", 0), max_size=min(schema.get("maxLength", 40), 40))


def of_array(schema: dict[str, Any], definitions: dict[str, Any], name: str) -> st.SearchStrategy[Any]:
    return st.lists(strategy(schema.get("items", {"type": "string"}), definitions), max_size=2)


def of_number(schema: dict[str, Any], definitions: dict[str, Any], name: str) -> st.SearchStrategy[Any]:
    if name == "wait_seconds":
        return st.just(0)
    low, high = schema.get("minimum"), schema.get("maximum")
    if schema["type"] == "integer":
        return st.integers(low, high)
    return st.floats(low, high, allow_nan=False, allow_infinity=False)


KINDS: dict[str, Callable[..., st.SearchStrategy[Any]]] = {
    "object": of_object, "string": of_string, "array": of_array, "integer": of_number, "number": of_number,
    "boolean": lambda *_: st.booleans(), "null": lambda *_: st.none(),
}  # fmt: skip


def inputs(name: str) -> st.SearchStrategy[Any]:
    """Inputs of a tool: right ones, right ones with one field replaced by something odd, and odd ones."""
    schema = TOOLS[name].input_schema()
    right = strategy(schema, schema.get("$defs", {}))

    def spoiled(value: Any, field: str, odd: Any) -> Any:
        return {**value, field: odd}

    fields = st.sampled_from([*schema["properties"], "unknown"])
    return st.one_of(right, st.builds(spoiled, right, fields, ODD), ODD)


def judged(session: Session, name: str, arguments: Any) -> dict[str, Any] | None:
    """The answer, checked against the tool's schema; None where the call ended with an error of the table."""
    try:
        answer = session.call(name, arguments).model_dump(mode="json")
    except CallError as error:
        assert error.code != "internal_error", f"{name}({arguments!r})"
        assert CODES[error.code].kind == "error"
        return None
    jsonschema.validate(answer, TOOLS[name].output_schema())
    json.dumps(answer, allow_nan=False)
    return answer


@pytest.mark.parametrize("name", list(TOOLS))
def test_no_input_makes_an_internal_error(idle: Session, place: Place, name: str) -> None:
    before = sorted(place.root.iterdir())

    @QUICK
    @given(inputs(name))
    def fuzz(arguments: Any) -> None:
        judged(idle, name, arguments)

    fuzz()
    assert sorted(place.root.iterdir()) == before


@pytest.mark.parametrize("name", ["scan_kernel", "explain"])
def test_what_comes_in_as_it_should_is_worked_on_without_an_internal_error(
    idle: Session, tmp_path: Path, name: str
) -> None:
    schema = TOOLS[name].input_schema()

    @settings(QUICK, max_examples=8)
    @given(strategy(schema, schema.get("$defs", {})))
    def fuzz(arguments: Any) -> None:
        if judged(idle, name, arguments) is None:
            return
        try:
            worked = do(idle, name, tmp_path, **arguments)
        except CallError as error:
            assert error.code != "internal_error"
            return
        model = TOOLS[name].output.model_fields["result"].annotation
        assert model is not None and worked.summary

    fuzz()


def test_the_fuzzer_reaches_answers_and_errors(idle: Session) -> None:
    seen: set[bool] = set()

    @settings(QUICK, max_examples=60)
    @given(inputs("get_skeleton"))
    def fuzz(arguments: Any) -> None:
        seen.add(judged(idle, "get_skeleton", arguments) is None)

    fuzz()
    assert seen == {True, False}
