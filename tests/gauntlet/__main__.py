"""The gauntlet: every Triton file of three packages through the rewriter, and what it gives through the validator.

    python -m tests.gauntlet apply [--jobs 2]     read, analyse, and try every skeleton on every kernel
    python -m tests.gauntlet capture [--jobs 2]   record launches of public operators in the interpreter
    python -m tests.gauntlet run [--jobs 2]       run rewritten files against their originals, and compile both
    python -m tests.gauntlet table                write the table of results
    python -m tests.gauntlet samples              add samples of frequent refusals that nobody has looked at yet

Each step goes on where it was ended; `--work FOLDER` (.cache/gauntlet) holds what they leave.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from .applying import try_file
from .capturing import capture_family, families
from .running import SECONDS, pieces, run_piece
from .sampling import add_samples
from .sources import PACKAGES, WORK, triton_files
from .state import Lines, work
from .table import write_table


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.gauntlet", description=__doc__)
    parser.add_argument("step", choices=["apply", "capture", "run", "table", "samples"])
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--work", type=Path, default=WORK, help="where results are kept between steps")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for one piece of a run; the rest is `slow`")
    options = parser.parse_args()
    folder: Path = options.work
    if options.step == "apply":
        files = [source for package in PACKAGES for source in triton_files(package, folder)]
        work([(s.name, s) for s in files], try_file, Lines(folder / "applied.jsonl"), options.jobs)
    elif options.step == "capture":
        work([(f.key, f) for f in families(folder)], capture_family, Lines(folder / "captured.jsonl"), options.jobs)
    elif options.step == "run":
        work(
            [(p.key, p) for p in pieces(folder, options.seconds)], run_piece, Lines(folder / "ran.jsonl"), options.jobs
        )
    elif options.step == "samples":
        print("\n".join(add_samples(folder)))
    else:
        write_table(folder)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
