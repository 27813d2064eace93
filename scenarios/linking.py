"""Candidates of a draft that belong together: made a pair or a dialogue, and taken apart again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sts.errors import ArgumentError
from sts.names import shown
from sts.suites.lint import misfit_pair, misfit_series
from sts.suites.types import Scenario


def paired(halves: Sequence[Scenario]) -> list[Scenario]:
    """Returns two scenarios as the halves of one pair.

    Raises:
      ArgumentError: they are no two instructions at one takeover, or one has another half already.
    """
    taken = [one for one in halves if one.pair]
    if taken:
        raise ArgumentError(
            f"{taken[0].id} is half of the pair {shown(taken[0].pair)} already: take that apart "
            "first, by its id alone"
        )
    name = "+".join(sorted(one.id for one in halves))
    made = [replace(one, pair=name) for one in halves]
    if (fault := misfit_pair(made)) is not None:
        raise ArgumentError(fault)
    return made


def serial(turns: Sequence[Scenario]) -> list[Scenario]:
    """Returns scenarios as the turns of one dialogue, in this order.

    Raises:
      ArgumentError: they do not follow each other in one recording, or one is a turn already.
    """
    taken = [one for one in turns if one.series]
    if taken:
        raise ArgumentError(
            f"{taken[0].id} is a turn of the dialogue {shown(taken[0].series)} already: take that "
            "apart first, by its id alone"
        )
    name = f"from {turns[0].id}"
    made = [replace(one, series=name, turn=number) for number, one in enumerate(turns, 1)]
    if (fault := misfit_series(made)) is not None:
        raise ArgumentError(fault)
    return made


def apart(one: Scenario, link: str) -> Scenario:
    """Returns a scenario that belongs to no "pair", or to no "series"."""
    return replace(one, pair="") if link == "pair" else replace(one, series="", turn=0)
