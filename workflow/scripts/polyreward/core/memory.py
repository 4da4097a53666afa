"""Memory that Python has freed, given back to the system."""

import ctypes
import sys


def release_freed_memory() -> None:
    """Ask glibc to return what it keeps; elsewhere do nothing.

    Batches of ever other lengths leave holes in the heap: without this a training on long texts grows to
    twice the size."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none
        if trim:
            trim(0)
