"""How queries are read: text, Chinese, code, profiler output, other languages."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skel.store.code_features import FEATURES
from skel.store.code_query import read_code
from skel.store.language import CHINESE, ENGLISH, language_of
from skel.store.profiler import read_profiler
from skel.store.query_kind import read


@pytest.mark.parametrize(("query", "kind"), [
    ("redundant normalization in each block", "text"),
    ("split-k", "text"),
    ("copies (slow) before the launch", "text"),
    ("每步都写回显存", "chinese"),
    ("y = x / tl.sqrt(v)", "code"),
    ("tl.load(p, eviction_policy='evict_first')", "code"),
    ("for i in range(0, N, B): ... tl.store(p + i, x)", "code"),
    ("smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio", "profiler"),
    ("блоки повторяют работу", "other_language"),
    ("各ブロックが同じ正規化を繰り返す", "other_language"),
    ("모든 블록이 같은 계산을 반복한다", "other_language"),
    ("warum ist der Kernel nicht schneller und wie kann ich das ändern", "other_language"),
    ("pourquoi le noyau est lent avec des petits lots", "other_language"),
    ("", "text"),
])
def test_kinds(query: str, kind: str) -> None:
    assert read(query).kind == kind


@pytest.mark.parametrize(("text", "language"), [
    ("the kernel is slow", ENGLISH), ("TMA", ENGLISH), ("42", ENGLISH), ("bf16 卷积", CHINESE),
    ("el kernel es lento cuando el lote es muy grande", "Spanish"),
    ("die shrink of the GPU", ENGLISH),
])
def test_languages(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(("code", "because"), [
    ("y = x / tl.sqrt(v + eps)", "a division by a square root"),
    ("h = tl.zeros([A, B]); h += tl.load(p).to(tl.float32)", "zeros with a load added"),
    ("if state is given: h = tl.zeros([A]); h += tl.load(p)", "zeros with a load added"),
    ("a = tl.load(p, mask=m); b = tl.load(p, mask=m)", "a repeated load"),
    ("a = tl.exp(x) * y; b = tl.exp(x) * z", "a repeated function"),
    ("p = tl.make_block_ptr(x, s, t, o, b, r)", "a block pointer"),
    ("d = tl.make_tensor_descriptor(x, s, t, b)", "a tensor descriptor"),
    ("p = tl.exp(s * scale)", "a natural exponential"),
    ("c += tl.dot(a.to(tl.float32), b)", "a product of float32"),
    ("if i_v == 0: tl.store(p, x)\ni_v = tl.program_id(0)", "a store guarded by the first tile"),
    ("o = tl.program_id(0) * stride_x", "a 32-bit offset"),
    ("o = tl.program_id(0).to(tl.int64) * stride_x", "a 64-bit index"),
    ("for k in range(n):\n    a += tl.load(p, mask=o < K - k * B)", "a mask for the tail in a loop"),
    ("for i in range(0, V, BV):\n    tl.store(p + i, x)", "a loop over tiles"),
    ("for i in range(n):\n    tl.store(p + i, q)", "a loop whose iterations are independent"),
    ("for i in range(n):\n    a += tl.load(p + i)", "a loop of loads without stages"),
    ("def kernel(x, T: tl.constexpr): ...", "an extent as constexpr"),
    ("grid = (triton.cdiv(V, BV),)\nBV = min(triton.next_power_of_2(V), 8)", "a capped tile"),
    ("q = q.contiguous()", "a contiguous copy"),
    ("n = lengths.max().item()", "a read by the host"),
    ("o = torch.empty(s, dtype=torch.float32); f[grid](o); return o.to(x.dtype)", "a cast after the launch"),
    ("f[grid](a); f[grid](b)", "two launches of one kernel"),
    ("kernel[(B * H,)](q, k, v, o, T, BLOCK=64)", "a launch over batch and heads"),
    ("grid = (batch_size, num_heads)", "a launch over batch and heads"),
    ("for i in range(n):\n    tl.atomic_add(p + i, v)", "a loop whose iterations are independent"),
    ("f[grid](a); g[grid](a)", "several launches"),
    ("@triton.autotune(configs=[triton.Config({})], key=['T'])", "a short list of configurations"),
    ("tl.atomic_add(p, x)", "an atomic add"),
    ("o = acc / l[:, None]", "a division by a row"),
    ("x = tl.load(p, eviction_policy='evict_first')", "a cache hint"),
    ("tl.store(p, x, cache_modifier='.cs')", "a cache hint"),
    ("o = tl.multiple_of(o, 16)", "an alignment hint"),
    ("c = tl.dot(a, b, input_precision='tf32x3')", "a precision of a product"),
    ("p = tl.exp2(s - m)", "a power of two"),
    ("r = tl.rsqrt(v)", "rsqrt"),
    ("tl.extra.cuda.gdc_wait()", "a dependent launch"),
    ("for i in range(pid, n, tl.num_programs(0)): pass", "a stride by the number of programs"),
    ("@triton.jit(do_not_specialize=['T'])\ndef kernel(x, T): pass", "an integer that is not specialised"),
    ("for k in tl.range(0, n, num_stages=3): pass", "a pipelined loop"),
    ("grid = (triton.cdiv(T, BT), B * H)", "a product on a later axis of the grid"),
    ("f[(n, B * H)](x)", "a product on a later axis of the grid"),
    ("h = tl.load(p); h = h * g; tl.store(p, h)", "a tile loaded and stored at one place"),
    ("o = x_ptr + pid * stride_x", "a 32-bit offset"),
    ("n = lengths.cpu()", "a read by the host"),
    ("for i in range(0, n, B):\n    m = tl.maximum(m, tl.max(s, 1))", "a running maximum in a loop"),
])
def test_what_a_snippet_does(code: str, because: str) -> None:
    assert because in {reason for _, _, reason in read_code(code).symptoms}


@pytest.mark.parametrize(("code", "absent"), [
    ("y = tl.sqrt(v) / x", "a division by a square root"),
    ("c = tl.dot(a.to(tl.float32), b, input_precision='tf32x3')", "a product of float32"),
    ("o = tl.program_id(0).to(tl.int64) * stride_x", "a 32-bit offset"),
    ("for k in tl.range(n, num_stages=3):\n    a += tl.load(p + k)", "a loop of loads without stages"),
    ("for i in range(n):\n    a += 1\n    tl.store(p + i, a)", "a loop whose iterations are independent"),
    ("a = tl.load(p, mask=m); b = tl.load(q, mask=m)", "a repeated load"),
    ("def kernel(x, BLOCK: tl.constexpr): ...", "an extent as constexpr"),
    ("f[grid](a); g[grid](a)", "two launches of one kernel"),
    ("grid = (triton.cdiv(V, BV), B * H)", "a launch over batch and heads"),
    ("kernel[(M, N)](x, y)", "a launch over batch and heads"),
])
def test_what_a_snippet_does_not_do(code: str, absent: str) -> None:
    assert read_code(code).is_code
    assert absent not in {reason for _, _, reason in read_code(code).symptoms}


def test_every_feature_has_a_snippet_that_shows_it() -> None:
    shown = {because for _, because in _cases()}
    assert shown == {feature.because for feature in FEATURES}


def _cases() -> list[tuple[str, str]]:
    marks = test_what_a_snippet_does.pytestmark  # type: ignore[attr-defined]
    return [case for mark in marks for case in mark.args[1]]


@settings(deadline=None)
@given(st.text(alphabet="for i in range(0,N):;=+.tl_@\n[]{}'\"\\\x00é", max_size=60))
def test_no_text_is_too_odd(text: str) -> None:
    read(text)


def test_deep_nesting_is_no_fault() -> None:
    assert read("x = " + "(" * 5000).kind in ("text", "code")
    assert read("f.g(" * 900).kind in ("text", "code")


_HEAD = '"ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"'


def table(*rows: tuple[str, str]) -> str:
    return "==PROF== Connected\n" + "\n".join([_HEAD, *(f'"0","k","s","{name}","","{value}"' for name, value in rows)])


def test_a_table_gives_only_complaints() -> None:
    good = read_profiler(table(("Achieved Occupancy", "91.0"), ("Waves Per SM", "6.0"), ("L2 Hit Rate", "88"),
                               ("Registers Per Thread", "40")))
    assert good.is_table and good.symptoms == ()
    bad = read_profiler(table(("Achieved Occupancy", "9.5"), ("Waves Per SM", "0.3"), ("L2 Hit Rate", "12"),
                              ("Registers Per Thread", "1,024")))
    assert list(dict.fromkeys(because for _, _, because in bad.symptoms)) == [
        "Achieved Occupancy is 9.5", "Waves Per SM is 0.3", "L2 Hit Rate is 12", "Registers Per Thread is 1024"]


def test_stalls_rank_by_cost() -> None:
    name = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
    found = read_profiler(table((name.format("barrier"), "0.2"), (name.format("long_scoreboard"), "9.0"),
                                (name.format("mio_throttle"), "4.0"), (name.format("drain"), "0.1")))
    assert [because.split("_stalled_")[1].split("_per_")[0] for _, _, because in found.symptoms] == [
        "long_scoreboard", "mio_throttle", "barrier"]
    assert found.symptoms[0][1] == 1.0 > found.symptoms[1][1] > found.symptoms[2][1]


def test_the_raw_page_is_read_too() -> None:
    raw = ('"ID","Kernel Name","launch__waves_per_multiprocessor","lts__t_sector_hit_rate.pct"\n'
           '"","","","%"\n"0","k","0.2","95"')
    assert {because for _, _, because in read_profiler(raw).symptoms} == {"launch__waves_per_multiprocessor is 0.2"}


def test_a_finding_with_several_causes_gives_the_less_common_ones_at_a_lower_weight() -> None:
    both = read_profiler(table(("Achieved Occupancy", "9.5"), ("Waves Per SM", "0.3"))).symptoms
    texts, weights = [text for text, _, _ in both], [weight for _, weight, _ in both]
    assert len(texts) == 3 == len(set(texts)) and "should be split" in texts[1]
    assert weights[1] < weights[0] == weights[2]


@pytest.mark.parametrize(("said", "symptom"), [
    ("The grid for this launch is configured to execute only 16 blocks", "a single wave"),
    ("threads wait for a scoreboard dependency on a L1TEX operation. Est. Speedup: 60%", "memory latency is exposed"),
    ("occupancy is limited by the number of required registers", "the tile is too large"),
    ("Est. Speedup: 33%, a partial wave of 20 blocks", "tail effect"),
    ("nsys: cudaStreamSynchronize takes most of the step", "the host wait"),
    ("ptxas says 96 bytes of spill stores", "register spills"),
])
def test_advice_of_profilers_and_compilers_is_read(said: str, symptom: str) -> None:
    assert any(symptom in text for text, _, _ in read_profiler(said).symptoms)


def test_identifiers_count_the_less_the_surer_a_snippet_is_understood() -> None:
    def own(code: str) -> float:
        return read(code).sentences[0].weight

    assert own("y = x / tl.sqrt(v)") == 0.5 < own("grid = (triton.cdiv(T, BT), B * H)") < own("f.g(x, y=1)") == 1.0


def test_the_snippets_of_this_file_are_code() -> None:
    assert all(read_code(code).is_code for code, _ in _cases())
