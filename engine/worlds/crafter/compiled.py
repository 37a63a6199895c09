"""numba's compiler with types kept: the one place where it is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

import numba

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


def compiled(function: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Compile on first call and keep the machine code on disk for later processes."""
    return cast("Callable[_Parameters, _Result]", numba.njit(cache=True)(function))
