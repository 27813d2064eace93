"""Tables and folded parts of the appendix, as HTML."""

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from sts_analysis.report.core import html, join

Cell = str | int | None
"""What a cell shows; None leaves it empty."""
MAX_ROWS = 40
SHOWN_ROWS = 20
"""Rows of a longer table that are shown at once; the others are folded."""


def render_table(head: Sequence[str], rows: Iterable[Sequence[Cell]], *, texts: int = 1) -> Markup:
    """Return a table whose rows each start with their heading; a long one is folded in part.

    Args:
      head: titles of the columns.
      rows: as many cells as there are columns; what is no `Markup` is escaped.
      texts: number of columns, from the left, that are texts; the others are right-aligned.
    """
    right = [""] * texts + [Markup(" class=r")] * (len(head) - texts)
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


def render_columns(columns: Iterable[tuple[str, Sequence[Cell], bool]]) -> Markup:
    """Return a table of columns, each a title, its cells, and whether it is shown."""
    shown = [(title, cells) for title, cells, is_shown in columns if is_shown]
    return render_table(
        [title for title, _ in shown], zip(*[cells for _, cells in shown], strict=True)
    )


def fold(summary: object, content: Markup) -> Markup:
    """Return content that is shown once its summary is opened."""
    return html("<details><summary>{}</summary>{}</details>", summary, content)
