"""The ladder of readers: what each rung can do, and that the one below cannot, by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from sts import agents
from sts.domains import load_domain
from sts.engine.lockstep import Rollouts, Script, play_episodes
from sts.engine.session import Team
from sts.numerics.streams import stream
from sts_lambda_star.agents.readers.forecasts import unknown_forecast, write_forecasts
from sts_lambda_star.agents.readers.maximiser import MAJORITY
from sts_lambda_star.state import MOVES, TOKENS
from sts_lambda_star.torus import distance
from tests.examples import instructed
from tests.worlds.lambda_star.agents.teams import start
from tests.worlds.lambda_star.examples import batch_of

Scene = dict[str, Any]
SIZE = 12
REPEATS = 40
LADDER = (
    *("reader", "reader-without-memory", "reader-near", "reader-half"),
    *("reader-noisy-30", "reader-noisy-60", "speaking-maximiser"),
)
UP, LEFT, STAY, RIGHT, DOWN = (MOVES.index(m) for m in ("up", "left", "stay", "right", "down"))
LOOP = (RIGHT, DOWN, LEFT, UP)


def cell_at(row: int, column: int) -> int:
    return row * SIZE + column


def play_instructed(
    name: str,
    text: str,
    *,
    cells: Sequence[int],
    good: int,
    evil: int,
    walked: Sequence[int] = (),
    steps: int = 10,
    **changes,
) -> Rollouts:
    """Play one role `REPEATS` times: it is led along `walked`, then told; the others stand."""
    state = start(SIZE, SIZE, good=good, evil=evil, cells=cells, **changes)
    streams = np.array([stream("readers", name, i) for i in range(REPEATS)], np.uint64)
    length = len(walked) + steps
    actions = np.full((REPEATS, length, len(cells)), STAY, np.int8)
    actions[:, : len(walked), 0] = walked
    forced = np.ones((length, len(cells)), np.bool_)
    forced[len(walked) :, 0] = False
    return play_episodes(
        load_domain("lambda-star"),
        batch_of([state] * REPEATS),
        [Team(agents.load(name), (0,), streams)],
        steps=length,
        script=Script(actions, np.zeros_like(actions), forced),
        instructions=instructed([text] * REPEATS, [len(walked)] * REPEATS),
    )


def measure_distances(p: Rollouts, which: int, steps: int = 10) -> np.ndarray:
    """Return [REPEATS, steps]: how far the role is from Good, 0, or Evil, 1, after it was told."""
    far: np.ndarray = distance(
        p.scene[:, -steps:, 2].astype(int), p.scene[:, -steps:, which].astype(int), SIZE, SIZE
    )
    return far


def answers(p: Rollouts) -> list[str]:
    """Return the first word of each."""
    spoken = p.utterances[:, :, 0]
    return [TOKENS[row[np.flatnonzero(row)[0]]] if row.any() else "silence" for row in spoken]


def share(passed: Any) -> float:
    return float(np.mean(passed))


def test_memory_finds_a_lost_good_and_returns_to_where_it_was_first_seen():
    scene: Scene = {"cells": [cell_at(5, 5)], "good": cell_at(5, 4), "walked": [RIGHT] * 4}
    text = "Return to the cell where Good stood when you first saw it."
    leaving: Scene = {**scene, "evil": cell_at(0, 0), "good_pattern": (LEFT,), "steps": 6}
    found, back = [], []
    for name in ("reader", "reader-without-memory"):
        p = play_instructed(name, "Find Good again.", steps=4, evil=cell_at(11, 11), **scene)
        found.append(share((measure_distances(p, 0, 4) <= 1).any(1)))
        back.append(
            share((play_instructed(name, text, **leaving).scene[:, -6:, 2] == cell_at(5, 4)).any(1))
        )
    assert found[0] == back[0] == 1.0 > max(found[1], back[1])


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("How many steps ago did you last see Evil?", "4"),
        ("Where did you last see Evil? Answer with a direction.", "left"),
        ("In which direction did Good just move?", "down"),
        ("In which direction will Good move next?", "down"),
    ],
)
def test_questions_about_the_past_need_memory(text, answer):
    scene: Scene = {
        "cells": [cell_at(5, 2)],
        "evil": cell_at(5, 1),
        "good": cell_at(1, 6),
        "steps": 2,
    }
    scene |= {"good_pattern": (DOWN,), "walked": [RIGHT] * 4}
    assert set(answers(play_instructed("reader", text, **scene))) == {answer}
    without = answers(play_instructed("reader-without-memory", text, **scene))
    assert share(np.array(without) == answer) < 0.5
    noisy = [
        share(np.array(answers(play_instructed(f"reader-noisy-{n}", text, **scene))) == answer)
        for n in (30, 60)
    ]
    assert 1.0 > noisy[0] > noisy[1]


def test_reader_near_does_not_see_the_corners():
    scene: Scene = {
        "cells": [cell_at(5, 5), cell_at(4, 6)],
        "good": cell_at(4, 4),
        "evil": cell_at(6, 5),
        "steps": 1,
    }
    cases = {
        "Where is Good?": "up-left",
        "Which way is Evil, seen from Good?": "down-right",
        "How many other participants do you see?": "1",
        "Do you see Evil?": "yes",
    }
    for text, answer in cases.items():
        assert set(answers(play_instructed("reader", text, **scene))) == {answer}
    near = {text: answers(play_instructed("reader-near", text, **scene)) for text in cases}
    assert share(np.array(near["Where is Good?"]) == "up-left") < 0.5
    assert set(near["How many other participants do you see?"]) == {"0"}
    assert set(near["Do you see Evil?"]) == {"yes"}


def test_evil_two_cells_away_is_known_by_the_rewards_in_sight():
    scene: Scene = {
        "cells": [cell_at(5, 5)],
        "evil": cell_at(5, 8),
        "good": cell_at(0, 0),
        "walked": [STAY],
    }
    text = "Until the end, keep Evil off your cell and off the eight cells around it."
    safe = {
        name: share(
            (
                measure_distances(play_instructed(name, text, evil_pattern=(LEFT,), **scene), 1) > 1
            ).all(1)
        )
        for name in ("reader", "reader-near", "reader-half")
    }
    assert safe["reader"] == 1.0
    assert safe["reader-near"] < 0.5 and safe["reader-half"] < 0.5


def test_not_is_heeded_by_a_reader_of_all_words():
    scene: Scene = {"cells": [cell_at(5, 5)], "good": cell_at(5, 4), "evil": cell_at(0, 0)}
    text = "Stay within two cells of Good, but never be on its cell."
    for name, passed in (("reader", 1.0), ("reader-half", 0.0)):
        away = measure_distances(play_instructed(name, text, **scene), 0)
        assert share(((away > 0) & (away <= 2)).all(1)) == passed


def test_way_round_evil_is_taken_and_a_condition_waited_for():
    scene: Scene = {
        "cells": [cell_at(5, 5)],
        "good": cell_at(5, 3),
        "evil": cell_at(7, 4),
        "walked": [STAY],
    }
    text = "Get onto Good's cell without ever being on Evil or next to it."
    p = play_instructed("reader", text, evil_pattern=(RIGHT,), **scene)
    assert (measure_distances(p, 0) == 0).any(1).all() and (measure_distances(p, 1) > 1).all()
    scene = {
        "cells": [cell_at(5, 5)],
        "good": cell_at(0, 0),
        "evil": cell_at(5, 9),
        "evil_pattern": (LEFT,),
    }
    text = "Do not move until Evil is next to you; then be at least two cells away within 4 steps."
    p = play_instructed("reader", text, **scene)
    assert (p.actions[:, :3, 0] == STAY).all() and (p.actions[:, 3, 0] != STAY).all()
    assert (measure_distances(p, 1)[:, 3:7] >= 2).any(1).all()


def test_ambush_takes_two_rounds_of_watching():
    scene: Scene = {
        "cells": [cell_at(6, 5)],
        "good": cell_at(4, 4),
        "evil": cell_at(0, 0),
        "good_pattern": LOOP,
    }
    text = "Ambush Good: stand still for at least 3 steps and let it come onto your cell."
    caught = {}
    for name in ("reader", "reader-without-memory", "reader-near"):
        p = play_instructed(name, text, walked=[STAY] * 10, **scene)
        onto, still = measure_distances(p, 0) == 0, p.actions[:, -10:, 0] == STAY
        first = onto.argmax(1)
        stood = [still[i, max(0, step - 2) : step + 1].all() for i, step in enumerate(first)]
        caught[name] = share(onto.any(1) & np.array(stood))
    assert caught == {"reader": 1.0, "reader-without-memory": 0.0, "reader-near": 0.0}


def test_forecast_uses_the_last_two_rounds_after_a_delay():
    cells = [cell_at(5, 5)]
    for move in (RIGHT, STAY, *LOOP, *LOOP):
        row, column = divmod(cells[-1], SIZE)
        cells.append(cell_at(row + move // 3 - 1, column + move % 3 - 1))
    out = unknown_forecast(1, 4)
    size = np.array([SIZE])
    write_forecasts(np.array([cells]), size, size, out)
    assert out.confidence[0] > 0
    assert out.path[0].tolist() == cells[-5:]


def test_walk_ends_where_it_was_to_end_even_more_than_half_way_round():
    scene: Scene = {"cells": [cell_at(5, 5)], "good": cell_at(0, 0), "evil": cell_at(0, 6)}
    assert (
        play_instructed("reader", "Walk 8 cells down.", **scene).scene[:, -3:, 2] == cell_at(1, 5)
    ).all()
    scene["walked"] = [DOWN, DOWN]
    text = "Walk 3 cells up and to the left."
    assert (play_instructed("reader", text, **scene).scene[:, -7:, 2] == cell_at(4, 2)).all()
    assert (play_instructed("reader-half", text, **scene).actions[:, 2:, 0] == STAY).all()


@pytest.mark.parametrize("name", [name for name in LADDER if name != "speaking-maximiser"])
def test_unknown_text_leaves_readers_silent_and_mostly_still(name):
    scene: Scene = {"cells": [cell_at(5, 5)], "good": cell_at(5, 4), "evil": cell_at(0, 0)}
    p = play_instructed(name, "Sing a song.", **scene)
    assert not p.utterances.any()
    assert share(p.actions[:, :, 0] == STAY) > 0.35


def test_speaking_maximiser_moves_alike_under_every_instruction():
    scene: Scene = {
        "cells": [cell_at(5, 5)],
        "good": cell_at(5, 6),
        "evil": cell_at(0, 0),
        "good_pattern": (LEFT,),
    }
    texts = ("", "Do not move.", "Keep away from Good.", "Do you see Evil?", "Sing a song.")
    every = [play_instructed("speaking-maximiser", text, **scene) for text in texts]
    for p in every:
        np.testing.assert_array_equal(p.actions, every[0].actions)
        assert (measure_distances(p, 0)[:, -6:] <= 1).all()
    assert set(answers(every[3])) == {MAJORITY["seen"]}
    assert {*answers(every[1]), *answers(every[4])} == {"silence"}


@pytest.mark.parametrize("name", LADDER)
def test_question_gets_one_word(name):
    scene: Scene = {"cells": [cell_at(5, 5)], "good": cell_at(5, 4), "evil": cell_at(0, 0)}
    for text in ("Where is Good?", "How many steps ago did you last see Evil?"):
        p = play_instructed(name, text, walked=[STAY] * 3, **scene)
        assert ((p.utterances > 0).sum(1)[:, 0] == 1).all()
        assert not p.utterances[:, :3].any()
