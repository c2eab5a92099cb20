"""`python -m tests.store.bench_search [RECORDS]`: how long a search takes, in a new process and in a running one.

Prints one JSON document, milliseconds: cold is the median of five processes, `first` the median over queries of the
first time that each is asked in a running process, `warm` of the best of five times. `cpu` figures count the
processor's time and so hold on a busy machine. The base is what a process costs that only imports SQLAlchemy's ORM and
typer; it is measured in turn with the cold ones.
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
from skel.store.search import answer
from tests.store.judged import OWN, judged, measure
from tests.store.synthetic import size, synthetic_database

RUNS = 5
BASE = "import sqlalchemy.orm, typer"


def cold(*commands: list[str]) -> list[tuple[float, float]]:
    """The median wall and processor time of each command in ms, run in turn."""
    times: list[list[tuple[float, float]]] = [[] for _ in commands]
    for _ in range(RUNS):
        for command, taken in zip(commands, times, strict=True):
            start, used = time.perf_counter(), _children_seconds()
            subprocess.run(command, check=True, capture_output=True)
            taken.append((1e3 * (time.perf_counter() - start), 1e3 * (_children_seconds() - used)))
    return [(statistics.median(w for w, _ in taken), statistics.median(c for _, c in taken)) for taken in times]


def _children_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def once(database: Database, query: str) -> tuple[float, float]:
    """Wall and processor time of one search in ms."""
    wall, cpu = time.perf_counter(), time.process_time()
    answer(database, query)
    return 1e3 * (time.perf_counter() - wall), 1e3 * (time.process_time() - cpu)


def main(records: int) -> None:
    """Build, measure, print."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        database = synthetic_database(Path(folder) / "skel.db", records)
        built = time.perf_counter() - start
        queries = [item.query for item in judged(OWN)]
        for query in queries[:3]:
            answer(database, query)
        firsts, walls, cpus = [], [], []
        for query in queries[3:]:
            runs = [once(database, query) for _ in range(RUNS)]
            firsts.append(runs[0])
            walls.append(min(wall for wall, _ in runs))
            cpus.append(min(cpu for _, cpu in runs))
        search = [sys.executable, "-m", "skel", "search", "--db", str(database.path)]
        base, first = cold([sys.executable, "-c", BASE], [*search, "long context decode is slow"])
        with database.reading() as connection:
            count = size(connection)
        figures = measure(database, judged(OWN))
        print(json.dumps({
            "records": count, "built_s": round(built, 1), "cold_ms": round(first[0]), "base_ms": round(base[0]),
            "cold_over_base": round(first[0] / base[0], 2), "cold_cpu_over_base": round(first[1] / base[1], 2),
            "first_ms": round(statistics.median(wall for wall, _ in firsts), 1),
            "first_cpu_ms": round(statistics.median(cpu for _, cpu in firsts), 1),
            "warm_ms": round(statistics.median(walls), 1), "warm_cpu_ms": round(statistics.median(cpus), 1),
            "ndcg": round(figures.ndcg, 3),
            "answered_of_silent": f"{len(figures.answered)}/{figures.silent}"}, indent=1))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
