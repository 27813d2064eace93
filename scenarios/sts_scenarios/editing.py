"""A candidate changed by a curator, with all that depends on the change derived again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

from sts import agents
from sts.domains import Worlds
from sts.engine.replay import along
from sts.episodes import Episode
from sts.errors import ArgumentError, ReplayMismatch
from sts.names import LIMIT, one_line, shown
from sts.suites.lint import WORDS
from sts.suites.types import DONE, Scenario
from sts.trajectories.types import Trajectory
from sts_scenarios import categories
from sts_scenarios.category import Candidate, Category, Label
from sts_scenarios.fitting import fault
from sts_scenarios.mining import Pick, scenario

FIELDS = {
    "takeover": int,
    "context": int,
    "length": int,
    "role": int,
    "wording": int,
    "text": str,
    "category": str,
    "partner": str,
    "tags": list,
}
"""What can be changed, and its JSON type. `takeover` is a step of the trajectory."""
_MARKUP = re.compile(r"</?[A-Za-z!][^<>]*>|&#?\w+;")
"""Tags and entities, which a page would show as they are typed."""


class Edited(NamedTuple):
    """What an edit comes to.

    Attributes:
      scenario: as it is then.
      changes: what is another than before, by name: before and after.
      fault: why it does not fit, in a few words; else None.
      label: what the rule says of the recording, in which nobody was asked for it.
    """

    scenario: Scenario
    changes: dict[str, tuple[Any, Any]]
    fault: str | None
    label: Label


def checked(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return changes of `FIELDS`, each of its type."""
    for name, value in changes.items():
        if name not in FIELDS:
            raise ArgumentError(f"expected a change of {', '.join(FIELDS)}, found {shown(name)}")
        if type(value) is not FIELDS[name]:
            raise ArgumentError(
                f"{name}: expected {FIELDS[name].__name__}, found {shown(str(value))}"
            )
    if "text" in changes and not (changes["text"].strip() and one_line(changes["text"], WORDS)):
        raise ArgumentError(
            f"expected an instruction of one line, at most {WORDS} letters that print, found "
            f"{shown(changes['text'])}"
        )
    if markup := _MARKUP.search(changes.get("text", "")):
        raise ArgumentError(
            f"expected an instruction in plain words, found {shown(markup[0])} in it"
        )
    for tag in changes.get("tags", ()):
        if not (isinstance(tag, str) and tag.strip() and one_line(tag, LIMIT)):
            raise ArgumentError(
                f"expected tags of at most {LIMIT} letters that print, found {shown(str(tag))}"
            )
    if "text" in changes and "wording" in changes:
        raise ArgumentError("expected a text or a wording, found both")
    return dict(changes)


class Editor:
    """A candidate and the trajectory that it came from, to try changes on.

    What changes have in common is worked out once: the states along the trajectory, as far as they
    were asked for, and what a category asks there at one context and length. For one thread at a
    time.

    Attributes:
      before: the candidate.
      trajectory: that it came from.
    """

    def __init__(
        self, before: Scenario, trajectory: Trajectory, own: Iterable[Category] = ()
    ) -> None:
        """Open a candidate; `own` are categories of the user's."""
        self.before, self.trajectory = before, trajectory
        self._own = {one.name: one for one in own}
        self._states: list[bytes] = []
        self._replay = self._begun()
        self._asked: dict[tuple[str, int, int], list[Candidate]] = {}

    def preview(self, changes: Mapping[str, Any]) -> Edited:
        """Return what the candidate would be with some fields changed, and what follows from them.

        That is the state at takeover, the truth and whatever else its category asks for, its
        difficulty, the label of the recording, and the text, where it is one of the category's
        wordings. Its id and provenance stay. The changes are of `FIELDS`.

        Raises:
          ArgumentError: a change is none, or the trajectory has no such steps or role, or another
            category asks nothing there; says where it does.
          UnknownName: there is no such category, or agent as a partner.
          ReplayMismatch: the trajectory does not replay.
        """
        changes, before = checked(changes), self.before
        category = self.category(changes.get("category", before.category))
        context = changes.get("context", before.takeover)
        horizon = changes.get("length", before.horizon)
        moment = changes.get("takeover", before.context_start + before.takeover)
        role = changes.get("role", before.roles[0])
        _check_room(self.trajectory, moment, context, horizon, role)
        partner = changes.get("partner", before.partner)
        _check_partner(partner, self.trajectory.episode.domain)
        ruled = replace(category, context=context, horizon=horizon, partner=partner)
        candidate = self._candidate(ruled, moment, role)
        made = scenario(
            ruled,
            Pick(self.trajectory, candidate),
            id=before.id,
            text=_text(before, category, candidate, changes),
            seed=0,
            states=self._states_at,
        )
        label = category.label(made.recording, made.takeover, made.roles, made.parameters)
        tags = [one for one in changes.get("tags", before.tags) if one != DONE]
        tags += [DONE] if label.verdict == "success" else []
        links = {name: getattr(before, name) for name in ("pair", "series", "turn", "replaces")}
        made = replace(made, tags=tuple(tags), provenance=before.provenance, **links)
        why = fault(made, categories.ruling([made], self._own.values()))
        return Edited(made, _differences(before, made), why, label)

    def category(self, name: str) -> Category:
        """Return a category by name: of the user's own, or an installed one."""
        return self._own.get(name) or categories.named(name)

    def _candidate(self, category: Category, moment: int, role: int) -> Candidate:
        """Return what the category asks there: what it was, if that can be, else what is first.

        Where its own category asks nothing it is what it was, and does not fit.
        """
        key = category.name, category.context, category.horizon
        if key not in self._asked:
            self._asked[key] = category.moments(self.trajectory)
        before, every = self.before, self._asked[key]
        there = [one for one in every if (one.moment, one.role) == (moment, role)]
        alike = [one for one in there if one.parameters == before.parameters]
        if there:
            return (alike or there)[0]
        if category.name != before.category:
            raise _nothing(category, self.trajectory, every, moment, role)
        return Candidate(moment, role, before.difficulty, before.parameters)

    def _states_at(self, episode: Episode, steps: Sequence[int]) -> list[bytes]:
        """Return the states before some steps; the replay goes on from where it was."""
        try:
            for worlds in islice(self._replay, max(0, max(steps) + 1 - len(self._states))):
                self._states += worlds.states()
        except ReplayMismatch:
            self._states, self._replay = [], self._begun()
            raise
        return [self._states[step] for step in steps]

    def _begun(self) -> Iterator[Worlds]:
        episode = self.trajectory.episode
        return along([episode], [f"domain {episode.domain!r}"])


def added(
    trajectory: Trajectory, category: Category, chosen: Mapping[str, Any], *, id: str
) -> Edited:
    """Return a new scenario of a category at a moment that somebody chose.

    `chosen` has `takeover` and `role`, and whatever else of `FIELDS` is not the category's own.
    """
    chosen = checked(chosen)
    context = chosen.get("context", category.context)
    horizon = chosen.get("length", category.horizon)
    moment, role = chosen["takeover"], chosen["role"]
    _check_room(trajectory, moment, context, horizon, role)
    every = list(category.candidates(trajectory, context, horizon))
    there = [c for c in every if (c.moment, c.role) == (moment, role)]
    if not there:
        raise _nothing(category, trajectory, every, moment, role)
    ruled = replace(category, context=context, horizon=horizon)
    text = category.wordings[0].format(**there[0].words)
    first = scenario(ruled, Pick(trajectory, there[0]), id=id, text=text, seed=0)
    first = replace(first, provenance=first.provenance | {"made_by": "sts draft add"})
    return Editor(first, trajectory, [category]).preview(chosen)


def _nothing(
    category: Category, trajectory: Trajectory, every: Iterable[Candidate], moment: int, role: int
) -> ArgumentError:
    own = dict.fromkeys(str(one.moment) for one in every if one.role == role)
    return ArgumentError(
        f"{category.name} asks nothing of role {role} at step {moment} of trajectory "
        f"{trajectory.id}; it does at: {', '.join(own) or 'nowhere'}"
    )


def _check_room(trajectory: Trajectory, moment: int, context: int, horizon: int, role: int) -> None:
    """Raise ArgumentError unless the trajectory has these steps and this role."""
    steps, people = trajectory.episode.steps, trajectory.episode.participants
    if context < 0 or horizon < 1:
        raise ArgumentError(
            f"expected a context of 0 steps or more and a length of 1 or more, found {context} and "
            f"{horizon}"
        )
    if not context <= moment <= steps - horizon:
        raise ArgumentError(
            f"expected a takeover from {context} to {steps - horizon}, as trajectory "
            f"{trajectory.id} has {steps} steps, found {moment}"
        )
    if not 0 <= role < people:
        raise ArgumentError(f"expected a role from 0 to {people - 1}, found {role}")


def _check_partner(partner: str, domain: str) -> None:
    """Raise ArgumentError unless the others can do this after takeover."""
    kind, _, name = partner.partition(":")
    if partner in ("no-op", "replay"):
        return
    if kind != "agent" or not name:
        raise ArgumentError(
            f"expected a partner no-op, replay or agent:NAME, found {shown(partner)}"
        )
    if agents.load(name).domain not in ("", domain):
        raise ArgumentError(f"agent {name!r} does not play in worlds of {domain}")


def _text(
    before: Scenario, category: Category, candidate: Candidate, changes: Mapping[str, Any]
) -> str:
    """Return the instruction: what was typed, the wording that was chosen, or as it was worded."""
    if "text" in changes:
        return str(changes["text"])
    number = changes.get("wording")
    if number is None:
        matching = [i for i, one in enumerate(category.wordings) if _words(one, before) is not None]
        if before.category != category.name:
            number = 0
        elif not matching:  # it was typed
            return before.instruction.text
        else:
            number = matching[0]
    elif not 0 <= number < len(category.wordings):
        raise ArgumentError(
            f"expected a wording from 0 to {len(category.wordings) - 1}, found {number}"
        )
    wording = category.wordings[number]
    words = candidate.words or _words(wording, before) or {}
    if not words and category.words and category.name == before.category:
        words = {field: word.text for field, word in category.words(before).items()}
    try:
        return wording.format(**words)
    except KeyError:  # the category asks nothing there that would fill it
        return before.instruction.text


def _words(wording: str, before: Scenario) -> dict[str, str] | None:
    """Return what fills a wording to the instruction of a scenario; None where nothing does."""
    parts = re.split(r"\{(\w+)\}", wording)
    pattern, seen = "", set()
    for i, part in enumerate(parts):
        if i % 2 == 0:
            pattern += re.escape(part)
        else:
            pattern += f"(?P={part})" if part in seen else f"(?P<{part}>.+)"
            seen.add(part)
    match = re.fullmatch(pattern, before.instruction.text)
    return match.groupdict() if match else None


def _differences(before: Scenario, after: Scenario) -> dict[str, tuple[Any, Any]]:
    """Return what is another than before."""

    def view(one: Scenario) -> dict[str, Any]:
        return {
            "takeover": one.context_start + one.takeover,
            "context": one.takeover,
            "length": one.horizon,
            "role": one.roles[0],
            "category": one.category,
            "text": one.instruction.text,
            "partner": one.partner,
            "difficulty": one.difficulty,
            "parameters": one.parameters,
            "tags": [tag for tag in one.tags if tag != DONE],
            "done in the recording": DONE in one.tags,
            "state at takeover": one.takeover_hash[:16],
        }

    old, new = view(before), view(after)
    return {name: (old[name], new[name]) for name in old if old[name] != new[name]}
