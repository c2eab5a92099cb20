"""`python -m tests.store.bench_search [RECORDS]`: how long a search takes, in a new process and in a running one.

Prints one JSON document, milliseconds. `warm` is the whole search in a process that has called `warm_up`, over
queries that it has not been asked before: every query is asked once in each of several processes, its time is the best
of those (a machine has other work), and the median and the 90th percentile are over the queries. `typical` is the
median over all times, the disturbed ones included; `first` the first query of each process. `cold` is the median of
several `skel search` commands; the base is what a process costs that only imports SQLAlchemy's ORM and typer, measured
in turn with them. `cpu` figures count the processor's time and so suffer less on a busy machine.
"""

import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from skel.store.database import Database
from skel.store.query_kind import read
from skel.store.search import answer
from skel.store.warm import warm_up
from tests.store.judged import OWN, judged, measure
from tests.store.synthetic import size, synthetic_database

RUNS = 5
BASE = "import sqlalchemy.orm, typer"
Times = list[tuple[float, float]]
"""Wall and processor time in ms."""


def cold(*commands: list[str]) -> Times:
    """The median times of each command, run in turn."""
    times: list[Times] = [[] for _ in commands]
    for _ in range(RUNS):
        for command, taken in zip(commands, times, strict=True):
            start, used = time.perf_counter(), _children_seconds()
            subprocess.run(command, check=True, capture_output=True)
            taken.append((1e3 * (time.perf_counter() - start), 1e3 * (_children_seconds() - used)))
    return [(statistics.median(w for w, _ in taken), statistics.median(c for _, c in taken)) for taken in times]


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def one_process(path: Path) -> dict[str, object]:
    """What one running process takes: to warm up, and for each query, asked once."""
    database = Database(path)
    start = time.perf_counter()
    warm_up(database)
    warmed = 1e3 * (time.perf_counter() - start)
    return {"warm_up": warmed, "queries": [_once(database, item.query) for item in judged(OWN)]}


def _once(database: Database, query: str) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    answer(database, query)
    return 1e3 * (time.perf_counter() - wall), 1e3 * (time.process_time() - cpu)


def warm(path: Path) -> dict[str, object]:
    """The figures of several running processes."""
    command = [sys.executable, "-m", "tests.store.bench_search", "--one", str(path)]
    runs = [json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            for _ in range(RUNS)]
    by_query: list[Times] = [list(times) for times in zip(*(run["queries"] for run in runs), strict=True)]
    walls = [min(wall for wall, _ in times) for times in by_query]
    cpus = [min(cpu for _, cpu in times) for times in by_query]
    kinds = [read(item.query).kind for item in judged(OWN)]
    of_kind = {kind: [wall for wall, of in zip(walls, kinds, strict=True) if of == kind] for kind in kinds}
    return {
        "warm_up_ms": round(min(run["warm_up"] for run in runs)), "warm_first_ms": round(walls[0], 1),
        "warm_ms": round(statistics.median(walls), 1), "warm_cpu_ms": round(statistics.median(cpus), 1),
        "warm_90_ms": round(statistics.quantiles(walls, n=10)[-1], 1),
        "warm_typical_ms": round(statistics.median(wall for times in by_query for wall, _ in times), 1),
        "warm_ms_by_kind": {kind: round(statistics.median(times), 1) for kind, times in of_kind.items()},
    }


def main(records: int) -> None:
    """Build, measure, print."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        database = synthetic_database(Path(folder) / "skel.db", records)
        built = time.perf_counter() - start
        search = [sys.executable, "-m", "skel", "search", "--db", str(database.path)]
        base, first = cold([sys.executable, "-c", BASE], [*search, "long context decode is slow"])
        with database.reading() as connection:
            count = size(connection)
        warmed = warm(database.path)
        figures = measure(database, judged(OWN))
        print(json.dumps({
            "records": count, "built_s": round(built, 1), "cold_ms": round(first[0]), "base_ms": round(base[0]),
            "cold_over_base": round(first[0] / base[0], 2), "cold_cpu_over_base": round(first[1] / base[1], 2),
            **warmed, "ndcg": round(figures.ndcg, 3), "answered_of_silent": f"{len(figures.answered)}/{figures.silent}",
        }, indent=1))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(one_process(Path(sys.argv[2]))))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
