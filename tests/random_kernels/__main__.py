"""python -m tests.random_kernels --count N --seed S [--out FILE]: a summary as JSON; status 1 if it is wrong."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from .checking import Summary, check_seeds


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.random_kernels", description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="kernels")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument(
        "--out", type=Path, help="where to write the summary, anew after every batch; standard output without it"
    )
    options = parser.parse_args()

    def write(summary: Summary) -> None:
        if options.out is not None:
            options.out.write_text(json.dumps(summary.document(), indent=1) + "\n")

    summary = check_seeds(options.seed, options.count, seen=write)
    if options.out is None:
        sys.stdout.write(json.dumps(summary.document(), indent=1) + "\n")
    return 1 if summary.wrong or summary.faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
