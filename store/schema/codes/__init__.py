"""The one table of refusal and finding codes, a file a section. Codes are stable: scripts and agents match on them."""

from .analysis import ANALYSIS
from .axis import AXIS
from .calls import CALLS
from .captures import CAPTURES
from .code import Code
from .compiling import COMPILING
from .editing import EDITING
from .following import FOLLOWING
from .further import FURTHER
from .host import HOST
from .isolation import ISOLATION
from .local import LOCAL
from .numerics import NUMERICS
from .reading import READING
from .timing import TIMING

_TABLE = (
    *READING,
    *AXIS,
    *HOST,
    *LOCAL,
    *EDITING,
    *ANALYSIS,
    *COMPILING,
    *NUMERICS,
    *ISOLATION,
    *TIMING,
    *FOLLOWING,
    *CALLS,
    *CAPTURES,
    *FURTHER,
)
CODES: dict[str, Code] = {code.name: code for code in _TABLE}
"""Every code by name."""
assert len(CODES) == len(_TABLE), "a code stands in the table twice"

__all__ = ["CODES", "Code"]
