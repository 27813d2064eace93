"""Curators' edits of a candidate, and everything that follows from the changed fields."""

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

from sts import agents
from sts.domains import Worlds
from sts.engine.replay import replay_worlds
from sts.episodes import Episode
from sts.errors import ArgumentError, ReplayMismatch, StsError
from sts.names import quote
from sts.suites.decisions import MARKS
from sts.suites.suite import DIFFICULTIES, DONE_TAG, KINDS, LINK_FIELDS, Scenario
from sts.trajectories.trajectory import Trajectory
from sts_scenarios.draft.fields import TEXTS, validate_changes
from sts_scenarios.mining import Pick, make_scenario
from sts_scenarios.rules import categories
from sts_scenarios.rules.category import Candidate, Category, Label, no_rule
from sts_scenarios.rules.validity import find_category, find_fault

FREE_HORIZON = 20
"""Steps of the continuation of a scenario without a rule, unless the curator sets them."""
MAX_SEARCH_S = 0.15
"""Time in which the steps are searched at which an edit would be valid."""
_OWN_WORDS = ("criterion", "edge_cases")
_TEXT_FIELDS = frozenset({"template", *TEXTS})
"""Editable fields, besides `MARKS`, that leave the difficulty as it is."""


class Edit(NamedTuple):
    """The result of an edit."""

    scenario: Scenario  # as edited
    changes: dict[str, tuple[Any, Any]]  # the fields that differ, by name: (before, after)
    fault: str | None  # why the candidate is not valid, in a few words
    label: Label  # of the recording, whose player was not given the instruction


class Editor:
    """A candidate and its trajectory, on which edits can be previewed.

    Successive previews share the states along the trajectory and the candidates of each category,
    context and horizon. Not thread-safe.
    """

    def __init__(
        self, before: Scenario, trajectory: Trajectory, own: Iterable[Category] = ()
    ) -> None:
        """Open a candidate; `own` are the user's categories."""
        self.before, self.trajectory = before, trajectory
        self._own = {category.name: category for category in own}
        self._states: list[bytes] = []
        self._replay = self._start_replay()
        self._candidates: dict[tuple[str, int, int], list[Candidate]] = {}

    def preview(self, changes: object) -> Edit:
        """Return the candidate with some of `FIELDS` changed, and all that follows from them.

        That includes the state at takeover, the parameters, the difficulty, the label of the
        recording, and the text if it is from a template. Id and provenance stay.

        Raises:
          ArgumentError: a change is invalid, the trajectory has no such steps or player, or a new
            category has no candidate there; names the steps at which it has.
          UnknownName: there is no such category, or agent as a partner.
          ReplayMismatch: the trajectory does not replay.
        """
        changes, before = validate_changes(changes), self.before
        name, kind = changes.get("category", before.category), changes.get("kind", before.kind)
        category = self.category(name, kind)
        context = changes.get("context", before.context)
        horizon = changes.get("horizon", before.horizon)
        step = changes.get("takeover", before.step)
        player = changes.get("player", before.players[0])
        _check_steps(self.trajectory, step, context, horizon, player)
        partner = changes.get("partner", before.partner)
        _check_partner(partner, self.trajectory.episode.domain)
        adapted = replace(category, context=context, horizon=horizon, partner=partner)
        candidate = self._candidate(adapted, step, player, is_typed="instruction" in changes)
        text = _instruction_text(before, category, candidate, changes)
        pick = Pick(self.trajectory, candidate)
        edited = make_scenario(
            adapted, pick, id=before.id, text=text, seed=0, states=self._states_at
        )
        names = (*LINK_FIELDS, *_OWN_WORDS)
        kept = {name: changes.get(name, getattr(before, name)) for name in names}
        kept["turn"] = max(1, kept["turn"]) if kept["dialogue"] else 0
        kept["kind"] = changes.get("kind", edited.kind)
        if "difficulty" in changes or MARKS | _TEXT_FIELDS >= changes.keys():
            kept["difficulty"] = changes.get("difficulty", before.difficulty)
        edited = replace(edited, provenance=before.provenance, **kept)
        by_name = categories.scenario_categories([edited], self._own.values())
        rule = find_category(edited, by_name)
        label = (rule.label if rule else no_rule)(
            edited.recording, edited.context, edited.players, edited.parameters
        )
        tags = [tag for tag in changes.get("tags", before.tags) if tag != DONE_TAG]
        tags += [DONE_TAG] if label.verdict == "success" else []
        edited = replace(edited, tags=tuple(tags))
        why = find_fault(edited, by_name)
        return Edit(edited, _compare_fields(before, edited), why, label)

    def find_steps(self, changes: object) -> list[int]:
        """Return the steps at which the edited candidate would be valid.

        Those near its takeover are checked first, and the search stops after MAX_SEARCH_S. There
        are none to choose from if no rule checks it.
        """
        changes, before = validate_changes(changes), self.before
        current = changes.get("takeover", before.step)
        first = max(0, changes.get("context", before.context))
        last = self.trajectory.episode.steps - max(1, changes.get("horizon", before.horizon))
        steps, end = [], time.monotonic() + MAX_SEARCH_S
        for step in sorted(range(first, last + 1), key=lambda step: abs(step - current)):
            with suppress(StsError):
                edit = self.preview(changes | {"takeover": step})
                if step == current and not edit.label.verdict:
                    return []
                if edit.label.verdict and edit.fault is None:
                    steps.append(step)
            if time.monotonic() > end:
                break
        return sorted(steps)

    def category(self, name: str, kind: str = "") -> Category:
        """Return a category by name: the user's own, an installed one, or one without a rule."""
        domain = self.trajectory.episode.domain
        known = self._own.get(name) or categories.installed_categories([domain]).get(name)
        return known or make_free_category(domain, name, kind or self.before.kind)

    def _candidate(
        self, category: Category, step: int, player: int, *, is_typed: bool
    ) -> Candidate:
        """Return the category's candidate there, preferably with the same parameters as before.

        If it has none there, the old one is kept; if it is another category, only typed words fit.
        """
        key = category.name, category.context, category.horizon
        if key not in self._candidates:
            self._candidates[key] = category.find_candidates(self.trajectory)
        before, candidates = self.before, self._candidates[key]
        matching = [c for c in candidates if (c.step, c.player) == (step, player)]
        unchanged = [c for c in matching if c.parameters == before.parameters]
        if matching:
            return (unchanged or matching)[0]
        if category.name == before.category:
            return Candidate(step, player, before.difficulty, before.parameters)
        if category.label is not no_rule and not is_typed:
            raise _no_candidate_error(category, self.trajectory, candidates, step, player)
        return Candidate(step, player, before.difficulty)

    def _states_at(self, episode: Episode, steps: Sequence[int]) -> list[bytes]:
        """Return the states before some steps, extending the replay as far as needed."""
        try:
            for worlds in islice(self._replay, max(0, max(steps) + 1 - len(self._states))):
                self._states += worlds.states()
        except ReplayMismatch:
            self._states, self._replay = [], self._start_replay()
            raise
        return [self._states[step] for step in steps]

    def _start_replay(self) -> Iterator[Worlds]:
        episode = self.trajectory.episode
        return replay_worlds([episode], [f"domain {episode.domain!r}"])


def make_free_category(domain: str, name: str, kind: str = KINDS[0]) -> Category:
    """Return a category without a rule, whose steps and words are the curators'."""
    return Category(
        name=name,
        kind=kind,
        domain=domain,
        horizon=FREE_HORIZON,
        templates=(),
        candidates=lambda trajectory, context, horizon: iter(()),
    )


def add_scenario(
    trajectory: Trajectory, category: Category, chosen: Mapping[str, Any], *, id: str, author: str
) -> Edit:
    """Return a new scenario of a category at a step that a curator chose.

    `chosen` has `takeover` and `player`, and other `FIELDS` that differ from the defaults; `author`
    is the curator's pseudonym. If the category has no candidate there, an instruction is required.
    """
    chosen = validate_changes(chosen)
    context = chosen.get("context", category.context)
    horizon = chosen.get("horizon", category.horizon)
    step, player = chosen["takeover"], chosen["player"]
    _check_steps(trajectory, step, context, horizon, player)
    candidates = list(category.candidates(trajectory, context, horizon))
    matching = [c for c in candidates if (c.step, c.player) == (step, player)]
    if matching:
        candidate, text = matching[0], category.templates[0].format(**matching[0].fields)
    elif "instruction" in chosen:
        candidate, text = Candidate(step, player, DIFFICULTIES[1]), chosen["instruction"]
    elif category.label is not no_rule:
        raise _no_candidate_error(category, trajectory, candidates, step, player)
    else:
        raise ArgumentError(f"category {category.name} has no words of its own: add an instruction")
    adapted = replace(category, context=context, horizon=horizon)
    first = make_scenario(adapted, Pick(trajectory, candidate), id=id, text=text, seed=0)
    origin = {"made_by": "sts draft add", "author": author}
    first = replace(first, provenance=first.provenance | origin)
    return Editor(first, trajectory, [category]).preview(chosen)


def _no_candidate_error(
    category: Category,
    trajectory: Trajectory,
    candidates: Iterable[Candidate],
    step: int,
    player: int,
) -> ArgumentError:
    steps = dict.fromkeys(str(c.step) for c in candidates if c.player == player)
    return ArgumentError(
        f"{category.name} has no candidate for player {player} at step {step} of trajectory "
        f"{trajectory.id}; it has at: {', '.join(steps) or 'no step'}"
    )


def _check_steps(
    trajectory: Trajectory, step: int, context: int, horizon: int, player: int
) -> None:
    """Raise ArgumentError unless the trajectory has these steps and this player."""
    steps, n_players = trajectory.episode.steps, trajectory.episode.n_players
    if context < 0 or horizon < 1:
        raise ArgumentError(
            f"expected a context of 0 steps or more and a horizon of 1 or more, found {context} "
            f"and {horizon}"
        )
    if context + horizon > steps:
        raise ArgumentError(
            f"expected at most {steps} steps, as trajectory {trajectory.id} has, found a context "
            f"of {context} and a horizon of {horizon}; state shorter ones"
        )
    if not context <= step <= steps - horizon:
        raise ArgumentError(
            f"expected a takeover from {context} to {steps - horizon}, as trajectory "
            f"{trajectory.id} has {steps} steps, found {step}"
        )
    if not 0 <= player < n_players:
        raise ArgumentError(f"expected a player from 0 to {n_players - 1}, found {player}")


def describe_partner(partner: str) -> str:
    """Return a notice if the partner acts at random; "" if not."""
    kind, _, name = partner.partition(":")
    if kind != "agent" or agents.load(name).deterministic:
        return ""
    return f"this scenario is random: its partner {name} acts at random, differently in each run"


def _check_partner(partner: str, domain: str) -> None:
    """Raise ArgumentError unless this is a partner policy for worlds of the domain."""
    kind, _, name = partner.partition(":")
    if partner in ("no-op", "replay"):
        return
    if kind != "agent" or not name:
        raise ArgumentError(
            f"expected a partner no-op, replay or agent:NAME, found {quote(partner)}"
        )
    if agents.load(name).domain not in ("", domain):
        raise ArgumentError(
            f"agent {name!r} does not play in worlds of {domain}; choose another partner"
        )


def _instruction_text(
    before: Scenario, category: Category, candidate: Candidate, changes: Mapping[str, Any]
) -> str:
    """Return the instruction: the typed text, the selected template filled in, or the old one."""
    if "instruction" in changes:
        return str(changes["instruction"])
    number, templates = changes.get("template"), category.templates
    if not templates:
        if number is None:
            return before.instruction.text
        raise ArgumentError(f"category {category.name} has no instruction templates")
    if number is None:
        matching = [i for i, w in enumerate(templates) if _match_template(w, before) is not None]
        if before.category != category.name:
            number = 0
        elif not matching:  # a typed text
            return before.instruction.text
        else:
            number = matching[0]
    elif not 0 <= number < len(templates):
        raise ArgumentError(f"expected a template from 0 to {len(templates) - 1}, found {number}")
    wording = templates[number]
    words = candidate.fields or _match_template(wording, before) or {}
    if not words and category.template_fields and category.name == before.category:
        words = dict(category.template_fields(before))
    try:
        return wording.format(**words)
    except KeyError:  # the category has no words for it there
        return before.instruction.text


def _match_template(wording: str, before: Scenario) -> dict[str, str] | None:
    """Return the words with which a template gives a scenario's instruction, or None."""
    parts = re.split(r"\{(\w+)\}", wording)
    pattern, names = "", set()
    for i, part in enumerate(parts):
        if i % 2 == 0:
            pattern += re.escape(part)
        else:
            pattern += f"(?P={part})" if part in names else f"(?P<{part}>.+)"
            names.add(part)
    match = re.fullmatch(pattern, before.instruction.text)
    return match.groupdict() if match else None


def _compare_fields(before: Scenario, after: Scenario) -> dict[str, tuple[Any, Any]]:
    """Return the displayed fields that differ, with their values before and after."""

    def view(s: Scenario) -> dict[str, Any]:
        return {
            "takeover": s.step,
            "context": s.context,
            "horizon": s.horizon,
            "player": s.players[0],
            "category": s.category,
            "instruction": s.instruction.text,
            "criterion": s.criterion,
            "edge_cases": s.edge_cases,
            "kind": s.kind,
            "partner": s.partner,
            "difficulty": s.difficulty,
            "parameters": s.parameters,
            "tags": [tag for tag in s.tags if tag != DONE_TAG],
            "pair": s.pair,
            "dialogue": s.dialogue,
            "turn": s.turn,
            "done in the recording": DONE_TAG in s.tags,
            "state at takeover": s.takeover_hash[:16],
        }

    old, new = view(before), view(after)
    return {name: (old[name], new[name]) for name in old if old[name] != new[name]}
