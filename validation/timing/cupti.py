"""Traces kernels through CUPTI's activity interface, by ctypes: begin and end of each on the device's own clock.

CUPTI comes with torch for CUDA, which loads it. The interface allows one trace a process.
"""

from __future__ import annotations

import ctypes

_LIBRARIES = ("libcupti.so.13", "libcupti.so.12", "libcupti.so")
_CONCURRENT_KERNEL = 10
"""`CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL` in cupti_activity.h."""
_START, _END = 16, 24
"""Offsets of `start` and `end`, nanoseconds, in every version of `CUpti_ActivityKernel` since the fourth."""
_BUFFER_BYTES = 1 << 22
_FORCED = 1
"""`CUPTI_ACTIVITY_FLAG_FLUSH_FORCED`: buffers that are not full too."""

_REQUESTED = ctypes.CFUNCTYPE(
    None,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(ctypes.c_size_t),
    ctypes.POINTER(ctypes.c_size_t),
)
_COMPLETED = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t
)


class KernelTrace:
    """Kernels of this process from now on. Raises OSError where there is no CUPTI, or where it may not be used."""

    def __init__(self) -> None:
        self._library = _library()
        self._seen: list[tuple[int, int]] = []
        self._buffers: dict[int, ctypes.Array[ctypes.c_uint64]] = {}
        # Kept, since CUPTI calls them for as long as the process lives.
        self._callbacks = _REQUESTED(self._requested), _COMPLETED(self._completed)
        self._call("cuptiActivityRegisterCallbacks", *self._callbacks)
        self._call("cuptiActivityEnable", ctypes.c_int(_CONCURRENT_KERNEL))

    def take(self) -> list[tuple[int, int]]:
        """Begin and end, in nanoseconds, of the kernels that have ended since the last call; waits for none."""
        self._call("cuptiActivityFlushAll", ctypes.c_uint32(_FORCED))
        seen, self._seen = self._seen, []
        return seen

    def _call(self, name: str, *arguments: object) -> None:
        if (status := getattr(self._library, name)(*arguments)) != 0:
            raise OSError(f"{name} answered {status}")

    def _requested(self, buffer: object, size: object, records: object) -> None:
        made = (ctypes.c_uint64 * (_BUFFER_BYTES // 8))()
        self._buffers[ctypes.addressof(made)] = made
        buffer[0], size[0], records[0] = ctypes.addressof(made), _BUFFER_BYTES, 0  # type: ignore[index]

    def _completed(self, context: object, stream: int, buffer: int, size: int, valid: int) -> None:
        record = ctypes.c_void_p(None)
        following = self._library.cuptiActivityGetNextRecord
        while following(ctypes.c_void_p(buffer), ctypes.c_size_t(valid), ctypes.byref(record)) == 0:
            assert record.value is not None
            if ctypes.c_uint32.from_address(record.value).value == _CONCURRENT_KERNEL:
                begin, end = (ctypes.c_uint64.from_address(record.value + place).value for place in (_START, _END))
                self._seen.append((begin, end))
        del self._buffers[buffer]


def _library() -> ctypes.CDLL:
    problems = []
    for name in _LIBRARIES:
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            problems.append(str(error))
    raise OSError(f"CUPTI is not here: {'; '.join(problems)}")
