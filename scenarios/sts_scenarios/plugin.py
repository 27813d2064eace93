"""Names that categories of other packages may use, next to `sts.plugin`.

The names are those of the stub `plugin.pyi`; each is imported when it is first used.

`docs/plugins.md` lists the names with what they are for.
"""

from sts.lazy import export_stub

HOMES, __getattr__, __dir__ = export_stub(__name__, __file__)
__all__ = tuple(HOMES)  # noqa: PLE0605
