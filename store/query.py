"""A user's query as weighted terms. Whatever the text holds, what comes out is safe to hand to FTS5."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from .stems import stems
from .synonyms import synonyms
from .terms import is_cjk, terms

MAX_CHARACTERS = 4000
MAX_TERMS = 40

_CODE = re.compile(r"[=\[\]{};]|\w\(|\w\.\w+\(|\b_?[a-z]+_[a-z]\b")
_STOP = frozenset("""
a about after all almost also always am an and any are as at be because been before being between both but by can
cannot come could did do does doing done down each even ever every few find for from get give go goes had has have
having he help here how however i if in into is it its just know less let like made make makes many may me might more
most much must my need needs never no non nor not now of off often on only onto or other our out over own per please
put same see should show so some something still such take takes tell than that the their them then there these they
thing this those though through to too try under until up us use used uses using very want was way we well went were
what when where whether which while who whose why will with without work would yet you your
anything everything nothing gets gives given instead keep keeps kept lets really several simply terrible whole
shows showing shown seen seems reports reported nsys ncu nsight profiler
against rest itself towards got getting
example examples tutorial explain problem problems issue issues question optimize optimization improve
""".split())
# Chinese function words and question words, alone or paired with a neighbour; they carry no topic.
_STOP_CJK = frozenset("""
如何 怎么 怎样 什么 为何 为什 可以 需要 应该 这个 那个 一个 没有 我们 你们 他们 因为 所以 但是 而且 就是
之间 之后 之前 时候 通过 进行 一些 这样 那样 非常 比较 很多 太大 太多 太小 太少 太慢 太长 很慢 很高 很低 很大
很小 很少 很长 总有 总是 经常 特别 几乎 尤其 十分 相当 稍微 明显
成为 变成 变得 使得 造成 出现 问题 情况 导致 发现 目前 现在 希望 想要 能够 不能 无法 已经 可能 一下
如果 虽然 还是 不是 只有 只能 然后 里面 有没 有什 请问 办法 方法 比如
""".split())
_PARTICLES = frozenset("有的了吗呢吧是在和与及或也都就被把将让使而但从到对为以于由其这那个们么怎哪很太之还再又才只已")


@dataclass(frozen=True, slots=True)
class Term:
    """One term of a query."""

    text: str
    optional: bool
    """True where nothing is held against a record that lacks it: numbers, code names, the `re` and `retune` of
    `re-tune`."""
    others: tuple[str, ...] = ()
    """Synonyms: terms or phrases (terms with a space between)."""
    beside: tuple[str, ...] = ()
    """The pairs that overlap a Chinese pair: if one of them is a word, this one is probably none. One with a particle
    is no word, and what ends before a particle may well be one."""


def parse(text: str) -> tuple[Term, ...]:
    """The distinct terms of a query that say what it is about, at most `MAX_TERMS`."""
    text = text[:MAX_CHARACTERS]
    code = _CODE.search(text) is not None
    said = terms(text)
    others = _synonyms(said)
    kept = [term for term in dict.fromkeys(said) if not _is_stop(term)]
    joined = {first + second for first, second in pairwise(said)}
    return tuple(Term(term, code or term in joined or _is_optional(term), others.get(term, ()), _beside(term, said))
                 for term in kept[:MAX_TERMS])


def match_expression(phrases: Iterable[str]) -> str:
    """The FTS5 expression for any of some terms or phrases: quoted, so that nothing in them is an operator."""
    return " OR ".join('"' + phrase.replace('"', '""').replace("\0", "") + '"' for phrase in phrases)


def _is_stop(term: str) -> bool:
    if is_cjk(term):
        return term in _STOP_CJK or len(term) == 1 or any(character in _PARTICLES for character in term)
    return term in _STOP or len(term) == 1


def _is_optional(term: str) -> bool:
    return term[0].isdigit() or (len(term) == 2 and not is_cjk(term))


def _synonyms(said: list[str]) -> dict[str, tuple[str, ...]]:
    """The synonyms of each term, alone or as a part of a phrase of up to three."""
    stem, table = stems(said), synonyms()
    found: dict[str, list[str]] = {}
    for length in (1, 2, 3):
        for start in range(len(said) - length + 1):
            phrase = said[start:start + length]
            for term in phrase:
                found.setdefault(term, []).extend(table.get(" ".join(stem[part] for part in phrase), ()))
    return {term: tuple(dict.fromkeys(others)) for term, others in found.items()}


def _beside(term: str, said: list[str]) -> tuple[str, ...]:
    if not is_cjk(term):
        return ()
    return tuple(other for other in dict.fromkeys(said)
                 if is_cjk(other) and other != term and (other[-1] == term[0] or other[0] == term[-1])
                 and _PARTICLES.isdisjoint(other))
