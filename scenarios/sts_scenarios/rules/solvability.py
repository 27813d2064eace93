"""Solvability filter for categories that propose tasks and keep those a solver can do.

A category proposes tasks for a candidate step. A proposal is kept if the solver, which observes
what a player observes, succeeds within the horizon and the shortcut does not. Unless the category
sets it, difficulty depends on the steps the solver needs: easy up to a third of the horizon, medium
up to two thirds, else hard.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from sts.storage.files import canonical_json
from sts.suites.suite import DIFFICULTIES, Scenario
from sts_scenarios.rules.category import Candidate, Label

Frame = TypeVar("Frame")
"""A state snapshot before a step, as defined by the categories of an environment."""
NOT_DONE = Label("not_done", None)


class Proposal(NamedTuple):
    """A possible instruction at a candidate step."""

    parameters: dict[str, Any]  # arguments of the automatic label
    words: dict[str, str]  # template fields
    answer: str = ""  # value that a suite should hold equally often, such as the correct answer
    difficulty: str = ""  # overrides the difficulty computed from the solver's steps


class Task(NamedTuple):
    """Definition of what a category asks, how to label it and how to test it."""

    # yields the proposals at a candidate step, in the environment's own representation; a tuple of
    # two is a contrast pair
    propose: Callable[[Any], Iterator[tuple[Proposal, ...]]]
    # automatic label, given the frames from the takeover on, the evaluated player (if there are
    # several) and a candidate's parameters
    label: Callable[..., Label]
    solver: Callable[[Any], int]  # solver policy, based on observations only
    shortcut: Callable[[Any], int]  # policy that would pass without following the instruction


def make_label(step: int, success: bool) -> Label:
    """Return a success or failure at a step."""
    return Label("success" if success else "failure", step)


def label_attempt(frames: Iterator[Frame], rule: Callable[[Sequence[Frame]], Label]) -> Label:
    """Return the label of an attempt, reading frames only until there is a verdict."""
    seen_frames: list[Frame] = []
    label = NOT_DONE
    for frame in frames:
        seen_frames.append(frame)
        label = rule(seen_frames)
        if label.verdict != "not_done":
            break
    return label


def steps_needed(solver: Iterator[Label], shortcut: Iterator[Label], horizon: int) -> int | None:
    """Return the steps the solver needs for all instructions of a proposal.

    None if the solver fails, or if the shortcut succeeds.
    """
    steps = []
    for label in solver:
        if label.verdict != "success":
            return None
        steps.append(label.step or horizon)
    return None if all(label.verdict == "success" for label in shortcut) else max(steps)


def difficulty_by_steps(steps: int | None, horizon: int) -> str:
    """Return the difficulty, by the share of allowed steps that are needed; None counts as all."""
    return DIFFICULTIES[min(3 * ((steps or horizon) - 1) // horizon, 2)]


def encode_proposals(proposals: Sequence[Proposal]) -> bytes:
    """Return the template fields and parameters of proposals as canonical JSON."""
    return canonical_json([(proposal.words, proposal.parameters) for proposal in proposals])


def make_candidates(
    step: int,
    player: int,
    difficulty: str,
    proposals: Sequence[Proposal],
    names: Mapping[str, str] | None = None,
) -> Iterator[Candidate]:
    """Yield the candidates for one proposal, or for both halves of a contrast pair."""
    pair = "either" if len(proposals) == 2 else ""
    for proposal in proposals:
        yield Candidate(
            step,
            player,
            proposal.difficulty or difficulty,
            proposal.parameters,
            proposal.words | dict(names or {}),
            proposal.answer,
            pair=pair,
        )


def why_not_proposed(scenario: Scenario, proposals: Iterable[Proposal]) -> str | None:
    """Return why a scenario's parameters match none of the proposals at its takeover; else None."""
    if any(proposal.parameters == scenario.parameters for proposal in proposals):
        return None
    return "this instruction is not possible here: its objects are missing, unseen or unsuitable"


def template_fields(scenario: Scenario, proposals: Iterable[Proposal]) -> dict[str, str]:
    """Return the template fields of a scenario; {} if its parameters match no proposal."""
    matching = (p.words for p in proposals if p.parameters == scenario.parameters)
    return dict(next(matching, {}))
