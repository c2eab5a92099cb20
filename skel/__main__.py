"""`python -m skel`: the same as the command `skel`."""

import sys

from skel.cli import main

if __name__ == "__main__":
    sys.exit(main())
