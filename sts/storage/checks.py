"""The interface of workspace checks, which `sts workspace check` runs.

A check is an entry point of the group `sts.checks`: a function of a workspace that returns
`CheckResult`. It only reads, and reports every problem as one line that names the place.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from sts.errors import StsError
from sts.storage.workspace import Workspace

GROUP = "sts.checks"


class CheckResult(NamedTuple):
    """The result of a check.

    Attributes:
      counts: the number of checked items by kind, such as {"parts": 3, "rows": 900}.
      findings: one line per problem.
    """

    counts: Mapping[str, int]
    findings: tuple[str, ...]


Check = Callable[[Workspace], CheckResult]


class Findings(list[str]):
    """A list of problems, one line each."""

    @contextmanager
    def collect(self, what: str | Path) -> Iterator[None]:
        """Open a context that appends an StsError or OSError as a line that starts with `what`."""
        try:
            yield
        except StsError as error:
            self.append(" ".join(str(error.with_prefix(str(what))).split()))
        except OSError as error:
            self.append(f"{what}: {error.strerror or error}")


def list_folders(parent: Path) -> list[Path]:
    """List the visible folders in a folder by name; return [] if it does not exist."""
    return sorted(
        path for path in parent.glob("*") if path.is_dir() and not path.name.startswith(".")
    )
