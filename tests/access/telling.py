"""Detection of leaks: secret words in bytes, and values that correlate with a secret."""

import base64
import binascii
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from urllib.parse import unquote_to_bytes

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

DRAWS = 2000
"""Permutations; the smallest p-value is about 1/2,000."""
ALPHA = 1e-3
_CODED = re.compile(rb"[A-Za-z0-9+/_-]{12,}={0,2}")
_DIGITS = re.compile(rb"(?:[0-9a-fA-F]{2}){6,}")


def words_in(raw: bytes, words: Mapping[str, Collection[str]]) -> set[tuple[str, str]]:
    """Return the secret words, with their kinds, that bytes contain plainly or encoded.

    Args:
      raw: the bytes that a browser was sent.
      words: the secret words of each kind.
    """
    every = [one.lower() for one in _readings(raw)]
    return {
        (kind, word)
        for kind, own in words.items()
        for word in own
        if any(word.lower().encode() in one for one in every)
    }


def _readings(raw: bytes) -> Iterator[bytes]:
    """Yield the bytes, then with escapes resolved, then what is in base64 or hexadecimal."""
    yield raw
    if b"%" in raw:
        yield unquote_to_bytes(raw)
    if b"\\u" in raw:
        yield re.sub(rb"\\u00([0-7][0-9a-f])", lambda m: bytes([int(m[1], 16)]), raw)
    for match in _CODED.finditer(raw):
        text = match[0].rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
        for skipped in range(4):
            part = text[skipped:]
            part = part[:-1] if len(part) % 4 == 1 else part
            yield base64.b64decode(part + b"=" * (-len(part) % 4))
    for match in _DIGITS.finditer(raw):
        yield binascii.unhexlify(match[0])


def p_value(
    values: ArrayLike, groups: Iterable[object], strata: Iterable[object], seed: int = 0
) -> float:
    """Return the p-value of a stratified permutation test that a value differs between groups.

    Ranks of the values within each stratum are compared between the groups: the statistic is the
    sum over groups of the squared sum of their centred ranks, by their size. Groups are permuted
    within strata. It is 1 if all values of each stratum are equal.

    Args:
      values: one value per serving.
      groups: the secret, such as the agent.
      strata: what is no secret, such as the scenario.
      seed: the seed of the permutations.
    """
    rng = np.random.default_rng(seed)
    _, group = np.unique([str(one) for one in groups], return_inverse=True)
    _, stratum = np.unique([str(one) for one in strata], return_inverse=True)
    ranks = np.empty(len(group))
    for one in range(stratum.max() + 1):
        own = stratum == one
        ranks[own] = rankdata(np.asarray(values, float)[own])
        ranks[own] -= ranks[own].mean()
    order = np.argsort(stratum, kind="stable")
    group, ranks, stratum = group[order], ranks[order], stratum[order]

    def statistic(of: np.ndarray) -> np.ndarray:
        return sum(
            np.square(np.where(of == one, ranks, 0.0).sum(-1)) / max((group == one).sum(), 1)
            for one in range(group.max() + 1)
        )

    keys = rng.random((DRAWS, len(group))) + stratum  # sorting keeps the strata in place
    drawn = statistic(group[np.argsort(keys, axis=1)])
    found = statistic(group[None])[0]
    return float((1 + (drawn >= found - 1e-9).sum()) / (1 + DRAWS))
