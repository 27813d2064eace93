"""Names that differ only in how they are written, such as Ann and ann."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, combinations
from types import MappingProxyType
from typing import NamedTuple

from sts.errors import ArgumentError, quote

MAX_EXACT = 2**53
"""Floating-point numbers from this one on are rounded to other whole numbers."""
_DECIMALS = re.compile(r"(?<=[0-9])\.0+$")
_ZEROS = re.compile(r"(?<![0-9.,])0+(?=[0-9]+$)")
_ROUNDED = re.compile(r"-?[0-9]+(\.[0-9]+)?[eE]\+[0-9]+|-?[0-9]+\.0+")


class Pair(NamedTuple):
    """Two names that are equal when folded, and how many more of their spellings there are."""

    first: str
    second: str
    others: int


class Spellings(NamedTuple):
    """Answers of a user about names that differ only in how they are written."""

    # the name that each of some spellings stands for
    same: Mapping[str, str] = MappingProxyType({})
    distinct: Sequence[frozenset[str]] = ()  # spellings that are different names, by group

    def resolve(self, names: Iterable[str]) -> dict[str, str]:
        """Return the name by spelling, of those spellings that occur together with their name."""
        known = {*names}
        return {a: name for a, name in self.same.items() if a in known and name in known}

    def find_pairs(self, names: Iterable[str]) -> list[Pair]:
        """Return a pair of each group of near-equal names, unless all are said to be distinct."""
        found = []
        for group in find_spellings(names):
            said = [own for each in self.distinct if len(own := each.intersection(group)) > 1]
            if any(len(own) == len(group) for own in said):
                continue
            known = {pair for own in said for pair in combinations(sorted(own), 2)}
            for first, second in combinations(group, 2):
                if (first, second) not in known:
                    found.append(Pair(first, second, len(group) - 2))
                    break
        return found

    def mask(self, people: Iterable[str]) -> Spellings:
        """Return them with NAME for the names of people, in a report that shows pseudonyms."""
        hidden = {*people}
        same = {
            "SPELLING" if n in hidden else a: "NAME" if n in hidden else n
            for a, n in self.same.items()
        }
        distinct = [
            frozenset({"NAME", "OTHER"}) if hidden & group else group for group in self.distinct
        ]
        return Spellings(same, distinct)


UNSTATED = Spellings()
"""The spellings without any answer of a user."""


def make_spellings(same: str | Iterable[str] = (), distinct: str | Iterable[str] = ()) -> Spellings:
    """Return what a user says about spellings.

    Args:
      same: such as "Ann=ann": ann is a spelling of Ann.
      distinct: such as "Ann|ann": they are different names.

    Raises:
      ArgumentError: one does not have two or more spellings of one name, or two contradict.
    """
    names: dict[str, str] = {}
    for text in (same,) if isinstance(same, str) else same:
        name, *others = _split_names("same", text, "=")
        names |= dict.fromkeys(others, name)
    for spelling in names:
        steps = 0
        while names[spelling] in names and steps <= len(names):
            names[spelling], steps = names[names[spelling]], steps + 1
        if steps > len(names):
            raise ArgumentError(f"--same: {quote(spelling)} stands for itself; remove one of them")
    texts = (distinct,) if isinstance(distinct, str) else distinct
    return Spellings(names, [frozenset(_split_names("distinct", text, "|")) for text in texts])


def fold_name(name: str) -> str:
    """Return the form in which names that differ only in how they are written are equal.

    Folded are letter case, width and Unicode form, outer and double spaces, leading zeros of a
    number at the end, and ".0" after it. Names of one length that are hexadecimal stay different.
    """
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    return _ZEROS.sub("", _DECIMALS.sub("", " ".join(text.split())))


def find_spellings(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Return the groups of two or more names that are equal when folded, each in order."""
    groups: dict[str, set[str]] = defaultdict(set)
    for name in names:
        groups[fold_name(name)].add(name)
    return [tuple(sorted(group)) for group in groups.values() if len(group) > 1]


def suggest_flags(first: str, second: str) -> str:
    """Return the flags that say whether two spellings are one name."""
    same, distinct = (_quote_argument(f"{first}{sign}{second}") for sign in "=|")
    return f"--same {same} if they are one, --distinct {distinct} if not"


def is_rounded(name: str) -> bool:
    """Return True for an identifier that was a floating-point number of 2**53 or more."""
    return _ROUNDED.fullmatch(name) is not None and abs(float(name)) >= MAX_EXACT


def _split_names(flag: str, text: str, sign: str) -> list[str]:
    """Split a text into spellings of one name, which may contain the sign themselves."""
    pieces = [unicodedata.normalize("NFC", piece) for piece in text.split(sign)]
    cuts = ([sign.join(pieces[:i]), sign.join(pieces[i:])] for i in range(1, len(pieces)))
    for cut in chain([pieces], cuts):
        names = [name.strip() for name in cut]
        if len({*names}) == len(names) > 1 and len({*map(fold_name, names)}) == 1:
            return names
    raise ArgumentError(
        f"--{flag}: expected two spellings of one name, such as Ann{sign}ann, found {quote(text)}"
    )


def _quote_argument(text: str) -> str:
    return '"' + re.sub(r'(["$`\\])', r"\\\1", text) + '"'
