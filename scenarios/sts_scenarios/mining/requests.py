"""`--from-sessions`: candidates from what people asked in live sessions, in their own words."""

from collections.abc import Iterable, Iterator

from sts.domains import load_domain
from sts.live.interactions import read_journals
from sts.live.openings import count_steps, get_controls
from sts.live.types import Opening
from sts.names import quote
from sts.storage.workspace import Workspace
from sts.suites.suite import DIFFICULTIES, KINDS
from sts.trajectories.trajectory import Trajectory, get_split
from sts_scenarios.rules.category import CONTEXT, Candidate, Category

SOURCES = ("requests", "failures")
"""All requests, or those to agents that the setter marked as failures."""
SECONDS = 10
"""Length of the continuation after a request."""
_DIFFICULTY_BY_MARK = {"success": DIFFICULTIES[0], "failure": DIFFICULTIES[2]}


def build_request_categories(domains: Iterable[str], source: str) -> list[Category]:
    """Return categories without a rule, of the instructions and of the questions of each domain."""
    return [_build_category(domain, kind, source) for domain in domains for kind in KINDS]


def _build_category(domain: str, kind: str, source: str) -> Category:
    def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
        """Yield the steps of requests; the mark of the setter hints at difficulty."""
        if "session" not in trajectory.provenance:
            return
        for request in trajectory.instructions:
            step, player, is_question = request.given_at, request.player, "?" in request.text
            if player is None or is_question != (kind == KINDS[1]):
                continue
            failed = request.mark == "failure" and trajectory.players[player].kind == "agent"
            fits = context <= step <= trajectory.episode.steps - horizon
            if fits and (failed or source == SOURCES[0]):
                difficulty = _DIFFICULTY_BY_MARK.get(request.mark, DIFFICULTIES[1])
                yield Candidate(step, player, difficulty, fields={"text": request.text})

    return Category(
        name=f"live-{kind}",
        kind=kind,
        domain=domain,
        horizon=_count_horizon(domain),
        templates=("{text}",),
        candidates=candidates,
    )


def _count_horizon(domain: str) -> int:
    return count_steps(SECONDS / 60, get_controls(domain).tick)


def describe_unfit(workspace: Workspace) -> list[str]:
    """Return a line for each request in the workspace that cannot become a scenario, with why.

    Raises:
      DamagedData: a journal was altered.
    """
    lines = []
    for _, events in read_journals(workspace):
        opening = Opening.from_json(events[0])
        if opening.activity == "scenario":
            continue
        horizon = _count_horizon(opening.domain)
        steps = sum(event["kind"] == "step" for event in events)
        world = load_domain(opening.domain).world_id(opening.state)
        for told in (event for event in events if event["kind"] == "told"):
            reason, step = "", told["t"]
            if get_split(world) != "test":
                reason = "its world is in the train split"
            elif len(told["to"]) != 1:
                reason = "it is not for one player"
            elif step < CONTEXT:
                reason = f"expected {CONTEXT} steps before it, found {step}"
            elif steps - step < horizon:
                reason = f"expected {horizon} steps after it, found {steps - step}"
            if reason:
                place = f"step {step} of session {opening.id}"
                lines.append(f"{quote(told.get('text', ''))} at {place} cannot be used: {reason}")
    return lines
