"""Where skeletons are learnt from: packages, git repositories and folders, read and never imported or run.

`open_source("fla-core==0.6.0")` finds or fetches the source and gives a `Source`: its name, revision and licence, and
`files()`, which yields every file that may hold kernels as (path, bytes). A git source has its repository's folder in
`repository`, and `has_full_history`. Each known source is one YAML file in `known/`; a YAML file of your own does too.
"""

from .entry import Entry, known_entries
from .opening import entry_of, open_source
from .source import Source

__all__ = ["Entry", "Source", "entry_of", "known_entries", "open_source"]
