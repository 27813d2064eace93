"""The report as two pages: the answer, and an appendix with everything else."""

import importlib
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from types import ModuleType
from typing import Any

import msgspec
from markupsafe import Markup

from sts.entry_points import list_group
from sts.errors import StsError
from sts_analysis.report import appendix, sections
from sts_analysis.report.core import Report, Study, find_title, html, join

PAGE, APPENDIX = "report.html", "appendix.html"
GROUP = "sts.report_sections"
"""Entry points of users' sections, which stand at the end of the appendix."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; media-src 'self'"
_PAGE = """<!doctype html>
<html lang=en><head><meta charset=utf-8>
<meta name=viewport content="width=device-width, initial-scale=1">
<meta name=referrer content=no-referrer><meta http-equiv=Content-Security-Policy content="{policy}">
<link rel=icon href="data:,"><title>{suite}{part} – STS report</title><style>
{style}</style></head>
<body class="{kind}"><a class=skip href="#main">Skip to the content</a>
<header><p><b>{suite}</b> Standardised Test Suite</p><nav aria-label=Sections>{nav}</nav></header>
<main id=main>{content}</main></body></html>
"""
_APPENDIX = (
    "<h1>Appendix</h1>"
    "<p class=lead>Everything behind the report of {}. Nothing here changes its conclusion.</p>"
)


@cache
def load_sections() -> dict[str, ModuleType]:
    """Load the sections of the main page by their names."""
    return {name: importlib.import_module(f"{sections.__name__}.{name}") for name in sections.ORDER}


@cache
def load_appendix() -> dict[str, ModuleType]:
    """Load the sections of the appendix, those of users at its end.

    Raises:
      StsError: an installed section cannot be loaded, or takes a name that exists.
    """
    found = {
        name: importlib.import_module(f"{appendix.__name__}.{name}") for name in appendix.ORDER
    }
    for point in list_group(GROUP):
        if point.name in found or point.name in sections.ORDER:
            raise StsError(f"report section {point.name} of {point.value}: the name is taken")
        try:
            found[point.name] = point.load()
        except Exception as error:
            raise StsError(f"report section {point.name}: {error}") from error
    return found


@cache
def define_report() -> type[Report]:
    """Return the type of a report: a field for each section."""
    fields: list[tuple[str, Any, Any]] = [
        (name, module.Result | None, None)
        for name, module in {**load_sections(), **load_appendix()}.items()
    ]
    made = msgspec.defstruct("StudyReport", fields, bases=(Report,), kw_only=True)
    assert issubclass(made, Report)
    return made


def compute_report(
    study: Study, progress: Callable[[int, int], None] = lambda done, total: None
) -> Report:
    """Compute all sections of a study.

    Args:
      study: to report on.
      progress: called with the number of finished sections, and of all.
    """
    modules = {**load_sections(), **load_appendix()}
    found = {}
    for done, (name, module) in enumerate(modules.items()):
        progress(done, len(modules))
        found[name] = study.find_result(module.compute)
    progress(len(modules), len(modules))
    return define_report()(**found)


def render_page(report: Report) -> str:
    """Return the main page, which has no script and loads nothing from elsewhere."""
    return _render(report, load_sections(), "main", (("Appendix", APPENDIX),))


def render_appendix(report: Report) -> str:
    """Return the appendix."""
    return _render(report, load_appendix(), "appendix", (("Report", PAGE),))


def _render(
    report: Report, modules: dict[str, ModuleType], kind: str, others: tuple[tuple[str, str], ...]
) -> str:
    nav, content = [], [html(_APPENDIX, report.conclusion.suite)] if kind == "appendix" else []
    for name, module in modules.items():
        result = getattr(report, name)
        if result is None:
            continue
        body = module.render(result, report)
        if not body:
            continue
        title = find_title(module, report)
        heading = html("<h2>{}</h2>", title) if title else ""
        content.append(html('<section id="{}">{}{}</section>\n', name, heading, body))
        if module.NAV:
            nav.append(html('<a href="#{}">{}</a>', name, module.NAV))
    nav += [html('<a href="{}">{}</a>', address, text) for text, address in others]
    style = Markup((files("sts_analysis.report") / "document.css").read_text("utf-8"))
    return str(
        html(
            _PAGE,
            policy=_POLICY,
            suite=report.conclusion.suite,
            part=" appendix" if kind == "appendix" else "",
            style=style,
            kind=kind,
            nav=join(nav),
            content=join(content),
        )
    )
