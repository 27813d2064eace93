"""What is looked at in a whole workspace, by whoever keeps files in one: `sts workspace check`.

A check is a function of a workspace that returns `Checked`, and an entry point of the group
`sts.checks`. It changes nothing, and says of everything that is wrong in a line what and where.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from sts.errors import StsError
from sts.storage.workspace import Workspace

GROUP = "sts.checks"


class Checked(NamedTuple):
    """What a check has found.

    Attributes:
      counts: how many it has looked at, by what they are, such as {"parts": 3, "rows": 900}.
      findings: a line each, none where nothing is wrong.
    """

    counts: Mapping[str, int]
    findings: tuple[str, ...]


Check = Callable[[Workspace], Checked]


class Findings(list[str]):
    """Lines about what is wrong."""

    @contextmanager
    def of(self, what: str | Path) -> Iterator[None]:
        """Take down whatever the block finds that cannot be read, or is not what it should be."""
        try:
            yield
        except StsError as error:
            self.append(" ".join(str(error.about(str(what))).split()))
        except OSError as error:
            self.append(f"{what}: {error.strerror or error}")


def folders(parent: Path) -> list[Path]:
    """Return the folders in a folder, in order of name; none where there is no such folder."""
    return sorted(
        path for path in parent.glob("*") if path.is_dir() and not path.name.startswith(".")
    )
