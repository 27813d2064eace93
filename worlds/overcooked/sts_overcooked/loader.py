"""Loader for pickled recordings that never runs the code a pickle may hold.

A pickle names functions for its reader to call. This loader rejects every name that a table of
numbers and texts does not need, and calls none: it records which object would have been made from
what, and builds the table from these records.
"""

import io
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sts.plugin import DamagedData, read_bytes

_NAMES_BY_MODULE = {
    "builtins": "slice",
    "numpy": "ndarray dtype",
    "numpy.core.multiarray": "_reconstruct",
    "numpy.core.numeric": "_frombuffer",
    "pandas": "DataFrame Index RangeIndex StringDtype",
    "pandas.core.frame": "DataFrame",
    "pandas.core.internals.managers": "BlockManager",
    "pandas.core.indexes.base": "_new_Index Index",
    "pandas.core.indexes.numeric": "Int64Index",
    "pandas.core.indexes.range": "RangeIndex",
    "pandas._libs.internals": "_unpickle_block",
    "pandas._libs.arrays": "__pyx_unpickle_NDArrayBacked",
    "pandas.arrays": "ArrowStringArray StringArray",
    "pyarrow.lib": "_restore_array type_for_alias py_buffer",
}
ALLOWED_NAMES = frozenset(
    (module, name) for module, names in _NAMES_BY_MODULE.items() for name in names.split()
)
"""All names that a pickle may use; `numpy._core` of NumPy 2 counts as `numpy.core`."""
_MAX_BYTES = 2**30
_NUMBERS = ("i8", "f8", "b1")


class _Placeholder:
    """Record of an object that a pickle would create: its arguments and its state."""

    name = ""
    state: Any = None
    parts: tuple[Any, ...]

    def __new__(cls, *parts: Any) -> Self:
        made = super().__new__(cls)  # a pickle may create it without calling `__init__`
        made.parts = parts
        return made

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _RestrictedUnpickler(pickle._Unpickler):
    """Unpickler in Python: the compiled one allocates as much memory for names as a pickle asks."""

    def find_class(self, module: str, name: str) -> Any:
        if (module.replace("numpy._core", "numpy.core"), name) not in ALLOWED_NAMES:
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
    manager = record.state["_mgr"] if "_mgr" in record.state else record.state["_data"]
    if manager.state is None:  # pandas 1.3 or later
        records, axes = manager.parts
        blocks = [block.parts[:2] for block in records]
    else:
        *_, content = manager.state
        axes = content["0.14.1"]["axes"]
        blocks = [(block["values"], block["mgr_locs"]) for block in content["0.14.1"]["blocks"]]
    names, rows = map(_build_index, axes)
    columns: dict[str, pd.Series] = {}
    for recorded, places in blocks:
        values = _build_array(recorded)
        for place, column in zip(_build_index(places), np.atleast_2d(values), strict=True):
            columns[names[place]] = pd.Series(column, index=rows, dtype=column.dtype)
    return pd.DataFrame({name: columns[name] for name in names})


def _build_index(record: Any) -> Any:
    """Return recorded labels, or numbers in even steps."""
    if record.name == "slice":
        return range(*record.parts)
    if record.name != "_new_Index":
        return _build_array(record)
    fields = record.parts[1]
    if "data" in fields:
        return _build_array(fields["data"])
    return pd.RangeIndex(fields["start"], fields["stop"], fields["step"])


def _build_array(record: Any) -> NDArray[Any]:
    """Return the recorded array: objects unchanged, texts, or numbers of a few types."""
    if record.name == "ArrowStringArray":
        return _build_texts(*record.state["_pa_array"].parts[0])
    if record.name == "__pyx_unpickle_NDArrayBacked":
        return _build_array(record.state[1])
    if record.name == "_frombuffer":
        content, kind, shape, order = record.parts
        by_column = order == "F"
    else:
        _, shape, kind, by_column, content = record.state
    name, (_, byte_order, *_) = kind.parts[0], kind.state
    if name == "O8":
        values = np.fromiter(content, object, len(content))
    elif name in _NUMBERS:
        values = np.frombuffer(content, np.dtype(name).newbyteorder(byte_order))
    else:
        raise DamagedData(f"it has an array of {name!r:.40}, which recordings do not need")
    return values.reshape(shape, order="F" if by_column else "C")


def _build_texts(
    kind: Any, count: int, _: int, first: int, buffers: Sequence[Any], *rest: Any
) -> NDArray[Any]:
    """Return recorded texts: one buffer of bytes and one of where each begins; None for no text."""
    parts: list[Any] = [None if buffer is None else buffer.parts[0] for buffer in buffers]
    bits, offsets, content = parts
    size = np.dtype("<i8" if kind.parts == ("large_string",) else "<i4")
    ends = np.frombuffer(offsets, size)[first : first + count + 1].tolist()
    values = np.empty(count, object)
    values[:] = [bytes(content[i:j]).decode() for i, j in zip(ends[:-1], ends[1:], strict=True)]
    if bits is not None:
        known = np.unpackbits(np.frombuffer(bits, np.uint8), bitorder="little")
        values[known[first : first + count] == 0] = None
    return values
