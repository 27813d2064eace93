"""Loader for pickled recordings that never runs the code a pickle may hold.

A pickle names functions for its reader to call. This loader rejects every name that a table of
numbers and texts does not need, and calls none: it records which object would have been made from
what, and builds the table from these records.
"""

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sts.errors import DamagedData
from sts.storage.files import read_bytes

ALLOWED_NAMES = frozenset(
    {
        ("numpy.core.multiarray", "_reconstruct"),
        ("numpy", "ndarray"),
        ("numpy", "dtype"),
        ("pandas.core.frame", "DataFrame"),
        ("pandas.core.internals.managers", "BlockManager"),
        ("pandas.core.indexes.base", "_new_Index"),
        ("pandas.core.indexes.base", "Index"),
        ("pandas.core.indexes.numeric", "Int64Index"),
    }
)
"""All names that a pickle may use."""
_MAX_BYTES = 2**30
_NUMBERS = ("i8", "f8", "b1")


class _Placeholder:
    """Record of an object that a pickle would create: its arguments and its state."""

    name = ""
    state: Any = None

    def __init__(self, *parts: Any) -> None:
        self.parts = parts

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _RestrictedUnpickler(pickle._Unpickler):
    """Unpickler in Python: the compiled one allocates as much memory for names as a pickle asks."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in ALLOWED_NAMES:
            raise DamagedData(
                f"it uses {module}.{name}, which recordings do not need; no code was run"
            )
        return type("_Placeholder", (_Placeholder,), {"name": name})


def read_table(path: Path) -> pd.DataFrame:
    """Return the pickled table in a file.

    Raises:
      DamagedData: it uses anything but numpy arrays and pandas tables, or is not such a pickle.
      FileNotFoundError: the file does not exist.
    """
    raw = read_bytes(path, _MAX_BYTES)
    try:
        return _build_table(_RestrictedUnpickler(io.BytesIO(raw)).load())
    except DamagedData as error:
        raise DamagedData(f"{path}: {error}") from None
    except Exception as error:  # a pickle can be broken in any way
        raise DamagedData(
            f"{path}: expected a pickled table: {type(error).__name__}: {error}"
        ) from None


def _build_table(record: Any) -> pd.DataFrame:
    """Return the recorded table; its columns are stored in blocks of one type each."""
    if getattr(record, "name", "") != "DataFrame":
        raise DamagedData(f"expected a pickled table, found {type(record).__name__}")
    *_, manager = record.state["_data"].state
    names, rows = (_build_array(index.parts[1]["data"]) for index in manager["0.14.1"]["axes"])
    columns: dict[str, pd.Series] = {}
    for block in manager["0.14.1"]["blocks"]:
        values = _build_array(block["values"])
        for place, column in zip(_build_array(block["mgr_locs"]), values, strict=True):
            columns[names[place]] = pd.Series(column, index=rows, dtype=column.dtype)
    return pd.DataFrame({name: columns[name] for name in names})


def _build_array(record: Any) -> NDArray[Any]:
    """Return the recorded array: objects unchanged, or numbers of a few types."""
    _, shape, kind, by_column, content = record.state
    name, (_, byte_order, *_) = kind.parts[0], kind.state
    if name == "O8":
        values = np.fromiter(content, object, len(content))
    elif name in _NUMBERS:
        values = np.frombuffer(content, np.dtype(name).newbyteorder(byte_order))
    else:
        raise DamagedData(f"it has an array of {name!r:.40}, which recordings do not need")
    return values.reshape(shape, order="F" if by_column else "C")
