"""Making a process that stays ready for its first query."""

from .code_features import FEATURES
from .database import Database
from .embedding.arrays import one_thread
from .embedding.model import DEFAULT_MODEL
from .index import index_of
from .profiler import SYMPTOMS
from .query_kind import Sentence
from .search import answer, score_sentence

_QUERIES = ("the same norm is computed in every tile", "too few blocks to fill the GPU", "每个分块都重复计算归一化",
            "y = x / tl.sqrt(tl.sum(x * x))")
"""One of each kind, and two in English: what is only done from the second query on is done then."""


def warm_up(database: Database, model: str = DEFAULT_MODEL) -> None:
    """Do beforehand what the first queries of a process would wait for; afterwards none is slower than later ones.

    Takes 0.6 s for the packaged records and 1 s for 10,000, and leaves 42 MB of weights and 8 kB a record in memory,
    as the second query would. May run in a thread while queries come. Raises StoreError.
    """
    for query in _QUERIES:
        answer(database, query, model=model)
    symptoms = (*(feature.symptom for feature in FEATURES), *SYMPTOMS)
    with one_thread(), database.reading() as connection:
        index = index_of(connection, database.path)
        for symptom in symptoms if len(index.ids) else ():
            score_sentence(connection, index, Sentence(symptom, derived=True), model)
