"""Columns of text as categories, each text once, in alphabetical order."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sts.spellings import MAX_EXACT
from sts.storage.arrow import to_numpy


def is_coded(column: pd.Series) -> bool:
    """Return True if a column is of categories."""
    return isinstance(column.dtype, pd.CategoricalDtype)


def map_words(column: pd.Series, make: Callable[[str], str] = str) -> pd.Series:
    """Return what `make` makes of each cell; it is asked once a text.

    As categories in alphabetical order, so that cells are compared, counted and sorted by number.
    """
    codes, words = find_codes(column)
    made = pa.array([*map(make, words)], pa.large_string())
    return pd.Series(sort_words(codes, made), column.index)


def replace_words(column: pd.Series, words: Mapping[str, str]) -> pd.Series:
    """Return a column, as `map_words` does, with other words for some of its texts."""
    return map_words(column, lambda word: words.get(word, word))


def is_empty(column: pd.Series) -> np.ndarray:
    """Return bool[rows], whether a cell of a raw table is missing."""
    return np.asarray(column.isna() if column.dtype == np.float64 else column == "")


def find_codes(column: pd.Series) -> tuple[np.ndarray, pd.Index]:
    """Return int[rows] and the texts that these count."""
    if is_coded(column):
        return column.cat.codes.to_numpy(), column.cat.categories
    codes, words = pd.factorize(column)
    return codes, pd.Index(words)


def sort_words(codes: np.ndarray, words: pa.Array) -> pd.Categorical:
    """Return cells as categories in alphabetical order, those that occur.

    Args:
      codes: int[rows], which of the words a cell is, or -1 for the empty text.
      words: of which some may be the same.
    """
    texts = pa.concat_arrays([words, pa.array([""], words.type)]).dictionary_encode()
    codes = to_numpy(texts.indices)[codes]
    used = np.zeros(len(texts.dictionary), bool)
    used[codes] = True
    order = to_numpy(pc.sort_indices(texts.dictionary))
    order = order[used[order]]
    place = np.zeros(len(used), np.int64)
    place[order] = np.arange(len(order))
    return make_categories(place[codes], texts.dictionary.take(pa.array(order)).to_pylist())


def make_categories(codes: np.ndarray, words: Sequence[str] | np.ndarray) -> pd.Categorical:
    """Return cells that are categories: of each, which of the words it is."""
    categories: Any = pd.Index(np.array(words, object), dtype=object)
    return pd.Categorical.from_codes(codes, categories)


def number_groups(frame: pd.DataFrame, columns: Sequence[str]) -> np.ndarray:
    """Return int64[rows], which combination of texts each row has, in the order of categories."""
    number = np.zeros(len(frame), np.int64)
    for column in columns:
        codes, words = find_codes(frame[column])
        number = np.unique(number * len(words) + codes, return_inverse=True)[1]
    return number


def format_value(value: Any) -> str:
    """Return a value as the text of a cell; whole numbers without a point, "" for none."""
    if isinstance(value, str):  # as most are
        return value.strip()
    if pd.isna(value) is True:  # of a list it is an array
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value) if abs(value) < MAX_EXACT else float(value))
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    return str(value).strip()
