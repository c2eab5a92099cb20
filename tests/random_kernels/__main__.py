"""Random kernels, original against rewritten, in Triton's interpreter. Status 1 if something is wrong.

python -m tests.random_kernels --count 10000 --seed 1000000 --jobs 2 --state FILE [--out SUMMARY.json]
A run that was ended goes on where its state file says.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from .campaign import Campaign
from .summary import Summary


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.random_kernels", description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="kernels")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--state", type=Path, help="what is done, written after every chunk; read at the start")
    parser.add_argument("--out", type=Path, help="where to write the summary; standard output without it")
    options = parser.parse_args()
    begun = time.monotonic()

    def seen(summary: Summary) -> None:
        bad = f"{len(summary.wrong)} wrong, {len(summary.faults)} faults"
        print(
            f"{summary.done} of {summary.count}: {bad}, {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True
        )

    with tempfile.TemporaryDirectory() as folder:
        campaign = Campaign(options.seed, options.count, options.state or Path(folder) / "state.json")
        campaign.run(options.jobs, seen)
    text = json.dumps(campaign.document(), indent=1) + "\n"
    if options.out is None:
        sys.stdout.write(text)
    else:
        options.out.write_text(text, encoding="utf-8")
    return 1 if campaign.summary.wrong or campaign.summary.faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
