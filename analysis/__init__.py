"""Tables, intervals, ranking, correlation and reports.

    import analysis
    analysis.report("ratings.csv", scores="scores.csv")
    analysis.load_report("sts-workspace/reports/core-2")
    analysis.log_report(report, "my-project")

`analysis.report.notebook` makes the first two, `analysis.report.tracking` logs to Weights & Biases;
they are imported, with all that they need, by their first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.report.notebook import load_report, report
    from analysis.report.tracking import log_report

__all__ = ["load_report", "log_report", "report"]


def __getattr__(name: str) -> Any:
    if name == "report":
        import analysis.report

        return analysis.report
    if name == "load_report":
        from analysis.report.notebook import load_report

        return load_report
    if name == "log_report":
        from analysis.report.tracking import log_report

        return log_report
    raise AttributeError(f"module 'analysis' has no attribute {name!r}")
