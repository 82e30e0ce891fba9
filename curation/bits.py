"""What the processor knows of bits, and neither Python nor NumPy has a word for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    def trailing_zeros(value: np.uint64) -> np.uint64:
        """How many zeros are below the lowest bit that is set, 64 where none is; for compiled code only."""

else:
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def trailing_zeros(typing, value):  # noqa: ARG001  # these names are Numba's
        def generate(context, builder, signature, arguments):  # noqa: ARG001
            return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

        return types.uint64(types.uint64), generate
