"""Names and texts that come from outside: what a name may be, and what of a text is shown."""

from __future__ import annotations

import unicodedata

from sts.errors import ArgumentError

LIMIT = 200
"""Characters of a name of an agent, scenario, category, continuation or metric."""
_MAX_QUOTED_CHARS = 60
_JOINERS = {0x200C: "", 0x200D: ""}


def clean_name(text: str, limit: int = LIMIT) -> str:
    """Return `text` as a name is kept: composed Unicode without outer spaces.

    Marks that turn the direction of writing, letters of no width, line breaks and other controls
    are not printable: with them, one name could be shown as another.

    Raises:
      ArgumentError: it is not 1 to `limit` printable characters.
    """
    name = unicodedata.normalize("NFC", text).strip()
    if not (1 <= len(name) <= limit and name.isprintable()):
        raise ArgumentError(
            f"expected a name of 1 to {limit} printable characters, found {shown(text)}"
        )
    return name


def one_line(text: str, limit: int) -> bool:
    """Whether `text` is at most `limit` letters that print; what joins letters is one of them.

    Scripts such as Persian are not written without the two joiners, which turn nothing.
    """
    return len(text) <= limit and text.translate(_JOINERS).isprintable()


def shown(text: str) -> str:
    """Return `text` in quotes as an error shows it: what does not print as its number, cut."""
    return repr(text if len(text) <= _MAX_QUOTED_CHARS else f"{text[:_MAX_QUOTED_CHARS]}...")


def printable(text: str) -> str:
    """Return `text` with a space for every character that does not print; no outer spaces."""
    return "".join(c if c.isprintable() else " " for c in text).strip()


def escaped(text: str) -> str:
    """Return `text` in one line as a terminal can show it: what does not print as its number."""
    return text if text.isprintable() else "".join(map(_escape_char, text))


def _escape_char(letter: str) -> str:
    return letter if letter.isprintable() else ascii(letter)[1:-1]
