"""What tests of several folders below share."""

import pytest

from sts_analysis.report import figures


@pytest.fixture
def one_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of figures a report has its ranking alone: they are most of its cost, and not what is asked.

    All of them are drawn in `report/test_page.py`, and by a command in `commands/test_report.py`.
    """
    monkeypatch.setattr(figures, "FIGURES", {"ranking": figures.ranking})
