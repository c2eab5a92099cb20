"""python -m tests.random_kernels --count N --seed S [--out FILE]: a summary as JSON; status 1 if it is wrong."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from .checking import check_seeds


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.random_kernels", description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="kernels")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--out", type=Path, help="where to write the summary; standard output without it")
    options = parser.parse_args()
    summary = check_seeds(options.seed, options.count)
    text = json.dumps(summary.document(), indent=1) + "\n"
    if options.out is None:
        sys.stdout.write(text)
    else:
        options.out.write_text(text)
    return 1 if summary.wrong or summary.faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
