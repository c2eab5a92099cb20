"""The positions of the highest of many values."""

from .embedding.arrays import F32, I64, np

_GROUP = 16


def top(values: F32, count: int) -> I64:
    """The positions of the highest values, highest first, equal ones in their order."""
    some: I64 = np.arange(len(values))
    if len(values) > _GROUP * count:
        # The count-th highest of the groups' maxima: so many values at least are as high.
        maxima = values[:len(values) // _GROUP * _GROUP].reshape(_GROUP, -1).max(0)
        least = np.partition(maxima, len(maxima) - count)[len(maxima) - count]
        some = np.flatnonzero(values > least)
        if len(some) < count:
            # Very many may be equal (the zeros of a rare word): the first of them do.
            some = np.concatenate([some, np.flatnonzero(values == least)[:count]])
    order: I64 = some[np.lexsort((some, -values[some]))][:count]
    return order
