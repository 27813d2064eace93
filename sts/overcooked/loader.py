"""Reading the recordings, which are pickles, without running what a pickle may hold.

A pickle names functions that its reader is to call. This one knows those that a table of numbers
and texts needs and refuses every other by name, before anything is called.
"""

from __future__ import annotations

import importlib
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sts.errors import DamagedData


def _index(kind: Any, parts: dict[str, Any]) -> Any:
    """Returns an index of rows or columns, whichever class an older pandas gave it."""
    return pd.Index(parts["data"], name=parts.get("name"))


def _array(kind: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """Returns an empty array, which the pickle fills after."""
    return np.ndarray.__new__(np.ndarray, tuple(shape), dtype)


class _Kind:
    """Stands for a class that is only named, and of which nothing is made."""


_BLOCKS: Any = importlib.import_module("pandas.core.internals").BlockManager

KNOWN: dict[tuple[str, str], Any] = {
    ("numpy.core.multiarray", "_reconstruct"): _array,
    ("numpy", "ndarray"): _Kind,
    ("numpy", "dtype"): np.dtype,
    ("pandas.core.frame", "DataFrame"): pd.DataFrame,
    ("pandas.core.internals.managers", "BlockManager"): _BLOCKS,
    ("pandas.core.indexes.base", "_new_Index"): _index,
    ("pandas.core.indexes.base", "Index"): _Kind,
    ("pandas.core.indexes.numeric", "Int64Index"): _Kind,
}
"""All that a pickle may name, and what stands for it."""


class _Restricted(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in KNOWN:
            raise DamagedData(
                f"it asks for {module}.{name}, which no table of recordings needs; nothing was run"
            )
        return KNOWN[module, name]


def table(path: Path) -> pd.DataFrame:
    """Returns the table that is pickled in a file.

    Raises:
      DamagedData: it asks for anything but numpy arrays and pandas tables, or is no such pickle.
      FileNotFoundError: there is none.
    """
    with path.open("rb") as file:
        try:
            found = _Restricted(file).load()
        except DamagedData as error:
            raise DamagedData(f"{path}: {error}") from None
        except Exception as error:  # a pickle can be broken in any way
            raise DamagedData(
                f"{path}: expected a pickled table: {type(error).__name__}: {error}"
            ) from None
    if not isinstance(found, pd.DataFrame):
        raise DamagedData(f"{path}: expected a pickled table, found {type(found).__name__}")
    return found
