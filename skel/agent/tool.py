"""What a tool is: a name, typed input and output, and what it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, StringConstraints

from skel.store.schema import Record

from .limits import HANDLE_SECONDS, MOST_WAIT_SECONDS

if TYPE_CHECKING:
    from .session import Session
    from .work import Work, Worked

FilePath = Annotated[str, StringConstraints(min_length=1, max_length=1024)]
"""A path under a root, absolute or relative to the first root."""
Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")]
SkeletonName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{1,63}$")]
JobId = Annotated[str, StringConstraints(pattern=r"^job_[0-9a-f]{16}$")]
Word = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.+-]{1,64}$")]
Whole = Annotated[int, Field(ge=-(2**53), le=2**53)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Setting = bool | Whole | Number | Word
Settings = Annotated[dict[Identifier, Setting], Field(max_length=16)]
Wait = Annotated[float, Field(ge=0, le=MOST_WAIT_SECONDS, allow_inf_nan=False)]


class Waiting(Record):
    """Input of a tool that starts or follows a job."""

    wait_seconds: Wait = HANDLE_SECONDS
    """How long to wait for the result; then the answer is a handle for get_job. The job goes on either way."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool. `start` answers at once, or hands back the id of a job that `work` does in a process of its own."""

    name: str
    description: str
    input: type[Record]
    output: type[Record]
    start: Callable[[Session, Any], Record | str]
    work: Callable[[Work, Any], Worked] | None = None
    """Takes the job's input, checked again."""
    reads_only: bool = True
    """Whether it leaves files and database as they are (jobs aside)."""

    @property
    def waits(self) -> bool:
        """Whether it may hand back a job."""
        return "wait_seconds" in self.input.model_fields

    def input_schema(self) -> dict[str, Any]:
        """JSON Schema of the input."""
        return self.input.model_json_schema()

    def output_schema(self) -> dict[str, Any]:
        """JSON Schema of the structured output."""
        return self.output.model_json_schema(mode="serialization")


def paragraphs(text: str | None) -> str:
    """A docstring as running text: one line a paragraph."""
    blocks = (text or "").strip().split("\n\n")
    return "\n".join(" ".join(block.split()) for block in blocks)
