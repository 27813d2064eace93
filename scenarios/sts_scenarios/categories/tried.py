"""Categories that ask only where it can be done: their probe is tried first, and their shortcut.

A category proposes what it could ask at a moment. What it does ask is tried: its probe, which sees
what a participant sees, is to do it within the horizon, and its shortcut is not. Difficulty is by
how many of the steps the probe needs, unless the category says otherwise: to a third easy, to two
thirds medium, else hard.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from sts.storage.files import canonical_json
from sts.suites.types import DIFFICULTIES, Scenario
from sts_scenarios.category import Candidate, Label, Word

Frame = TypeVar("Frame")
"""What is so before a step, as a world's categories see it."""
NOT_DONE = Label("not_done", None)


class Proposal(NamedTuple):
    """What could be asked.

    Attributes:
      parameters: what the rule needs to know.
      words: what fills the wordings.
      answer: what a suite should hold equally often of.
      difficulty: where it is not by the steps that the probe needs.
    """

    parameters: dict[str, Any]
    words: dict[str, str]
    answer: str = ""
    difficulty: str = ""


class Task(NamedTuple):
    """What a category asks for and how it is held to it.

    Attributes:
      propose: of a moment, as its world has it, yields what could be asked; two together are a
        pair.
      rule: of the frames from the takeover on, whom it asks where there are several, and a
        candidate's parameters: says whether it was done.
      probe: does it by what was seen.
      shortcut: would pass without doing what is asked.
    """

    propose: Callable[[Any], Iterator[tuple[Proposal, ...]]]
    rule: Callable[..., Label]
    probe: Callable[[Any], int]
    shortcut: Callable[[Any], int]


def make_label(step: int, right: bool) -> Label:
    """Return the label of what is decided at a step."""
    return Label("success" if right else "failure", step)


def label_attempt(frames: Iterator[Frame], rule: Callable[[Sequence[Frame]], Label]) -> Label:
    """Return the label of an attempt, which ends once it is decided."""
    line: list[Frame] = []
    label = NOT_DONE
    for one in frames:
        line.append(one)
        label = rule(line)
        if label.verdict != "not_done":
            break
    return label


def steps_needed(probe: Iterator[Label], shortcut: Iterator[Label], horizon: int) -> int | None:
    """Return how many steps the probe needs for all that is asked; None where nothing is asked."""
    steps = []
    for one in probe:
        if one.verdict != "success":
            return None
        steps.append(one.step or horizon)
    return None if all(one.verdict == "success" for one in shortcut) else max(steps)


def difficulty_by_steps(steps: int | None, horizon: int) -> str:
    """Return the difficulty by how many of the steps allowed somebody needs; hard where all."""
    return DIFFICULTIES[min(3 * ((steps or horizon) - 1) // horizon, 2)]


def encode_proposals(asked: Sequence[Proposal]) -> bytes:
    """Return the words and parameters of what is asked, as JSON."""
    return canonical_json([(one.words, one.parameters) for one in asked])


def make_candidates(
    moment: int,
    role: int,
    difficulty: str,
    asked: Sequence[Proposal],
    names: Mapping[str, str] | None = None,
) -> Iterator[Candidate]:
    """Yield the candidates of what is asked of a participant at a moment."""
    pair = "either" if len(asked) == 2 else ""
    for one in asked:
        yield Candidate(
            moment,
            role,
            one.difficulty or difficulty,
            one.parameters,
            one.words | dict(names or {}),
            one.answer,
            pair=pair,
        )


def why_not_proposed(scenario: Scenario, proposals: Iterable[Proposal]) -> str | None:
    """Says why what a scenario asks is not among what could be asked at its takeover."""
    if any(one.parameters == scenario.parameters for one in proposals):
        return None
    return "what it speaks of is not there, or was not seen, or cannot be asked for"


def template_fields(scenario: Scenario, proposals: Iterable[Proposal]) -> dict[str, Word]:
    """Return what the text of a scenario must say, and what would say something else."""
    every = list(proposals)
    own = next(one.words for one in every if one.parameters == scenario.parameters)
    others = {text for one in every for text in one.words.values()} - set(own.values())
    return {field: Word(text, tuple(sorted(others))) for field, text in own.items()}
