"""Tables, folded parts and terms of the appendix, as HTML."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from markupsafe import Markup

from sts_analysis.report.core import html, join
from sts_analysis.report.text import NONE, percent, percent_range

Cell = str | int | None
"""What a cell shows; None leaves it empty."""
MAX_ROWS = 40
SHOWN_ROWS = 20
"""Rows of a longer table that are shown at once; the others are folded."""


def render_table(
    head: Sequence[str], rows: Iterable[Sequence[Cell]], *, texts: Collection[str] = ()
) -> Markup:
    """Return a table whose rows each start with their heading; a long one is folded in part.

    Args:
      head: titles of the columns.
      rows: as many cells as there are columns; what is no `Markup` is escaped.
      texts: titles of columns of texts besides the first; the others are right-aligned.
    """
    right = ["", *("" if title in texts else Markup(" class=r") for title in head[1:])]
    titles = join(
        html("<th scope=col{}>{}</th>", side, title)
        for side, title in zip(right, head, strict=True)
    )
    body = [
        html(
            "<tr><th scope=row>{}</th>{}</tr>",
            row[0],
            join(
                html("<td{}>{}</td>", side, "" if cell is None else cell)
                for side, cell in zip(right[1:], row[1:], strict=True)
            ),
        )
        for row in rows
    ]
    shown = SHOWN_ROWS if len(body) > MAX_ROWS else len(body)
    tables = [
        html(
            "<div class=wide tabindex=0><table class=plain><thead><tr>{}</tr></thead>"
            "<tbody>{}</tbody></table></div>",
            titles,
            join(part),
        )
        for part in (body[:shown], body[shown:])
    ]
    more = fold(f"{len(body) - shown:,} more", tables[1]) if body[shown:] else ""
    return join([tables[0], more])


def render_records(
    records: Sequence[Any], columns: Mapping[str, str | Callable[[Any], Cell]]
) -> Markup:
    """Return a table of records, without columns in which nothing is known or all counts are 0.

    Nothing is returned if no column is left, as without records.

    Args:
      records: in the order of the rows.
      columns: by title, the field to show, or a function that makes a cell of a record. Of a field,
        a float is shown as a percentage, a pair as an interval of one, and a text is left-aligned.
    """
    shown, texts = {}, set()
    for title, find in columns.items():
        values = list(map(attrgetter(find) if isinstance(find, str) else find, records))
        if any(value not in (None, "", NONE, 0) or isinstance(value, float) for value in values):
            shown[title] = [_write_cell(value) for value in values]
            if isinstance(find, str) and isinstance(values[0], str):
                texts.add(title)
    rows = zip(*shown.values(), strict=True)
    return render_table(list(shown), rows, texts=texts) if shown else Markup()


def _write_cell(value: Any) -> Cell:
    if value is None or isinstance(value, float):
        return percent(value)
    if isinstance(value, tuple):
        return percent_range(value)
    return f"{value:,}" if isinstance(value, int) else str(value)


def fold(summary: object, content: Markup) -> Markup:
    """Return content that is shown once its summary is opened."""
    return html("<details><summary>{}</summary>{}</details>", summary, content)


def find_anchor(term: str) -> str:
    """Return the fragment of a term's address in the appendix."""
    return f"term-{term.replace(' ', '-').replace('%', '')}"


def link_term(term: str, text: str = "") -> Markup:
    """Link a text of the main page to a term; the text is the term by default."""
    return html('<a class=term href="appendix.html#{}">{}</a>', find_anchor(term), text or term)
