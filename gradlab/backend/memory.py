"""How the C library keeps memory that arrays gave back."""

from __future__ import annotations

from functools import cache

_TRIM, _MMAP = -1, -3  # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of malloc.h
_KEPT = 512 << 20  # bytes
_LARGEST = 32 << 20  # bytes; glibc takes no more


@cache
def keep_freed_memory() -> None:
    """Let glibc keep up to 512 MB of freed arrays for the next ones, instead of giving every large one back to the system.

    A training step makes and frees the same arrays again and again, and fresh pages cost more than the arithmetic on them: the
    step of a small CNN takes 1.6 times as long, that of a small GPT 1.3 times. The most that a process holds stays the same.
    Source: mallopt(3). It is done once, when the first pass begins; other C libraries have no such call, and need none.
    """
    try:
        import ctypes  # a Python may have been built without

        mallopt = ctypes.CDLL(None).mallopt
    except (ImportError, AttributeError, OSError, TypeError):  # the last: Windows wants a name
        return
    mallopt(_MMAP, _LARGEST)
    mallopt(_TRIM, _KEPT)
