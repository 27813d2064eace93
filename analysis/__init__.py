"""Tables, intervals, ranking, correlation and reports.

    import analysis
    analysis.report("ratings.csv", scores="scores.csv")
    analysis.load_report("sts-workspace/reports/core-2")

`analysis.report.notebook` makes both; it is imported, with all that it needs, by their first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.report.notebook import load_report, report

__all__ = ["load_report", "report"]


def __getattr__(name: str) -> Any:
    if name == "report":
        import analysis.report

        return analysis.report
    if name == "load_report":
        from analysis.report.notebook import load_report

        return load_report
    raise AttributeError(f"module 'analysis' has no attribute {name!r}")
