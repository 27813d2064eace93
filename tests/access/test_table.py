"""The table in docs/security.md is that of the tests."""

from pathlib import Path

from tests.access.attempts import table

PAGE = Path(__file__).parents[2] / "docs" / "security.md"
BEGINS, ENDS = "<!-- attempts: made by python -m tests.access -->", "<!-- end of attempts -->"


def parts(text: str) -> tuple[str, str, str]:
    """Return what stands before the table, the table, and what follows it."""
    before, _, rest = text.partition(BEGINS)
    inside, _, after = rest.partition(ENDS)
    return before, inside, after


def test_security_page_lists_every_attempt() -> None:
    _, found, _ = parts(PAGE.read_text("utf-8"))
    assert found.strip() == table(), "update it: python -m tests.access"
