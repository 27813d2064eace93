"""Streams by name: what many names have in common is hashed once, and names the same."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from sts.numerics.streams import cross_streams, stream

PART = st.one_of(st.integers(-(2**40), 2**40), st.text(max_size=5), st.binary(max_size=5))


@given(
    first=st.lists(PART, max_size=3),
    second=st.lists(PART, max_size=3),
    rest=st.lists(st.lists(PART, max_size=3), max_size=3),
)
def test_crossed_streams_equal_the_streams_of_each_name(first, second, rest):
    pairs = list(itertools.product(range(len(second)), range(len(rest))))
    one_by_one = [stream(*first, second[i], *rest[j]) for i, j in pairs]
    assert cross_streams(first, second, rest, pairs).tolist() == one_by_one
