"""Names that agents, environments, formats, executors and commands of other packages may use.

The names are those of the stub `plugin.pyi`; each is imported when it is first used. All other
modules of this package are internal and may change without notice. `docs/plugins.md` lists the
names with what they are for.
"""

from typing import Any

from sts.lazy import load_name, read_stub

HOMES = read_stub(__file__)
__all__ = tuple(HOMES)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    value = load_name(__name__, name, HOMES)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *HOMES})
