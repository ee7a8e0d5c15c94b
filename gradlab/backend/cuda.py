"""GPUs, by way of CuPy, which is imported only when one of these functions, or a device 'cuda', is first asked for."""

from __future__ import annotations

import functools
import importlib
from typing import Any

from ..errors import DeviceError, explain


@functools.cache
def _imported() -> tuple[Any, str]:
    """CuPy, or None and why not."""
    try:
        return importlib.import_module("cupy"), ""
    except Exception as error:  # a broken installation fails in many ways, and all mean the same here
        return None, f"{type(error).__name__}: {error}".partition("\n")[0]


def is_available() -> bool:
    """Whether arrays can be put on a GPU: CuPy is installed, and finds one. Never raises."""
    module, _ = _imported()
    try:
        return module is not None and bool(module.cuda.is_available())
    except Exception:
        return False


def device_count() -> int:
    """How many GPUs there are; 0 without CuPy or without a driver. Never raises.

    >>> device_count() >= 0
    True
    """
    return int(_imported()[0].cuda.runtime.getDeviceCount()) if is_available() else 0


def current_device() -> int:
    """The GPU that CuPy puts new arrays on; 0 without one. Does not import CuPy."""
    if not _imported.cache_info().currsize or not is_available():
        return 0
    return int(_imported()[0].cuda.runtime.getDevice())


def cupy(index: int = 0) -> Any:
    """The CuPy module, ready for use.

    Raises:
        DeviceError: CuPy is not installed; or it is, and finds no GPU; or not so many.
    """
    module, why = _imported()
    name = f"cuda:{index}"
    if module is None:
        raise DeviceError(
            explain(
                f"{name}: CuPy is not installed",
                got={"import cupy": why},
                need="CuPy for the CUDA version of your driver: pip install cupy-cuda12x (or cupy-cuda13x)",
            )
        )
    if not is_available():
        got = {"CuPy": module.__version__, "GPUs": 0}
        raise DeviceError(explain(f"{name}: CuPy is installed, but finds no GPU", got=got, need="an NVIDIA GPU and its driver"))
    if index >= device_count():
        raise DeviceError(
            explain(f"{name}: there is no such GPU", got={"GPUs": device_count()}, need=f"an index from 0 to {device_count() - 1}")
        )
    return module


def synchronize(device: Any = None) -> None:
    """Wait until the GPU has done all it was asked to; at once without one."""
    if is_available():
        _imported()[0].cuda.Device(_index(device)).synchronize()


def memory_allocated(device: Any = None) -> int:
    """Bytes that arrays hold on the GPU; 0 without one."""
    return _pool(device)[0] if is_available() else 0


def memory_reserved(device: Any = None) -> int:
    """Bytes that CuPy keeps on the GPU, for arrays now and for the next ones; 0 without one."""
    return _pool(device)[1] if is_available() else 0


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Free and total bytes of the GPU; (0, 0) without one."""
    if not is_available():
        return 0, 0
    free, total = _imported()[0].cuda.Device(_index(device)).mem_info
    return int(free), int(total)


def empty_cache() -> None:
    """Give what CuPy keeps for the next arrays back to the GPU."""
    if is_available():
        _imported()[0].get_default_memory_pool().free_all_blocks()


def _index(device: Any) -> int:
    return current_device() if device is None else device if isinstance(device, int) else int(str(device).partition(":")[2] or 0)


def _pool(device: Any) -> tuple[int, int]:
    """Used and total bytes of the pool; it answers for the current GPU."""
    module = _imported()[0]
    with module.cuda.Device(_index(device)):
        pool = module.get_default_memory_pool()
        return int(pool.used_bytes()), int(pool.total_bytes())
