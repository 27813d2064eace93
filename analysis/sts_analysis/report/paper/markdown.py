"""Text and tables as Markdown."""

import re
from collections.abc import Iterable

from sts_analysis.report.paper.cells import Cells

_MEANT = re.compile(r"([\\`*_{}\[\]#|~$])")


def escape(text: str) -> str:
    """Text as Markdown that shows the same, inside a cell too; none of it is markup."""
    plain = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _MEANT.sub(r"\\\1", plain)


def table(one: Cells) -> str:
    """A table with its caption below."""
    rules = ["---:" if side == "r" else "---" for side in one.align]
    lines = [_row(map(escape, one.header)), _row(rules)]
    lines += [_row(map(escape, row)) for row in one.rows]
    return "\n".join([*lines, "", escape(one.caption)]) + "\n"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
