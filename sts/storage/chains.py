"""Chains of records: each has a digest over itself and the one before, so that no change is silent.

Whoever keeps the last link of a chain elsewhere also finds that its end was lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sts.storage.files import canonical_json, content_hash


class Link(NamedTuple):
    """A place in a chain.

    Attributes:
      number: of the record, from 1.
      digest: SHA-256 of the one before it, and of its number and values; hexadecimal.
    """

    number: int
    digest: str


START = Link(0, "")
"""Before the first record."""


def follow(before: Link, values: Sequence[object]) -> Link:
    """Return the link of the record after `before` that holds `values`, which JSON can hold."""
    number = before.number + 1
    return Link(number, content_hash(before.digest.encode(), canonical_json([number, *values])))
