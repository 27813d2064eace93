"""The report: its schema, what builds it, and the page, figures and tables made of it.

The package can be called: `sts_analysis.report(table)` calls `sts_analysis.report.notebook.report`.
"""

from __future__ import annotations

import sys
import types
from typing import Any


class _Callable(types.ModuleType):
    """A package that has the name of a function, and is one too."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        from sts_analysis.report.notebook import report

        return report(*arguments, **options)


sys.modules[__name__].__class__ = _Callable
