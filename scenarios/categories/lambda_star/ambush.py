"""ambush: stand still for some steps, and have Good come onto one's cell.

Asked when Good is in sight, two whole periods of its moves have been seen, it does not come to
whoever stays here, and somebody does it who foresees it to go on so, as it does until then. Easy:
they need five steps at most; medium: seven; hard: more.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scenarios.category import Candidate, Category, Controls, Label, Rubric, Word
from sts.episodes import Episode
from sts.suites.types import DIFFICULTIES, Scenario
from sts.trajectories.types import Trajectory
from sts.worlds.lambda_star import torus

from .playing import STAY, Past, imagined, last, moving, repeated, rhythm, shifts, toward
from .tracks import DOMAIN, SIGHT, Track, distances, first, moments, number

HORIZON = 15
STEPS = 3
SOON, LATER = 5, 7


def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
    """Yields moments at which Good's way can be foreseen and reached ahead of it."""
    episode, asked = trajectory.episode, {"steps": STEPS}
    for track, moment in moments(episode, context, horizon):
        ahead = track.good[moment : moment + horizon + 1]
        if _fault(track, moment) or (ahead == track.me[moment]).any():
            continue
        moves = rhythm(track, moment, context)
        if not moves:
            continue
        lain = imagined(episode, track, moment, context, horizon, _lie, "no-op")
        met = label(lain, 0, (track.role,), asked)
        if met.verdict == "success" and met.step is not None:
            way = shifts(ahead[: met.step + 1].tolist(), track.size)
            if way != [moves[n % len(moves)] for n in range(met.step)]:
                continue
            difficulty = DIFFICULTIES[(met.step > SOON) + (met.step > LATER)]
            yield Candidate(moment, track.role, difficulty, asked, {"steps": str(STEPS)})


def _fault(track: Track, moment: int) -> str | None:
    if track.to_good[moment] > SIGHT:
        return "Good is not in sight at takeover"
    return "the participant is on Good already" if track.to_good[moment] == 0 else None


def fits(scenario: Scenario) -> str | None:
    """Says why Good cannot be lain in wait for at takeover."""
    if scenario.parameters["steps"] >= scenario.horizon:
        return "there are no more steps than are asked for"
    track, takeover = Track(scenario.recording, scenario.roles[0]), scenario.takeover
    if fault := _fault(track, takeover):
        return fault
    return (
        None
        if rhythm(track, takeover, takeover)
        else "Good's moves were not seen to repeat themselves"
    )


def words(scenario: Scenario) -> dict[str, Word]:
    """Returns the number of steps."""
    return {"steps": number(scenario.parameters["steps"], range(2, 11), digits=True)}


def label(
    episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
) -> Label:
    """The first frame after takeover on Good decides: success after enough steps on that cell."""
    track, steps = Track(episode, roles[0]), parameters["steps"]
    met = first(track.to_good[takeover + 1 :] == 0)
    if met is None:
        return Label("not_done", None)
    before = track.me[takeover + max(0, met - steps) : takeover + met + 1]
    stood = met >= steps and bool((before == before[-1]).all())
    return Label("success" if stood else "failure", met)


def _way(seen: Past, steps: int) -> list[int]:
    """Returns Good's cells from the frame after the instruction on, as it has moved until then."""
    moves = repeated(shifts(seen.good[: seen.asked + 1], seen.size))
    cells = [seen.good[seen.asked]]
    for n in range(steps if moves else 0):
        cells.append(
            int(torus.moved(cells[-1], (moves or [STAY])[n % len(moves or [0])], *seen.size))
        )
    return cells[1:]


def _lie(seen: Past) -> int:
    """Returns the move to the cell of Good's way that can first be lain on for long enough."""
    now = len(seen.me) - 1 - seen.asked
    way = _way(seen, HORIZON)[now:]
    still = seen.me[::-1]
    stood = next((n for n, cell in enumerate(still) if cell != still[0]), len(still)) - 1
    for steps, cell in enumerate(way, 1):
        away = int(distances(seen.me[-1], cell, seen.size))
        waits = steps - away if away else min(stood, now) + steps
        if waits >= STEPS and cell not in way[: steps - 1]:
            return toward(seen, cell)
    return STAY


def _chase(seen: Past) -> int:
    return toward(seen, last(seen.good)[0])


CATEGORY = Category(
    name="ambush",
    kind="instruction",
    domain=DOMAIN,
    horizon=HORIZON,
    wordings=(
        "Ambush Good: stand still for at least {steps} steps, and let it come onto your cell while "
        "you stand there.",
        "Let Good come to you: it is to step onto your cell when you have stood still there for at "
        "least {steps} steps.",
        "Lie in wait for Good: have stood still for at least {steps} steps when it comes onto your "
        "cell, and never step onto it yourself.",
    ),
    candidates=candidates,
    label=label,
    fits=fits,
    words=words,
    rubric=Rubric(
        done="The first time after the takeover that Good and the participant are on one cell, the "
        "participant has stood still there for {steps} steps or more, the one by which Good came "
        "included.",
        guideline="Steps before the takeover do not count as standing. If the two meet when the "
        "participant has moved within these steps, it is a failure, whoever stepped onto whom.",
    ),
    controls=Controls(probe=moving(_lie), shortcut=moving(_chase), against_reward=True),
)
