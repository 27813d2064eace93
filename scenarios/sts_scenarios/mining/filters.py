"""`--where`: moments chosen by a condition over the table of steps, `sts.trajectories.steps`.

A filter is an SQL expression. Its words are held to what is listed here before Polars reads them:
Polars itself would open a file that a subquery names.
"""

from __future__ import annotations

import functools
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.errors import ArgumentError, MissingExtra
from sts.names import one_line, shown
from sts.trajectories import steps
from sts.trajectories.types import Trajectory
from sts_scenarios.category import Candidate, Category

KEYWORDS = frozenset(
    "and or not is null in between like ilike true false case when then else end".split()
)
FUNCTIONS = frozenset("abs ceil coalesce floor greatest least length lower mod round upper".split())
_CALLS = ", ".join(sorted(FUNCTIONS))
LETTERS = 1000
"""Of a filter."""
DEPTH = 20
"""How many parentheses may be open at once."""
SAID = 300
"""Letters of what Polars says of a filter, at most."""
_CALLED = re.compile(r"\s*\((?P<nothing>\s*\))?", re.ASCII)
_TOKEN = re.compile(
    r"""\s+|(?P<text>'(?:[^']|'')*')|(?P<name>[A-Za-z_]\w*|"[^"]*")|\d+(?:\.\d+)?|<>|!=|<=|>=|\|\|"""
    r"""|(?P<mark>[+*%=<>(),]|-(?!-)|/(?![*/]))""",
    re.ASCII,
)


@dataclass(frozen=True)
class Filter:
    """A condition on the step at which a scenario would begin, of whom it would ask.

    Attributes:
      text: an SQL expression that is true or false of one row of the table of steps.
    """

    text: str

    def check(self, trajectory: Trajectory) -> dict[str, int]:
        """Return the versions of the columns that there are.

        Args:
          trajectory: any one of the domain that is to be mined.

        Raises:
          ArgumentError: the filter names no column, or what is none, holds what is in no filter, or
            is not true or false; says which columns there are.
          MissingExtra: Polars is not installed.
        """
        _polars()
        columns, versions = steps.named(trajectory)
        try:
            words = _words(self.text)
            for word in words:
                if word not in columns:
                    raise ValueError(f"{word} is no column")
            if not words:
                raise ValueError("it names no column")
            _held(self.text, trajectory)
        except ValueError as error:
            raise ArgumentError(
                f"--where {shown(self.text)}: {error}; the columns are {', '.join(columns)}"
            ) from None
        return versions

    def holds(self, trajectory: Trajectory) -> NDArray[np.bool_]:
        """Return bool[P, T], where it is true; what is unknown is not."""
        try:
            return _held(self.text, trajectory)
        except ValueError as error:
            raise ArgumentError(
                f"--where {shown(self.text)} in trajectory {trajectory.id}: {error}"
            ) from None

    def within(self, category: Category) -> Category:
        """Return a category that asks at fewer moments: those where the filter holds."""

        def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
            every = list(category.candidates(trajectory, context, horizon))
            if every:
                where = self.holds(trajectory)
                yield from (one for one in every if where[one.role, one.moment])

        return replace(category, candidates=candidates, screen=None)


def _words(text: str) -> tuple[str, ...]:
    """Return the names in a filter that must be columns, each once."""
    if not text.strip() or not one_line(text, LETTERS):
        raise ValueError(f"expected one line of 1 to {LETTERS} letters that print")
    names: dict[str, None] = {}
    at = depth = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"there is no {shown(text[at])} in a filter")
        at = match.end()
        depth += {"(": 1, ")": -1}.get(match["mark"] or "", 0)
        if not 0 <= depth <= DEPTH:
            raise ValueError(f"expected pairs of parentheses, at most {DEPTH} in one another")
        if (name := match["name"]) is None:
            continue
        called = _CALLED.match(text, at)
        if name.lower() in KEYWORDS:
            continue
        if not called:
            names[name.strip('"')] = None
        elif name.lower() not in FUNCTIONS:
            raise ValueError(f"{name} is no function of a filter, which are {_CALLS}")
        elif called["nothing"]:  # Polars panics at some
            raise ValueError(f"{name} is given nothing")
    return tuple(names)


@functools.lru_cache(maxsize=1)
def _held(text: str, trajectory: Trajectory) -> NDArray[np.bool_]:
    """Return where a filter holds; remembered for the next category that asks at the same."""
    pl: Any = _polars()
    columns = steps.table(trajectory, _words(text))
    rows = trajectory.episode.participants * trajectory.episode.steps
    try:
        frame = pl.DataFrame([_series(pl, name, one) for name, one in columns.items()])
        (column,) = frame.select(
            pl.sql_expr(f"({text})")
        ).get_columns()  # so it gives no other name
    except (Exception, pl.exceptions.PanicException) as error:
        raise ValueError(textwrap.shorten(str(error), SAID, placeholder=" ...")) from None
    if column.dtype != pl.Boolean or len(column) != rows:
        raise ValueError(f"expected what is true or false of each step, found {column.dtype}")
    held: NDArray[np.bool_] = (
        column.fill_null(False).to_numpy().reshape(-1, trajectory.episode.steps)
    )
    return held


def _series(pl: Any, name: str, values: NDArray[Any]) -> Any:
    if values.dtype.kind in "biuf":
        return pl.Series(name, values, nan_to_null=True)
    return pl.Series(name, values.tolist(), dtype=pl.String)


def _polars() -> Any:
    """Return the library."""
    try:
        import polars
    except ImportError:
        raise MissingExtra(
            "--where needs polars, which is not installed: "
            "pip install 'standardised-test-suite[filter]'"
        ) from None
    return polars
