"""The tools as other agents' frameworks take them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .prompts import PROMPTS
from .registry import TOOLS
from .tool import Tool


def openai() -> list[dict[str, Any]]:
    """Function tools of the OpenAI API."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.input_schema()},
        }
        for tool in TOOLS.values()
    ]


def anthropic() -> list[dict[str, Any]]:
    """Tools of the Anthropic API."""
    return [
        {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema()}
        for tool in TOOLS.values()
    ]


def plain_json() -> dict[str, Any]:
    """Everything: inputs, outputs, whether a tool may answer with a job, and the prompts."""
    return {
        "tools": [_whole(tool) for tool in TOOLS.values()],
        "prompts": [
            {
                "name": one.name,
                "description": one.description,
                "argument": one.argument,
                "argument_description": one.argument_description,
                "text": one.text,
            }
            for one in PROMPTS.values()
        ],
    }


def _whole(tool: Tool) -> dict[str, Any]:
    return {
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.input_schema(),
        "output_schema": tool.output_schema(),
        "reads_only": tool.reads_only,
        "may_be_a_job": tool.work is not None,
    }


FORMATS: dict[str, Callable[[], Any]] = {"openai": openai, "anthropic": anthropic, "json": plain_json}
