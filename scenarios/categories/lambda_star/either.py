"""Two things that can be asked at one moment, so that only who listens does both: a pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from scenarios.category import Candidate, Label, Word
from sts.episodes import Episode
from sts.suites.types import Scenario

from .playing import STAY, Moving, Past, imagined
from .tracks import Track

Rule = Callable[[Episode, int, tuple[int, ...], dict[str, Any]], Label]


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


def both(
    deeds: Mapping[str, Deed],
    episode: Episode,
    track: Track,
    moment: int,
    lengths: tuple[int, int],
    difficulty: str,
) -> Iterator[Candidate]:
    """Yields the two halves of a pair; nothing unless each policy does its own.

    Args:
      deeds: two, by name.
      episode: that is asked about.
      track: who is asked.
      moment: of the takeover.
      lengths: of context and continuation.
      difficulty: of both.
    """
    context, horizon = lengths
    for one in deeds.values():
        what = imagined(episode, track, moment, context, horizon, one.policy, "no-op")
        if one.label(what, 0, (track.role,), dict(one.parameters)).verdict != "success":
            return
    for name, one in deeds.items():
        asked = {"asked": name, **one.parameters}
        yield Candidate(
            moment, track.role, difficulty, asked, {"deed": one.text}, name, pair="either"
        )


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
