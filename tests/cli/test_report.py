"""`skel report`, from a stored measurement to a file, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skel.store.canonical import canonical_json
from skel.store.evidence import evidence_id
from tests.cli.running import Skel
from tests.report.making import checked, timed

ROOT = Path(__file__).resolve().parents[2]
FLAGSHIP = "kda_decode_kernel"


def test_the_flagship_as_a_page(skel: Skel, database: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(ROOT)
    out = tmp_path / "page.html"
    ended = skel("report", FLAGSHIP, "-o", str(out), "--db", database, "--json")
    assert ended.status == 0, ended.err
    document = ended.document
    assert (document["format"], document["out"], document["report"]) == ("html", str(out), None)
    assert {one["kernel"] for one in document["evidence"]} == {FLAGSHIP}
    timed_ones = [one for one in document["evidence"] if one["verdict"] == "faster"]
    assert timed_ones[0]["geometric_mean"]["the original as shipped"]["cold"] > 1.5
    titles = timed_ones[0]["changed_lines"]
    assert len(titles) >= 2 and titles[-1] == "the result, which chooses by shape"
    text = out.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>") and "min(64, triton.next_power_of_2(V))" in text
    again = skel("report", FLAGSHIP, "-o", str(out), "--db", database)
    assert again.status == 0 and again.out == "" and f"wrote {out}" in again.err
    assert out.read_text(encoding="utf-8") == text, "an earlier report is replaced, by the same bytes"


def test_without_out_it_is_printed(skel: Skel, database: str) -> None:
    printed = skel("report", "fuse_vtiles", "--db", database)
    assert printed.status == 0 and printed.out.startswith("<!-- skel report -->")
    assert f"fuse_vtiles: `{FLAGSHIP}`" in printed.out and "is not at hand here" in printed.out
    page = skel("report", "fuse_vtiles", "--format", "html", "--db", database, "--json").document
    assert page["out"] is None and page["report"].startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(("name", "start"), [("a.md", "<!-- skel"), ("a.html", "<!DOCTYPE"), ("a", "<!DOCTYPE")])
def test_the_format_follows_the_name(skel: Skel, database: str, name: str, start: str) -> None:
    assert skel("report", "-o", name, "--db", database).status == 0
    assert Path(name).read_text(encoding="utf-8").startswith(start)
    assert skel("report", "-o", name, "--format", "md", "--db", database).status == 0
    assert Path(name).read_text(encoding="utf-8").startswith("<!-- skel")


def test_evidence_of_others_by_file_id_and_name(skel: Skel, database: str) -> None:
    own, other = timed(skeleton="exp_to_exp2"), checked(skeleton="nobody_knows_it")
    for name, one in (("own.json", own), ("other.json", other)):
        Path(name).write_text(canonical_json(one), encoding="utf-8")
    both = skel("report", "own.json", "other.json", "--db", database, "--json").document["evidence"]
    assert sorted(one["id"] for one in both) == sorted([evidence_id(own), evidence_id(other)])
    url = f"sqlite:///{Path('own.db').absolute()}"
    assert skel("evidence", "import", "own.json", "--db", url).status == 0
    for word in ("exp_to_exp2", evidence_id(own)[:6], "decode_kernel"):
        found = skel("report", word, "--db", url, "--json").document["evidence"]
        assert [one["id"] for one in found] == [evidence_id(own)], word
    everything = skel("report", "--db", url, "--json").document["evidence"]
    assert len(everything) > 1 and evidence_id(own) in {one["id"] for one in everything}


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("int64_offsets",), 4, "there is no evidence on int64_offsets"),
        (("nothing_of_that_name",), 2, "no evidence is called nothing_of_that_name"),
        (("fuse_vtiles", "nothing_of_that_name"), 2, "no evidence is called"),
        (("--format", "pdf"), 2, "there is no format pdf"),
        (("-o", "kernel.py"), 2, "kernel.py is there already and is no report"),
        (("-o", "no/folder/a.html"), 2, "cannot be written"),
        (("-o", "."), 2, "no regular file"),
        (("bad.json",), 2, "no valid JSON"),
        (("half.json",), 2, "half.json holds what is no text"),
    ],
)
def test_what_it_refuses(skel: Skel, database: str, words: tuple[str, ...], status: int, said: str) -> None:
    Path("kernel.py").write_text("x = 1\n")
    Path("bad.json").write_text("{")
    half = json.loads(canonical_json(timed())) | {"settings": {"a": "\ud800"}}
    Path("half.json").write_text(json.dumps(half))
    ended = skel("report", *words, "--db", database, "--json")
    assert ended.status == status and said in ended.err and "what to do" in ended.err
    assert ended.document["error"]["status"] == status
    assert Path("kernel.py").read_text() == "x = 1\n"
    assert {one.name for one in Path().iterdir()} == {"kernel.py", "bad.json", "half.json"}
