"""Instructions for a cook alongside a recorded person, kept if a solver can follow them."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sts.plugin import Episode, Scenario, Trajectory
from sts_overcooked.constants import HATS
from sts_scenarios.plugin import Attempt, TaskCategory

from .policies import PolicyAgent, play_from
from .snapshots import CONTEXT, DOMAIN, PARTNER, Snapshot, hat_field, hat_names, replay_snapshots

STEPS_BETWEEN_CANDIDATES = 20
"""Steps from one tried candidate step to the next."""


class RequestContext(NamedTuple):
    """Step of a recording at which a cook could be asked."""

    snapshots: Sequence[Snapshot]  # the recording, T + 1
    actions: Any  # int[T, 2], the recorded actions
    step: int  # the takeover
    player: int  # the evaluated cook
    horizon: int  # L

    @property
    def snapshot(self) -> Snapshot:
        """Snapshot at the takeover."""
        return self.snapshots[self.step]

    @property
    def future(self) -> Sequence[Snapshot]:
        """Recorded snapshots after the takeover, up to the horizon."""
        return self.snapshots[self.step + 1 : self.step + self.horizon + 1]


class KitchenCategory(TaskCategory):
    """Category of tasks for a cook alongside a recorded person."""

    domain = DOMAIN
    context = CONTEXT
    partner = PARTNER
    make_agent = PolicyAgent
    cache_size = 4096
    play = staticmethod(play_from)

    def list_attempts(
        self, trajectory: Trajectory, context: int, horizon: int
    ) -> Iterator[Attempt]:
        """Yield steps with a proposal, not too close to each other, for each cook."""
        episode = trajectory.episode
        snapshots = replay_snapshots(episode)
        for player in range(len(HATS)):
            step = context
            while step + horizon < len(snapshots):
                request = RequestContext(snapshots, episode.actions, step, player, horizon)
                proposals = list(self.propose(request))
                if proposals:
                    tried = tuple(
                        proposal._replace(words=proposal.words | hat_names(player))
                        for proposal in proposals[step % len(proposals)]
                    )
                    yield Attempt(step, player, (episode, step, player), [tried])
                step += STEPS_BETWEEN_CANDIDATES if proposals else 1

    def read_request(self, scenario: Scenario) -> RequestContext:
        """Return the takeover of a scenario."""
        snapshots, actions = replay_snapshots(scenario.recording), scenario.recording.actions
        return RequestContext(
            snapshots, actions, scenario.context, scenario.players[0], scenario.horizon
        )

    def replay(self, episode: Episode, takeover: int) -> tuple[Snapshot, ...]:
        """Return the snapshots of an episode from the takeover on."""
        return replay_snapshots(episode)[takeover:]

    def why_invalid(self, scenario: Scenario) -> str | None:
        """Return why the instruction cannot be given at a scenario's takeover; else None."""
        if scenario.partner != PARTNER:
            return "the partner is not the recorded person, whose actions are known"
        return super().why_invalid(scenario)

    def template_fields(self, scenario: Scenario) -> dict[str, str]:
        """Return the template fields of a scenario, with the other cook's hat."""
        return super().template_fields(scenario) | hat_field(scenario.players[0])


def find_first_event(
    snapshots: Sequence[Snapshot], player: int, kinds: Sequence[str]
) -> tuple[int, str, tuple[int, int]] | None:
    """Return the step, kind and place of a cook's first event of some kinds; None for none."""
    return next(
        (
            (n, kind, place)
            for n, snapshot in enumerate(snapshots)
            if n
            for cook, kind, place in snapshot.events
            if cook == player and kind in kinds
        ),
        None,
    )
