"""The strict base of every record: unknown keys are errors, instances are immutable."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A strict, immutable record. Unknown keys are rejected; units stand in field names."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)
