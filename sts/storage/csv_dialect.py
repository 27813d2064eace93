"""The encoding and the separator of a table of text, recognised from its bytes."""

import codecs
import csv
import io
from itertools import islice
from typing import NamedTuple

from sts.errors import DamagedData

_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs"}
_HEAD_BYTES = 2**16
_COMPARED_ROWS = 12
_BYTES_AT_ONCE = 2**20
_CONTROL = bytes({*range(32)} - {*b"\t\n\r\f"}) + b"\x7f"


class Dialect(NamedTuple):
    """Separator and encoding of a table of text."""

    separator: str = ","
    encoding: str = "UTF-8"

    def __str__(self) -> str:
        """Describe it, as in "UTF-8, separated by commas"."""
        return f"{self.encoding}, separated by {_NAMES[self.separator]}"


def decode_table(name: str, data: bytes) -> tuple[bytes, Dialect]:
    """Return a table as UTF-8 without a byte order mark, and how it was written.

    UTF-8, UTF-16 and Windows-1252 are recognised, and commas, semicolons and tabs: the separator
    is the one that gives the first rows one number of cells, and the most of them.

    Raises:
      DamagedData: it is empty, or no text in one of these encodings; `name` is its name in errors.
    """
    if not data.strip():
        raise DamagedData(f"{name}: expected a table, found an empty file")
    encoding = _find_encoding(data)
    if encoding is None:
        expected = "text in UTF-8, UTF-16 or Windows-1252"
        raise DamagedData(f"{name}: expected {expected}, found a binary file")
    if encoding == "UTF-8":
        text = data.removeprefix(codecs.BOM_UTF8)
    else:
        try:
            text = data.decode(encoding).removeprefix("\ufeff").encode()
        except (UnicodeDecodeError, UnicodeEncodeError):
            raise DamagedData(
                f"{name}: expected text in {encoding}, found damaged text; save it again as UTF-8"
            ) from None
        encoding = encoding[:6] if encoding.startswith("UTF-16") else encoding
    return text, Dialect(_find_separator(text), encoding)


def _find_encoding(data: bytes) -> str | None:
    """Return an encoding in which Python can read the text; None for a binary file."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "UTF-16"
    even, odd = data[:_HEAD_BYTES:2], data[1:_HEAD_BYTES:2]
    for letters, zeros, encoding in ((even, odd, "UTF-16-LE"), (odd, even, "UTF-16-BE")):
        if zeros.count(0) > len(zeros) / 2 and _is_text(letters):
            return encoding
    if b"\0" in data:
        return None
    blocks = (data[n : n + _BYTES_AT_ONCE] for n in range(0, len(data), _BYTES_AT_ONCE))
    try:
        for _ in codecs.iterdecode(blocks, "utf-8"):
            pass
    except UnicodeDecodeError:
        return "Windows-1252" if _is_text(data) else None
    return "UTF-8"


def _is_text(data: bytes) -> bool:
    """Return True if bytes have no control characters but those between cells and lines."""
    return len(data.translate(None, _CONTROL)) == len(data)


def _find_separator(text: bytes) -> str:
    head = text[:_HEAD_BYTES].decode(errors="ignore")
    if len(text) > _HEAD_BYTES:
        head = head[: head.rfind("\n") + 1] or head
    return max(_NAMES, key=lambda separator: _count_cells(head, separator))


def _count_cells(head: str, separator: str) -> tuple[bool, int]:
    """Return whether the first rows have one number of cells above 1, and that of the first row."""
    rows = csv.reader(io.StringIO(head, newline=""), delimiter=separator, strict=True)
    counts: list[int] = []
    try:
        for row in islice(rows, _COMPARED_ROWS):
            if any(cell.strip() for cell in row):
                counts.append(len(row))
    except csv.Error:
        return False, counts[0] if counts else 0
    return counts[:1] != [1] and len({*counts}) == 1, counts[0] if counts else 0
