"""Validation of names, and display of untrusted text, counts and times."""

import re
import unicodedata
from datetime import UTC, datetime

from sts.errors import ArgumentError
from sts.errors import quote as quote

MAX_NAME_CHARS = 200
"""Maximum length of a name of an agent, scenario, category, continuation or metric."""
_PSEUDONYM = re.compile(r"annotator-[0-9a-f]{6}")
_ISOLATE, _END_ISOLATE = "\u2068", "\u2069"
_JOINERS = {0x200C: "", 0x200D: ""}


def clean_name(text: str, limit: int = MAX_NAME_CHARS) -> str:
    """Normalise a name: composed Unicode (NFC), without outer spaces.

    Control characters, such as line breaks, zero-width characters and marks that change the writing
    direction, are rejected, since one name could look like another with them.

    Raises:
      ArgumentError: it is not 1 to `limit` printable characters.
    """
    name = unicodedata.normalize("NFC", text).strip()
    if not (1 <= len(name) <= limit and name.isprintable()):
        raise ArgumentError(
            f"expected a name of 1 to {limit} printable characters, found {quote(text)}"
        )
    return name


def is_pseudonym(name: str) -> bool:
    """Return True if a name has the form of the pseudonyms that studies give."""
    return _PSEUDONYM.fullmatch(name) is not None


def is_one_line(text: str, limit: int) -> bool:
    """Return True if `text` is at most `limit` printable characters.

    The zero-width joiner and non-joiner are allowed, which scripts such as Persian need.
    """
    return len(text) <= limit and text.translate(_JOINERS).isprintable()


def count_noun(count: int, noun: str) -> str:
    """Return "1 episode", "2 episodes" or "2 trajectories"."""
    if count == 1:
        return f"1 {noun}"
    return f"{count} {noun[:-1]}ies" if noun.endswith("ry") else f"{count} {noun}s"


def format_time(seconds: float) -> str:
    """Format a time in UTC seconds, to the minute."""
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M}"


def replace_unprintable(text: str) -> str:
    """Replace unprintable characters by spaces, and strip outer spaces."""
    return "".join(c if c.isprintable() else " " for c in text).strip()


def escape_unprintable(text: str) -> str:
    """Escape unprintable characters, so that a terminal can show `text` in one line."""
    return text if text.isprintable() else "".join(map(_escape_char, text))


def isolate(text: str) -> str:
    """Isolate a quoted text, so that its writing direction does not reorder the sentence around it.

    Terminals are shown the text without the two marks, and ASCII texts have none.
    """
    return text if text.isascii() else f"{_ISOLATE}{text}{_END_ISOLATE}"


def _escape_char(letter: str) -> str:
    if letter in (_ISOLATE, _END_ISOLATE):
        return ""
    return letter if letter.isprintable() else ascii(letter)[1:-1]
