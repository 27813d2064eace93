"""What can be asked of an open level in hindsight, and only where it can be done by what was seen.

A category proposes what it could ask at a moment. What it does ask is tried first: its probe, which
sees what a participant sees, is to do it within the horizon, and its shortcut is not. Difficulty is
by how many of the steps the probe needs: to a third easy, to two thirds medium, else hard.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from scenarios.category import Candidate, Category, Controls, Label, Rubric, Word
from scenarios.replayed import environments
from sts.episodes import Episode
from sts.storage.files import canonical_json, content_hash
from sts.suites.types import DIFFICULTIES, Scenario
from sts.trajectories.types import Trajectory

from .playing import Begun, Playing, Policy, attempted
from .rooms import DOMAIN, Frame, Rule, labelled, timeline

if TYPE_CHECKING:
    from sts.worlds.babyai.environment import BabyAI

CONTEXT, EVERY = 12, 6
KEPT = 1024
"""Attempts that are remembered: the two halves of a pair are looked for twice."""
TRIES, MOST = 2, 2
"""Of what could be asked at a moment so many are tried, and so many moments of an episode asked."""


class Proposal(NamedTuple):
    """What could be asked.

    Attributes:
      parameters: what the rule needs to know.
      words: what fills the wordings.
      answer: what a suite should hold equally often of.
    """

    parameters: dict[str, Any]
    words: dict[str, str]
    answer: str = ""


Propose = Callable[[Sequence[Frame]], Iterator[tuple[Proposal, ...]]]
"""Of the frames of a context, the last of them the takeover; two together are a pair."""


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
    name: str,
    wordings: tuple[str, ...],
    deed: Deed,
    *,
    horizon: int,
    rubric: Rubric,
    against_reward: bool = True,
) -> Category:
    """Returns the category that asks for a deed in an open level.

    Args:
      name: of it, without the world's.
      wordings: of it.
      deed: what it asks for.
      horizon: L.
      rubric: of it.
      against_reward: whoever reads nothing is to fail.
    """
    probe, shortcut = Playing(deed.probe), Playing(deed.shortcut)

    def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
        """Yields what is asked at moments of an open level, at most one thing at each."""
        episode = trajectory.episode
        if trajectory.instructions or (start := _opened(episode)) is None:
            return
        moves = "".join(map(str, episode.moves[:, 0]))
        mark = int(content_hash(trajectory.id.encode(), name.encode())[:8], 16)
        times = 0
        for moment in range(context + mark % EVERY, episode.steps - horizon + 1, EVERY):
            every = list(deed.propose(timeline(episode)[moment - context : moment + 1]))
            first = mark % len(every) if every else 0
            for asked in (every[first:] + every[:first])[:TRIES]:
                begun = start._replace(moves=start.moves + moves[:moment])
                told = canonical_json([(one.words, one.parameters) for one in asked])
                steps = _tried(begun, (context, horizon), told)
                if steps is not None:
                    difficulty = DIFFICULTIES[min(3 * (steps - 1) // horizon, 2)]
                    yield from _offered(moment, difficulty, asked)
                    times += 1
                    break
            if times == MOST:
                return

    @functools.lru_cache(maxsize=KEPT)
    def _tried(begun: Begun, lengths: tuple[int, int], asked: bytes) -> int | None:
        """Returns how many steps the probe needs; None where it fails or the shortcut does it."""
        own = [(wordings[0].format(**words), parameters) for words, parameters in json.loads(asked)]

        def labels(agent: Playing) -> Iterator[Label]:
            for text, parameters in own:
                yield _decided(attempted(begun, *lengths, text, agent), deed.rule, parameters)

        steps = []
        for one in labels(probe):
            if one.verdict != "success":
                return None
            steps.append(one.step or lengths[1])
        short = all(one.verdict == "success" for one in labels(shortcut))
        return None if short else max(steps)

    def _proposed(scenario: Scenario) -> list[Proposal]:
        frames = timeline(scenario.recording)[: scenario.takeover + 1]
        return [one for asked in deed.propose(frames) for one in asked]

    def fits(scenario: Scenario) -> str | None:
        """Says why what is asked cannot be asked at takeover."""
        if any(one.parameters == scenario.parameters for one in _proposed(scenario)):
            return None
        return "what it speaks of is not there, or was not seen, or cannot be asked for"

    def words(scenario: Scenario) -> Mapping[str, Word]:
        """Returns what the text must say, and what would say something else."""
        every = _proposed(scenario)
        own = next(one.words for one in every if one.parameters == scenario.parameters)
        others = {text for one in every for text in one.words.values()} - set(own.values())
        return {field: Word(text, tuple(sorted(others))) for field, text in own.items()}

    return Category(
        name=f"babyai-{name}",
        kind="instruction",
        domain=DOMAIN,
        horizon=horizon,
        wordings=wordings,
        candidates=candidates,
        label=labelled(deed.rule),
        fits=fits,
        context=CONTEXT,
        words=words,
        rubric=rubric,
        controls=Controls(probe=probe, shortcut=shortcut, against_reward=against_reward),
    )


def _decided(frames: Iterator[Frame], rule: Rule, parameters: Mapping[str, Any]) -> Label:
    """Returns the label of an attempt, which ends once it is decided."""
    line = []
    for one in frames:
        line.append(one)
        label = rule(line, parameters)
        if label.verdict != "not_done":
            return label
    return rule(line, parameters)


def _opened(episode: Episode) -> Begun | None:
    """Returns how an episode begins; None where its level has a mission."""
    world = cast("BabyAI", next(environments(episode)))
    return Begun(world.level, world.seed, world.moves_made) if world.open else None


def _offered(moment: int, difficulty: str, asked: Sequence[Proposal]) -> Iterator[Candidate]:
    pair = "either" if len(asked) == 2 else ""
    for one in asked:
        yield Candidate(moment, 0, difficulty, one.parameters, one.words, one.answer, pair=pair)
