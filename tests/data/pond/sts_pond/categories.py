"""What a ferry can be asked to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sts.plugin import replay_worlds
from sts_pond.water import NOBODY
from sts_scenarios.plugin import Candidate, Category, Label

CONTEXT, HORIZON = 6, 16


def waters(episode) -> Iterator:
    """Yield the pond before each step and after the last; it is one, so look and go on."""
    ponds: Any
    for ponds in replay_worlds([episode], ["a recording on the pond"]):
        yield ponds.waters[0]


def _difficulty(distance: int) -> str:
    return "easy" if distance < 2 else "medium" if distance < 4 else "hard"


def make_candidate_finder(fault, distance):
    """Return a function that yields every second step at which it makes sense, for each ferry."""

    def candidates(trajectory, context, horizon):
        episode = trajectory.episode
        for step, water in enumerate(waters(episode)):
            if step < context or step > episode.steps - horizon or step % 2:
                continue
            for player in range(episode.n_players):
                if fault(water, player) is None:
                    yield Candidate(step, player, _difficulty(distance(water, player)))

    return candidates


def fitting(fault):
    """Return what says why it makes no sense to ask at takeover."""

    def why_invalid(scenario):
        for step, water in enumerate(waters(scenario.recording)):
            if step == scenario.context:
                return fault(water, scenario.players[0])
        return "it has no takeover"

    return why_invalid


def empty(water, player):
    """Says why a ferry cannot be asked to fetch somebody."""
    if water.aboard[player] != NOBODY:
        return "the ferry has a passenger"
    return None if water.waiting() else "nobody waits"


def laden(water, player):
    """Says why a ferry cannot be asked to bring somebody home."""
    who = water.aboard[player]
    if who == NOBODY:
        return "the ferry is empty"
    return "the passenger is there" if water.goal(who) == water.ferries[player] else None


def fetched(episode, takeover, players, parameters):
    """Success at the first step after which somebody is aboard."""
    for step, water in enumerate(waters(episode)):
        if step > takeover and water.aboard[players[0]] != NOBODY:
            return Label("success", step - takeover)
    return Label("not_done", None)


def paid(episode, takeover, players, parameters):
    """Success at the first step that is paid; failure where they are put ashore elsewhere."""
    for step, water in enumerate(waters(episode)):
        if step > takeover and water.aboard[players[0]] == NOBODY:
            home = episode.rewards[step - 1, players[0]] > 0
            return Label("success" if home else "failure", step - takeover)
    return Label("not_done", None)


FETCH = Category(
    name="fetch-a-passenger",
    kind="instruction",
    domain="pond",
    horizon=HORIZON,
    templates=("Fetch a passenger.", "Take somebody aboard.", "Go and load whoever waits."),
    candidates=make_candidate_finder(
        empty, lambda w, r: min(abs(w.passengers[p] - w.ferries[r]) for p in w.waiting())
    ),
    label=fetched,
    why_invalid=fitting(empty),
    context=CONTEXT,
)
BRING = Category(
    name="bring-them-home",
    kind="instruction",
    domain="pond",
    horizon=HORIZON,
    templates=(
        "Bring your passenger to where they want.",
        "Land your passenger at their jetty.",
        "Take who is aboard home.",
    ),
    candidates=make_candidate_finder(laden, lambda w, r: abs(w.goal(w.aboard[r]) - w.ferries[r])),
    label=paid,
    why_invalid=fitting(laden),
    context=CONTEXT,
    partner="replay",
)
