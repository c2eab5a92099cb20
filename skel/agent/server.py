"""The tools over MCP, on standard input and output. Imports the SDK: only `skel serve` does."""

from __future__ import annotations

import functools
import json
import logging
import time
from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.server.mcpserver.prompts import Prompt as ServedPrompt
from mcp.server.mcpserver.tools import Tool as ServedTool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp_types import CallToolResult, TextContent, ToolAnnotations

from skel import __version__

from . import references
from .errors import CallError
from .limits import LIMITS, pause_after
from .prompts import OPTIMIZE, PROMPTS, Prompt
from .registry import TOOLS
from .session import Call, Session, as_call_error
from .tool import Tool

THREADS = 16
"""Calls that are worked on at a time; further ones wait."""
_PROGRESS_SECONDS = 1.0
"""Most time between two notices of progress, so that clients which reset their timeout by them do."""


def build_server(session: Session) -> MCPServer[Any]:
    """A server that answers for `session`. Run it with `.run("stdio")`."""
    door = _Door(session)
    tools: list[ServedTool] = [_served(tool, door) for tool in TOOLS.values()]
    server = _Server(
        "skel",
        title="skel: optimization skeletons for Triton kernels",
        version=__version__,
        tools=tools,
        instructions=OPTIMIZE.filled("a file"),
        log_level="WARNING",
    )
    server.door = door
    _add_references(server, door)
    for prompt in PROMPTS.values():
        server.add_prompt(_served_prompt(prompt))
    logging.getLogger("mcp").setLevel(logging.WARNING)
    return server


class _Server(MCPServer[Any]):
    """The SDK's server; a tool that there is not is refused by the session, with its code, and logged."""

    door: _Door

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None) -> Any:
        """Make a call. Never raises but for a fault of the SDK."""
        if name in TOOLS or context is None:
            return await super().call_tool(name, arguments, context)
        return await self.door.call(name, arguments, context)


class _Door:
    """The session, for coroutines: its blocking calls go to a few threads."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._threads = anyio.CapacityLimiter(THREADS)
        self._open = 0

    async def do(self, what: Callable[..., Any], *arguments: Any) -> Any:
        return await anyio.to_thread.run_sync(functools.partial(what, *arguments), limiter=self._threads)

    async def call(self, name: str, arguments: dict[str, Any], context: Context[Any, Any]) -> CallToolResult:
        if self._open >= LIMITS.open_calls:
            call = Call(name, arguments)
            return _refused(await self.do(self.session.failed, call, CallError("too_many_calls", calls=self._open)))
        self._open += 1
        try:
            return await self._call(name, arguments, context)
        except CallError as error:
            return _refused(error)
        finally:
            self._open -= 1

    async def _call(self, name: str, arguments: dict[str, Any], context: Context[Any, Any]) -> CallToolResult:
        call = await self.do(self.session.begin, name, arguments)
        told, quiet, beats = -1, 0.0, 0
        try:
            while (job := await self.do(self.session.pending, call)) is not None:
                done = job.progress["done"] if job.progress else 0
                if done != told or quiet >= _PROGRESS_SECONDS:
                    # A job's steps are not known beforehand; the count must grow with every notice.
                    beats, told, quiet = beats + 1, done, 0.0
                    said = f"{job.progress['step']}: {job.progress['message']}" if job.progress else job.state
                    await context.report_progress(beats, None, said)
                pause = pause_after(time.monotonic() - call.begun)
                await anyio.sleep(pause)
                quiet += pause
            answer = await self.do(self.session.finish, call)
        except Exception as error:
            raise await self.do(self.session.failed, call, error) from error
        content = answer.model_dump(mode="json", exclude_none=True)
        return CallToolResult(
            content=[TextContent(type="text", text=json.dumps(content, ensure_ascii=False))],
            structured_content=answer.model_dump(mode="json"),
        )


def _refused(error: CallError) -> CallToolResult:
    """An error as a result that the model reads: its code first."""
    return CallToolResult(
        content=[TextContent(type="text", text=str(error))],
        structured_content={"error": error.to_dict()},
        is_error=True,
    )


class _Anything(ArgModelBase):
    """The SDK checks nothing: the session does, so that errors have our codes, and are logged."""


class _ServedTool(ServedTool):
    """A tool of ours in the SDK's form."""

    async def run(self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False) -> Any:
        """Hand the call to the session. Never raises but for a fault of the SDK."""
        return await self.fn(arguments, context)


def _served(tool: Tool, door: _Door) -> ServedTool:
    async def call(arguments: dict[str, Any], context: Context[Any, Any]) -> CallToolResult:
        return await door.call(tool.name, arguments, context)

    return _ServedTool(
        fn=call,
        name=tool.name,
        title=None,
        description=tool.description,
        parameters=tool.input_schema(),
        fn_metadata=FuncMetadata(arg_model=_Anything, output_schema=tool.output_schema()),
        is_async=True,
        context_kwarg=None,
        annotations=ToolAnnotations(read_only_hint=tool.reads_only, destructive_hint=False, open_world_hint=False),
    )


def _served_prompt(prompt: Prompt) -> ServedPrompt:
    def fill(**arguments: str) -> str:
        value = arguments[prompt.argument]
        if len(value) > 4000:
            raise ToolError(str(CallError("too_large", what=prompt.argument, limit="4000 characters")))
        return prompt.filled(value)

    fill.__annotations__ = {prompt.argument: str, "return": str}
    served = ServedPrompt.from_function(
        _with_parameter(fill, prompt.argument), name=prompt.name, description=prompt.description
    )
    for argument in served.arguments or ():
        argument.description = prompt.argument_description
    return served


def _with_parameter(function: Callable[..., str], name: str) -> Callable[..., str]:
    """The function with a signature of one string parameter, by which the SDK describes it."""
    import inspect

    parameter = inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=str)
    function.__signature__ = inspect.Signature([parameter], return_annotation=str)  # type: ignore[attr-defined]
    return function


def _add_references(server: MCPServer[Any], door: _Door) -> None:
    """Everything that answers refer to, as resources."""

    async def read(what: Callable[..., str], *arguments: Any) -> str:
        call = Call(f"resource {what.__name__}", [one for one in arguments if isinstance(one, str)])
        try:
            return str(await door.do(what, *arguments))
        except Exception as error:
            known = await door.do(door.session.failed, call, as_call_error(error, what.__name__))
            raise ResourceError(str(known)) from error

    session = door.session

    async def skeletons() -> str:
        return await read(references.skeletons, session)

    async def jobs() -> str:
        return await read(references.jobs, session)

    async def codes() -> str:
        return await read(references.codes)

    async def schema() -> str:
        return await read(references.schema)

    async def skeleton(name: str) -> str:
        return await read(references.skeleton, session, name)

    async def evidence(skeleton: str, key: str) -> str:
        return await read(references.evidence, session, skeleton, key)

    async def job_part(job: str, part: str) -> str:
        return await read(references.job_part, session, job, part)

    served = {one.__name__: one for one in (skeletons, jobs, codes, schema, skeleton, evidence, job_part)}
    for uri, (name, description) in (references.FIXED | references.TEMPLATES).items():
        server.resource(uri, name=name, description=description, mime_type="application/json")(served[name])
