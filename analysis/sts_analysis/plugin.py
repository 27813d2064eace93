"""Names for metrics, classes and report sections of other packages, next to `sts.plugin`.

Each name is imported when it is first used.

`docs/plugins.md` lists the names with what they are for.
"""

from typing import Any

from sts.lazy import load_name

GROUPS: dict[str, dict[str, str]] = {
    "Metrics": {
        "make_row": "sts_analysis.measures.measurement:make_row",
        "measure_runs": "sts_analysis.measures.spans:measure_runs",
        "Measurement": "sts_analysis.measures.measurement:Measurement",
        "Metric": "sts_analysis.metrics.protocol:Metric",
        "Span": "sts_analysis.measures.spans:Span",
        "standard_error": "sts_analysis.measures.measurement:standard_error",
        "Table": "sts_analysis.measures.measurement:Table",
    },
    "Sections of the report": {
        "find_interval": "sts_analysis.report.core:find_interval",
        "fold": "sts_analysis.report.markup:fold",
        "html": "sts_analysis.report.core:html",
        "Interval": "sts_analysis.report.core:Interval",
        "join": "sts_analysis.report.core:join",
        "number": "sts_analysis.report.core:number",
        "percent": "sts_analysis.report.text:percent",
        "render_records": "sts_analysis.report.markup:render_records",
        "render_table": "sts_analysis.report.markup:render_table",
        "Report": "sts_analysis.report.core:Report",
        "Study": "sts_analysis.report.core:Study",
    },
    "Classes of environments": {
        "CalibratedClass": "sts_analysis.measures.calibration:CalibratedClass",
        "Chosen": "sts_analysis.measures.classes:Chosen",
        "EnvironmentClass": "sts_analysis.measures.classes:EnvironmentClass",
        "LearningClass": "sts_analysis.measures.classes:LearningClass",
        "load_agents": "sts_analysis.measures.classes:load_agents",
    },
}
"""The names by subject, each with its `module:Name`, or the module that it is."""
HOMES = {name: home for names in GROUPS.values() for name, home in names.items()}
__all__ = tuple(sorted(HOMES))  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    value = load_name(__name__, name, HOMES)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *HOMES})
