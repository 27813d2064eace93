"""What a table of a paper holds: texts, not numbers."""

from typing import NamedTuple


class Cells(NamedTuple):
    """A table.

    Attributes:
      name: of its files, and of its label.
      caption: what it shows, in words.
      header: names of the columns.
      align: a letter for each: "l" left, "r" right, "w" a wide one of sentences.
      rows: cells.
    """

    name: str
    caption: str
    header: tuple[str, ...]
    align: str
    rows: tuple[tuple[str, ...], ...]
