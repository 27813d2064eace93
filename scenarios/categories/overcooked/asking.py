"""What a cook can be asked beside a recorded person, and only where it can be done.

A category proposes what it could ask at a moment of a recording. What it does ask is tried first:
its probe, which sees what a cook sees, is to do it within the horizon beside the recorded person,
and its shortcut is not. Difficulty is by how many of the steps the probe needs: to a third easy, to
two thirds medium, else hard.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scenarios.category import Candidate, Category, Controls, Label, Rubric, Word
from sts.episodes import Episode
from sts.storage.files import canonical_json
from sts.suites.types import DIFFICULTIES, Scenario
from sts.trajectories.types import Trajectory
from sts.worlds.overcooked.basics import HATS

from .moments import CONTEXT, DOMAIN, PARTNER, Moment, names, timeline
from .playing import Playing, Policy, attempted

APART = 20
"""Steps from one moment that is tried to the next."""
KEPT = 4096
"""Attempts that are remembered: the two halves of a pair are looked for twice."""


class Asked(NamedTuple):
    """Where something could be asked.

    Attributes:
      line: the moments of the recording.
      moves: int[T, 2] of it.
      moment: the takeover.
      role: who would be asked.
      horizon: L.
    """

    line: Sequence[Moment]
    moves: Any
    moment: int
    role: int
    horizon: int

    @property
    def now(self) -> Moment:
        """The takeover."""
        return self.line[self.moment]

    @property
    def ahead(self) -> Sequence[Moment]:
        """What was recorded after the takeover, as far as the horizon."""
        return self.line[self.moment + 1 : self.moment + self.horizon + 1]


class Proposal(NamedTuple):
    """What could be asked.

    Attributes:
      parameters: what the rule needs to know.
      words: what fills the wordings beside the two hats.
      answer: what a suite should hold equally often of.
    """

    parameters: dict[str, Any]
    words: dict[str, str]
    answer: str = ""


Propose = Callable[[Asked], Iterator[tuple[Proposal, ...]]]
"""Yields what could be asked there; two together are a pair."""
Rule = Callable[[Sequence[Moment], int, Mapping[str, Any]], Label]
"""Of the moments from the takeover on, the judged cook and a candidate's parameters."""
NOT_DONE = Label("not_done", None)


class Deed(NamedTuple):
    """What a category asks for and how it is held to it.

    Attributes:
      propose: says what could be asked.
      rule: says whether it was done.
      probe: does it by what was seen.
      shortcut: would pass without doing what is asked.
    """

    propose: Propose
    rule: Rule
    probe: Policy
    shortcut: Policy


def category(
    name: str, wordings: tuple[str, ...], deed: Deed, *, horizon: int, rubric: Rubric
) -> Category:
    """Returns the category that asks a cook for a deed beside the recorded person.

    Args:
      name: of it.
      wordings: of it.
      deed: what it asks for.
      horizon: L.
      rubric: of it.
    """

    def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
        """Yields what is asked, at moments some steps apart."""
        episode = trajectory.episode
        line = timeline(episode)
        for role in range(len(HATS)):
            moment = context
            while moment + horizon < len(line):
                every = list(deed.propose(Asked(line, episode.moves, moment, role, horizon)))
                if every:
                    asked = every[moment % len(every)]
                    told = canonical_json([(one.words, one.parameters) for one in asked])
                    lengths = (context, horizon)
                    if (hard := _difficulty(episode, moment, role, lengths, told)) is not None:
                        yield from _offered(moment, role, hard, asked)
                moment += APART if every else 1

    @functools.lru_cache(maxsize=KEPT)
    def _difficulty(
        episode: Episode, moment: int, role: int, lengths: tuple[int, int], asked: bytes
    ) -> str | None:
        """Returns how hard it is; None unless the probe does all of it and the shortcut not."""
        line, own = timeline(episode), json.loads(asked)

        def labels(policy: Policy) -> Iterator[Label]:
            for words, parameters in own:
                text = wordings[0].format(**words, **names(role))
                what = attempted(episode, line, moment, lengths, role, text, policy)
                yield _decided(what, deed.rule, role, parameters)

        def done(policy: Policy) -> bool:
            return all(one.verdict == "success" for one in labels(policy))

        if not done(deed.probe) or done(deed.shortcut):
            return None
        needed = max(one.step or lengths[1] for one in labels(deed.probe))
        return DIFFICULTIES[min(3 * (needed - 1) // lengths[1], 2)]

    def _proposed(scenario: Scenario) -> list[Proposal]:
        line, moves = timeline(scenario.recording), scenario.recording.moves
        place = Asked(line, moves, scenario.takeover, scenario.roles[0], scenario.horizon)
        return [one for asked in deed.propose(place) for one in asked]

    def fits(scenario: Scenario) -> str | None:
        """Says why it cannot be asked at takeover."""
        if scenario.partner != PARTNER:
            return "only of the recorded person is it known what they will do"
        if any(one.parameters == scenario.parameters for one in _proposed(scenario)):
            return None
        return "what it speaks of is not so at this moment, or cannot be asked for"

    def words(scenario: Scenario) -> Mapping[str, Word]:
        """Returns what the text must say, and what would say something else."""
        every = _proposed(scenario)
        own = next(one.words for one in every if one.parameters == scenario.parameters)
        others = {text for one in every for text in one.words.values()} - set(own.values())
        out = {field: Word(text, tuple(sorted(others))) for field, text in own.items()}
        return out | {"other": Word(names(scenario.roles[0])["other"])}

    def label(
        episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
    ) -> Label:
        """The rule's word on what was done from the takeover on."""
        return deed.rule(timeline(episode)[takeover:], roles[0], parameters)

    return Category(
        name=name,
        kind="instruction",
        domain=DOMAIN,
        horizon=horizon,
        wordings=wordings,
        candidates=candidates,
        label=label,
        fits=fits,
        context=CONTEXT,
        partner=PARTNER,
        words=words,
        rubric=rubric,
        controls=Controls(
            probe=Playing(deed.probe), shortcut=Playing(deed.shortcut), against_reward=True
        ),
    )


def _offered(
    moment: int, role: int, difficulty: str, asked: Sequence[Proposal]
) -> Iterator[Candidate]:
    pair = "either" if len(asked) == 2 else ""
    for one in asked:
        words = one.words | names(role)
        yield Candidate(moment, role, difficulty, one.parameters, words, one.answer, pair=pair)


def _decided(
    moments: Iterator[Moment], rule: Rule, role: int, parameters: Mapping[str, Any]
) -> Label:
    """Returns the label of an attempt, which ends once it is decided."""
    line, label = [], NOT_DONE
    for one in moments:
        line.append(one)
        label = rule(line, role, parameters)
        if label.verdict != "not_done":
            break
    return label


def first(
    line: Sequence[Moment], role: int, deeds: Sequence[str]
) -> tuple[int, str, tuple[int, int]] | None:
    """Returns when a cook first did one of some deeds, which, and where; None for never."""
    return next(
        (
            (n, deed, place)
            for n, one in enumerate(line)
            if n
            for who, deed, place in one.events
            if who == role and deed in deeds
        ),
        None,
    )


def decided(step: int, right: bool) -> Label:
    """Returns the label of what is decided at a step."""
    return Label("success" if right else "failure", step)
