"""Bytes and rows: two things that Numba does slowly in the plain way, done quickly.

A structured array costs 5 to 10 µs each time that it is passed from Python to a kernel, its bytes 0.1 µs.  So Python
passes ``bytes_of(rows)`` and the kernel takes ``rows_of(those)``: the same memory, nothing is copied.

A loop over 53 bytes compiles to 53 loads and stores, since it is unrolled and not vectorised.  ``copy_bytes``
is ``memcpy`` with a constant size, which costs 3 ns where the loop costs 20.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from scala40_env.core.jit import inlined
from scala40_env.core.state import ROW


def bytes_of(rows: NDArray[Any]) -> NDArray[np.uint8]:
    """The memory of a record array, as ``uint8``."""
    return rows.view(np.ndarray).view(np.uint8)


if numba.config.DISABLE_JIT:

    def rows_of(memory: NDArray[np.uint8]) -> Any:
        """The record array whose memory this is."""
        return memory.view(ROW).view(np.recarray)

    def copy_bytes(source: Any, target: Any, at: int, size: int) -> None:
        """Copy the first ``size`` bytes of ``source`` to ``target[at:]``; both ``uint8``, one axis, without gaps."""
        target[at : at + size] = source[:size]

else:

    @inlined
    def rows_of(memory: NDArray[np.uint8]) -> Any:
        """The record array whose memory this is."""
        return memory.view(ROW)

    @intrinsic
    def copy_bytes(_context: Any, source: Any, target: Any, at: Any, size: Any) -> Any:
        """Copy the first ``size`` bytes of ``source`` to ``target[at:]``; both ``uint8``, one axis, without gaps."""
        for array in (source, target):
            is_bytes = isinstance(array, types.Array) and array.dtype == types.uint8
            if not is_bytes or array.ndim != 1 or array.layout != "C":
                raise TypeError("copy_bytes: expected arrays of uint8 with one axis and without gaps")

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            from_array = context.make_array(signature.args[0])(context, builder, arguments[0])
            to_array = context.make_array(signature.args[1])(context, builder, arguments[1])
            place = builder.gep(to_array.data, [arguments[2]])
            cgutils.raw_memcpy(builder, place, from_array.data, arguments[3], 1)
            return context.get_dummy_value()

        return types.void(source, target, types.intp, types.intp), generate
