"""The page about the names of `sts.plugin`: `python -m tests.plugins.page docs/plugins.md`."""

from __future__ import annotations

import inspect
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

MODULES = {
    "sts.plugin": "agents, environments, formats, executors and commands",
    "sts_scenarios.plugin": "categories",
    "sts_analysis.plugin": "metrics, classes of environments and sections of the report",
}
HEAD = """# Names for plug-ins

An agent, environment, category, metric, format, executor or section of the report in a package of your own may use `import sts` ([Python](python.md)) and the names on this page. All other modules are internal and may change without notice. The packaged environments use nothing else.

```python
from sts.plugin import Agent, PolicyOutput
```

A package registers what it brings by [entry points](worlds.md#package-your-environment).
"""  # noqa: E501


def describe(name: str, value: Any) -> str:
    """Return the first sentence of a name's docstring."""
    text = CONSTANTS.get(name) or inspect.getdoc(value) or ""
    return " ".join(text.partition("\n\n")[0].split())


CONSTANTS = {
    "DIFFICULTIES": "The difficulties of scenarios, from easy to hard.",
    "Draws": "Random numbers for an agent's own planning, float64[B, R, draws] in [0, 1).",
    "Memory": "The recurrent state of a team: arrays by name, whose first axis is the episode.",
    "NOT_DONE": "The label of a continuation without success or failure.",
    "Tone": "The meaning of a colour in a sketch.",
}
"""Descriptions of names without a docstring of their own."""


def write_page() -> str:
    """Return the page."""
    lines = [HEAD]
    for module, purpose in MODULES.items():
        lines.append(f"## `{module}`\n\nFor {purpose}.\n")
        loaded = import_module(module)
        stub = Path(str(loaded.__file__)).with_suffix(".pyi").read_text()
        for subject, imports in re.findall(r"^# ([A-Z].*)\n((?:.+\n)+)", stub, re.M):
            lines.append(f"### {subject}\n\n| name | meaning |\n|---|---|")
            for name in re.findall(r" as _?(\w+)$", imports, re.M):
                text = describe(name, getattr(loaded, name))
                lines.append(f"| `{name}` | {text.replace('|', chr(92) + '|')} |")
            lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(write_page())
