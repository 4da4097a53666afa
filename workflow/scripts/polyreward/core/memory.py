"""Give memory that Python has freed back to the system."""

import ctypes
import sys


def release_freed_memory() -> None:
    """Ask glibc to return the memory that it keeps; do nothing elsewhere.

    Batches of varying lengths fragment the heap: without this, a training on long texts doubles."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # musl has none
        if trim:
            trim(0)
