"""`--from-sessions`: candidates from what people asked in live sessions, in their own words."""

from collections.abc import Iterable, Iterator

from sts.live.openings import count_steps, get_controls
from sts.suites.types import DIFFICULTIES, KINDS
from sts.trajectories.types import Trajectory
from sts_scenarios.category import Candidate, Category

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
        horizon=count_steps(SECONDS / 60, get_controls(domain).tick),
        templates=("{text}",),
        candidates=candidates,
    )
