"""Responsive HTML tables for the lead's pages; on phones each row becomes a card."""

import re
from collections.abc import Sequence
from html import escape

_MARKUP = re.compile(r"[\\`*_{}\[\]()<>#+.!|$~:-]")
STYLE = """<style>
  .sts-table { border-collapse: collapse; width: 100%; font-size: 0.95rem; }
  .sts-table th { text-align: left; font-weight: 600; opacity: 0.75; }
  .sts-table th, .sts-table td { padding: 0.35rem 0.8rem 0.35rem 0; vertical-align: top;
    border-bottom: 1px solid color-mix(in srgb, currentColor 18%, transparent); }
  .sts-table td:first-child { overflow-wrap: anywhere; min-width: 8rem; }
  .sts-table td.number { text-align: right; font-variant-numeric: tabular-nums; }
  .sts-table th.number { text-align: right; }
  @media (max-width: 860px) {
    .sts-table thead { display: none; }
    .sts-table tr { display: block; padding: 0.5rem 0;
      border-bottom: 1px solid color-mix(in srgb, currentColor 30%, transparent); }
    .sts-table td, .sts-table td.number { display: flex; gap: 0.8rem; text-align: left;
      border: 0; padding: 0.12rem 0; overflow-wrap: anywhere; }
    .sts-table td::before { content: attr(data-label); flex: 0 0 8.5rem; opacity: 0.75; }
    .sts-table td:first-child { font-weight: 600; font-size: 1.05rem; }
    .sts-table td:first-child::before { display: none; }
    .sts-table td:empty { display: none; }
  }
</style>"""


def render_table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return an HTML table with escaped cells; columns of numbers are right-aligned."""
    numbers = [
        bool(rows) and all(isinstance(row[n], int | float | None) for row in rows)
        for n in range(len(header))
    ]
    kind = ['class="number"' if number else "" for number in numbers]
    heads = "".join(
        f"<th {attributes}>{escape(name)}</th>"
        for name, attributes in zip(header, kind, strict=True)
    )
    body = "".join(
        "<tr>"
        + "".join(
            f'<td {attributes} data-label="{escape(name)}">{_format_cell(value)}</td>'
            for name, attributes, value in zip(header, kind, row, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    head = f"<thead><tr>{heads}</tr></thead>"
    return f'{STYLE}<table class="sts-table">{head}<tbody>{body}</tbody></table>'


def escape_markdown(text: str) -> str:
    """Return text with Markdown's special characters escaped."""
    return _MARKUP.sub(r"\\\g<0>", text)


def _format_cell(value: object) -> str:
    if value is None:
        return ""
    return escape(f"{value:.1f}" if isinstance(value, float) else str(value))
