"""`--where`: a filter of candidate steps, a condition on the table of steps.

A filter is an SQL expression over the columns of `sts.trajectories.steps`, true or false of the
takeover step and the player that a scenario would evaluate. Its words are checked
against the lists below before Polars parses it: Polars itself would open a file that a subquery
names.
"""

import functools
import re
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.errors import ArgumentError, MissingExtra
from sts.names import is_one_line, quote
from sts.trajectories import steps
from sts.trajectories.trajectory import Trajectory
from sts_scenarios.rules.category import Candidate, Category

KEYWORDS = frozenset(
    "and or not is null in between like ilike true false case when then else end".split()
)
FUNCTIONS = frozenset("abs ceil coalesce floor greatest least length lower mod round upper".split())
_CALLS = ", ".join(sorted(FUNCTIONS))
MAX_CHARS = 1000
"""Maximum length of a filter, in characters."""
MAX_DEPTH = 20
"""Maximum depth of nested parentheses."""
MAX_ERROR_CHARS = 300
"""Maximum length of an error message of Polars, in characters."""
_CALLED = re.compile(r"\s*\((?P<nothing>\s*\))?", re.ASCII)
_TOKEN = re.compile(
    r"""\s+|(?P<text>'(?:[^']|'')*')|(?P<name>[A-Za-z_]\w*|"[^"]*")|\d+(?:\.\d+)?|<>|!=|<=|>=|\|\|"""
    r"""|(?P<mark>[+*%=<>(),]|-(?!-)|/(?![*/]))""",
    re.ASCII,
)


def check_filter(text: str, trajectory: Trajectory) -> dict[str, int]:
    """Check a filter on any trajectory of a domain and return the versions of the columns.

    Raises:
      ArgumentError: the filter has no column or an unknown one, has disallowed parts, or is not
        Boolean; lists the columns.
      MissingExtra: Polars is not installed.
    """
    _import_polars()
    columns, versions = steps.list_columns(trajectory)
    try:
        words = _column_names(text)
        for word in words:
            if word not in columns:
                raise ValueError(f"{word} is not a column")
        if not words:
            raise ValueError("it uses no column")
        _evaluate(text, trajectory)
    except ValueError as error:
        raise ArgumentError(
            f"--where {quote(text)}: {error}; columns are {', '.join(columns)}"
        ) from None
    return versions


def evaluate_filter(text: str, trajectory: Trajectory) -> NDArray[np.bool_]:
    """Return bool[P, T], True where the condition is true; unknown counts as False."""
    try:
        return _evaluate(text, trajectory)
    except ValueError as error:
        raise ArgumentError(
            f"--where {quote(text)} in trajectory {trajectory.id}: {error}"
        ) from None


def restrict_to_filter(category: Category, text: str) -> Category:
    """Return the category restricted to candidates at steps where a filter holds."""

    def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
        possible = list(category.candidates(trajectory, context, horizon))
        if possible:
            mask = evaluate_filter(text, trajectory)
            yield from (c for c in possible if mask[c.player, c.step])

    return replace(category, candidates=candidates, prefilter=None)


def _column_names(text: str) -> tuple[str, ...]:
    """Return the distinct names in a filter that must be columns."""
    if not text.strip() or not is_one_line(text, MAX_CHARS):
        raise ValueError(f"expected one line of 1 to {MAX_CHARS} printable characters")
    names: dict[str, None] = {}
    at = depth = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"{quote(text[at])} is not allowed in a filter")
        at = match.end()
        depth += {"(": 1, ")": -1}.get(match["mark"] or "", 0)
        if not 0 <= depth <= MAX_DEPTH:
            raise ValueError(f"expected balanced parentheses, nested at most {MAX_DEPTH} deep")
        if (name := match["name"]) is None:
            continue
        called = _CALLED.match(text, at)
        if name.lower() in KEYWORDS:
            continue
        if not called:
            names[name.strip('"')] = None
        elif name.lower() not in FUNCTIONS:
            raise ValueError(f"{name} is not allowed as a function; expected one of {_CALLS}")
        elif called["nothing"]:  # some make Polars panic
            raise ValueError(f"{name} is called without an argument")
    return tuple(names)


@functools.lru_cache(maxsize=1)
def _evaluate(text: str, trajectory: Trajectory) -> NDArray[np.bool_]:
    """Return where a filter holds; the last result is cached for the next category."""
    pl: Any = _import_polars()
    columns = steps.make_step_table(trajectory, _column_names(text))
    rows = trajectory.episode.n_players * trajectory.episode.steps
    try:
        frame = pl.DataFrame([_series(pl, name, values) for name, values in columns.items()])
        expression = pl.sql_expr(f"({text})")  # in parentheses, an alias is a syntax error
        (column,) = frame.select(expression).get_columns()
    except (Exception, pl.exceptions.PanicException) as error:
        raise ValueError(
            textwrap.shorten(str(error), MAX_ERROR_CHARS, placeholder=" ...")
        ) from None
    if column.dtype != pl.Boolean or len(column) != rows:
        raise ValueError(f"expected a Boolean for each step, found {column.dtype}")
    mask: NDArray[np.bool_] = (
        column.fill_null(False).to_numpy().reshape(-1, trajectory.episode.steps)
    )
    return mask


def _series(pl: Any, name: str, values: NDArray[Any]) -> Any:
    if values.dtype.kind in "biuf":
        return pl.Series(name, values, nan_to_null=True)
    return pl.Series(name, values.tolist(), dtype=pl.String)


def _import_polars() -> Any:
    """Import Polars."""
    try:
        import polars
    except ImportError:
        raise MissingExtra(
            "--where needs polars, which is not installed: "
            "pip install 'standardised-test-suite[filter]'"
        ) from None
    return polars
