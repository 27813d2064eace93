"""Lempel-Ziv complexity: the published program's counts, and those of the definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sts_lambda_star.generation.walks import count_lz_phrases, lz76

PUBLISHED = (
    ("73498734987349873498", 6),
    ("111111111", 2),
    ("111121111", 3),
    ("123456789", 9),
    ("1212121212", 3),
    ("123123123123", 4),
    ("12312312312312", 4),
    ("123589431898354158313", 13),
    ("0001101001000101", 6),
    ("010011000111", 6),
    ("7349873498", 6),
    ("1" * 20, 2),
    ("01", 2),
    ("00", 2),
)
TEXTS = st.integers(1, 9).flatmap(lambda top: st.lists(st.integers(0, top), max_size=40))


def by_definition(text: list[int]) -> int:
    """Take the shortest phrase not to be found before its last symbol, over and over."""
    count, done = 0, 0
    while done < len(text):
        size = 1
        while done + size < len(text) and _occurs(text[done : done + size], text, done + size - 1):
            size += 1
        count, done = count + 1, done + size
    return count


def _occurs(part: list[int], text: list[int], end: int) -> bool:
    return any(text[i : i + len(part)] == part for i in range(end - len(part) + 1))


@pytest.mark.parametrize(("text", "count"), PUBLISHED)
def test_lz76_counts_what_the_published_program_counts(text, count):
    assert lz76(np.array([int(c) for c in text], np.int64)) == count


@given(TEXTS, st.integers(0, 12), st.permutations(range(123, 133)))
@settings(max_examples=3 * settings().max_examples, deadline=None)
def test_lz76_is_the_number_of_phrases_by_definition(text, most, names):
    """Whatever symbols are called, and as far as is worth counting."""
    assert lz76(np.array(text, np.int64)) == by_definition(text)
    assert lz76(np.array([names[c] for c in text], np.int64)) == by_definition(text)
    before = [
        max((j for j in range(i) if text[j] == text[i]), default=-1) for i in range(len(text))
    ]
    found = count_lz_phrases(np.array(text, np.int64), np.array(before, np.int64), most)
    assert found == min(by_definition(text), most + 1)
