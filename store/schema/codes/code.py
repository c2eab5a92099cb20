"""What one code of the table is, and the three kinds of them.

`template` is filled with keyword fields by `Code.message`; `hint` says what to do about it.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Code:
    """One stable code: what it means in words, and what a user can do."""

    name: str
    kind: Literal["refusal", "finding", "error"]
    template: str
    hint: str

    def message(self, **fields: object) -> str:
        """The template with `fields` filled in; an `output` that is only numbered is called so.

        Raises KeyError where a field is missing.
        """
        if str(fields.get("output", "")).isdigit():
            fields["output"] = f"output {fields['output']}"
        return self.template.format(**fields)


def refusal(name: str, template: str, hint: str) -> Code:
    return Code(name, "refusal", template, hint)


def finding(name: str, template: str, hint: str) -> Code:
    return Code(name, "finding", template, hint)


def error(name: str, template: str, hint: str) -> Code:
    return Code(name, "error", template, hint)
