"""The kinds of categories of Λ*: a question, something to do, and one of two things to do.

A category says where it can be asked (`find`), why it cannot at a takeover (`fault`), and what is
true (`truth`) or done (`rule`); the rest is the same for all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from sts.episodes import Episode
from sts.suites.types import Scenario
from sts_scenarios.category import Category, Controls, Hits, Label, Rubric, Word

from .abreast import MomentBatch, TrackBatch
from .playing import STAY, History, MovePolicy, make_mover
from .screening import (
    Confirm,
    Find,
    Kinds,
    LabelRule,
    TemplateFields,
    build_search,
    make_confirm,
    make_hits,
)
from .tracks import DOMAIN, Track, label_answer, make_track, number_word, track_until_takeover

Validator = Callable[[Track, Scenario], str | None]
"""Of a track as far as the takeover: says in a few words why it cannot be asked; else None."""


def build_question(
    name: str,
    wordings: tuple[str, ...],
    find: Find,
    truth: Callable[[Track], str],
    *,
    fault: Validator | None = None,
    rubric: Rubric,
    controls: Controls | None,
    superseded: bool = False,
) -> Category:
    """Return a category that asks for a word; `truth` is what is true at the end of a track."""

    def fits(scenario: Scenario) -> str | None:
        """Say why there is no such answer at takeover."""
        own = track_until_takeover(scenario)
        if fault is not None and (why := fault(own, scenario)) is not None:
            return why
        answer = truth(own)
        return None if scenario.parameters["answer"] == answer else f"the answer is {answer}"

    moments = build_search(find)
    return Category(
        name=name,
        kind="question",
        domain=DOMAIN,
        horizon=5,
        wordings=wordings,
        candidates=moments.candidates,
        screen=moments.screen,
        label=label_answer,
        fits=fits,
        rubric=rubric,
        controls=controls,
        superseded=superseded,
    )


class StepCount(NamedTuple):
    """A number of steps, for which or within which something is asked.

    Attributes:
      asked: so many.
      least: what could be asked for instead, at least; at most it is ten.
      spare: how many more there are to be after the takeover.
    """

    asked: int
    least: int = 2
    spare: int = 0

    @property
    def kinds(self) -> Kinds:
        """Requests for nothing but the number of steps."""
        return (("", {"steps": self.asked}),)

    def words(self, episode: Episode, role: int, parameters: Mapping[str, Any]) -> dict[str, Word]:
        """Return the number of steps as wordings have it."""
        return {"steps": number_word(parameters["steps"], range(self.least, 11))}

    def fault(self, scenario: Scenario) -> str | None:
        """Say why there are too few steps."""
        if scenario.parameters["steps"] + self.spare <= scenario.horizon:
            return None
        few = "no more" if self.spare else "fewer"
        return f"there are {few} steps than are asked for"


def build_instruction(
    name: str,
    wordings: tuple[str, ...],
    find: Find,
    rule: LabelRule,
    fault: Validator,
    *,
    horizon: int,
    rubric: Rubric,
    controls: Controls,
    steps: StepCount | None = None,
    words: TemplateFields | None = None,
    confirm: Confirm | None = None,
    partner: str = "no-op",
) -> Category:
    """Return a category that asks for something to be done.

    If it asks for a number of `steps`, they fill its wordings unless `words` is given.
    """
    fill = words or (steps.words if steps else None)

    def fits(scenario: Scenario) -> str | None:
        """Say why it cannot be asked at takeover."""
        few = steps.fault(scenario) if steps else None
        return few or fault(track_until_takeover(scenario), scenario)

    def label(
        episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
    ) -> Label:
        """Return the rule's label of what was done from the takeover on."""
        return rule(make_track(episode, roles[0], slice(takeover, None)), parameters)

    def filled(scenario: Scenario) -> dict[str, Word]:
        """Return what the text must say, and what would say something else."""
        assert fill is not None
        return fill(scenario.recording, scenario.roles[0], scenario.parameters)

    moments = build_search(find, fill, confirm)
    return Category(
        name=name,
        kind="instruction",
        domain=DOMAIN,
        horizon=horizon,
        wordings=wordings,
        candidates=moments.candidates,
        screen=moments.screen,
        label=label,
        fits=fits,
        words=filled if fill else None,
        partner=partner,
        rubric=rubric,
        controls=controls,
    )


class PairOption(NamedTuple):
    """One of two things that can be asked for.

    Attributes:
      text: what fills the wordings, as `deed`.
      rule: of it.
      policy: does it by what was seen.
      parameters: what its rule needs to know.
    """

    text: str
    rule: LabelRule
    policy: MovePolicy
    parameters: Mapping[str, Any]


def build_pair(
    name: str,
    wordings: tuple[str, ...],
    find: Callable[[TrackBatch, int, int], tuple[MomentBatch, Any]],
    deeds: Mapping[str, PairOption],
    fault: Validator,
    *,
    horizon: int,
    rubric: Rubric,
    shortcut: MovePolicy,
) -> Category:
    """Return a category of pairs: of two things to do each can be asked for at the same moment.

    Only who listens does both. `find` says where, and how difficult the first of them is.
    """

    def halves(every: TrackBatch, context: int, horizon: int) -> Hits:
        spots, difficulty = find(every, context, horizon)
        twice = MomentBatch(every, np.tile(spots.track, 2), np.tile(spots.moment, 2), horizon)
        kinds = [(asked, {"asked": asked, **one.parameters}) for asked, one in deeds.items()]
        return make_hits(twice, np.tile(difficulty, 2), kinds, np.repeat((0, 1), len(spots.track)))

    checks = [make_confirm(one.policy, one.rule, one.parameters) for one in deeds.values()]

    def both(own: Track, moment: int, context: int, horizon: int) -> Label | None:
        labels = [check(own, moment, context, horizon) for check in checks]
        return labels[0] if all(labels) else None

    def words(episode: Episode, role: int, parameters: Mapping[str, Any]) -> dict[str, Word]:
        asked = parameters["asked"]
        others = tuple(one.text for other, one in deeds.items() if other != asked)
        return {"deed": Word(deeds[asked].text, others)}

    def listening(seen: History) -> int:
        """Return what does as it is told, and stands still where it is told neither."""
        told = (one.policy for one in deeds.values() if one.text in seen.told.lower())
        return next(told, lambda seen: STAY)(seen)

    return build_instruction(
        name,
        wordings,
        halves,
        lambda own, parameters: deeds[parameters["asked"]].rule(own, parameters),
        fault,
        horizon=horizon,
        rubric=rubric,
        controls=Controls(
            probe=make_mover(listening), shortcut=make_mover(shortcut), against_reward=True
        ),
        words=words,
        confirm=both,
    )
