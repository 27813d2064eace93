"""What a category of behaviour is: what it asks, where it makes sense to ask it, and its label."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.agents import Agent
from sts.episodes import Episode
from sts.errors import ArgumentError
from sts.registry import blaming
from sts.suites.types import Scenario
from sts.trajectories.flat import Abreast
from sts.trajectories.types import Trajectory

CONTEXT = 10


class Label(NamedTuple):
    """What a rule says of a continuation.

    Attributes:
      verdict: "success", "failure" or "not_done".
      step: 1 to L, at the end of which it was so; None for "not_done".
    """

    verdict: str
    step: int | None


@dataclass(frozen=True)
class Candidate:
    """A moment of a trajectory at which a category can be asked.

    Attributes:
      moment: the takeover, a step of the trajectory.
      role: the participant that is asked.
      difficulty: "easy", "medium" or "hard", by the category's rule.
      parameters: what the label needs to know.
      words: what fills the category's wordings.
      answer: what a suite should hold equally often of, such as the true answer; "" for nothing.
      said_at_start: the instruction is the recording's own, known all along; else it is put in
        hindsight, at the takeover.
      hears: whoever continues is told what was said during the recording, too, each instruction
        from its step on, until this one comes.
      pair: two candidates of one moment and role that have the same word here are a pair, and are
        mined together: done is only who does both; "" for no pair.
    """

    moment: int
    role: int
    difficulty: str
    parameters: dict[str, Any] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)
    answer: str = ""
    said_at_start: bool = False
    hears: bool = False
    pair: str = ""


class Word(NamedTuple):
    """What fills a field of a category's wordings, and what would say something else.

    Attributes:
      text: as it stands in the wordings.
      others: what the field would be filled with if something else were asked for.
      also: other words for the same.
    """

    text: str
    others: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


class Overlay(NamedTuple):
    """What the page marks for whoever judges, and for nobody who acts.

    Attributes:
      cells: that are marked from the takeover on.
      sight: whether the cells that the judged participant sees are framed.
    """

    cells: tuple[int, ...] = ()
    sight: bool = False


@dataclass(frozen=True)
class Rubric:
    """How people judge a category from the page alone.

    Attributes:
      done: one sentence that says when it is done, with the fields of the category's words.
      guideline: a few sentences for doubtful cases, with the same fields.
      overlay: what of a scenario is marked; None for nothing.
      version: raised when the meaning changes, so that what was judged by another is judged anew;
        a typo changes nothing.
    """

    done: str
    guideline: str = ""
    overlay: Callable[[Scenario], Overlay] | None = None
    version: str = "1"


class Criterion(NamedTuple):
    """By what people judge one scenario: its category's rubric, filled in.

    Attributes:
      done: one sentence that says when it is done.
      guideline: a few sentences for doubtful cases.
      overlay: what the page marks.
    """

    done: str
    guideline: str
    overlay: Overlay


@dataclass(frozen=True)
class Controls:
    """By whom and how a category is tested before its scenarios test anybody; see `gates`.

    Neither agent is installed, and none is ever ranked.

    Attributes:
      probe: follows the instruction by what it observes alone; None where there is none.
      shortcut: would pass without doing what is asked; None where there is none.
      answers: all that a question can be answered with.
      open_loop: the most that may be had without eyes, where it is another than usual.
      probe_least: the least that the probe is to pass.
      against_reward: who only maximises reward is to fail.
      why: why a limit is another than usual.
    """

    probe: Agent | None = None
    shortcut: Agent | None = None
    answers: tuple[str, ...] = ()
    open_loop: float | None = None
    probe_least: float = 0.9
    against_reward: bool = False
    why: str = ""

    def __post_init__(self) -> None:
        """Raise ArgumentError where a limit is loosened without a reason."""
        if (self.open_loop is not None or self.probe_least < 0.9) and not self.why:
            raise ArgumentError("expected Controls to say why a limit is another than usual")


class Hits(NamedTuple):
    """Moments of episodes, a value each in its columns.

    Attributes:
      episode: int, which of the episodes.
      role: int, the participant that is asked.
      moment: int, the takeover.
      difficulty: int, an index of `DIFFICULTIES`; -1 where only the predicate tells.
      kind: int, an index of `kinds`.
      kinds: of what is asked, the answer and the parameters.
    """

    episode: NDArray[np.integer[Any]]
    role: NDArray[np.integer[Any]]
    moment: NDArray[np.integer[Any]]
    difficulty: NDArray[np.integer[Any]]
    kind: NDArray[np.integer[Any]]
    kinds: Sequence[tuple[str, dict[str, Any]]]


@dataclass(frozen=True)
class Screen:
    """What finds in many episodes at once the moments at which a category may ask.

    A category that has one reads nothing but the scenes, from `context` frames before a moment to
    L after it, so that a moment can be asked about by itself.

    Attributes:
      find: of episodes abreast, C and L: every moment at which the category asks, and with its
        answer, its parameters and, unless that is left open, its difficulty.
      exact: it finds no others.
    """

    find: Callable[[Abreast, int, int], Hits]
    exact: bool


@dataclass(frozen=True)
class Category:
    """A kind of behaviour that scenarios test.

    Attributes:
      name: as in suites and reports.
      kind: "instruction" or "question".
      domain: the worlds it is about.
      horizon: L, the number of continuation steps.
      wordings: texts with the fields of `Candidate.words`.
      candidates: of a trajectory, C and L, which may be others than the category's own: yields the
        moments at which it makes sense; each leaves C steps before it and L steps after it.
      label: of an episode, its takeover, the judged roles and the parameters. It reads nothing
        before the takeover frame.
      fits: says in a few words why a scenario's instruction does not fit its takeover; else None.
      context: C, the number of context steps.
      partner: what the others do after takeover, as `Scenario.partner`.
      words: of a scenario that fits, what its text must say, by the fields of the wordings, and
        what else it may. None where the category does not tell: its texts are not held to it.
      rubric: how people judge it; None where nothing is said beside the instruction.
      controls: by whom it is tested; None where it is not.
      screen: finds where it may ask, in many episodes at once; None where nothing does.
      superseded: better ones have been made for the same worlds, so that it is mined only by name.
      version: of the rule; raised when it would label any continuation differently.
      place: `module:NAME`, where it is written; whoever finds it by name says so.
    """

    name: str
    kind: str
    domain: str
    horizon: int
    wordings: tuple[str, ...]
    candidates: Callable[[Trajectory, int, int], Iterator[Candidate]]
    label: Callable[[Episode, int, tuple[int, ...], dict[str, Any]], Label]
    fits: Callable[[Scenario], str | None]
    context: int = CONTEXT
    partner: str = "no-op"
    words: Callable[[Scenario], Mapping[str, Word]] | None = None
    rubric: Rubric | None = None
    controls: Controls | None = None
    screen: Screen | None = None
    superseded: bool = False
    version: str = "1"
    place: str = ""

    def moments(self, trajectory: Trajectory) -> list[Candidate]:
        """Return the candidates of a trajectory at the category's own lengths."""
        return list(self.candidates(trajectory, self.context, self.horizon))

    def criterion(self, scenario: Scenario) -> Criterion | None:
        """Return by what people judge a scenario that fits; None where there is no rubric."""
        if self.rubric is None:
            return None
        words = self.words(scenario) if self.words else {}
        with blaming(f"category {self.name!r} failed to say when {scenario.id} is done"):
            fill = {field: word.text for field, word in words.items()}
            done, guideline = (
                text.format(**fill) for text in (self.rubric.done, self.rubric.guideline)
            )
        overlay = self.rubric.overlay(scenario) if self.rubric.overlay else Overlay()
        return Criterion(done, guideline, overlay)


def spoken_for(category: Category) -> Category:
    """Return a category of anybody's: whatever it raises becomes one line."""

    def blamed(function: Callable[..., Any], failed: str, made: Callable[[Any], Any]) -> Any:
        def call(first: Any, *rest: Any) -> Any:
            what = failed.format(id=getattr(first, "id", ""))
            with blaming(f"category {category.name!r} failed to {what}"):
                return made(function(first, *rest))

        return call

    rubric, words = category.rubric, category.words
    if rubric and rubric.overlay:
        mark = blamed(rubric.overlay, "mark what is judged of {id}", lambda made: Overlay(*made))
        rubric = replace(rubric, overlay=mark)
    return replace(
        category,
        candidates=blamed(
            category.candidates, "find candidates in {id}", lambda found: iter(list(found))
        ),
        fits=blamed(category.fits, "say whether {id} fits it", lambda fault: fault),
        label=blamed(
            category.label,
            "label an episode, or its parameters do not fit",
            lambda label: Label(*label),
        ),
        words=blamed(words, "tell the words of {id}", dict) if words else None,
        rubric=rubric,
    )
