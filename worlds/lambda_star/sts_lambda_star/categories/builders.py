"""Builders for three kinds of categories of Λ*: questions, instructions and contrast pairs.

A category defines where it can be asked (`find`), why it cannot at a takeover (a `Validator`), and
the true answer (`truth`) or the automatic label (`rule`). The builders add the rest.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from sts.plugin import Episode, Scenario
from sts_scenarios.plugin import CandidateColumns, Category, ControlPolicies, Label, Rubric

from .batches import StepBatch, TrackBatch
from .policies import STAY, History, MovePolicy, make_mover
from .screening import (
    ConfirmFunction,
    FindFunction,
    Kinds,
    LabelFunction,
    TemplateFields,
    build_search,
    make_confirm,
    make_hits,
)
from .tracks import DOMAIN, Track, label_answer, make_track, track_until_takeover

Validator = Callable[[Track, Scenario], str | None]
"""Maps a track up to the takeover and its scenario to why it cannot be asked; None if it can."""


def build_question(
    name: str,
    templates: tuple[str, ...],
    find: FindFunction,
    truth: Callable[[Track], str],
    *,
    earlier_templates: tuple[str, ...] = (),
    why_invalid: Validator | None = None,
    rubric: Rubric,
    controls: ControlPolicies | None,
) -> Category:
    """Return a category that asks for a word; `truth` gives the answer at the end of a track."""

    def why_scenario_invalid(scenario: Scenario) -> str | None:
        """Return why the scenario's answer is not the true one at the takeover; else None."""
        track = track_until_takeover(scenario)
        if why_invalid is not None and (why := why_invalid(track, scenario)) is not None:
            return why
        answer = truth(track)
        return None if scenario.parameters["answer"] == answer else f"the answer is {answer}"

    candidates, prefilter = build_search(find)
    return Category(
        name=name,
        kind="question",
        domain=DOMAIN,
        horizon=5,
        templates=templates,
        earlier_templates=earlier_templates,
        candidates=candidates,
        prefilter=prefilter,
        label=label_answer,
        why_invalid=why_scenario_invalid,
        rubric=rubric,
        controls=controls,
    )


class StepCount(NamedTuple):
    """Number of steps for which, or within which, something is to be done."""

    requested: int  # the number
    spare_steps: int = 0  # steps that the horizon must exceed it by

    @property
    def kinds(self) -> Kinds:
        """Single kind of candidate, with the number of steps as its parameter."""
        return (("", {"steps": self.requested}),)

    def template_fields(
        self, episode: Episode, player: int, parameters: Mapping[str, Any]
    ) -> dict[str, str]:
        """Return the template field for the number of steps."""
        return {"steps": str(parameters["steps"])}

    def why_too_few(self, scenario: Scenario) -> str | None:
        """Return why the horizon is too short; else None."""
        needed = scenario.parameters["steps"] + self.spare_steps
        if needed <= scenario.horizon:
            return None
        return f"expected a horizon of at least {needed} steps, found {scenario.horizon}"


def build_instruction(
    name: str,
    templates: tuple[str, ...],
    find: FindFunction,
    rule: LabelFunction,
    why_invalid: Validator,
    *,
    earlier_templates: tuple[str, ...] = (),
    horizon: int,
    rubric: Rubric,
    controls: ControlPolicies,
    steps: StepCount | None = None,
    words: TemplateFields | None = None,
    confirm: ConfirmFunction | None = None,
    partner: str = "no-op",
) -> Category:
    """Return a category that asks for an action.

    If it requests a number of `steps`, they fill its instruction templates unless `words` is given.
    """
    fill = words or (steps.template_fields if steps else None)

    def why_scenario_invalid(scenario: Scenario) -> str | None:
        too_few = steps.why_too_few(scenario) if steps else None
        return too_few or why_invalid(track_until_takeover(scenario), scenario)

    def label(
        episode: Episode, takeover: int, players: tuple[int, ...], parameters: dict[str, Any]
    ) -> Label:
        return rule(make_track(episode, players[0], slice(takeover, None)), parameters)

    def fill_scenario(scenario: Scenario) -> dict[str, str]:
        assert fill is not None
        return fill(scenario.recording, scenario.players[0], scenario.parameters)

    candidates, prefilter = build_search(find, fill, confirm)
    return Category(
        name=name,
        kind="instruction",
        domain=DOMAIN,
        horizon=horizon,
        templates=templates,
        earlier_templates=earlier_templates,
        candidates=candidates,
        prefilter=prefilter,
        label=label,
        why_invalid=why_scenario_invalid,
        template_fields=fill_scenario if fill else None,
        partner=partner,
        rubric=rubric,
        controls=controls,
    )


class PairOption(NamedTuple):
    """One half of a contrast pair."""

    text: str  # fills the field `deed` of the instruction templates
    label: LabelFunction  # automatic label
    policy: MovePolicy  # solver, based on observations only
    parameters: Mapping[str, Any]  # arguments of the rule


def build_pair(
    name: str,
    templates: tuple[str, ...],
    find: Callable[[TrackBatch, int, int], tuple[StepBatch, Any]],
    options: Mapping[str, PairOption],
    why_invalid: Validator,
    *,
    earlier_templates: tuple[str, ...] = (),
    horizon: int,
    rubric: Rubric,
    shortcut: MovePolicy,
) -> Category:
    """Return a category of contrast pairs: two instructions at the same step.

    Only an agent that follows the instruction passes both. `find` returns the steps and the
    difficulty of the first option.
    """

    def find_both(batch: TrackBatch, context: int, horizon: int) -> CandidateColumns:
        steps, difficulty = find(batch, context, horizon)
        both_options = StepBatch(batch, np.tile(steps.track, 2), np.tile(steps.step, 2), horizon)
        kinds = [
            (option_name, {"asked": option_name, **option.parameters})
            for option_name, option in options.items()
        ]
        return make_hits(
            both_options, np.tile(difficulty, 2), kinds, np.repeat((0, 1), len(steps.track))
        )

    first, second = (
        make_confirm(option.policy, option.label, option.parameters) for option in options.values()
    )

    def confirm_both(track: Track, step: int, context: int, horizon: int) -> Label | None:
        label = first(track, step, context, horizon)
        return label if label and second(track, step, context, horizon) else None

    def words(episode: Episode, player: int, parameters: Mapping[str, Any]) -> dict[str, str]:
        return {"deed": options[parameters["asked"]].text}

    def follow_instruction(history: History) -> int:
        """Return the move of the requested option's policy; stand still if the text has neither."""
        policies = (
            option.policy
            for option in options.values()
            if option.text in history.instruction.lower()
        )
        return next(policies, lambda history: STAY)(history)

    return build_instruction(
        name,
        templates,
        find_both,
        lambda track, parameters: options[parameters["asked"]].label(track, parameters),
        why_invalid,
        earlier_templates=earlier_templates,
        horizon=horizon,
        rubric=rubric,
        controls=ControlPolicies(
            solver=make_mover(follow_instruction),
            shortcut=make_mover(shortcut),
            against_reward=True,
        ),
        words=words,
        confirm=confirm_both,
    )
