"""Tables, intervals, ranking, correlation and reports.

    import sts_analysis
    sts_analysis.report("ratings.csv", scores="scores.csv")
    sts_analysis.load_report("sts-workspace/reports/core-2")
    sts_analysis.log_report(report, "my-project")

`sts_analysis.report.notebook` makes the first two, `sts_analysis.report.tracking` logs to Weights
& Biases; they are imported, with all that they need, by their first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sts_analysis.report.notebook import load_report, report
    from sts_analysis.report.tracking import log_report

__all__ = ["load_report", "log_report", "report"]


def __getattr__(name: str) -> Any:
    if name == "report":
        import sts_analysis.report

        return sts_analysis.report
    if name == "load_report":
        from sts_analysis.report.notebook import load_report

        return load_report
    if name == "log_report":
        from sts_analysis.report.tracking import log_report

        return log_report
    raise AttributeError(f"module 'sts_analysis' has no attribute {name!r}")
