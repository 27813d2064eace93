"""Names that agents, environments, formats, executors and commands of other packages may use.

The names are those of the stub `plugin.pyi`; each is imported when it is first used. All other
modules of this package are internal and may change without notice. `docs/plugins.md` lists the
names with what they are for.
"""

from sts.lazy import export_stub

HOMES, __getattr__, __dir__ = export_stub(__name__, __file__)
__all__ = tuple(HOMES)  # noqa: PLE0605
