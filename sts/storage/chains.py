"""Hash chains: each record has a digest of itself and the previous digest, to detect changes.

A copy of the last link, stored elsewhere, also detects that records at the end are missing.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sts.storage.files import canonical_json, content_hash


class Link(NamedTuple):
    """The position of a record in a chain."""

    number: int  # of the record, from 1
    digest: str  # hexadecimal SHA-256 of the previous digest and the record's number and values


START = Link(0, "")
"""The link before the first record."""


def next_link(before: Link, values: Sequence[object]) -> Link:
    """Return the link of the record that follows `before`; its `values` must be valid JSON."""
    number = before.number + 1
    return Link(number, content_hash(before.digest.encode(), canonical_json([number, *values])))
