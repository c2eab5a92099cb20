"""Runs a kernel in Triton's interpreter on the CPU and checks its result; exit status 0 where it is right."""

import os

os.environ["TRITON_INTERPRET"] = "1"  # must be set before triton is imported


def main() -> None:
    """Raises AssertionError where the interpreter computes something else."""
    import torch

    from skel.probes.add_one import add_one

    x = torch.arange(20, dtype=torch.float32)
    y = torch.zeros_like(x)
    add_one[(2,)](x, y, 20, BLOCK=16)
    assert torch.equal(y, x + 1), "wrong result"


if __name__ == "__main__":
    main()
