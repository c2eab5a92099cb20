"""Loading skeleton records from YAML, with faults that name file, line and field."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from .errors import RecordError
from .packaged import packaged_folder, skeleton_files
from .schema.codes import CODES
from .schema.skeleton import Skeleton
from .yaml_tree import FieldPath, Tree, dotted, read_tree


@dataclass(frozen=True, slots=True)
class _Loaded:
    path: Path
    tree: Tree
    skeleton: Skeleton

    def error(self, at: FieldPath, message: str) -> RecordError:
        return RecordError(self.path, self.tree.line(at), dotted(at), message)


def schema_json() -> str:
    """The JSON Schema of a skeleton record, for editors and agents."""
    return json.dumps(Skeleton.model_json_schema(), indent=2, ensure_ascii=False)


def load_skeleton(path: str | Path) -> Skeleton:
    """Load one record and check that its cases lie beside it.

    Raises RecordError; its `others` hold the further faults of the file.
    """
    return _load(Path(path)).skeleton


def load_all(folder: str | Path | None = None) -> tuple[Skeleton, ...]:
    """All records `folder/NAME/skeleton.yaml` (the packaged ones by default), sorted by name.

    Besides each record, checks that its name is its folder's and that interactions name records that exist.
    Raises RecordError with every fault of every record.
    """
    errors: list[RecordError] = []
    loaded: list[_Loaded] = []
    for path in skeleton_files(packaged_folder() if folder is None else Path(folder)):
        try:
            loaded.append(_load(path))
        except RecordError as error:
            errors += [error, *error.others]
    names = {path.skeleton.name for path in loaded} | {Path(error.file).parent.name for error in errors}
    for record in loaded:
        errors += _folder_errors(record, names)
    if errors:
        raise RecordError.of_all(errors)
    return tuple(record.skeleton for record in loaded)


def _load(path: Path) -> _Loaded:
    tree = read_tree(path)
    if not isinstance(tree.data, dict):
        raise RecordError(path, tree.line(()), None, "a record is a mapping of fields")
    try:
        loaded = _Loaded(path, tree, Skeleton.model_validate(tree.data))
    except ValidationError as error:
        raise RecordError.of_all(list(_field_errors(path, tree, error))) from error
    if errors := list(_case_errors(loaded)):
        raise RecordError.of_all(errors)
    return loaded


def _field_errors(path: Path, tree: Tree, error: ValidationError) -> Iterator[RecordError]:
    """One error a field: pydantic reports each arm of a union, which all stand at the same field."""
    seen: dict[FieldPath, list[str]] = {}
    for detail in error.errors(include_url=False, include_context=False, include_input=False):
        at = _in_file(tree, detail["loc"], detail["type"] == "missing")
        message = "unknown field" if detail["type"] == "extra_forbidden" else detail["msg"]
        seen.setdefault(at, []).append(message)
    for at, messages in seen.items():
        yield RecordError(path, tree.line(at), dotted(at), " or ".join(dict.fromkeys(messages)))


def _in_file(tree: Tree, location: FieldPath, missing: bool) -> FieldPath:
    """The part of pydantic's location that the file holds (it appends names of types and `[key]`)."""
    at = location
    while at and at not in tree.lines:
        at = at[:-1]
    return location[: len(at) + 1] if missing else at


def _case_errors(loaded: _Loaded) -> Iterator[RecordError]:
    for index, case in enumerate(loaded.skeleton.cases):
        for field, file in (("file", case.file), ("after", case.after)):
            if file is not None and not (loaded.path.parent / file).is_file():
                yield loaded.error(("cases", index, field), f"there is no file {file} beside the record")
        if case.expect == "refuse" and case.after is not None:
            yield loaded.error(("cases", index, "after"), "a case that is refused has no result")
        if case.expect == "refuse" and case.refusal is None:
            yield loaded.error(("cases", index, "refusal"), "a case that is refused names the code of its refusal")
        if case.expect == "rewrite" and case.refusal is not None:
            yield loaded.error(("cases", index, "refusal"), "a case that is rewritten has no refusal")
        if case.refusal is not None and (case.refusal not in CODES or CODES[case.refusal].kind != "refusal"):
            yield loaded.error(("cases", index, "refusal"), f"{case.refusal} is no refusal code")


def _folder_errors(loaded: _Loaded, names: set[str]) -> Iterator[RecordError]:
    folder = loaded.path.parent.name
    if loaded.skeleton.name != folder:
        yield loaded.error(("name",), f"is {loaded.skeleton.name!r}, but the folder is {folder!r}")
    for field, others in loaded.skeleton.interactions:
        for index, other in enumerate(others):
            if other == loaded.skeleton.name:
                yield loaded.error(("interactions", field, index), "names the record itself")
            elif other not in names:
                yield loaded.error(("interactions", field, index), f"there is no skeleton named {other!r}")
