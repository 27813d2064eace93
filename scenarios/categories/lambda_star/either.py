"""Two things that can be asked at one moment, so that only who listens does both: a pair."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from scenarios.category import Hits, Label, Word
from sts.episodes import Episode
from sts.suites.types import Scenario

from .abreast import Spots
from .playing import STAY, Moving, Past
from .screening import Confirm, Fill, Rule, attempt, hits
from .tracks import Track


class Deed(NamedTuple):
    """What is asked for.

    Attributes:
      text: what fills the wordings, as `deed`.
      label: its rule.
      policy: does it by what was seen.
      parameters: what its rule needs to know.
    """

    text: str
    label: Rule
    policy: Moving
    parameters: Mapping[str, Any]


def pairs(spots: Spots, difficulty: Any, deeds: Mapping[str, Deed]) -> Hits:
    """Return both halves of a pair at each of some moments."""
    twice = Spots(spots.every, np.tile(spots.track, 2), np.tile(spots.moment, 2), spots.horizon)
    kinds = [(name, {"asked": name, **one.parameters}) for name, one in deeds.items()]
    return hits(twice, np.tile(difficulty, 2), kinds, np.repeat((0, 1), len(spots.track)))


def does_both(deeds: Mapping[str, Deed]) -> Confirm:
    """Return the check that each policy does its own; the label is that of the first."""
    checks = [attempt(one.policy, one.label, one.parameters) for one in deeds.values()]

    def confirm(
        episode: Episode, track: Track, moment: int, context: int, horizon: int
    ) -> Label | None:
        labels = [check(episode, track, moment, context, horizon) for check in checks]
        return labels[0] if all(labels) else None

    return confirm


def fill_deed(deeds: Mapping[str, Deed]) -> Fill:
    """Return what fills the wordings with what is asked for."""

    def fill(episode: Episode, parameters: Mapping[str, Any]) -> dict[str, str]:
        return {"deed": deeds[parameters["asked"]].text}

    return fill


def label_of(deeds: Mapping[str, Deed]) -> Rule:
    """Returns the rule of whichever is asked for."""

    def label(
        episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
    ) -> Label:
        return deeds[parameters["asked"]].label(episode, takeover, roles, parameters)

    return label


def words_of(deeds: Mapping[str, Deed]) -> Callable[[Scenario], dict[str, Word]]:
    """Returns what tells the one that is asked for from the other."""

    def words(scenario: Scenario) -> dict[str, Word]:
        asked = scenario.parameters["asked"]
        others = tuple(one.text for name, one in deeds.items() if name != asked)
        return {"deed": Word(deeds[asked].text, others)}

    return words


def listening(deeds: Mapping[str, Deed]) -> Moving:
    """Returns the policy that does what it is told, and stands still where it is told neither."""

    def policy(seen: Past) -> int:
        told = (one.policy for one in deeds.values() if one.text in seen.told.lower())
        return next(told, lambda seen: STAY)(seen)

    return policy
