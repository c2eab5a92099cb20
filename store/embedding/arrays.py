"""NumPy, imported so that a short process stays quick: one thread for the small products of search.

OpenBLAS starts a thread a core when it is loaded and lets them spin between products. On a busy machine that makes a
query ten times slower, and the products here are too small to gain from it.
"""

import contextlib
import os
import sys
from functools import lru_cache
from typing import Any

_VARIABLE = "OPENBLAS_NUM_THREADS"

if "numpy" not in sys.modules and _VARIABLE not in os.environ:
    os.environ[_VARIABLE] = "1"
    import numpy

    del os.environ[_VARIABLE]
    _ONE_THREAD = True
else:
    import numpy

    _ONE_THREAD = False

np = numpy
F32 = numpy.typing.NDArray[numpy.float32]
I16 = numpy.typing.NDArray[numpy.int16]
I64 = numpy.typing.NDArray[numpy.int64]


def one_thread() -> contextlib.AbstractContextManager[object]:
    """Products within use one thread also where another module has loaded NumPy before this one."""
    return contextlib.nullcontext() if _ONE_THREAD else _controller().limit(limits=1, user_api="blas")


@lru_cache(maxsize=1)
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
