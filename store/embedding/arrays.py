"""NumPy, imported so that a short process stays quick: one thread for the small products of search.

OpenBLAS starts a thread a core when it is loaded and lets them spin between products. On a busy machine that makes a
query ten times slower, and the products here are too small to gain from it.
"""

import os
import sys

_VARIABLE = "OPENBLAS_NUM_THREADS"

if "numpy" not in sys.modules and _VARIABLE not in os.environ:
    os.environ[_VARIABLE] = "1"
    import numpy

    del os.environ[_VARIABLE]
else:
    import numpy

np = numpy
F32 = numpy.typing.NDArray[numpy.float32]
I64 = numpy.typing.NDArray[numpy.int64]
