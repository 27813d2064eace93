"""Counter-based random numbers: each is a hash of a stream and a counter, without other state.

The hash is SplitMix64's finaliser of `stream + counter * golden`. `random_word` gives the same
words compiled and uncompiled: compiled words are uint64, which wrap; otherwise they are Python
integers, which the mask wraps.

Source: Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators", figure 20.
"""

from typing import Any, cast

import numba
import numpy as np

from sts.numerics.compiled import jit

_Word: Any = int if cast(Any, numba.config).DISABLE_JIT else np.uint64
_MASK = _Word(0xFFFFFFFFFFFFFFFF)
_GOLDEN = _Word(0x9E3779B97F4A7C15)
_FIRST = _Word(0xBF58476D1CE4E5B9)
_SECOND = _Word(0x94D049BB133111EB)
_30, _27, _31, _11 = _Word(30), _Word(27), _Word(31), _Word(11)
_UNIT = 1.0 / 9007199254740992.0


@jit
def random_word(stream: int | np.uint64, counter: int) -> Any:
    """Return the random 64-bit word at `counter` of `stream`."""
    word = (_Word(stream) + _Word(counter) * _GOLDEN) & _MASK
    word = ((word ^ (word >> _30)) * _FIRST) & _MASK
    word = ((word ^ (word >> _27)) * _SECOND) & _MASK
    return word ^ (word >> _31)


@jit
def random_uniform(stream: int | np.uint64, counter: int) -> float:
    """Return the random float64 in [0, 1) at `counter` of `stream`, from 53 bits."""
    return float((random_word(stream, counter) >> _11) * _UNIT)


@jit
def random_integer(stream: int | np.uint64, counter: int, bound: int) -> int:
    """Return a random integer in [0, bound); the bias is less than bound / 2**53."""
    return int(random_uniform(stream, counter) * bound)
