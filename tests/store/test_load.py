import json
from pathlib import Path

import pytest

from skel.store.errors import RecordError
from skel.store.load import load_all, load_skeleton, schema_json
from skel.store.schema.skeleton import Skeleton

GOOD = """\
name: plain
title: A plain record
summary: Nothing much.
symptoms:
  en:
    - It is slow.
kind: local
numerics:
  result: bitwise
  why: Nothing moves.
"""


def save(folder: Path, text: str | bytes, name: str = "plain") -> Path:
    path = folder / name / "skeleton.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def fault(path: Path) -> RecordError:
    with pytest.raises(RecordError) as caught:
        load_skeleton(path)
    assert caught.value.file == str(path)
    return caught.value


def test_a_good_record_loads(tmp_path: Path) -> None:
    skeleton = load_skeleton(save(tmp_path, GOOD))
    assert (skeleton.name, skeleton.kind, skeleton.is_advice) == ("plain", "local", True)


@pytest.mark.parametrize(("change", "line", "field", "message"), [
    (("kind: local", "kind: odd"), 7, "kind", "Input should be 'local', 'structural', 'host' or 'template'"),
    (("kind: local", "kind: local\nkinds: local"), 8, "kinds", "unknown field"),
    (("kind: local\n", ""), 1, "kind", "Field required"),
    (("  why: Nothing moves.\n", ""), 8, "numerics.why", "Field required"),
    (("    - It is slow.", "    - It is slow.\n    - 12"), 7, "symptoms.en[1]", "Input should be a valid string"),
    (("  why: Nothing moves.", "  why: Nothing moves.\nlimits:\n  - shared_memory_bytes: much"), 12,
     "limits[0].shared_memory_bytes",
     "Input should be a valid integer, unable to parse string as an integer"),
    (("kind: local", "kind: local\nkind: host"), 8, "kind", "is given twice; first at line 7"),
    (("kind: local", "7: local"), 7, None, "the key '7' is not a plain name"),
    (("kind: local", "kind: !!python/name:os.system x"), 7, None,
     "no valid YAML: could not determine a constructor for the tag 'tag:yaml.org,2002:python/name:os.system'"),
    (("numerics:", "numerics: !!omap"), 8, "numerics", "the tag tag:yaml.org,2002:omap is not allowed"),
    (("kind: local", "kind: &k local"), 7, None, "YAML anchors and aliases are not allowed in a record"),
    (("kind: local", "kind: *k"), 7, None, "YAML anchors and aliases are not allowed in a record"),
    (("kind: local", "kind: local\n<<: {kind: host}"), 8, None, "the key '<<' is not a plain name"),
    (("  why: Nothing moves.\n", "  why: Nothing moves.\n---\nname: other\n"), 11, None,
     "holds more than one YAML document"),
])
def test_a_fault_names_file_line_and_field(tmp_path: Path, change: tuple[str, str], line: int, field: str | None,
                                           message: str) -> None:
    assert change[0] in GOOD
    error = fault(save(tmp_path, GOOD.replace(*change)))
    assert (error.line, error.field, error.message) == (line, field, message)
    assert str(error).startswith(f"{error.file}:{line}: ")


@pytest.mark.parametrize("text", ["", "# only a comment\n"])
def test_an_empty_file(tmp_path: Path, text: str) -> None:
    assert fault(save(tmp_path, text)).message == "is empty"


def test_what_is_no_mapping(tmp_path: Path) -> None:
    assert fault(save(tmp_path, "\n\n- a\n- b\n")).line == 3


def test_broken_yaml_names_the_line(tmp_path: Path) -> None:
    error = fault(save(tmp_path, GOOD + "tags: [a, b\n"))
    assert error.message.startswith("no valid YAML") and error.line in (11, 12)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    error = fault(save(tmp_path, b"name: x\ntitle: \xff\xfe\n"))
    assert (error.line, error.message) == (2, "is not UTF-8 text")


def test_a_file_over_the_limit(tmp_path: Path) -> None:
    assert "256 KiB" in fault(save(tmp_path, GOOD + "#" * 256 * 1024)).message


@pytest.mark.parametrize("text", ["[" * 100_000, "tags: " + "{a: " * 50_000, "- " * 60_000])
def test_deep_nesting_is_refused_without_recursion(tmp_path: Path, text: str) -> None:
    assert "nest" in fault(save(tmp_path, text)).message


def test_a_number_too_long_to_be_one(tmp_path: Path) -> None:
    error = fault(save(tmp_path, GOOD.replace("title: A plain record", "title: " + "1" * 5000)))
    assert (error.line, error.field) == (2, "title")


def test_a_missing_file(tmp_path: Path) -> None:
    assert "cannot be read" in fault(tmp_path / "none.yaml").message


def test_one_load_shows_every_fault(tmp_path: Path) -> None:
    error = fault(save(tmp_path, GOOD.replace("kind: local", "kind: odd\nfoo: 1").replace("name: plain", "name: P!")))
    assert sorted(x.line or 0 for x in (error, *error.others)) == [1, 7, 8]
    assert len(str(error).splitlines()) == 3


def test_cases_lie_beside_the_record(tmp_path: Path) -> None:
    path = save(tmp_path, GOOD + "cases:\n  - file: cases/a.py\n    expect: rewrite\n    after: cases/b.py\n")
    error = fault(path)
    assert (error.line, error.field) == (12, "cases[0].file")
    assert [other.line for other in error.others] == [14]
    (path.parent / "cases").mkdir()
    for name in "ab":
        (path.parent / "cases" / f"{name}.py").touch()
    assert load_skeleton(path).cases[0].after == "cases/b.py"


@pytest.mark.parametrize(("case", "field"), [
    ("expect: refuse", "refusal"),
    ("expect: refuse\n    refusal: no_such_code", "refusal"),
    ("expect: refuse\n    refusal: spills", "refusal"),
    ("expect: refuse\n    refusal: single_tile\n    after: cases/a.py", "after"),
    ("expect: rewrite\n    refusal: single_tile", "refusal"),
])
def test_cases_say_what_they_expect(tmp_path: Path, case: str, field: str) -> None:
    path = save(tmp_path, GOOD + f"cases:\n  - file: cases/a.py\n    {case}\n")
    (path.parent / "cases").mkdir()
    (path.parent / "cases" / "a.py").touch()
    assert fault(path).field == f"cases[0].{field}"


def test_a_case_stays_in_its_folder(tmp_path: Path) -> None:
    path = save(tmp_path, GOOD + "cases:\n  - file: cases/../../x.py\n    expect: rewrite\n")
    assert fault(path).field == "cases[0].file"


def test_a_folder_of_records(tmp_path: Path) -> None:
    save(tmp_path, GOOD)
    save(tmp_path, GOOD.replace("plain", "other") + "interactions:\n  enables: [plain]\n", "other")
    assert [skeleton.name for skeleton in load_all(tmp_path)] == ["other", "plain"]


def test_a_folder_gathers_the_faults_of_all_records(tmp_path: Path) -> None:
    save(tmp_path, GOOD, "elsewhere")
    save(tmp_path, GOOD.replace("plain", "lonely") + "interactions:\n  enables: [missing, lonely]\n", "lonely")
    save(tmp_path, "", "void")
    with pytest.raises(RecordError) as caught:
        load_all(tmp_path)
    found = {(Path(error.file).parent.name, error.line, error.field)
             for error in (caught.value, *caught.value.others)}
    assert found == {("elsewhere", 1, "name"), ("void", 1, None), ("lonely", 12, "interactions.enables[0]"),
                     ("lonely", 12, "interactions.enables[1]")}


def test_the_packaged_records_load() -> None:
    names = [skeleton.name for skeleton in load_all()]
    assert "fuse_vtiles" in names and names == sorted(names)


def test_the_schema_describes_every_field_and_refuses_others() -> None:
    schema = json.loads(schema_json())
    assert set(schema["properties"]) == set(Skeleton.model_fields)
    assert schema["additionalProperties"] is False
    assert schema["properties"]["summary"]["description"]
